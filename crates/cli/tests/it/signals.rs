//! The first signal ends the run in order, the second at once.

use rustix::process::Signal;

use crate::program::Program;

const LONG: &str = "
    import { sleep } from 'k6';
    export const options = { vus: 2, duration: '60s' };
    export default function () { sleep(50); }
    export function teardown() { console.log('teardown'); sleep(__ENV.TEARDOWN); }";

/// `name` has its article.
fn check_first(signal: Signal, name: &str) {
    let mut running = Program::script(&["-e", "TEARDOWN=0"], LONG).start();
    running.wait_for("running (0m0");
    running.signal(signal);
    let done = running.wait().expect(105).expect_log("msg=teardown").expect_output("█ TOTAL RESULTS");
    done.expect_output("0 complete and 2 interrupted iterations")
        .expect_log(&format!("msg=\"test run was aborted because Onrush received {name} signal\""));
}

#[test]
fn an_interrupt_cuts_iterations_and_keeps_the_rest() {
    check_first(Signal::INT, "an 'interrupt'");
}

#[test]
fn a_termination_does_the_same() {
    check_first(Signal::TERM, "a 'terminated'");
}

/// The terminal was closed, or the connection to it: what was measured is kept.
#[test]
fn a_hangup_does_the_same() {
    check_first(Signal::HUP, "a 'hangup'");
}

/// `nohup` means that a hangup does not matter.
#[test]
fn an_ignored_hangup_does_not_matter() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 1, duration: '60s' };
        export default function () { sleep(50); }";
    let mut running = Program::script(&[], script).start_with_nohup();
    running.wait_for("running (0m0");
    running.signal(Signal::HUP);
    running.wait_for("running (0m10");
    running.signal(Signal::INT);
    running.wait().expect(105).expect_log("received an 'interrupt' signal");
}

#[test]
fn the_second_signal_ends_it_at_once() {
    let mut running = Program::script(&["-e", "TEARDOWN=50"], LONG).start();
    running.wait_for("running (0m0");
    running.signal(Signal::INT);
    running.wait_for("2 interrupted iterations");
    running.signal(Signal::INT);
    let done = running.wait().expect(105).expect_log("Aborting Onrush in response to signal");
    assert!(!done.stdout.contains("TOTAL RESULTS"), "{}", done.stdout);
}

#[test]
fn before_the_run_the_first_signal_is_enough() {
    // Init code that never ends; the script says when it is there.
    let script = "console.log('here'); for (;;) {} export default function () {}";
    let mut running = Program::script(&["--log-output=stdout"], script).start();
    running.wait_for("msg=here");
    running.signal(Signal::INT);
    running.wait().expect(105).expect_output("Aborting Onrush in response to signal");
}
