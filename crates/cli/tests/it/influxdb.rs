//! `--out influxdb` into a real InfluxDB 1.6: counts are the summary's, percentiles within the bound, nothing counts twice or is lost
//! when the server is away; and what versions 2 and 3 are sent.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::Command,
    time::Duration,
};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::{
    program::{Done, Program},
    server::{SCRIPT, Server, encoded, free_address, installed},
};

const READY: &str = "/ping";

/// A running InfluxDB.
pub(crate) struct Influx(Server);

fn command(address: &str, folder: &Path) -> Command {
    let mut command = Command::new(installed("influxd", "influxdb"));
    command
        .args(["run", "-config", "/dev/null"])
        .env("INFLUXDB_HTTP_BIND_ADDRESS", address)
        .env("INFLUXDB_BIND_ADDRESS", free_address())
        .env("INFLUXDB_META_DIR", folder.join("meta"))
        .env("INFLUXDB_DATA_DIR", folder.join("data"))
        .env("INFLUXDB_DATA_WAL_DIR", folder.join("wal"))
        .env("INFLUXDB_REPORTING_DISABLED", "true");
    command
}

impl Influx {
    pub(crate) fn start() -> Self {
        Self(Server::start(&free_address(), READY, command))
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        self.0.kill();
    }

    /// Starts it again over what it has kept.
    pub(crate) fn start_again(&mut self) {
        self.0.start_again(READY, command);
    }

    pub(crate) fn url(&self, rest: &str) -> String {
        format!("http://{}/{rest}", self.0.address)
    }

    /// The first value behind the time of the one row of a query.
    pub(crate) fn number(&self, database: &str, query: &str) -> f64 {
        let rows = self.rows(database, query);
        rows.first().and_then(|row| row[1].as_f64()).unwrap_or_else(|| panic!("{query}: {rows:?}"))
    }

    /// All rows of a query, of all its series.
    pub(crate) fn rows(&self, database: &str, query: &str) -> Vec<Value> {
        let path = format!("/query?db={database}&q={}", encoded(query));
        let (status, body) = self.0.get(&path).expect("it answers");
        assert_eq!(status, 200, "{query}: {body}");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        let series = answer["results"][0]["series"].as_array().cloned().unwrap_or_default();
        series.iter().flat_map(|series| series["values"].as_array().cloned().unwrap_or_default()).collect()
    }
}

fn run(url: &str, env: &[(&str, &str)], flags: &[&str]) -> Done {
    let out = format!("influxdb={url}");
    let flags = [&["-q", "--out", &out, "--summary-export", "s.json"], flags].concat();
    let program = Program::script(&flags, SCRIPT);
    env.iter().fold(program, |program, (name, value)| program.env(name, value)).run()
}

#[test]
fn it_has_what_the_summary_has() {
    let influx = Influx::start();
    for (database, agents) in [("one", &[][..]), ("two", &["--agents", "2"])] {
        // A point for the whole run, whose percentiles are the summary's.
        let done = run(&influx.url(database), &[("K6_INFLUXDB_PUSH_INTERVAL", "1h")], agents).expect(0);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |query: &str| influx.number(database, query);
        assert_eq!(number("SELECT SUM(value) FROM iterations"), of("iterations", "count"));
        // With what teardown() added.
        assert_eq!(number("SELECT SUM(value) FROM sum"), of("sum", "count"));
        assert_eq!(number("SELECT LAST(value) FROM level"), 5.0);
        assert_eq!(number("SELECT SUM(value) FROM checks"), of("checks", "passes"));
        assert_eq!(number("SELECT SUM(value) FROM odd"), of("odd", "passes"));
        assert_eq!(number("SELECT SUM(count) FROM odd"), of("odd", "passes") + of("odd", "fails"));
        assert_eq!(number("SELECT SUM(count) FROM size"), of("size", "count"));
        assert_eq!(number("SELECT MAX(max) FROM size"), of("size", "max"));
        assert_eq!(number("SELECT LAST(p95) FROM size"), of("size", "p(95)"));
        assert_eq!(number("SELECT LAST(p95) FROM time"), of("time", "p(95)"));
        let odd = number("SELECT SUM(value) FROM sum WHERE parity='odd' AND testid='t 1'");
        assert!(odd > 0.0 && odd < of("sum", "count"));
    }
}

#[test]
fn a_server_that_is_killed_lacks_nothing() {
    let mut influx = Influx::start();
    let url = influx.url("k6");
    let run = std::thread::spawn(move || run(&url, &[], &["-e", "DURATION=10s"]));
    std::thread::sleep(Duration::from_secs(6));
    influx.kill();
    std::thread::sleep(Duration::from_secs(2));
    influx.start_again();
    let done =
        run.join().expect("no panic").expect(0).expect_log("takes nothing: ").expect_log("takes what it is sent again");
    let summary = &done.json("s.json")["metrics"];
    assert_eq!(
        influx.number("k6", "SELECT SUM(value) FROM iterations"),
        summary["iterations"]["count"].as_f64().expect("a count")
    );
    assert_eq!(influx.number("k6", "SELECT SUM(value) FROM sum"), summary["sum"]["count"].as_f64().expect("a count"));
    // One point a second.
    assert!(influx.number("k6", "SELECT COUNT(value) FROM iterations") >= 10.0);
}

#[test]
fn what_a_dead_server_lacks_is_told_exactly() {
    let mut influx = Influx::start();
    let url = influx.url("k6");
    let run = std::thread::spawn(move || run(&url, &[], &["-e", "DURATION=8s"]));
    std::thread::sleep(Duration::from_secs(6));
    influx.kill();
    let done = run.join().expect("no panic").expect(0);
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    influx.start_again();
    let has = influx.number("k6", "SELECT SUM(value) FROM iterations") as u64;
    assert!(has > 0 && has < all, "{has} of {all}");
    let lacks = format!("lacks {} of {all} iterations", all - has);
    done.expect_log(&lacks).expect_output(&lacks);
}

