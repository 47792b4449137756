//! `--out prometheus-rw` into a real Prometheus: counts are the summary's, percentiles within the bound, and what happens when nobody
//! takes anything.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrush_testkit::{CertificateAuthority, GoodServer, Incoming, Reply};
use serde_json::Value;

use crate::{
    program::{Done, Program},
    server::{SCRIPT, Server, encoded, free_address, installed},
};

const READY: &str = "/-/ready";

fn command(program: &Path, address: &str, folder: &Path) -> Command {
    std::fs::write(folder.join("prometheus.yml"), "global: {}\n").expect("a file");
    let mut command = Command::new(program);
    command
        .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.enable-remote-write-receiver"])
        .args(["--enable-feature=native-histograms", &format!("--web.listen-address={address}")]);
    command
}

/// A running Prometheus that takes remote writes.
pub(crate) struct Prometheus {
    server: Server,
    program: PathBuf,
}

impl Prometheus {
    /// The distribution's: version 2.
    pub(crate) fn start() -> Self {
        Self::at(&free_address())
    }

    fn at(address: &str) -> Self {
        let program = PathBuf::from(installed("prometheus", "prometheus"));
        let server = Server::start(address, READY, |address, folder| command(&program, address, folder));
        Self { server, program }
    }

    /// A version 3, which takes OTLP as well.
    pub(crate) fn of_version_3(program: &Path) -> Self {
        let server = Server::start(&free_address(), READY, |address, folder| {
            let mut command = command(program, address, folder);
            command.arg("--web.enable-otlp-receiver");
            command
        });
        Self { server, program: program.to_owned() }
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts it again over what it has kept.
    pub(crate) fn start_again(&mut self) {
        self.server.start_again(READY, |address, folder| command(&self.program, address, folder));
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/api/v1/write", self.server.address)
    }

    /// Where a version 3 takes OTLP.
    pub(crate) fn otlp_url(&self) -> String {
        format!("http://{}/api/v1/otlp/v1/metrics", self.server.address)
    }

    /// The result of a query now.
    pub(crate) fn query(&self, query: &str) -> Vec<Value> {
        let (status, body) = self.server.get(&format!("/api/v1/query?query={}", encoded(query))).expect("it answers");
        assert_eq!(status, 200, "{query}: {body}");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        answer["data"]["result"].as_array().expect("a list").clone()
    }

    /// The one number of a query.
    pub(crate) fn number(&self, query: &str) -> f64 {
        let rows = self.query(query);
        let [row] = rows.as_slice() else { panic!("{query}: {rows:?}") };
        row["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a number")
    }
}

/// Runs the script of all kinds of metrics into a Prometheus.
pub(crate) fn run(url: &str, env: &[(&str, &str)], flags: &[&str]) -> Done {
    let out = format!("prometheus-rw={url}");
    let flags = [&["-q", "--out", &out, "--summary-export", "s.json"], flags].concat();
    let program = Program::script(&flags, SCRIPT).env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s");
    env.iter().fold(program, |program, (name, value)| program.env(name, value)).run()
}

#[test]
fn it_has_what_the_summary_has() {
    let prometheus = Prometheus::start();
    for (testid, agents) in [("one", &[][..]), ("two", &["--agents", "2"])] {
        let tag = format!("testid={testid}");
        let stats = ("K6_PROMETHEUS_RW_TREND_STATS", "p(95),count,max,sum,p(99.9)");
        let flags = [&["--tag", &tag][..], agents].concat();
        let done = run(&prometheus.url(), &[stats], &flags).expect(0);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |name: &str| prometheus.number(&format!("sum({name}{{testid=\"{testid}\"}})"));
        assert_eq!(number("k6_sum_total"), of("sum", "count"));
        assert_eq!(number("k6_iterations_total"), of("iterations", "count"));
        assert_eq!((number("k6_level"), number("k6_checks_rate")), (5.0, 1.0));
        assert!((number("k6_odd_rate") - of("odd", "value")).abs() < 1e-9);
        assert_eq!((number("k6_size_count"), number("k6_size_max")), (of("size", "count"), of("size", "max")));
        let is_close = |found: f64, expect: f64| (found / expect - 1.0).abs() < 1e-9;
        assert!(is_close(number("k6_size_p95"), of("size", "p(95)")));
        // Seconds; but a count has no unit.
        assert_eq!((number("k6_time_count"), number("k6_time_max")), (of("time", "count"), 1.0));
        // Ten times the other, in milliseconds.
        assert!(is_close(number("k6_time_sum"), number("k6_size_sum") / 100.0) && number("k6_size_sum") > 0.0);
        assert!(is_close(number("k6_time_p95"), of("time", "p(95)") / 1_000.0));
        assert!(number("k6_time_p999") >= number("k6_time_p95"));
        let parts = prometheus.query(&format!("k6_sum_total{{testid=\"{testid}\",parity!=\"\"}}"));
        assert_eq!(parts.len(), 2, "{parts:?}");
        // It was told while the run went on, at the seconds it is about.
        let points = format!("count_over_time(k6_iterations_total{{testid=\"{testid}\"}}[1m])");
        assert!(prometheus.number(&points) >= 3.0, "{}", prometheus.number(&points));
    }
}

#[test]
fn trends_are_native_histograms() {
    let prometheus = Prometheus::start();
    let native = ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true");
    let done = run(&prometheus.url(), &[native], &["--agents", "2"]).expect(0);
    let summary = &done.json("s.json")["metrics"];
    let count = summary["size"]["count"].as_f64().expect("a count");
    assert_eq!(prometheus.number("sum(histogram_count(k6_size))"), count);
    assert_eq!(prometheus.number("sum(histogram_count(k6_time_seconds))"), count);
    for (query, metric, unit) in [("k6_size", "size", 1.0), ("k6_time_seconds", "time", 1_000.0)] {
        let found = prometheus.number(&format!("histogram_quantile(0.95, sum({query}))")) * unit;
        let expect = summary[metric]["p(95)"].as_f64().expect("a percentile");
        // A hundred values are a few buckets; Prometheus interpolates between whole ones of them.
        assert!((found / expect - 1.0).abs() < 0.015, "{query}: {found} instead of {expect}");
    }
    // And so it is for a feature of k6 2.x.
    run(&prometheus.url(), &[], &["--features", "native-histograms", "--tag", "testid=feature"]).expect(0);
    assert!(prometheus.number("sum(histogram_count(k6_size{testid=\"feature\"}))") > 100.0);
}

#[test]
fn a_server_that_comes_later_has_all() {
    let address = free_address();
    let later = {
        let address = address.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(6));
            Prometheus::at(&address)
        })
    };
    let done = run(&format!("http://{address}/api/v1/write"), &[], &["-e", "DURATION=10s"]).expect(0);
    let prometheus = later.join().expect("it started");
    let iterations = done.json("s.json")["metrics"]["iterations"]["count"].as_f64().expect("a count");
    assert_eq!(prometheus.number("k6_iterations_total"), iterations);
    let done = done.expect_log("failed to push to Prometheus at http://");
    done.expect_log("arrive again, after ");
}

