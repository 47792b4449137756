//! The end of a run whose receivers do not answer: it comes within half a minute, or with Ctrl+C, and says what each of them lacks, in the
//! log and wherever the run is judged.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::{Duration, Instant},
};

use onrush_testkit::{GoodServer, Reply};
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::Signal,
};

use crate::{
    program::{Done, Program},
    server::{SCRIPT, free_address},
};

/// The same with a span for each request.
fn traced() -> String {
    format!("import http from 'k6/http'; {SCRIPT}").replace("sleep(0.02);", "http.get(__ENV.URL); sleep(0.02);")
}

/// The system accepts connections, and nobody says anything.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    (listener, address)
}

const SECONDS_MAX: u64 = 30;

#[test]
fn all_receivers_that_do_not_answer_are_waited_for_half_a_minute_in_all() {
    let (_held, address) = silent();
    let outs = [
        format!("--out=opentelemetry=grpc://{address}"),
        format!("--out=prometheus-rw=http://{address}/w"),
        format!("--out=influxdb=http://{address}/db"),
        format!("--out=postgres=postgres://u@{address}/db?sslmode=disable"),
        format!("--out=kafka=brokers={address},topic=t"),
        format!("--out=statsd={address}"),
        format!("--traces-output=otel={address}"),
    ];
    let mut flags: Vec<&str> = outs.iter().map(String::as_str).collect();
    flags.extend(["-q", "-e", "DURATION=3s"]);
    let server = GoodServer::start(|_| Reply::text("hello"));
    let script = traced().replace("sum.add(1000000);", "console.log('over');");
    flags.extend(["--log-output=stdout", "--summary-export=s.json"]);
    let program = Program::script(&flags, &script).env("URL", &server.url("/"));
    let mut running = program.env("K6_OTEL_EXPORT_INTERVAL", "1s").start();
    running.wait_for("msg=over");
    let since = Instant::now();
    let done = running.wait().expect(0);
    assert!(since.elapsed() < Duration::from_secs(SECONDS_MAX + 3), "{:?}\n{}", since.elapsed(), done.stdout);
    let done = done.expect_output("the run is over; waiting for ").expect_output(" s at most; Ctrl+C ends the wait");
    let server = format!("the OpenTelemetry receiver at {address}");
    let done =
        done.expect_output(&format!("{server} lacks spans: ")).expect_output(&format!("kafka (t at {address}) lacks "));
    let summary = done.json("s.json");
    let count = |metric: &str| summary["metrics"][metric]["count"].as_u64().expect("a count");
    let (iterations, requests) = (count("iterations"), count("http_reqs"));
    let lacks = format!("{iterations} of {iterations} iterations and {requests} of {requests} requests");
    for receiver in [
        server,
        format!("Prometheus at http://{address}/w"),
        format!("InfluxDBv1 (http://{address})"),
        format!("PostgreSQL ({address})"),
    ] {
        is_told(&done.stdout, &format!("{receiver} lacks {lacks}"));
    }
    // Datagrams to a port that only TCP has come back.
    is_told(&done.stdout, &format!("statsd ({address}) lacks "));
    done.expect_output("outputs lack ");
}

/// The log says it, and below it the verdict of the summary.
#[track_caller]
fn is_told(output: &str, sentence: &str) {
    let (log, summary) = output.split_once("█ MEASUREMENT").expect("a summary");
    assert!(log.contains(sentence) && summary.contains(sentence), "{sentence} twice in\n{output}");
}

