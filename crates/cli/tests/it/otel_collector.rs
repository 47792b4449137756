//! `--out opentelemetry` and `--traces-output` through OpenTelemetry's own collector, which shares no code with ours: what it makes of them
//! has the summary's counts. Where Go is missing, or cannot fetch the collector, nothing is tested, and the test says so.

use std::{
    collections::BTreeMap,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use onrush_testkit::{GoProgram, GoodServer, Reply, built_with_go};
use serde_json::Value;
use tempfile::TempDir;

use crate::{program::Program, server::free_address};

/// A collector that passes on what it gets, as JSON; dropping it ends it.
struct Collector {
    child: Child,
    grpc: String,
    http: String,
    passed_on: Arc<Mutex<Vec<Value>>>,
    _back: GoodServer,
    _folder: TempDir,
}

impl Collector {
    fn start() -> Option<Self> {
        let passed_on: Arc<Mutex<Vec<Value>>> = Arc::default();
        let own = passed_on.clone();
        let back = GoodServer::start(move |request| {
            let json = serde_json::from_slice(&request.body).expect("JSON");
            own.lock().expect("no panic").push(json);
            Reply::text("{}").header("Content-Type", "application/json")
        });
        let (grpc, http) = (free_address(), free_address());
        let folder = tempfile::tempdir().expect("a temporary directory");
        let config = format!(
            "receivers: {{ otlp: {{ protocols: {{ grpc: {{ endpoint: '{grpc}' }}, http: {{ endpoint: '{http}' }} }} }} }}\n\
             exporters: {{ otlp_http: {{ endpoint: '{}', encoding: json, compression: none }} }}\n\
             service:\n  telemetry: {{ metrics: {{ level: none }} }}\n  pipelines:\n    \
             metrics: {{ receivers: [otlp], exporters: [otlp_http] }}\n    \
             traces: {{ receivers: [otlp], exporters: [otlp_http] }}\n",
            back.url("")
        );
        std::fs::write(folder.path().join("config.yaml"), config).expect("a file");
        let mut child = Command::new(program()?)
            .current_dir(folder.path())
            .args(["--config", "file:config.yaml"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).expect("a file"))
            .spawn()
            .expect("what was built can be run");
        while TcpStream::connect(&grpc).is_err() || TcpStream::connect(&http).is_err() {
            let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            assert!(child.try_wait().expect("a child").is_none(), "the collector ended: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(Self { child, grpc, http, passed_on, _back: back, _folder: folder })
    }

    /// The same once there are so many: it answers before it passes on.
    fn passed_on_by(&self, path: &[&str], count: usize) -> Vec<Value> {
        for _ in 0..300 {
            if self.all(path).len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        self.all(path)
    }

    /// What it passed on, all of this name.
    fn all(&self, path: &[&str]) -> Vec<Value> {
        let mut found = self.passed_on.lock().expect("no panic").clone();
        for name in path {
            let inside = found.iter().flat_map(|value| value[*name].as_array().cloned().unwrap_or_default());
            found = inside.collect();
        }
        found
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The collector's program, built once: it takes some minutes.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/collector");
            let what = GoProgram::of_folder("the collector", &source);
            built_with_go(&what, Path::new(env!("CARGO_TARGET_TMPDIR")).join("otel-collector"))
        })
        .as_deref()
}

const SCRIPT: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    import { Trend } from 'k6/metrics';
    const size = new Trend('size');
    export const options = { vus: 2, iterations: 300, summaryTrendStats: ['count', 'p(95)'] };
    export default function () {
        const response = http.get(__ENV.URL);
        check(response, { 'is there': (r) => r.status === 200 });
        size.add(__ITER % 100 + 1.5);
    }";

/// The number of a 64-bit field: in JSON it is a text.
fn number(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(0.0)
}

#[test]
fn the_collector_has_what_the_summary_has() {
    let Some(collector) = Collector::start() else { return };
    let site = GoodServer::start(|_| Reply::text("hello"));
    for (index, scheme) in ["grpc", "http"].into_iter().enumerate() {
        collector.passed_on.lock().expect("no panic").clear();
        let address = if scheme == "grpc" { &collector.grpc } else { &collector.http };
        let (out, url) = (format!("opentelemetry={scheme}://{address}"), format!("URL={}", site.url("/")));
        let traces = if scheme == "grpc" { format!("otel={address}") } else { format!("otel=http://{address}") };
        let flags = ["-q", "--out", &out, "--traces-output", &traces, "--summary-export", "s.json", "-e", &url];
        let done = Program::script(&flags, SCRIPT)
            .env("OTEL_EXPORTER_OTLP_COMPRESSION", if index == 0 { "gzip" } else { "none" })
            .env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", if index == 0 { "delta" } else { "cumulative" })
            .env(
                "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
                if index == 0 { "base2_exponential_bucket_histogram" } else { "explicit_bucket_histogram" },
            )
            .run()
            .expect(0);
        // Whoever lost something would have said so.
        assert!(!done.stderr.contains("OpenTelemetry"), "{}", done.stderr);
        let spans = collector.passed_on_by(&["resourceSpans", "scopeSpans", "spans"], 600);
        let of = |name: &str| spans.iter().filter(|span| span["name"] == name).count();
        assert_eq!((of("iteration"), of("GET"), spans.len()), (300, 300, 600));
        // Spans are sent last.
        let metrics = collector.all(&["resourceMetrics", "scopeMetrics", "metrics"]);
        let points = |name: &str| -> Vec<Value> {
            let of_name = metrics.iter().filter(|metric| metric["name"] == name);
            let data = of_name
                .flat_map(|metric| metric.as_object().expect("an object").values().filter(|value| value.is_object()));
            data.flat_map(|data| data["dataPoints"].as_array().expect("points").clone()).collect()
        };
        // Deltas are added up; of what is told since the start, the last counts.
        let total = |name: &str, what: &str| -> f64 {
            let mut by_series = BTreeMap::new();
            for point in points(name) {
                let known: &mut f64 = by_series.entry(point["attributes"].to_string()).or_default();
                *known = if index == 0 { *known + number(&point[what]) } else { number(&point[what]) };
            }
            by_series.values().sum()
        };
        let summary = &done.json("s.json")["metrics"];
        assert_eq!(total("iterations", "asDouble"), 300.0);
        assert_eq!(total("http_reqs", "asDouble"), 300.0);
        assert_eq!(total("checks.total", "asInt"), 300.0);
        assert_eq!(total("http_req_duration", "count"), 300.0);
        assert_eq!(total("data_received", "asDouble"), summary["data_received"]["count"].as_f64().expect("a count"));
        assert_eq!(total("size", "count"), 300.0);
        if index == 0 {
            let scales: Vec<f64> = points("size").iter().map(|point| number(&point["scale"])).collect();
            assert!(!scales.is_empty() && scales.iter().all(|scale| *scale == 8.0), "{scales:?}");
        }
    }
}