#[test]
fn a_server_without_the_newer_protocol_gets_the_older_one() {
    let prometheus = Prometheus::start();
    let done = run(&prometheus.url(), &[("ONRUSH_PROMETHEUS_RW_VERSION", "2")], &[]).expect(0);
    let iterations = done.json("s.json")["metrics"]["iterations"]["count"].as_f64().expect("a count");
    assert_eq!(prometheus.number("k6_iterations_total"), iterations);
    done.expect_log("does not know remote write 2.0");
}

#[test]
fn the_config_file_says_the_same() {
    let prometheus = Prometheus::start();
    let own = format!(r#"{{ "url": "{}", "pushInterval": "1s", "trendStats": ["max", "count"] }}"#, prometheus.url());
    let config = format!(r#"{{ "collectors": {{ "experimental-prometheus-rw": {own} }} }}"#);
    let flags = ["-q", "--config", "c.json", "--out", "prometheus-rw", "--summary-export", "s.json"];
    let done = Program::script(&flags, SCRIPT).file("c.json", &config).run().expect(0);
    let size = &done.json("s.json")["metrics"]["size"];
    assert_eq!(Some(prometheus.number("k6_size_count")), size["count"].as_f64());
    assert_eq!(Some(prometheus.number("k6_size_max")), size["max"].as_f64());
}

#[test]
fn series_end_with_the_run_where_that_is_wanted() {
    let prometheus = Prometheus::start();
    let native = ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true");
    run(&prometheus.url(), &[("K6_PROMETHEUS_RW_STALE_MARKERS", "true"), native], &[]).expect(0);
    // It was there, and is no more.
    assert!(prometheus.query("last_over_time(k6_iterations_total[1m])").len() == 1);
    let left = prometheus.query("{__name__=~\"k6_.*\"}");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn nobody_there_costs_the_run_nothing() {
    let done = run(&format!("http://{}/api/v1/write", free_address()), &[], &[]).expect(0);
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    // Four VUs that sleep 20 ms for 4 s: one that waited for an answer would have made next to none.
    assert!(all > 400, "{all}");
    let lacks = format!("lacks {all} of {all} iterations");
    let done = done.expect_log("failed to push to Prometheus at http://127.0.0.1:").expect_log(&lacks);
    done.expect_output(&lacks);
}

#[test]
fn what_a_dead_server_lacks_is_told_exactly() {
    let mut prometheus = Prometheus::start();
    let url = prometheus.url();
    let run = std::thread::spawn(move || run(&url, &[], &["-e", "DURATION=8s"]));
    std::thread::sleep(Duration::from_secs(6));
    prometheus.kill();
    let done = run.join().expect("no panic").expect(0);
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    prometheus.start_again();
    let has = prometheus.number("sum(max_over_time(k6_iterations_total[10m]))") as u64;
    assert!(has > 0 && has < all, "{has} of {all}");
    let lacks = format!("lacks {} of {all} iterations", all - has);
    done.expect_log(&lacks).expect_output(&lacks);
}

/// Takes nothing a few times. Remembers when it was asked.
fn away(refuses: usize, takes: fn() -> Reply) -> (GoodServer, Arc<Mutex<Vec<Instant>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let own = asked.clone();
    let server = GoodServer::start(move |_| {
        let mut asked = own.lock().expect("no panic");
        asked.push(Instant::now());
        if asked.len() <= refuses { Reply::status(503) } else { takes() }
    });
    (server, asked)
}

#[test]
fn a_server_that_takes_nothing_is_asked_less_often_and_told_of_once() {
    const REFUSES: usize = 4;
    let (prometheus, of_prometheus) = away(REFUSES, || Reply::status(204));
    let (collector, of_collector) = away(REFUSES, || Reply::text("").header("Content-Type", "application/x-protobuf"));
    let otlp = format!("opentelemetry={}", collector.url("/v1/metrics"));
    let flags = ["--out", &otlp, "-e", "DURATION=16s"];
    let done = run(&prometheus.url("/w"), &[("K6_OTEL_EXPORT_INTERVAL", "1s")], &flags).expect(0);
    for asked in [of_prometheus, of_collector] {
        let asked = asked.lock().expect("no panic").clone();
        // Half a second, one, two and three: steps come each second.
        for (index, least) in [500, 1_000, 2_000, 3_000].into_iter().enumerate() {
            let pause = asked[index + 1] - asked[index];
            assert!(pause >= Duration::from_millis(least) && pause < Duration::from_secs(6), "{index}: {pause:?}");
        }
        // Once it takes something it gets something each second again.
        assert!(asked.len() > REFUSES + 3, "{}", asked.len());
    }
    for (text, count) in [
        ("failed to push to Prometheus at ", 1),
        ("pushes to Prometheus at ", 1),
        ("failed to export metrics to ", 1),
        ("exports to ", 1),
        (" arrive again, after 4 that did not", 2),
    ] {
        assert_eq!(done.stderr.matches(text).count(), count, "{text} in\n{}", done.stderr);
    }
    assert!(!done.stdout.contains(" lacks "), "{}", done.stdout);
}

/// Answers as a server that has taken what it is sent. Remembers requests.
fn taking(requests: &Arc<Mutex<Vec<Incoming>>>) -> impl Fn(&Incoming) -> Reply + Send + Sync + 'static {
    let requests = requests.clone();
    move |request: &Incoming| {
        requests.lock().expect("no panic").push(request.clone());
        Reply::status(204)
    }
}

#[test]
fn a_token_goes_where_it_should_and_nowhere_else() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let server = GoodServer::start(taking(&requests));
    let token = ("K6_PROMETHEUS_RW_BEARER_TOKEN", "s3cret-word");
    let flags = ["--verbose", "-e", "DURATION=1s", "--out=result=r.onrush"];
    let done = run(&server.url("/w"), &[token], &flags).expect(0);
    assert!(!done.stdout.contains(" lacks "), "{}", done.stdout);
    // And so where it is refused.
    let refusing = GoodServer::start(|_| Reply::status(401));
    let refused = run(&refusing.url("/w"), &[token], &flags).expect(0).expect_log("it answered with status 401");
    let requests = requests.lock().expect("no panic");
    assert!(!requests.is_empty());
    for request in requests.iter() {
        assert_eq!(request.header("Authorization"), Some("Bearer s3cret-word"));
    }
    for done in [done, refused] {
        let kept = std::fs::read(done.path("r.onrush")).expect("it was written");
        let texts = [&done.stdout, &done.stderr, &done.text("s.json"), &*String::from_utf8_lossy(&kept)];
        assert!(texts.iter().all(|text| !text.contains("s3cret")), "{}", done.stderr);
    }
}

#[test]
fn a_server_that_wants_a_certificate_gets_one() {
    let authority = CertificateAuthority::new();
    let identity = authority.identity(&["127.0.0.1"]);
    let requests = Arc::new(Mutex::new(Vec::new()));
    let server = GoodServer::start_tls(authority.server_with_client_auth(&identity), taking(&requests));
    let program = || {
        let out = format!("prometheus-rw={}", server.url("/w"));
        Program::script(&["-q", "-i", "3", "--out", &out], "export default function () {}")
            .file("ca.pem", authority.pem())
            .file("cert.pem", &identity.cert_pem)
            .file("key.pem", &identity.key_pem)
            .env("SSL_CERT_FILE", "ca.pem")
    };
    let done = program()
        .env("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE", "cert.pem")
        .env("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY", "key.pem")
        .run()
        .expect(0);
    assert!(!done.stderr.contains("failed to push") && !done.stdout.contains(" lacks "), "{}", done.stderr);
    let pushed = std::mem::take(&mut *requests.lock().expect("no panic"));
    assert!(pushed.iter().any(|push| push.header("Content-Encoding") == Some("snappy") && !push.body.is_empty()));
    // Who has none gets nothing in.
    let done = program().run().expect(0).expect_log("failed to push to Prometheus at https://127.0.0.1:");
    done.expect_log("lacks 3 of 3 iterations");
    assert!(requests.lock().expect("no panic").is_empty());
}

#[test]
fn credentials_go_where_they_should_and_nowhere_else() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let heads = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("it can be read") > 0 {
            head.push(byte[0]);
        }
        let answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno secret";
        stream.write_all(answer.as_bytes()).expect("it can be written");
        String::from_utf8_lossy(&head).to_lowercase()
    });
    let env = [
        ("K6_PROMETHEUS_RW_USERNAME", "ann"),
        ("K6_PROMETHEUS_RW_PASSWORD", "s3cret-word"),
        ("K6_PROMETHEUS_RW_HEADERS_X-Scope-OrgID", "tenant"),
        ("K6_PROMETHEUS_RW_HTTP_HEADERS", "x-one:1, x-two: 2"),
    ];
    let done = run(&format!("http://{address}/api/v1/write"), &env, &[]).expect(0);
    let head = heads.join().expect("no panic");
    for line in [
        "post /api/v1/write http/1.1",
        // ann:s3cret-word
        "authorization: basic yw5uonmzy3jldc13b3jk",
        "x-scope-orgid: tenant",
        "x-one: 1",
        "x-two: 2",
        "content-encoding: snappy",
        "content-type: application/x-protobuf",
        "x-prometheus-remote-write-version: 0.1.0",
    ] {
        assert!(head.contains(line), "{line} in\n{head}");
    }
    assert!(!done.stderr.contains("s3cret") && !done.stdout.contains("s3cret"), "{}", done.stderr);
}

