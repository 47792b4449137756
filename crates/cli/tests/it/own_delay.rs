//! The generator's own delay: latencies that a busy generator makes too long are told from a slow server's.

use std::time::Duration;

use onrush_testsite::{TargetHandle, TargetOptions};
use serde_json::Value;

use crate::program::{Done, Program};

/// VUs that compute for less than a time slice whenever they wake keep one that asks waiting: all that are ready before
/// it, on one thread.
const CROWDED: &str = "
import http from 'k6/http';
import { sleep } from 'k6';
export const options = {
  insecureSkipTLSVerify: true,
  summaryTrendStats: ['med', 'p(95)', 'max'],
  scenarios: {
    asks: { executor: 'constant-vus', vus: 1, duration: '3s', exec: 'asks' },
    computes: { executor: 'constant-vus', vus: 8, duration: '3s', exec: 'computes', gracefulStop: '0s' },
  },
};
export function asks() { http.get(__ENV.URL); }
export function computes() { sleep(0.001); for (const end = Date.now() + 4; Date.now() < end;); }
";

fn target(is_http1_only: bool) -> TargetHandle {
    let any = ([127, 0, 0, 1], 0).into();
    let options = TargetOptions {
        listen: any,
        tls_listen: Some(any),
        http2: !is_http1_only,
        delay: Duration::from_millis(2),
        ..TargetOptions::default()
    };
    onrush_testsite::start(options).expect("a target")
}

fn run(script: &str, url: &str, flags: &[&str]) -> Done {
    let env = format!("URL={url}");
    let mut all = vec!["-e", env.as_str(), "--threads", "1", "--summary-export", "summary.json"];
    all.extend(flags);
    Program::script(&all, script).run()
}

fn number(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {summary:#}"))
}

#[test]
fn a_busy_generator_is_told_from_a_slow_server() {
    for (is_tls, is_http1_only) in [(false, true), (true, true), (true, false)] {
        let target = target(is_http1_only);
        let url = if is_tls {
            format!("https://{}/", target.tls_addr.expect("it speaks TLS"))
        } else {
            format!("http://{}/", target.addr)
        };
        let done = run(CROWDED, &url, &["--own-delay", "all"]).expect(0);
        let done = done.expect_output("✗ measurement INVALID");
        let done = done.expect_output("↳ latencies of scenario 'asks' are too high by the generator's own delay: ");
        let done = done.expect_output("latencies include Onrush's own delay: median ");
        let busy = done.json("summary.json");
        let (reported, own) =
            (number(&busy, "/metrics/http_req_duration/med"), number(&busy, "/measurement/own_delay_ms/med"));
        // The server takes 2 ms; the rest is the other VUs' time.
        assert!(reported > 15.0, "the generator was not busy: {reported} ms ({url})");
        let truth = reported - own;
        assert!((1.5..reported / 3.0).contains(&truth), "{reported} - {own} = {truth} ms ({url})");

        let done = run(CROWDED, &url, &["--latency", "kernel"]).expect(0);
        let kernel = done.json("summary.json");
        let median = number(&kernel, "/metrics/http_req_duration/med");
        assert!((1.5..reported / 3.0).contains(&median), "{median} ms by the kernel, {reported} ms read ({url})");
        let parts: f64 = ["sending", "waiting", "receiving"]
            .map(|part| number(&kernel, &format!("/metrics/http_req_{part}/med")))
            .iter()
            .sum();
        assert!(parts <= number(&kernel, "/metrics/http_req_duration/max"), "{parts} ms");
    }
}

#[test]
fn it_can_be_switched_off() {
    let target = target(true);
    let script = "import http from 'k6/http'; export const options = { iterations: 20 }; export default () => { http.get(__ENV.URL); }";
    let url = format!("http://{}/", target.addr);
    let measured = run(script, &url, &[]).expect(0);
    // One VU has one connection, which is the first of its thread.
    assert_eq!(number(&measured.json("summary.json"), "/measurement/own_delay_ms/requests"), 20.0);
    let off = run(script, &url, &["--own-delay", "off"]).expect(0);
    assert_eq!(off.json("summary.json")["measurement"]["own_delay_ms"], Value::Null);
    let kernel = run(script, &url, &["--latency", "kernel"]).expect(0);
    assert_eq!(kernel.json("summary.json")["measurement"]["own_delay_ms"], Value::Null);
}

#[test]
fn agents_report_theirs_and_result_files_keep_it() {
    let target = target(true);
    let url = format!("http://{}/", target.addr);
    let done = run(CROWDED, &url, &["--own-delay", "all", "--agents", "2", "--out", "result=run.onrush"]).expect(0);
    let live = done.json("summary.json");
    assert!(number(&live, "/measurement/own_delay_ms/requests") > 10.0);
    let reason = live.pointer("/measurement/reasons/0").and_then(Value::as_str).unwrap_or_default();
    assert!(reason.contains("; agent ") && reason.contains("scenario 'asks'"), "{reason}");
    let file = done.path("run.onrush");
    let shown =
        Program::new(&["result", "show", "--summary-export", "again.json", &file.to_string_lossy()]).run().expect(0);
    assert_eq!(shown.json("again.json")["measurement"], live["measurement"]);
}
