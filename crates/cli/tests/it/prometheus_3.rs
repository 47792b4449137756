//! Prometheus 3, which no distribution has yet: it takes remote write 2.0 and OTLP, and answers every query of the dashboards, that for
//! OpenTelemetry among them. It is built with Go, which takes minutes; `cargo xtask trial receivers` runs it.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use onrush_testkit::{GoProgram, built_with_go};

use crate::{
    grafana::{prometheus_answers, pushed_to, run_into},
    program::Program,
    prometheus::{Prometheus, run},
    server::SCRIPT,
};

/// A server of version 3; `None` where it cannot be built, which is told.
fn started() -> Option<Prometheus> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/prometheus_3_server");
        // Without what finds machines to look at: four fifths of its dependencies.
        let package = "github.com/prometheus/prometheus/cmd/prometheus";
        let what = GoProgram { name: "Prometheus", source: &source, package, tags: "remove_all_sd" };
        built_with_go(&what, Path::new(env!("CARGO_TARGET_TMPDIR")).join("prometheus-3"))
    });
    program.as_deref().map(Prometheus::of_version_3)
}

#[test]
#[ignore = "builds Prometheus with Go, which takes minutes: cargo xtask trial receivers"]
fn remote_write_2_has_what_the_summary_has() {
    let Some(prometheus) = started() else { return };
    let native = ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true");
    for version in ["1", "2"] {
        let tag = format!("testid=version {version}");
        let env = [("ONRUSH_PROMETHEUS_RW_VERSION", version), native];
        let done = run(&prometheus.url(), &env, &["--tag", &tag, "--agents", "2"]).expect(0);
        // No word of an older protocol, or of anything that was not taken.
        assert!(!done.stderr.contains("remote write") && !done.stderr.contains("Prometheus"), "{}", done.stderr);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |what: &str| prometheus.number(&what.replace("{}", &format!("{{testid=\"version {version}\"}}")));
        assert_eq!(number("sum(k6_sum_total{})"), of("sum", "count"));
        assert_eq!(number("sum(k6_iterations_total{})"), of("iterations", "count"));
        assert_eq!(number("sum(histogram_count(k6_size{}))"), of("size", "count"));
        assert_eq!(number("sum(histogram_count(k6_time_seconds{}))"), of("time", "count"));
        let found = number("histogram_quantile(0.95, sum(k6_time_seconds{}))") * 1e3;
        assert!((found / of("time", "p(95)") - 1.0).abs() < 0.015, "{found}");
    }
}

#[test]
#[ignore = "builds Prometheus with Go, which takes minutes: cargo xtask trial receivers"]
fn otlp_has_what_the_summary_has() {
    let Some(prometheus) = started() else { return };
    for histograms in ["explicit_bucket_histogram", "base2_exponential_bucket_histogram"] {
        let (out, tag) = (format!("opentelemetry={}", prometheus.otlp_url()), format!("testid={histograms}"));
        let done = Program::script(&["-q", "--out", &out, "--tag", &tag, "--summary-export", "s.json"], SCRIPT)
            .env("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", histograms)
            .run()
            .expect(0);
        assert!(!done.stderr.contains("OpenTelemetry"), "{}", done.stderr);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |what: &str| prometheus.number(&what.replace("{}", &format!("{{testid=\"{histograms}\"}}")));
        assert_eq!(number("sum(sum_total{})"), of("sum", "count"));
        assert_eq!(number("sum(iterations_total{})"), of("iterations", "count"));
        if histograms.starts_with("explicit") {
            assert_eq!(number("sum(size_count{})"), of("size", "count"));
        } else {
            assert_eq!(number("sum(histogram_count(size{}))"), of("size", "count"));
            let found = number("histogram_quantile(0.95, sum(time_milliseconds{}))");
            assert!((found / of("time", "p(95)") - 1.0).abs() < 0.015, "{found}");
        }
    }
}

#[test]
#[ignore = "builds Prometheus with Go, which takes minutes: cargo xtask trial receivers"]
fn it_answers_every_query_of_the_dashboards() {
    let Some(prometheus) = started() else { return };
    for database in ["prometheus-native", "prometheus"] {
        pushed_to(&prometheus, database);
        prometheus_answers(&prometheus, database);
    }
    run_into(&format!("opentelemetry={}", prometheus.otlp_url()), &[("K6_OTEL_EXPORT_INTERVAL", "1s")]);
    prometheus_answers(&prometheus, "otlp");
}
