//! What a run says of what failed: tables of errors and statuses, thresholds without samples, requests without answers,
//! limits of this machine.

use std::{net::TcpListener, time::Duration};

use onrush_testsite::{TargetHandle, TargetOptions};
use rustix::process::Signal;

use crate::program::Program;

fn target() -> (TargetHandle, String) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let target = onrush_testsite::start(TargetOptions { listen, ..TargetOptions::default() }).expect("a target");
    let url = format!("http://{}", target.addr);
    (target, url)
}

#[test]
fn errors_and_statuses_have_tables() {
    let (_target, url) = target();
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ iterations: 4 }};
        export default function () {{
            http.get('{url}/status/200'); http.get('{url}/status/404?n=' + __ITER); http.get('http://127.0.0.1:1/');
        }}"
    );
    let done = Program::script(&["-q"], &script).run().expect(0);
    let done = done
        .expect_output("  █ ERRORS ")
        .expect_output("  1212     0s    0s  dial: connection refused\n      ↳ GET http://127.0.0.1:1/\n")
        .expect_output("  █ STATUS ")
        .expect_output(&format!("     404     0s    0s  GET {url}/status/404?n=0\n"));
    assert_eq!(
        done.stdout.matches("    4     200").count() + done.stdout.matches("    4     404").count(),
        2,
        "{}",
        done.stdout
    );
    // Where nothing failed there is nothing to see.
    let fine = format!("import http from 'k6/http'; export default function () {{ http.get('{url}/status/200'); }}");
    let done = Program::script(&["-q"], &fine).run().expect(0);
    assert!(!done.stdout.contains("STATUS") && !done.stdout.contains("ENDPOINTS"), "{}", done.stdout);
    let full = Program::script(&["-q", "--summary-mode=full"], &script).run().expect(0);
    full.expect_output("  █ ENDPOINTS ").expect_output("http://127.0.0.1:1/\n");
}

#[test]
fn thresholds_without_samples_have_not_passed() {
    let script = "
        export const options = { thresholds: { http_req_duration: ['p(95)<500'], http_reqs: ['count<1'] } };
        export default function () {}";
    let done = Program::script(&["-q"], script).run().expect(0);
    let done = done
        .expect_output("– 'p(95)<500' (never judged: no samples)")
        .expect_output("✓ 'count<1' count=0")
        .expect_log("the threshold 'p(95)<500' on http_req_duration was never judged");
    assert!(!done.stderr.contains("'count<1'"), "{}", done.stderr);
    Program::script(&["-q", "--fail-on", "unjudged"], script)
        .run()
        .expect(99)
        .expect_log("thresholds were never judged (--fail-on unjudged): 'p(95)<500' on http_req_duration");
    Program::script(&["-q", "--fail-on", "loud"], script)
        .run()
        .expect(255)
        .expect_log("use unjudged, exceptions, unanswered, invalid, suspect");
}

/// All checks hold, as half of the iterations throw before theirs.
#[test]
fn exceptions_are_noted_and_fail_a_run_on_request() {
    let script = "
        import { check } from 'k6';
        export const options = { iterations: 4 };
        export default function () {
          if (__ITER % 2) throw new Error('broken');
          check(1, { 'is one': (value) => value === 1 });
        }";
    Program::script(&["-q"], script)
        .run()
        .expect(0)
        .expect_output("2 of 4 iterations ended in an exception: what they did not get to is in no check or metric");
    Program::script(&["-q", "--fail-on", "invalid,exceptions"], script)
        .run()
        .expect(99)
        .expect_log("2 iterations ended in an exception (--fail-on exceptions)");
}

/// Every iteration is interrupted with a request under way: no metric knows, and the numbers look perfect.
#[test]
fn a_server_that_hangs_is_suspect() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/slow", listener.local_addr().expect("an address"));
    let script = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ a: {{
            executor: 'per-vu-iterations', vus: 3, iterations: 1, maxDuration: '1s', gracefulStop: '0s',
        }} }} }};
        export default function () {{ http.get('{url}'); }}"
    );
    Program::script(&["-q", "--fail-on", "unanswered"], &script)
        .run()
        .expect(99)
        .expect_log("too many requests had no answer (--fail-on unanswered)");
    let done = Program::script(&["-q", "--fail-on", "suspect"], &script).run().expect(80);
    done.expect_output("3 of 3 requests had no answer when their iterations were interrupted").expect_output(&format!(
        "3 requests were under way when 3 iterations were interrupted, and are not counted in any metric; the first was GET {url}"
    ));
}

/// Half of the requests fail because of our own limit, and reading /proc fails with them.
#[test]
fn want_of_descriptors_is_a_reason() {
    let (_target, url) = target();
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 100, duration: '2s' }};
        export default function () {{ http.get('{url}/status/200'); sleep(0.1); }}"
    );
    let flags = ["-q", "--force", "--threads=1", "--summary-export=out.json"];
    let done = Program::script(&flags, &script).start_with_limit(60).wait();
    // The descriptors VUs took do not cost the run its results.
    assert_eq!(done.json("out.json")["measurement"]["verdict"], "INVALID");
    done.expect_output("✗ measurement INVALID")
        .expect_output("connections failed here because no file descriptor was left: raise the hard limit");
}

#[test]
fn a_process_that_was_stopped_says_so() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 1, duration: '4s' };
        export default function () { sleep(0.1); }";
    let mut running = Program::script(&[], script).start();
    running.wait_for("running (0");
    running.signal(Signal::STOP);
    running.wait_until_it_is_stopped();
    std::thread::sleep(Duration::from_millis(400));
    running.signal(Signal::CONT);
    running.wait().expect_output("the process was stopped once (SIGSTOP or Ctrl+Z) while scenarios ran");
}

#[test]
fn names_steer_no_terminal() {
    let script = r"
        import { check } from 'k6';
        export default function () { check(1, { 'red \u001b[31m': () => true, 'a\n\n  █ FORGED\n': () => true }); }";
    for mode in ["compact", "legacy"] {
        let done = Program::script(&["-q", "--summary-mode", mode], script).run().expect(0);
        let done = done.expect_output("✓ red \u{fffd}[31m\n");
        assert!(!done.stdout.contains('\x1b'), "{}", done.stdout);
        // No line of a name looks like one of the summary.
        assert!(done.stdout.contains("FORGED") && !done.stdout.contains("\n  █ FORGED"), "{}", done.stdout);
    }
}
