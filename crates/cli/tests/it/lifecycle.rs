//! `setup()`, scenarios, `teardown()`, `handleSummary()`: order, data, failures.

use crate::program::Program;

#[test]
fn setup_data_goes_to_iterations_and_teardown() {
    let script = "
        export const options = { vus: 2, iterations: 4 };
        export function setup() { console.log('setup'); return { list: [1] }; }
        export default function (data) { data.list.push(2); console.log('iteration ' + data.list.length); }
        export function teardown(data) { console.log('teardown ' + JSON.stringify(data)); }";
    let done = Program::script(&[], script).run().expect(0);
    let lines: Vec<&str> = done.stderr.lines().filter(|line| line.contains("source=console")).collect();
    assert!(lines[0].contains("msg=setup"), "{}", done.stderr);
    // Each VU keeps its own copy over its iterations.
    assert!(lines[1..5].iter().any(|line| line.contains("iteration 2")), "{}", done.stderr);
    assert!(lines[5].contains(r#"teardown {\"list\":[1]}"#), "{}", done.stderr);
}

#[test]
fn setup_and_teardown_can_be_left_out() {
    let script = "
        export function setup() { throw new Error('setup ran'); }
        export default function (data) { console.log(typeof data); }
        export function teardown() { throw new Error('teardown ran'); }";
    Program::script(&["--no-setup", "--no-teardown"], script).run().expect(0).expect_log("msg=undefined");
}

#[test]
fn a_failed_setup_skips_the_rest() {
    let script = "
        export function setup() { throw new Error('boom'); }
        export default function () { console.log('iteration'); }
        export function teardown() { console.log('teardown'); }";
    let done = Program::script(&[], script).run().expect(107).expect_output("Run       [ 100% ] setup()");
    assert!(!done.stderr.contains("source=console"), "{}", done.stderr);
}

#[test]
fn teardown_runs_after_an_abort() {
    let script = "
        import exec from 'k6/execution';
        export const options = { vus: 3, duration: '20s' };
        export default function () { if (exec.vu.idInTest === 1) { exec.test.abort(); } }
        export function teardown() { console.log('teardown'); }";
    Program::script(&[], script).run().expect(108).expect_log("msg=teardown").expect_log("test aborted");
}

#[test]
fn several_scenarios_each_call_their_function() {
    let script = "
        const one = (exec, more) => ({ executor: 'per-vu-iterations', vus: 1, exec, ...more });
        export const options = { scenarios: { first: one('a', { env: { NAME: 'x' }, tags: { t: 'u' } }), second: one('b', { startTime: '100ms' }) } };
        export function a() { console.log('a ' + __ENV.NAME); }
        export function b() { console.log('b ' + __ENV.NAME); }";
    let done = Program::script(&[], script).run().expect(0).expect_log("msg=\"a x\"").expect_log("msg=\"b undefined\"");
    let done = done.expect_output("2 scenarios, 2 max VUs");
    done.expect_output(
        "* second: 1 iterations for each of 1 VUs (maxDuration: 10m0s, exec: b, startTime: 100ms, gracefulStop: 30s)",
    );
}

#[test]
fn a_run_without_a_whole_iteration_is_warned_about() {
    let script = "import { sleep } from 'k6';
        export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
        export default function () { sleep(9); }";
    let done = Program::script(&[], script).run().expect(0);
    done.expect_log("No script iterations fully finished, consider making the test duration longer")
        .expect_output("0 complete and 1 interrupted iterations");
}

#[test]
fn handle_summary_writes_streams_and_files() {
    let script = "
        export function setup() { return 7; }
        export default function () {}
        export function handleSummary(data) {
            return { stdout: 'own text\\n', stderr: 'to stderr\\n', 'out/bytes.bin': new Uint8Array([1, 2, 255]).buffer,
                'data.json': JSON.stringify([data.metrics.iterations.values.count, data.setup_data, data.state.isStdOutTTY]) };
        }";
    let done = Program::script(&["-q"], script).file("out/kept", "").run().expect(0);
    assert_eq!(done.stdout, "own text\n");
    assert_eq!(done.text("data.json"), "[1,7,false]");
    assert_eq!(std::fs::read(done.path("out/bytes.bin")).expect("written"), [1, 2, 255]);
    done.expect_log("to stderr\n").expect_log("the measurement is ");
}

#[test]
fn a_failing_handle_summary_falls_back_to_the_text() {
    let check = |body: &str, log: &str| {
        let script = format!("export default function () {{}}\nexport {body}");
        Program::script(&["-q"], &script).run().expect(0).expect_log(log).expect_output("█ TOTAL RESULTS");
    };
    check("function handleSummary() { throw new Error('bad'); }", "msg=\"Error: bad");
    check("function handleSummary() { return 5; }", "handleSummary() should return a map with string keys");
    check("function handleSummary() { return null; }", "");
    check("const handleSummary = 5;", "exported identifier handleSummary must be a function");
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let script = "export default function () {}\nexport function handleSummary() { return { 'missing/x.txt': 'x' }; }";
    Program::script(&["-q"], script).run().expect(0).expect_log("could not open 'missing/x.txt'");
}

#[test]
fn disabled_summaries_call_nothing() {
    let script = "export default function () {}\nexport function handleSummary() { console.log('called'); }";
    for flags in [["-q", "--summary-mode=disabled"], ["-q", "--no-summary"]] {
        let done = Program::script(&flags, script).run().expect(0);
        assert_eq!((done.stdout.as_str(), done.stderr.contains("called")), ("", false));
    }
}

/// k6: the iteration that ends the test has its samples; it is interrupted as those it cuts are.
#[test]
fn the_iteration_that_aborts_has_samples() {
    let script = "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 5 } } };
        export default function () { if (exec.vu.idInTest === 1) { sleep(0.2); exec.test.abort('because'); } sleep(5); }";
    let done = Program::script(&["--summary-export=out.json"], script).run().expect(108);
    let done = done.expect_output("0 complete and 3 interrupted iterations").expect_log("test aborted: because");
    assert_eq!(done.json("out.json")["metrics"]["iterations"]["count"], 1);
    assert!(done.json("out.json")["metrics"]["dropped_iterations"].is_null());
}

/// k6: progress by iterations counts those that have ended.
#[test]
fn progress_counts_what_has_ended() {
    let script = "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 4, iterations: 8 } } };
        export default function () {
            const begun = exec.scenario.iterationInTest, before = exec.scenario.progress;
            if (before > begun / 8) { throw new Error('ahead'); }
            console.log(begun + ' began at ' + before);
            sleep(0.2);
        }";
    let done = Program::script(&[], script).run().expect(0).expect_log("3 began at 0\"").expect_log("7 began at 0.5");
    assert!(!done.stderr.contains("ahead"), "{}", done.stderr);
}

/// k6: `vus` counts VUs that run an iteration, where arrivals wait for VUs too.
#[test]
fn vus_that_wait_for_an_arrival_are_not_active() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 2, duration: '2400ms', preAllocatedVUs: 9 } } };
        export default function () { sleep(0.7); }";
    let json = Program::script(&["--summary-export=out.json"], script).run().expect(0).json("out.json");
    assert!(json["metrics"]["vus"]["max"].as_f64().is_some_and(|max| (1.0..=2.0).contains(&max)), "{json}");
    assert_eq!(json["metrics"]["vus_max"]["value"], 9);
}