#[test]
fn a_signal_ends_the_wait_and_not_the_run() {
    let (_held, address) = silent();
    let metrics = format!("opentelemetry=grpc://{address}");
    let traces = format!("otel=http://{address}");
    let prometheus = format!("prometheus-rw=http://{address}/w");
    let flags = ["-q", "--out", &metrics, "--out", &prometheus, "--traces-output", &traces, "-e", "DURATION=2s"];
    let flags = [&flags[..], &["--log-output=stdout"]].concat();
    let server = GoodServer::start(|_| Reply::text("hello"));
    let program = Program::script(&flags, &traced()).env("URL", &server.url("/"));
    let mut running = program.env("K6_OTEL_EXPORT_INTERVAL", "1s").start();
    running.wait_for("the run is over; waiting for ");
    let since = Instant::now();
    running.signal(Signal::INT);
    let done = running.wait().expect(0);
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}\n{}", since.elapsed(), done.stdout);
    is_told(&done.stdout, &format!("the OpenTelemetry receiver at {address} lacks "));
    is_told(&done.stdout, &format!("Prometheus at http://{address}/w lacks "));
    done.expect_output(&format!("the OpenTelemetry receiver at http://{address}/v1/traces lacks spans: "));
}

/// Whoever ends the test has not seen its results yet.
#[test]
fn a_signal_ends_the_wait_also_where_one_has_ended_the_test() {
    let (_held, address) = silent();
    let out = format!("prometheus-rw=http://{address}/w");
    let flags = ["--out", &out, "-e", "DURATION=60s", "--log-output=stdout"];
    let mut running = Program::script(&flags, SCRIPT).start();
    running.wait_for("running (0m0");
    running.signal(Signal::INT);
    running.wait_for("the run is over; waiting for ");
    running.signal(Signal::INT);
    let done = running.wait().expect(105).expect_output("█ TOTAL RESULTS");
    is_told(&done.stdout, &format!("Prometheus at http://{address}/w lacks "));
}

/// Whatever the summary does.
#[test]
fn a_second_signal_ends_the_process_within_a_second() {
    let (_held, address) = silent();
    let out = format!("prometheus-rw=http://{address}/w");
    let flags = ["--out", &out, "--log-output=stdout"];
    let script = "import { sleep } from 'k6';
        export const options = { duration: '60s' };
        export default function () { sleep(0.1); }
        export function handleSummary() { console.log('summary'); for (;;); }";
    let mut running = Program::script(&flags, script).start();
    running.wait_for("running (0m0");
    running.signal(Signal::INT);
    running.wait_for("the run is over; waiting for ");
    running.signal(Signal::INT);
    let since = Instant::now();
    let done = running.wait().expect(105).expect_output("msg=summary");
    // A second, and what a busy machine adds.
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}\n{}", since.elapsed(), done.stdout);
}

/// Runs five iterations whose receiver is not there.
fn lacking(flags: &[&str], script: &str) -> (String, Program) {
    let address = free_address();
    let out = format!("prometheus-rw=http://{address}/w");
    let flags = [&["-q", "-i", "5", "--out", &out], flags].concat();
    (format!("Prometheus at http://{address}/w lacks 5 of 5 iterations"), Program::script(&flags, script))
}

#[test]
fn what_a_receiver_lacks_is_wherever_the_run_is_judged() {
    let script = "export default function () {}
        export function handleSummary(data) { return { 'own.json': JSON.stringify(data.measurement) }; }";
    let files = ["--out=junit=j.xml", "--out=markdown=m.md", "--out=result=r.onrush", "--out=summary-json=l.json"];
    let flags = [&files[..], &["--report=r.html", "--summary-export=s.json", "--fail-on=suspect"]].concat();
    let (sentence, program) = lacking(&flags, script);
    let done = program.run().expect(80).expect_log(&format!("level=error msg=\"{sentence}"));
    let shown = |done: &Done, name: &str| {
        let text = done.text(name);
        // Markdown has signs of its own.
        let sentence = if name == "m.md" { " lacks 5 of 5 iterations" } else { &sentence };
        assert!(text.contains(sentence), "{name}: {text}");
    };
    ["own.json", "s.json", "j.xml", "m.md", "l.json", "r.html"].into_iter().for_each(|name| shown(&done, name));
    let kept = std::fs::read(done.path("r.onrush")).expect("it was written");
    let again = Program::new(&["result", "show", "r.onrush"]).bytes("r.onrush", &kept).run().expect(0);
    again.expect_output(&sentence);
}

#[test]
fn several_agents_are_no_different() {
    let (sentence, program) = lacking(&["--agents", "2"], "export default function () {}");
    program.run().expect(0).expect_output(&sentence).expect_log(&sentence);
}