/// A login page, say: whoever answers so has taken nothing.
#[test]
fn a_web_page_is_no_receiver() {
    let server = GoodServer::start(|_| Reply::text("<html>").header("Content-Type", "text/html; charset=utf-8"));
    let done = run(&server.url("/api/v1/write"), &[], &[]).expect(0);
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    let done = done.expect_log("it answered with a web page (text/html)");
    done.expect_output(&format!(" lacks {all} of {all} iterations"));
}

#[test]
fn what_cannot_be_is_refused() {
    let authority = CertificateAuthority::new();
    let check = |name: &str, value: &str, expect: &str| {
        let done = Program::script(&["--out", "experimental-prometheus-rw"], SCRIPT)
            .file("cert.pem", authority.pem())
            .env(&format!("K6_PROMETHEUS_RW_{name}"), value)
            .run()
            .expect(255);
        done.expect_log("could not create the 'prometheus-rw' output: ").expect_log(expect);
    };
    check("SERVER_URL", "localhost:9090", "is no URL");
    check("PUSH_INTERVAL", "0s", "invalid K6_PROMETHEUS_RW_PUSH_INTERVAL");
    check("TREND_STATS", "p(95),nothing", "nothing");
    check("STALE_MARKERS", "maybe", "use true or false");
    check("HTTP_HEADERS", "none", "the provided header does not respect the expected format <header key>:<value>");
    check("CLIENT_CERTIFICATE", "cert.pem", "a client certificate needs its key");
    check("CLIENT_CERTIFICATE", "none.pem", "failed to load the TLS certificate: open none.pem");
    check(
        "SIGV4_REGION",
        "eu-central-1",
        "sigv4 seems to be partially configured. All of K6_PROMETHEUS_RW_SIGV4_REGION",
    );
}
