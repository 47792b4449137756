//! `--out opentelemetry` into a receiver that believes nothing: counts are the summary's, percentiles within the bound, and what happens
//! when nobody takes anything.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use onrush_testkit::{
    CertificateAuthority,
    otlp::{Mood, OtlpReceiver, Point, PointValue},
};

use crate::{
    program::{Done, Program},
    server::{SCRIPT, free_address},
};

fn run(out: &str, env: &[(&str, &str)], flags: &[&str]) -> Done {
    let out = format!("opentelemetry={out}");
    let flags = [&["-q", "--out", &out, "--summary-export", "s.json"], flags].concat();
    let program = Program::script(&flags, SCRIPT).env("K6_OTEL_EXPORT_INTERVAL", "1s");
    env.iter().fold(program, |program, (name, value)| program.env(name, value)).run()
}

/// What a metric has come to, over all its series and exports.
fn total(points: &[Point], metric: &str, with: &[(&str, &str)]) -> f64 {
    let mut by_series: BTreeMap<String, f64> = BTreeMap::new();
    let is_wanted = |point: &&Point| {
        point.metric == metric && with.iter().all(|(name, value)| point.attribute(name) == Some(*value))
    };
    for point in points.iter().filter(is_wanted) {
        let value = match &point.value {
            PointValue::Gauge(value) | PointValue::Sum(value) => *value,
            PointValue::Count(count) => *count as f64,
            PointValue::Histogram { count, .. } | PointValue::Exponential { count, .. } => *count as f64,
        };
        let known = by_series.entry(format!("{:?}", point.attributes)).or_default();
        *known = if point.is_delta { *known + value } else { value };
    }
    assert!(!by_series.is_empty(), "no {metric} with {with:?}");
    by_series.values().sum()
}

/// Compares all there is with the summary.
fn check_counts(receiver: &OtlpReceiver, done: &Done) {
    assert_eq!(receiver.problems(), Vec::<String>::new());
    let points = receiver.points();
    let summary = &done.json("s.json")["metrics"];
    let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
    for (metric, stat) in [("sum", "count"), ("iterations", "count"), ("size", "count"), ("time", "count")] {
        assert_eq!(total(&points, metric, &[]), of(metric, stat), "{metric}");
    }
    assert_eq!(total(&points, "level", &[]), 5.0);
    assert_eq!(total(&points, "odd.total", &[("condition", "nonzero")]), of("odd", "passes"));
    assert_eq!(total(&points, "odd.total", &[("condition", "zero")]), of("odd", "fails"));
    assert_eq!(total(&points, "checks.total", &[("condition", "nonzero")]), of("checks", "passes"));
    // Time goes on in every series, and deltas follow each other without a gap.
    let mut last: BTreeMap<String, &Point> = BTreeMap::new();
    for point in &points {
        if let Some(before) = last.insert(format!("{} {:?}", point.metric, point.attributes), point) {
            assert!(point.time_ns > before.time_ns, "{point:?} after {before:?}");
            if point.is_delta {
                assert!(point.start_ns >= before.time_ns, "{point:?} after {before:?}");
            }
        }
    }
}

#[test]
fn it_has_what_the_summary_has() {
    for (is_grpc, agents) in [(true, &[][..]), (false, &["--agents", "2"])] {
        let receiver = if is_grpc { OtlpReceiver::grpc(None) } else { OtlpReceiver::http(None) };
        let scheme = if is_grpc { "grpc" } else { "http" };
        let env = [("K6_OTEL_SERVICE_NAME", "shop"), ("OTEL_RESOURCE_ATTRIBUTES", "team=a")];
        let done = run(&format!("{scheme}://{}", receiver.addr()), &env, agents).expect(0);
        check_counts(&receiver, &done);
        let points = receiver.points();
        let one = |metric: &str| points.iter().rfind(|point| point.metric == metric).expect(metric);
        assert_eq!(
            (one("time").unit.as_str(), one("size").unit.as_str(), one("data_sent").unit.as_str()),
            ("ms", "", "By")
        );
        assert_eq!(one("checks.total").attribute("check"), Some("is \"a\" number\n"));
        assert_eq!(one("sum").attribute("testid"), Some("t 1"));
        assert!(one("sum").attribute("vu").is_none());
        // k6's bounds.
        let PointValue::Histogram { bounds, counts, max, .. } = &one("time").value else { panic!("{:?}", one("time")) };
        assert_eq!((bounds.len(), counts.len(), *max), (15, 16, 1_000.0));
        let resource = receiver.resource();
        for (name, value) in [("service.name", "shop"), ("team", "a"), ("telemetry.sdk.name", "onrush")] {
            assert!(resource.contains(&(name.to_owned(), value.to_owned())), "{resource:?}");
        }
        // It was told while the run went on.
        assert!(points.iter().filter(|point| point.metric == "iterations").count() >= 3);
    }
}