#[test]
fn a_signal_ends_the_wait_for_kafka() {
    let (_held, address) = silent();
    let out = format!("kafka=brokers={address},topic=t");
    let script = "export const options = { vus: 1, iterations: 5 }; export default function () {}
        export function teardown() { console.log('over'); }";
    let mut running = Program::script(&["-q", "--out", &out], script).start();
    let since = Instant::now();
    std::thread::sleep(Duration::from_secs(4));
    running.signal(Signal::INT);
    running.wait_for("iterations...");
    let done = running.wait().expect(0).expect_log(&format!("waiting for kafka (t at {address})"));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    done.expect_log(&format!("kafka (t at {address}) lacks "));
}

/// What receivers say of numbers is theirs.
#[test]
fn a_receiver_that_rejects_more_than_there_is() {
    // 2^63-1 data points.
    let huge = b"\x0a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
    let json = br#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"no"}}"#;
    for (kind, body) in [("application/x-protobuf", &huge[..]), ("application/json", json)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound").to_string();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let mut request = Vec::new();
                let mut part = [0; 65_536];
                // A request has its end where no more comes for a while.
                let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
                while let Ok(1..) = stream.read(&mut part).inspect(|count| request.extend_from_slice(&part[..*count])) {
                }
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let _ = stream.write_all(&[head.as_bytes(), body].concat());
            }
        });
        let out = format!("opentelemetry=http://{address}");
        let done = Program::script(&["-q", "--out", &out, "-e", "DURATION=4s"], SCRIPT)
            .env("K6_OTEL_EXPORT_INTERVAL", "1s")
            .run()
            .expect(0);
        assert!(!done.stderr.contains("panicked") && !done.stderr.contains("9223372"), "{}", done.stderr);
        done.expect_log(" data points that it rejected: ");
    }
}