#[test]
fn iterations_a_closed_model_never_began_are_only_noted() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 2, iterations: 20, maxDuration: '1s' } } };
        export default function () { sleep(0.3); }";
    let done = Program::script(&[], script).run().expect(0);
    let done =
        done.expect_output("scenario 'a' reached its maxDuration with 12 of its iterations never begun (8 ended)");
    assert!(!done.stdout.contains("were dropped"), "{}", done.stdout);
}

/// k6: `iterationInScenario` counts a VU's iterations in a scenario, however often it is taken away and comes back.
#[test]
fn a_vu_that_comes_back_counts_on() {
    let script = "
        import exec from 'k6/execution';
        import { sleep } from 'k6';
        const stages = [[0.2, 1], [0, 0], [0.5, 0], [0, 1], [0.2, 1]];
        export const options = { scenarios: {
            a: { executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0s', gracefulStop: '0s',
                 stages: stages.map(([s, target]) => ({ duration: `${s}s`, target })) },
            b: { executor: 'per-vu-iterations', iterations: 2, startTime: '0.3s', maxDuration: '1s', gracefulStop: '0s' },
        } };
        export default function () { sleep(0.15); console.log(exec.scenario.name + exec.vu.iterationInScenario); }";
    let done = Program::script(&["--threads", "1"], script).run().expect(0);
    let lines = done.stderr.lines().filter_map(|line| line.split("msg=").nth(1)?.split(' ').next());
    assert_eq!(lines.collect::<Vec<_>>().join(" "), "a0 b0 b1 a2", "{}", done.stderr);
}

/// k6: a scenario whose VUs are all gone for good is over, and its line says so.
#[test]
fn ramping_vus_end_with_the_last_of_them() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0.5s',
            stages: [{ duration: '0.3s', target: 1 }, { duration: '0s', target: 0 }, { duration: '60s', target: 0 }] } } };
        export default function () { sleep(0.1); }";
    Program::script(&[], script).run().expect(0).expect_output("a    \u{2713} [ 100% ] 0/1 VUs  300ms");
}