#[test]
fn deltas_and_exponential_buckets() {
    let authority = CertificateAuthority::new();
    let identity = authority.identity(&["127.0.0.1"]);
    let receiver = OtlpReceiver::http(Some(authority.server_with_client_auth(&identity)));
    let program = Program::script(&["-q", "--out", "opentelemetry", "--summary-export", "s.json"], SCRIPT)
        .file("ca.pem", authority.pem())
        .file("cert.pem", &identity.cert_pem)
        .file("key.pem", &identity.key_pem)
        .env("K6_OTEL_EXPORT_INTERVAL", "1s")
        .env("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf")
        .env("K6_OTEL_HTTP_EXPORTER_ENDPOINT", &receiver.addr().to_string())
        .env("K6_OTEL_TLS_CERTIFICATE", "ca.pem")
        .env("K6_OTEL_TLS_CLIENT_CERTIFICATE", "cert.pem")
        .env("K6_OTEL_TLS_CLIENT_KEY", "key.pem")
        .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
        .env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")
        .env("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram");
    let done = program.run().expect(0);
    check_counts(&receiver, &done);
    // Put together again, they have the percentiles of the summary.
    let mut buckets: BTreeMap<i64, u64> = BTreeMap::new();
    for point in receiver.points().iter().filter(|point| point.metric == "size") {
        assert!(point.is_delta);
        let PointValue::Exponential { scale: 8, offset, counts, .. } = &point.value else { panic!("{point:?}") };
        for (index, count) in (*offset..).zip(counts) {
            *buckets.entry(index).or_default() += count;
        }
    }
    let (count, mut below) = (buckets.values().sum::<u64>(), 0);
    let rank = 0.95 * (count - 1) as f64;
    let index = buckets.iter().find_map(|(index, in_it)| {
        below += in_it;
        (below as f64 > rank).then_some(*index)
    });
    // The middle of bucket (2^(i/256), 2^((i+1)/256)].
    let found = ((index.expect("a bucket") as f64 + 0.5) / 256.0).exp2();
    let expect = done.json("s.json")["metrics"]["size"]["p(95)"].as_f64().expect("a percentile");
    // Between two of the hundred values the summary interpolates: they are one part in 95 apart.
    assert!((found / expect - 1.0).abs() < 0.011 + 0.00136, "{found} instead of {expect}");
}

