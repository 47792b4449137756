//! `onrush result export --to prometheus`, through promtool into a real Prometheus: counts are the summary's, and names and labels
//! those that `--out prometheus-rw` pushed of the same run.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
};

use onrush_results::{Head, Writer};
use serde_json::Value;

use crate::{
    program::{Done, Program},
    prometheus::{self, Prometheus},
    server::{Server, encoded, free_address, installed},
};

/// Has another process export a file of a run.
fn exported(done: &Done, file: &str, flags: &[&str]) -> Done {
    let words = [&["result", "export", "--to", "prometheus"], flags, &["r.onrush"]].concat();
    let bytes = std::fs::read(done.path(file)).expect("it was written");
    Program::new(&words).bytes("r.onrush", &bytes).run()
}

/// A Prometheus over the blocks that promtool makes of a text.
fn imported(text: &str) -> Server {
    Server::start(&free_address(), "/-/ready", |address, folder| {
        blocks(text, folder);
        std::fs::write(folder.join("prometheus.yml"), "global: {}\n").expect("a file");
        let mut command = Command::new(installed("prometheus", "prometheus"));
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.arg(format!("--web.listen-address={address}"));
        command
    })
}

fn blocks(text: &str, folder: &Path) {
    std::fs::write(folder.join("run.txt"), text).expect("a file");
    let done = Command::new(installed("promtool", "prometheus"))
        .args(["tsdb", "create-blocks-from", "openmetrics", "run.txt", "data"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("promtool starts");
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
}

fn query(server: &Server, query: &str) -> Vec<Value> {
    let (status, body) = server.get(&format!("/api/v1/query?query={}", encoded(query))).expect("it answers");
    assert_eq!(status, 200, "{query}: {body}");
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    answer["data"]["result"].as_array().expect("a list").clone()
}

fn number(server: &Server, text: &str) -> f64 {
    let rows = query(server, text);
    let [row] = rows.as_slice() else { panic!("{text}: {rows:?}") };
    row["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a number")
}

/// Values by labels.
fn by_labels(rows: Vec<Value>) -> BTreeMap<String, String> {
    rows.into_iter().map(|row| (row["metric"].to_string(), row["value"][1].to_string())).collect()
}

#[test]
fn prometheus_shows_what_the_summary_says() {
    let pushed = Prometheus::start();
    for (testid, agents) in [("one", &[][..]), ("two", &["--agents", "2"])] {
        let tag = format!("testid={testid}");
        let flags = [&["--out", "result=r.onrush", "--tag", &tag][..], agents].concat();
        let done = prometheus::run(&pushed.url(), &[], &flags).expect(0);
        let text = exported(&done, "r.onrush", &[]).expect(0).stdout;
        assert!(text.ends_with("\n# EOF\n"), "{text}");
        let server = imported(&text);
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let number = |query: &str| number(&server, query);
        assert_eq!(number("sum(k6_sum_total)"), of("sum", "count"));
        assert_eq!(number("sum(k6_iterations_total)"), of("iterations", "count"));
        assert_eq!((number("k6_level"), number("k6_checks_rate")), (5.0, 1.0));
        assert!((number("k6_odd_rate") - of("odd", "value")).abs() < 1e-9);
        assert_eq!((number("k6_size_count"), number("k6_size_max")), (of("size", "count"), of("size", "max")));
        // Seconds; but a count has no unit.
        assert_eq!((number("k6_time_count"), number("k6_time_max")), (of("time", "count"), 1.0));
        let is_close = |found: f64, expect: f64| (found / expect - 1.0).abs() < 1e-9;
        assert!(is_close(number("k6_time_p95"), of("time", "p(95)") / 1_000.0));
        // Each second is there, at its time, and counters only grow.
        assert!(number("count_over_time(k6_iterations_total[1h])") >= 4.0);
        assert_eq!(number("resets(k6_iterations_total[1h])"), 0.0);
        let age = number("time() - timestamp(k6_iterations_total)");
        assert!((0.0..120.0).contains(&age), "{age}");
        // The same series as were pushed, and in the end the same values.
        let same = "{__name__=~\"k6_.*_(total|rate|p99)|k6_level\"}";
        let expect = by_labels(pushed.query(&same.replace('}', &format!(",testid=\"{testid}\"}}"))));
        assert!(expect.len() > 5, "{expect:?}");
        assert_eq!(by_labels(query(&server, same)), expect);
    }
}

#[test]
fn statistics_and_tags_are_those_that_are_asked_for() {
    let flags = ["-q", "--out", "result=r.onrush"];
    let script = "import { Trend } from 'k6/metrics'; const size = new Trend('size');
        export default function () { size.add(7); }";
    let done = Program::script(&flags, script).run().expect(0);
    let text = exported(&done, "r.onrush", &["--summary-trend-stats", "p(12.5),count"]).expect(0).stdout;
    let sizes: Vec<&str> = text.lines().filter(|line| line.contains("k6_size")).collect();
    let [kind, value, count_kind, count] = sizes.as_slice() else { panic!("{sizes:?}") };
    assert_eq!((*kind, *count_kind), ("# TYPE k6_size_p125 gauge", "# TYPE k6_size_count gauge"));
    assert!(value.starts_with("k6_size_p125{") && value.contains("} 7 "), "{value}");
    assert!(count.contains("} 1 "), "{count}");
    // So that runs can be told apart that nobody gave a tag.
    let text = exported(&done, "r.onrush", &["--tag", "testid=b 17", "--tag", "scenario=other"]).expect(0).stdout;
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let has_tags = |line: &&str| line.contains("scenario=\"other\"") && line.contains("testid=\"b 17\"");
    assert!(lines.len() > 5 && lines.iter().all(has_tags), "{text}");
    exported(&done, "r.onrush", &["--tag", "testid"]).expect(104).expect_log("invalid --tag");
    exported(&done, "r.onrush", &["--summary-trend-stats", "p(200)"]).expect(104).expect_log("p(200)");
}

#[test]
fn a_file_that_knows_no_time_is_refused() {
    let file = Writer::new(Vec::new(), &Head::default()).and_then(|writer| writer.end(&Default::default()));
    let file = file.expect("memory takes it");
    let words = ["result", "export", "--to", "prometheus", "old.onrush"];
    let done = Program::new(&words).bytes("old.onrush", &file).run().expect(255);
    assert_eq!(done.stdout, "");
    let done = done.expect_log("the result file old.onrush does not say when its run began");
    done.expect_log("use --to json or --to csv");
}
