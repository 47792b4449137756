//! The end of a run whose receivers do not answer: it comes within half a minute, or with Ctrl+C, and says what each of them lacks.

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

use crate::{program::Program, server::SCRIPT};

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
    let program = Program::script(&flags, &traced()).env("URL", &server.url("/"));
    let mut running = program.env("K6_OTEL_EXPORT_INTERVAL", "1s").start();
    running.wait_for("iterations...");
    let since = Instant::now();
    let done = running.wait().expect(0);
    // Kafka has been waited for before the summary.
    assert!(since.elapsed() < Duration::from_secs(SECONDS_MAX), "{:?}\n{}", since.elapsed(), done.stderr);
    let done = done.expect_log("the run is over; waiting for ").expect_log(" s at most; Ctrl+C ends the wait");
    let server = format!("the OpenTelemetry receiver at {address}");
    let done = done
        .expect_log(&format!("{server} lacks spans: "))
        .expect_log(&format!("Prometheus at http://{address}/w lacks the end of the run"))
        .expect_log(&format!("InfluxDBv1 (http://{address}) lacks "))
        .expect_log(&format!("PostgreSQL ({address}) lacks "))
        .expect_log(&format!("kafka (t at {address}) lacks "));
    let (_, lacks) = done.stderr.split_once(&format!("{server} lacks the last ")).expect("it says so");
    let seconds: f64 = lacks.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!((2.0..10.0).contains(&seconds), "{seconds} s of a run of three");
}

#[test]
fn a_signal_ends_the_wait_and_not_the_run() {
    let (_held, address) = silent();
    let metrics = format!("opentelemetry=grpc://{address}");
    let traces = format!("otel=http://{address}");
    let prometheus = format!("prometheus-rw=http://{address}/w");
    let flags = ["-q", "--out", &metrics, "--out", &prometheus, "--traces-output", &traces, "-e", "DURATION=2s"];
    let server = GoodServer::start(|_| Reply::text("hello"));
    let program = Program::script(&flags, &traced()).env("URL", &server.url("/"));
    let mut running = program.env("K6_OTEL_EXPORT_INTERVAL", "1s").start();
    running.wait_for("iterations...");
    let since = Instant::now();
    // The program may not have come that far: a signal before that would end it.
    std::thread::sleep(Duration::from_secs(3));
    running.signal(Signal::INT);
    let done = running.wait().expect(0);
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}\n{}", since.elapsed(), done.stderr);
    let server = format!("the OpenTelemetry receiver at {address}");
    done.expect_log(&format!("{server} lacks the last "))
        .expect_log(&format!("the OpenTelemetry receiver at http://{address}/v1/traces lacks spans: "))
        .expect_log(&format!("Prometheus at http://{address}/w lacks the end of the run"));
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
