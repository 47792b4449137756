//! Each way a run can end has k6's exit code and says why in its last line.

use crate::program::Program;

fn check(flags: &[&str], script: &str, code: i32, log: &str) {
    let done = Program::script(&[&["-q"], flags].concat(), script).run().expect(code).expect_log(log);
    // Source lines may follow it.
    let last = done.stderr.lines().rfind(|line| !line.starts_with("  ")).unwrap_or_default();
    assert!(code == 0 || last.contains("level=error"), "{}", done.stderr);
}

const EMPTY: &str = "export default function () {}";

#[test]
fn runs_that_pass() {
    check(&[], EMPTY, 0, "");
    // Iterations that throw do not fail a test.
    check(&[], "export default function () { throw new Error('boom'); }", 0, "Error: boom");
    check(
        &["--no-thresholds"],
        "export const options = { thresholds: { iterations: ['count>100'] } }; export default function () {}",
        0,
        "",
    );
}

#[test]
fn the_configuration_is_wrong() {
    let options = |options: &str| format!("export const options = {options}; export default function () {{}}");
    check(&[], &options("{ vus: 'many' }"), 104, "vus");
    check(
        &[],
        &options("{ duration: '1s', stages: [{ duration: '1s', target: 1 }] }"),
        104,
        "using `duration` and `stages` options simultaneously is not allowed",
    );
    check(
        &[],
        &options("{ scenarios: { a: { executor: 'constant-vus', durationn: '1s' } } }"),
        104,
        "json: unknown field",
    );
    check(
        &[],
        &options("{ scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', exec: 'foo' } } }"),
        104,
        "executor a: function 'foo' not found in exports",
    );
    check(&[], &options("{ thresholds: { nope: ['count>1'] } }"), 104, "no metric name \\\"nope\\\" found");
    check(&[], &options("{ thresholds: { iterations: ['foo<1'] } }"), 104, "failed parsing threshold expression");
    check(&[], &options("{ paused: true }"), 104, "resumed over the REST API");
    check(&["--config", "missing.json"], EMPTY, 104, "couldn't load the configuration from \\\"missing.json\\\"");
    Program::script(&["-q"], EMPTY).env("K6_VUS", "x").run().expect(104).expect_log("K6_VUS");
}

#[test]
fn the_script_is_wrong() {
    check(&[], "throw new Error('boom');", 107, "Error: boom");
    check(&[], "export default function () { let b = ; }", 107, "script.js:1:38: ");
    check(&[], "import './missing.js'; export default function () {}", 107, "missing.js");
    check(
        &[],
        "export function setup() { throw new Error('boom'); } export default function () {}",
        107,
        "hint=\"script exception\"",
    );
    check(
        &[],
        "export function teardown() { throw new Error('boom'); } export default function () {}",
        107,
        "Error: boom",
    );
    check(&[], "if (__VU > 0) throw new Error('boom'); export default function () {}", 107, "Error: boom");
    check(&[], "export const options = {};", 255, "no exported functions in script");
    check(&[], "export const setup = 5; export default function () {}", 255, "exported 'setup' must be a function");
}

#[test]
fn time_limits() {
    let taking = |name: &str, body: &str| {
        format!(
            "import {{ sleep }} from 'k6'; export const options = {{ {name}Timeout: '100ms' }}; export default function () {{}}; export function {name}() {{ {body} }}"
        )
    };
    for body in ["sleep(9);", "for (;;);"] {
        let check = |name: &str, code: i32, end: &str| {
            check(&[], &taking(name, body), code, &format!("{name}() execution timed out after 0.1 seconds\"{end}"));
        };
        check("setup", 100, " hint=\"You can increase the time limit via the setupTimeout option\"");
        check("teardown", 101, " hint=\"You can increase the time limit via the teardownTimeout option\"");
        // k6: only logged, and the summary is the built-in one.
        check("handleSummary", 0, "");
        let done = Program::script(&["-q"], &taking("handleSummary", body)).run().expect(0);
        done.expect_log("msg=\"failed to handle the end-of-test summary\" error=").expect_output("█ TOTAL RESULTS");
    }
}

#[test]
fn the_script_decides() {
    let abort = |place: &str| format!("import exec from 'k6/execution'; {place}");
    check(&[], &abort("export default function () { exec.test.abort('why'); }"), 108, "test aborted: why");
    check(
        &[],
        &abort("export function setup() { exec.test.abort(); } export default function () {}"),
        108,
        "test aborted",
    );
    check(&[], &abort("exec.test.abort(); export default function () {}"), 108, "test aborted");
    check(&[], &abort("export default function () { exec.test.fail('why'); }"), 110, "test run was marked as failed");
    // The mark wins over thresholds.
    check(
        &[],
        &abort(
            "export const options = { thresholds: { iterations: ['count>100'] } }; export default function () { exec.test.fail('why'); }",
        ),
        110,
        "test run was marked as failed",
    );
}

#[test]
fn everything_else() {
    Program::new(&["run", "missing.js"])
        .run()
        .expect(255)
        .expect_log("The moduleSpecifier \\\"missing.js\\\" couldn't be found on local disk");
    Program::new(&["run"]).run().expect(255).expect_log("accepts 1 arg(s), received 0");
    Program::new(&["run", "--bad"]).run().expect(255).expect_log("unknown flag: --bad");
    check(
        &["-d", "10"],
        EMPTY,
        255,
        "invalid argument \\\"10\\\" for \\\"-d, --duration\\\" flag: time: missing unit in duration \\\"10\\\"",
    );
    check(&["--stage", "1"], EMPTY, 255, "error for stage 0: time: missing unit in duration \\\"1\\\"");
    check(&["--tag", "x"], EMPTY, 255, "error parsing tag 'x': invalid tag, empty value");
    check(&["--summary-mode", "x"], EMPTY, 255, "invalid summary mode");
    check(&["--env", "1a=b"], EMPTY, 255, "invalid environment variable name '1a'");
    check(&["--compatibility-mode", "x"], EMPTY, 255, "invalid compatibility mode \\\"x\\\"");
    check(&["--out", "cloud"], EMPTY, 255, "the output 'cloud' of k6 is not available in this version of Onrush");
    check(&["--traces-output", "zz"], EMPTY, 104, "invalid traces output \\\"zz\\\"");
    check(&["--log-output", "zz"], EMPTY, 255, "unsupported log output 'zz'");
    Program::script(&[], EMPTY)
        .env("K6_NO_THRESHOLDS", "zz")
        .run()
        .expect(255)
        .expect_log("env var 'K6_NO_THRESHOLDS' is not a valid boolean value");
    Program::script(&[], EMPTY).env("K6_TRACES_OUTPUT", "zz").run().expect(104).expect_log("invalid traces output");
}

#[test]
fn commands_that_only_print() {
    Program::new(&["version"]).run().expect(0).expect_output("onrush v");
    Program::new(&["--version"]).run().expect(0).expect_output("onrush v");
    Program::new(&["help", "run"]).run().expect(0).expect_output("--vu-isolation");
    Program::new(&[]).run().expect(0).expect_output("Commands:");
}