#[test]
fn tags_that_are_fields_are_not_indexed() {
    let influx = Influx::start();
    let env = [
        ("K6_INFLUXDB_TAGS_AS_FIELDS", "parity,testid"),
        ("K6_INFLUXDB_PRECISION", "s"),
        ("ONRUSH_INFLUXDB_GZIP", "false"),
    ];
    let done = run(&influx.url("k6"), &env, &[]).expect(0);
    let summary = &done.json("s.json")["metrics"];
    assert_eq!(influx.number("k6", "SELECT SUM(value) FROM sum"), summary["sum"]["count"].as_f64().expect("a count"));
    let path = format!("/query?db=k6&q={}", encoded("SHOW TAG KEYS; SHOW FIELD KEYS FROM iterations"));
    let (_, keys) = influx.0.get(&path).expect("it answers");
    let answer: Value = serde_json::from_str(&keys).expect("JSON");
    let tags = answer["results"][0].to_string();
    assert!(!tags.contains("parity") && !tags.contains("testid") && tags.contains("scenario"), "{tags}");
    assert!(answer["results"][1].to_string().contains("testid"), "{keys}");
}

/// Answers every request, and gives the head and the body of the first one that writes.
fn listen(answer: &'static str) -> (String, std::thread::JoinHandle<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let request = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("it can be read") > 0 {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.expect("a length")];
        stream.read_exact(&mut body).expect("a body");
        stream.write_all(answer.as_bytes()).expect("it can be written");
        (head, body)
    });
    (address, request)
}

#[test]
fn version_2_gets_a_token_and_compressed_lines() {
    let (address, request) = listen("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    let env = [("ORGANIZATION", "my org"), ("TOKEN", "s3cret-word"), ("PUSH_INTERVAL", "1h")];
    let out = format!("xk6-influxdb=http://{address}/bucket");
    let program = Program::script(&["-q", "--out", &out], "export default function () {}");
    let program = env.iter().fold(program, |program, (name, value)| program.env(&format!("K6_INFLUXDB_{name}"), value));
    let done = program.run().expect(0);
    let (head, body) = request.join().expect("no panic");
    for line in [
        "POST /api/v2/write?org=my%20org&bucket=bucket&precision=ns HTTP/1.1",
        "Authorization: Token s3cret-word",
        "Content-Encoding: gzip",
    ] {
        assert!(head.contains(line), "{line} in\n{head}");
    }
    let mut lines = String::new();
    GzDecoder::new(&body[..]).read_to_string(&mut lines).expect("gzip");
    assert!(lines.contains("iterations,scenario=default value=1 "), "{lines}");
    assert!(!done.stderr.contains("s3cret") && !done.stdout.contains("s3cret"), "{}", done.stderr);
}

#[test]
fn what_is_refused_is_told_and_the_run_goes_on() {
    let answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 13\r\nConnection: close\r\n\r\nwho are you?\n";
    let (address, request) = listen(answer);
    let out = format!("xk6-influxdb=http://ann:s3cret-word@{address}/bucket");
    let done = Program::script(&["-q", "--out", &out, "-i", "3"], "export default function () {}")
        .env("K6_INFLUXDB_PUSH_INTERVAL", "1h")
        .run()
        .expect(0);
    // ann:s3cret-word
    assert!(request.join().expect("no panic").0.contains("Authorization: Basic YW5uOnMzY3JldC13b3Jk"));
    let done = done.expect_log("refused a part of the run, which it lacks: it answered with status 401: who are you?");
    let done = done.expect_log("lacks 3 of 3 iterations");
    assert!(!done.stderr.contains("s3cret"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |out: &str, expect: &str| {
        Program::script(&["--out", out], SCRIPT).run().expect(255).expect_log(expect);
    };
    check("influxdb=http://h/db?what=1", "could not create the 'influxdb' output: unknown query parameter: what");
    check("xk6-influxdb=http://h/", "could not create the 'xk6-influxdb' output: the Bucket option is required");
}

/// Takes connections, reads, and says this on each, if anything; for as long as the tests last.
fn rude(answer: Option<&'static [u8]>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 4_096];
            if let Some(answer) = answer {
                let _ = stream.read(&mut buffer).and_then(|_| stream.write_all(answer));
            } else {
                kept.push(stream);
            }
        }
    });
    address
}

#[test]
fn receivers_that_are_silent_or_talk_nonsense_cost_the_run_nothing() {
    let (silent, nonsense) = (rude(None), rude(Some(b"\0\xff nonsense \r\n\r\n")));
    let endless = rude(Some(b"HTTP/1.1 500 Oh\r\nContent-Length: 99999999999\r\n\r\nno"));
    let outs = [silent, nonsense, endless].map(|address| format!("xk6-influxdb=http://{address}/bucket"));
    let mut flags = vec!["-q", "--summary-export", "s.json"];
    outs.iter().for_each(|out| flags.extend(["--out", out]));
    let start = std::time::Instant::now();
    let done = Program::script(&flags, SCRIPT).run().expect(0);
    // They are given up at the same time, not one after the other.
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    // Four VUs that sleep 20 ms for 4 s: one that waited for an answer would have made next to none.
    assert!(all > 400, "{all}");
    assert_eq!(done.stderr.matches(&format!("lacks {all} of {all} iterations")).count(), 3, "{}", done.stderr);
}