/// A line of progress shows when its scenario ended, not when it was last looked at.
#[test]
fn progress_shows_when_a_scenario_ended() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: {
            fast: { executor: 'shared-iterations' },
            slow: { executor: 'shared-iterations', startTime: '0.3s' } } };
        export default function () {}";
    let done = Program::script(&[], script).run().expect(0);
    done.expect_output("fast \u{2713} [ 100% ] 1 VUs  00m00.0s/10m0s  1/1 shared iters");
}

/// Which scenario it is must be told: there may be many.
#[test]
fn an_exhausted_pool_names_its_scenario() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: { poor: {
            executor: 'constant-arrival-rate', rate: 50, duration: '1s', preAllocatedVUs: 1, gracefulStop: '0s' } } };
        export default function () { sleep(0.5); }";
    Program::script(&[], script).run().expect(0).expect_log(
        "msg=\"Insufficient VUs, reached 1 active VUs and cannot initialize more\" executor=constant-arrival-rate scenario=poor",
    );
}

/// k6: the VU whose init code fails is told.
#[test]
fn failing_init_code_names_its_vu() {
    let check = |body: &str, code: i32, hint: &str| {
        let script = format!(
            "import exec from 'k6/execution'; export const options = {{ vus: 2, iterations: 2 }};
            if (__VU === 2) {{ {body} }}
            export default function () {{}}"
        );
        Program::script(&[], &script).run().expect(code).expect_log(hint);
    };
    check("throw new Error('x');", 107, "hint=\"error while initializing VU #2 (script exception)\"");
    check("exec.test.abort('x');", 108, "msg=\"test aborted: x at file://");
    check("exec.test.abort('x');", 108, "script.js:2:41\" hint=\"error while initializing VU #2\"");
}

/// k6: `vus` is read each second from the start, so the last second of a test has its VUs.
#[test]
fn vus_are_read_before_they_are_gone() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 3, duration: '1s' };
        export default function () { sleep(0.1); }";
    let done = Program::script(&["--summary-export=out.json"], script).run().expect(0);
    let vus = &done.json("out.json")["metrics"]["vus"];
    assert_eq!((&vus["value"], &vus["min"], &vus["max"]), (&3.into(), &3.into(), &3.into()), "{vus}");
}

/// What a run does one after the other, for who looks for what it does not do.
#[test]
fn verbose_shows_the_way_of_a_run() {
    let script = "
        export const options = { vus: 2, iterations: 2, tags: { a: 'b' } };
        export function setup() {}
        export function teardown() {}
        export default function () {}";
    let done = Program::script(&["--verbose", "--threads", "1"], script).run().expect(0);
    let expect = [
        "loaded script.js (1 module)",
        "merged options: {",
        "initializing 2 VUs on 1 threads, layout dense",
        "2 VUs are initialized",
        "running setup()",
        "starting 2 iterations shared among 2 VUs",
        "all scenarios are over",
        "running teardown()",
        "nothing is left to run",
        "making the end-of-test summary",
    ];
    let found: Vec<Option<usize>> = expect.iter().map(|text| done.stderr.find(text)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?}: {}", done.stderr);
    let quiet = Program::script(&[], script).run().expect(0);
    assert!(!quiet.stderr.contains("level=debug"), "{}", quiet.stderr);
}

/// A run that is ended while it is paused was paused.
#[test]
fn a_paused_run_ends_paused() {
    let script = "export default function () {}";
    let mut running = Program::script(&["--paused", "-v", "--log-output=stdout", "-a", "127.0.0.1:0"], script).start();
    running.wait_for("1 VUs are initialized");
    running.signal(rustix::process::Signal::INT);
    running.wait().expect(105).expect_output("Run       [ 100% ] paused");
}

/// What an arrival rate plans either runs or is told of, also where a generator is late when the test ends.
#[test]
fn planned_iterations_run_or_are_dropped() {
    let script = "
        const load = { executor: 'constant-arrival-rate', rate: 1000, duration: '1s', preAllocatedVUs: 50 };
        export const options = { scenarios: { load } };
        export default function () { const end = Date.now() + 4; while (Date.now() < end); }";
    for threads in ["1", "2"] {
        let done = Program::script(&["-q", "--threads", threads, "--summary-export=out.json"], script).run().expect(0);
        let metrics = &done.json("out.json")["metrics"];
        let count = |metric: &str| metrics[metric]["count"].as_u64().unwrap_or(0);
        let (ran, dropped) = (count("iterations"), count("dropped_iterations"));
        assert_eq!(ran + dropped, 1000, "{threads} threads: {ran} ran, {dropped} dropped");
    }
}
