//! Latency from the intended start: what a server that stands still cannot hide.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrush_testkit::{GoodServer, Reply};
use serde_json::Value;

use crate::program::{Done, Program};

const RATE: u32 = 200;
const SECONDS: u32 = 4;
/// Every second it stands still for so long.
const FROZEN: Duration = Duration::from_millis(200);
const STATS: &str = "p(50),p(85),p(90),p(95),p(99),count";

/// Numbers of requests, and when they were answered.
type Log = Arc<Mutex<Vec<(u32, Instant)>>>;

/// A server that stands still for a while each second, and when it answered which request.
fn freezing() -> (GoodServer, Log) {
    let log = Log::default();
    let (seen, began) = (log.clone(), Instant::now());
    let server = GoodServer::start(move |request| {
        let frozen_for = began.elapsed().subsec_nanos();
        std::thread::sleep(
            FROZEN.saturating_sub(Duration::from_nanos(frozen_for.into())).max(Duration::from_millis(1)),
        );
        let number = request.target.rsplit('/').next().and_then(|number| number.parse().ok()).expect("a number");
        seen.lock().expect("no panic").push((number, Instant::now()));
        Reply::text("ok")
    });
    (server, log)
}

fn run(url: &str, scenario: &str, more: &str) -> Done {
    let script = format!(
        "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = {{
          summaryTrendStats: '{STATS}'.split(','),
          scenarios: {{ api: {{ executor: 'constant-arrival-rate', rate: {RATE}, duration: '{SECONDS}s', preAllocatedVUs: 20, {scenario} }} }},
          {more}
        }};
        export default () => {{ http.get(`{url}/${{exec.scenario.iterationInTest}}`, {{ tags: {{ name: 'one' }} }}); }}"
    );
    Program::script(&["--summary-export", "summary.json"], &script).run()
}

fn number(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary:#}"))
}

#[test]
fn percentiles_are_those_of_the_servers_log_and_the_plan() {
    let (server, log) = freezing();
    let thresholds = "thresholds: { 'http_req_intended_duration{scenario:api}': ['p(99)<1000'], iteration_intended_duration: ['p(99)<1000'] }";
    let done = run(&server.url(""), "whenBusy: 'wait'", thresholds).expect(0);
    let summary = done.json("summary.json");
    let log = log.lock().expect("no panic");
    let intended = |number: u32| Duration::from_secs(1) * number / RATE;
    // The first answers of all say when the plan began: none is early, and some are hardly late.
    let began =
        log.iter().map(|(number, at)| *at - intended(*number)).min().expect("requests") - Duration::from_millis(1);
    let mut exact: Vec<f64> =
        log.iter().map(|(number, at)| (*at - (began + intended(*number))).as_secs_f64() * 1e3).collect();
    exact.sort_by(f64::total_cmp);
    assert_eq!(exact.len(), (RATE * SECONDS) as usize, "an iteration is missing");
    for metric in ["http_req_intended_duration", "iteration_intended_duration"] {
        assert_eq!(number(&summary, &format!("/metrics/{metric}/count")), f64::from(RATE * SECONDS), "{metric}");
        for percent in [50, 85, 90, 95, 99] {
            let known = exact[exact.len() * percent / 100];
            let reported = number(&summary, &format!("/metrics/{metric}/p({percent})"));
            // Two of a hundred, and what threads of a busy machine are late by.
            let margin = 0.02 * known + 4.0;
            assert!((reported - known).abs() <= margin, "{metric} p({percent}): {reported} ms, in truth {known} ms");
        }
    }
    // What k6 reports: only the twenty that were under way had to wait.
    let service = number(&summary, "/metrics/http_req_duration/p(85)");
    let intended = number(&summary, "/metrics/http_req_intended_duration/p(85)");
    assert!(intended > 3.0 * service, "from the intended start {intended} ms, service time {service} ms");
    assert!(summary["metrics"].get("dropped_iterations").is_none());
    // That the server made them wait is no fault of the generator.
    let reasons = summary["measurement"]["reasons"].to_string();
    assert!(!reasons.contains("began late"), "{reasons}");
}

#[test]
fn without_waiting_they_are_dropped_and_the_reason_is_told() {
    let (server, log) = freezing();
    let done = run(&server.url(""), "maxVUs: 20", "").expect(0);
    let summary = done.json("summary.json");
    let dropped = number(&summary, "/metrics/dropped_iterations/count");
    assert_eq!(log.lock().expect("no panic").len() + dropped as usize, (RATE * SECONDS) as usize);
    done.expect_output("planned iterations (").expect_output("20 VUs of scenario 'api' were ");
    assert!(summary["metrics"].get("http_req_intended_duration").is_none(), "nobody asked for it");
}

#[test]
fn it_can_be_asked_for() {
    let server = GoodServer::start(|_| Reply::text("ok"));
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{
          open: {{ executor: 'constant-arrival-rate', rate: 50, duration: '1s', preAllocatedVUs: 5 }},
          closed: {{ executor: 'shared-iterations', iterations: 7, vus: 1 }},
        }} }};
        export default () => {{ http.get('{}'); }}",
        server.url("/")
    );
    let flags = ["--intended-latency", "--agents", "2", "--summary-trend-stats", "count", "--summary-export", "s.json"];
    let done = Program::script(&flags, &script).run().expect(0);
    // Closed models intend no start.
    assert_eq!(number(&done.json("s.json"), "/metrics/http_req_intended_duration/count"), 50.0);
}

#[test]
fn what_has_not_begun_at_the_end_is_dropped() {
    let server = GoodServer::start(|_| {
        std::thread::sleep(Duration::from_millis(100));
        Reply::text("ok")
    });
    // 5 VUs get through 50 a second of 200.
    let done = run(&server.url(""), "whenBusy: 'wait', maxVUs: 5, preAllocatedVUs: 5", "").expect(0);
    let summary = done.json("summary.json");
    let (done_count, dropped) =
        (number(&summary, "/metrics/iterations/count"), number(&summary, "/metrics/dropped_iterations/count"));
    assert_eq!(done_count + dropped, f64::from(RATE * SECONDS));
    assert!((150.0..=215.0).contains(&done_count), "{done_count}");
    done.expect_output("were all busy: 200 iterations a second that take ").expect_output("raise maxVUs");
}

#[test]
fn what_to_do_when_busy_has_two_answers() {
    let done = run("http://127.0.0.1:1", "whenBusy: 'queue'", "").expect(104);
    done.expect_log("unknown variant `queue`, expected `drop` or `wait`");
}