#[test]
fn grpc_over_tls_with_compression() {
    let authority = CertificateAuthority::new();
    let receiver = OtlpReceiver::grpc(Some(authority.identity(&["127.0.0.1"]).http2_server()));
    let done = Program::script(&["-q", "--out", "experimental-opentelemetry", "--summary-export", "s.json"], SCRIPT)
        .file("ca.pem", authority.pem())
        .env("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &receiver.addr().to_string())
        .env("K6_OTEL_METRIC_PREFIX", "k6.")
        .env("K6_OTEL_SINGLE_COUNTER_FOR_RATE", "false")
        .env("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem")
        .env("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "gzip")
        .run()
        .expect(0);
    assert_eq!(receiver.problems(), Vec::<String>::new());
    let points = receiver.points();
    let odd = &done.json("s.json")["metrics"]["odd"];
    let of = |value: &str| odd[value].as_f64().expect(value);
    assert_eq!(total(&points, "k6.odd.occurred", &[]), of("passes"));
    assert_eq!(total(&points, "k6.odd.total", &[]), of("passes") + of("fails"));
}

#[test]
fn a_receiver_that_comes_back_has_all() {
    let moods = [Mood::HangsUp, Mood::Unavailable, Mood::TakesAfter(Duration::from_millis(1_500))];
    for (index, mood) in moods.into_iter().enumerate() {
        let receiver = if index == 1 { OtlpReceiver::grpc(None) } else { OtlpReceiver::http(None) };
        let scheme = if index == 1 { "grpc" } else { "http" };
        receiver.set_mood(mood.clone());
        let delta = ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta");
        let done = std::thread::scope(|scope| {
            scope.spawn(|| {
                // The first export is after some four seconds.
                std::thread::sleep(Duration::from_secs(6));
                receiver.set_mood(Mood::Takes);
            });
            run(&format!("{scheme}://{}", receiver.addr()), &[delta], &["-e", "DURATION=9s"]).expect(0)
        });
        check_counts(&receiver, &done);
        if index < 2 {
            let done = done.expect_log("failed to export metrics to the OpenTelemetry receiver at ");
            done.expect_log(" arrive again, after ");
        }
    }
}

#[test]
fn what_does_not_arrive_is_told() {
    let check = |mood: Mood, expect: &[&str]| {
        let receiver = OtlpReceiver::http(None);
        receiver.set_mood(mood);
        let out = format!("http://{}", receiver.addr());
        let done = run(&out, &[], &["-e", "DURATION=2s"]).expect(0);
        expect.iter().fold(done, |done, text| done.expect_log(text))
    };
    let lacks_all = |done: Done| {
        let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
        let lacks = format!(" lacks {all} of {all} iterations");
        done.expect_log(&lacks).expect_output(&lacks)
    };
    lacks_all(check(Mood::Refuses, &["it answered with status 400: wrong"]));
    lacks_all(check(
        Mood::TalksGarbage,
        &["it answered with a web page (text/html): is this the address of a receiver?"],
    ));
    let done = check(Mood::LeavesOut(2), &[" rejected 2 data points: old", " data points that it rejected: old"]);
    let done = done.expect_output(" data points that it rejected");
    assert!(!done.stderr.contains(" iterations"), "{}", done.stderr);
    let nobody = free_address();
    let done = run(&format!("grpc://{nobody}"), &[], &["-e", "DURATION=2s"]).expect(0);
    lacks_all(done).expect_log("connection refused");
}

#[test]
fn credentials_go_where_they_should_and_nowhere_else() {
    let receiver = OtlpReceiver::http(None);
    let env = [
        ("K6_OTEL_HTTP_EXPORTER_USERNAME", "ann"),
        ("K6_OTEL_HTTP_EXPORTER_PASSWORD", "s3cret-word"),
        ("K6_OTEL_HEADERS", "x-scope-orgid=tenant%201"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-not=this"),
    ];
    let done = run(&format!("http://{}", receiver.addr()), &env, &["-e", "DURATION=1s"]).expect(0);
    let headers = receiver.headers();
    let find = |name: &str| {
        headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    // ann:s3cret-word
    assert_eq!(find("authorization"), Some("Basic YW5uOnMzY3JldC13b3Jk"));
    assert_eq!((find("x-scope-orgid"), find("x-not")), (Some("tenant 1"), None));
    assert!(!done.stderr.contains("s3cret") && !done.stdout.contains("s3cret"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |name: &str, value: &str, expect: &str| {
        let done = Program::script(&["--out", "opentelemetry"], SCRIPT).env(name, value).run().expect(104);
        done.expect_log("could not create the 'opentelemetry' output: error validating OpenTelemetry output config: ")
            .expect_log(expect);
    };
    check("K6_OTEL_EXPORTER_PROTOCOL", "udp", "unsupported exporter protocol");
    check("K6_OTEL_EXPORT_INTERVAL", "0s", "invalid K6_OTEL_EXPORT_INTERVAL");
    check("K6_OTEL_TLS_CERTIFICATE", "none.pem", "failed to load the TLS certificate: open none.pem");
    let done = Program::script(&["--out", "opentelemetry=nowhere"], SCRIPT).run().expect(104);
    done.expect_log("write grpc://host:4317");
}

#[test]
fn a_receiver_without_tls_is_named() {
    // As Go's server answers what is no request.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 1_024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    for (protocol, address) in [("http/protobuf", "HTTP"), ("grpc", "GRPC")] {
        let done = Program::script(&["-q", "--out", "opentelemetry", "-e", "DURATION=1s"], SCRIPT)
            .env("K6_OTEL_EXPORTER_PROTOCOL", protocol)
            .env(&format!("K6_OTEL_{address}_EXPORTER_ENDPOINT"), &endpoint)
            .run()
            .expect(0);
        done.expect_log("If the receiver speaks no TLS, set K6_OTEL_GRPC_EXPORTER_INSECURE=true");
    }
}
