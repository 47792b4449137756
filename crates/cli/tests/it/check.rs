//! `onrush check`, and what a run refuses before its first request.

use onrush_testkit::{GoodServer, Reply};
use serde_json::{Value, json};

use crate::program::Program;

const SCRIPT: &str = "import http from 'k6/http';
    export const options = { vus: 3, duration: '10s', thresholds: { http_reqs: ['count>0'] } };
    export function setup() { http.get(__ENV.URL); }
    export default function () { http.get(__ENV.URL); }";

fn check(flags: &[&str], script: &str) -> Program {
    Program::new(&[&["check"], flags, &["script.js"]].concat()).file("script.js", script)
}

fn json_of(flags: &[&str], script: &str, code: i32) -> Value {
    let done = check(&[&["--json"], flags].concat(), script).run().expect(code);
    serde_json::from_str(&done.stdout).expect("JSON")
}

#[test]
fn a_good_script_is_described_and_no_request_is_sent() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let url = format!("URL={}", server.url("/"));
    let done = check(&["-e", &url, "--summary-export", "out.json"], SCRIPT).run().expect(0);
    for expect in ["script.js can run.", "at most 3 VUs", "1 file; k6/http", "setup()", "67 of at most", "out.json"] {
        assert!(done.stdout.contains(expect), "no {expect:?} in\n{}", done.stdout);
    }
    assert_eq!(server.requests(), 0);
    assert!(!done.path("out.json").exists());
    let found = json_of(&["-e", &url], SCRIPT, 0);
    assert_eq!((&found["ok"], &found["thresholds"], &found["lifecycle"]), (&json!(true), &json!(1), &json!(["setup"])));
    assert_eq!((&found["needs"]["maxVUs"], &found["needs"]["openFiles"]), (&json!(3), &json!(67)));
}

#[test]
fn a_rate_is_said_not_to_be_tried() {
    let text = |executor: &str| {
        let script = format!(
            "export const options = {{ scenarios: {{ a: {{ executor: {executor} }} }} }}; export default function () {{}}"
        );
        check(&[], &script).run().expect(0).stdout
    };
    assert!(
        text("'constant-arrival-rate', rate: 5e6, duration: '2s', preAllocatedVUs: 5")
            .contains("rate         not tried")
    );
    assert!(text("'constant-vus', vus: 5, duration: '2s'").contains("rate         what VUs and server reach"));
}

/// Each mistake has the exit code a run would end with.
#[test]
fn mistakes_are_found_before_the_first_request() {
    let mistake = |flags: &[&str], script: &str, code: i32, expect: &str| {
        check(flags, script).run().expect(code).expect_log(expect);
        let found = json_of(flags, script, code);
        assert_eq!((&found["ok"], &found["exitCode"]), (&json!(false), &json!(code)), "{found}");
        assert!(found["problem"].as_str().is_some_and(|text| !text.is_empty()), "{found}");
    };
    mistake(&[], "import 'k6/nope'; export default function () {}", 107, "k6/nope");
    mistake(&[], "export default function () { let a; let a; }", 107, "script.js");
    mistake(&[], "throw new Error('early'); export default function () {}", 107, "early");
    mistake(&[], "export const options = { vus: -1 }; export default function () {}", 104, "number of VUs");
    mistake(
        &[],
        "export const options = { thresholds: { nope: ['p(95)<1'] } }; export default function () {}",
        104,
        "nope",
    );
    mistake(&["--summary-export", "no/such/out.json"], SCRIPT, 255, "mkdir -p no/such");
    mistake(&["--out", "json=no/such/out.json"], SCRIPT, 255, "the folder 'no/such' does not exist");
    check(&["--flag-that-is-none"], SCRIPT).run().expect(255).expect_log("unknown flag");
}

#[test]
fn a_run_does_not_start_with_paths_it_cannot_write() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let url = format!("URL={}", server.url("/"));
    for path in ["no/such/out.json", "."] {
        let flags = ["-e", &url, "--summary-export", path];
        Program::script(&flags, SCRIPT).run().expect(255).expect_log("cannot write --summary-export");
    }
    Program::script(&["-e", &url, "--out", "csv=no/such/a.csv"], SCRIPT).run().expect(255).expect_log("no such file");
    assert_eq!(server.requests(), 0);
}

/// The file was fine when the test began, and is not any more: whoever waits for it hears of it.
#[test]
fn a_summary_that_is_lost_in_the_end_fails_the_run() {
    Program::script(&["-q", "--summary-export", "/dev/full"], "export default function () {}")
        .run()
        .expect(255)
        .expect_log("could not save '/dev/full'");
}

/// k6 goes on until the system kills it.
#[test]
fn a_test_that_is_larger_than_the_machine_is_refused() {
    let script = "import http from 'k6/http'; export default function () { http.get('http://127.0.0.1:1'); }";
    let vus = ["-u", "10000000", "-d", "1s"];
    let done = Program::script(&vus, script).run().expect(255).expect_log("10000000 VUs").expect_log("--force");
    assert!(done.peak_bytes < 4 << 30, "{} bytes", done.peak_bytes);
    let found = json_of(&vus, script, 255);
    assert!(found["problem"].as_str().is_some_and(|text| text.contains("10000000 VUs")), "{found}");
    assert_eq!(found["needs"]["vus"], 10_000_000);
    // What is only a forecast can be overruled.
    json_of(&[&vus[..], &["--force"]].concat(), script, 0);
}

/// The estimate is a lower bound, and not a useless one.
#[test]
fn memory_is_estimated_from_what_init_code_leaves() {
    // All of them run, however busy the machine is.
    let script = "import { sleep } from 'k6';
        export const options = { scenarios: { all: {
          executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: '2m',
        } } };
        const kept = Array.from({ length: 1000 }, (_, i) => ({ i, text: 'entry ' + i }));
        export default function () { sleep(1); if (kept.length < 5) throw 1; }";
    let vus = 1_000_u64;
    let flags = ["-e", "VUS=1000"];
    let estimate = json_of(&flags, script, 0)["needs"]["memoryBytes"].as_u64().expect("a number");
    let base = Program::script(&["-e", "VUS=1"], script).run().expect(0).peak_bytes;
    let peak = Program::script(&flags, script).run().expect(0).peak_bytes;
    let real = peak.saturating_sub(base);
    assert!(estimate > vus * 20_000, "{estimate}");
    assert!(estimate < real * 5 / 4 && estimate > real / 3, "estimated {estimate}, in fact {real}");
}