#[test]
fn nothing_of_a_secret_is_shown() {
    let check = |flags: &[&str], env: &[(&str, &str)]| {
        let server = GoodServer::start(|_| Reply::text("hello"));
        let script = "import http from 'k6/http'; export default function () { http.get(__ENV.URL); }";
        let program = Program::script(flags, script).env("URL", &server.url("/"));
        let done = env.iter().fold(program, |program, (name, value)| program.env(name, value)).run();
        for secret in ["us3r", "p4ss", "SECRETXYZ"] {
            for text in [&done.stdout, &done.stderr] {
                assert!(!text.contains(secret), "{flags:?} {env:?}: {text}");
            }
        }
    };
    let outs = [
        "opentelemetry=http://us3r:p4ssw0rd@127.0.0.1:99999",
        "opentelemetry=http://us3r:p4ss#w0rd@127.0.0.1:1/x",
        "opentelemetry=http://us3r:p4ssw0rd@127.0.0.1:1",
        "opentelemetry=us3r:p4ssw0rd@127.0.0.1:4317",
        "opentelemetry=ftp://us3r:p4ssw0rd@h:1",
        "opentelemetry=grpc://us3r:p4ssw0rd@127.0.0.1:4317/path?key=SECRETXYZ",
        "prometheus-rw=us3r:p4ss@127.0.0.1:1",
        "prometheus-rw=http://us3r:p4ss@127.0.0.1:99999",
        "prometheus-rw=http://us3r:p4ss@127.0.0.1:1/w",
        "influxdb=us3r:p4ss@127.0.0.1:1/db",
        "influxdb=http://us3r:p4ss@127.0.0.1:99999/db",
        "influxdb=http://us3r:p4ss@127.0.0.1:1/db",
        "xk6-influxdb=http://us3r:p4ss@127.0.0.1:99999/db",
        "postgres=us3r:p4ss@127.0.0.1:1",
        "postgres=postgres://us3r:p4ss@127.0.0.1:99999/db",
        "postgres=postgres://us3r:p4ss@127.0.0.1:1/db",
        "statsd=us3r:p4ss@127.0.0.1:1",
        "datadog=http://us3r:p4ss@127.0.0.1:1",
        "kafka=brokers=us3r:p4ss@127.0.0.1:1,topic=t",
        "kafka=brokers=us3rp4ss@127.0.0.1:1,topic=t",
        "kafka=us3r:p4ss@127.0.0.1:1",
        "kafka=topic=t,password:SECRETXYZ",
        "kafka=brokers=127.0.0.1:1,topic=t,password=p4ss,SECRETXYZ",
        "web-dashboard=us3r:p4ss@127.0.0.1:1",
        "http://us3r:p4ss@127.0.0.1:1",
        "prometheus=http://us3r:p4ss@127.0.0.1:1",
        "cloud=SECRETXYZ",
    ];
    std::thread::scope(|scope| {
        // Some wait for their receivers.
        for turn in 0..9 {
            let own = outs.iter().skip(turn).step_by(9);
            scope.spawn(move || own.for_each(|out| check(&["--out", out], &[])));
        }
        for traces in [
            "otel=http://us3r:p4ssw0rd@127.0.0.1:99999",
            "otel=us3r:p4ssw0rd@127.0.0.1:4",
            "http://us3r:p4ssw0rd@127.0.0.1:4",
            "otlp=127.0.0.1:4,header.Authorization=SECRETXYZ",
            "otel=127.0.0.1:1,header.Authorization:SECRETXYZ",
            "otel=127.0.0.1:1,header.Authorization=a,SECRETXYZ",
            "otel=127.0.0.1:1,us3r:p4ss@h=1",
        ] {
            check(&["--traces-output", traces], &[]);
        }
        for log in [
            "loki=http://127.0.0.1:1/x,headerAuthorization:SECRETXYZ",
            "loki=http://127.0.0.1:1/x,header.Authorization=a,SECRETXYZ",
            "loki=http://us3r:p4ss@127.0.0.1:99999/x",
            "loki=us3r:p4ss@127.0.0.1:1/x",
            "loki=http://us3r:p4ss@127.0.0.1:1/x",
            "http://us3r:p4ss@127.0.0.1:1/x",
            "lokii=http://127.0.0.1/x,header.Authorization=SECRETXYZ",
        ] {
            check(&["--log-output", log], &[]);
        }
        check(&["--out", "opentelemetry"], &[("K6_OTEL_HEADERS", "SECRETXYZ")]);
        check(&["--out", "opentelemetry"], &[("OTEL_EXPORTER_OTLP_HEADERS", "SECRETXYZ")]);
        check(&["--out", "opentelemetry"], &[("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "us3r:p4ss@127.0.0.1:1")]);
        check(&["--out", "prometheus-rw"], &[("K6_PROMETHEUS_RW_HTTP_HEADERS", "SECRETXYZ")]);
        check(&["--out", "prometheus-rw"], &[("K6_PROMETHEUS_RW_SERVER_URL", "us3r:p4ss@127.0.0.1:1")]);
        check(&["--out", "influxdb"], &[("K6_INFLUXDB_ADDR", "us3r:p4ss@127.0.0.1:1")]);
        check(&["--out", "statsd"], &[("K6_STATSD_ADDR", "us3r:p4ss@127.0.0.1:1")]);
    });
}

#[test]
fn a_pipe_that_nobody_reads_is_told() {
    let pipe = |program: &Program| {
        mknodat(CWD, program.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    };
    let script = "export default function () {}";
    std::thread::scope(|scope| {
        for out in ["json", "csv", "result", "summary-json"] {
            scope.spawn(move || {
                let out = format!("{out}=pipe");
                let program = Program::script(&["-q", "--out", &out], script);
                pipe(&program);
                program.run().expect(255).expect_log("open pipe: it is a named pipe, and nobody reads it");
                let program = Program::script(&["-q", "--out", &out], script);
                pipe(&program);
                let path = program.path("pipe");
                let reader = std::thread::spawn(move || std::fs::read(path).expect("a pipe"));
                program.run().expect(0);
                assert!(!reader.join().expect("no panic").is_empty());
            });
        }
    });
}
