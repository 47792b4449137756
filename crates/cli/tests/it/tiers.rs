//! Where options come from, and who wins.

use crate::program::{Done, Program};

/// The line of the execution block that says what the only scenario does.
fn scenario(done: &Done) -> &str {
    done.stdout.lines().find_map(|line| line.trim().strip_prefix("* default: ")).unwrap_or(&done.stderr)
}

const SCRIPT: &str = "export const options = { vus: 2, iterations: 4 }; export default function () {}";

#[track_caller]
fn check(program: Program, expect: &str) {
    let done = program.run().expect(0);
    assert_eq!(scenario(&done), expect);
}

#[test]
fn later_tiers_win() {
    let rest = "(maxDuration: 10m0s, gracefulStop: 30s)";
    check(Program::script(&[], "export default function () {}"), &format!("1 iterations for each of 1 VUs {rest}"));
    let config = || {
        Program::script(&["--config", "c.json"], "export default function () {}")
            .file("c.json", r#"{"vus": 1, "iterations": 3}"#)
    };
    check(config(), &format!("3 iterations shared among 1 VUs {rest}"));
    check(
        Program::script(&["--config", "c.json"], SCRIPT).file("c.json", r#"{"vus": 1, "iterations": 3}"#),
        &format!("4 iterations shared among 2 VUs {rest}"),
    );
    check(Program::script(&[], SCRIPT).env("K6_ITERATIONS", "5"), &format!("5 iterations shared among 2 VUs {rest}"));
    check(
        Program::script(&["-i", "6", "--vus=3"], SCRIPT).env("K6_ITERATIONS", "5"),
        &format!("6 iterations shared among 3 VUs {rest}"),
    );
}

#[test]
fn shortcuts_of_a_higher_tier_replace_scenarios() {
    let script = "export const options = { scenarios: { other: { executor: 'per-vu-iterations' } } }; export default function () {}";
    let done = Program::script(&["-u", "2", "-i", "2"], script).run().expect(0);
    assert_eq!(scenario(&done), "2 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    done.expect_log("overrode scenarios configuration entirely");
}

#[test]
fn the_users_own_config_file_is_read() {
    let script = "export default function () {}";
    check(
        Program::script(&[], script).file(".config/onrush/config.json", r#"{"iterations": 2, "noUsageReport": true}"#),
        "2 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
    );
    let done = Program::script(&[], script)
        .file(".config/k6/config.json", r#"{"iterations": 2, "webDashboard": false, "linger": false, "foo": 1}"#)
        .run()
        .expect(0);
    assert_eq!(scenario(&done), "2 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)");
    done.expect_log("has unknown fields: foo");
    Program::script(&[], script)
        .file(".config/onrush/config.json", "{")
        .run()
        .expect(104)
        .expect_log("couldn't parse the configuration from");
}

#[test]
fn the_config_file_has_settings_of_the_program() {
    let config = r#"{"out": ["json=a.json", "csv=b.csv"], "features": ["freeze-env"], "collectors": {}}"#;
    let script = "export default function () { __ENV.NEW = '1'; }";
    let done = Program::script(&["-c", "c.json"], script).file("c.json", config).run().expect(0);
    assert!(done.text("a.json").contains("\"k6_feature_freeze_env\":\"true\""), "{}", done.text("a.json"));
    assert!(done.text("b.csv").starts_with("metric_name,timestamp,"));
    done.expect_log("TypeError: object is not extensible");
    // Flags and variables win.
    let done =
        Program::script(&["-c", "c.json", "--out", "json=f.json"], script).file("c.json", config).run().expect(0);
    assert!(!done.path("a.json").exists() && done.path("f.json").exists());
    for (config, expect) in [
        (r#"{"out": 5}"#, "out: expected a list of texts, got 5"),
        (r#"{"linger": "x"}"#, "linger: expected true or false"),
    ] {
        let program = Program::script(&["-c", "c.json"], script).file("c.json", config);
        program.run().expect(104).expect_log(expect);
    }
}

#[test]
fn feature_flags() {
    let script = "import exec from 'k6/execution';
        export const options = { tags: { a: '1', b: '1' } };
        export default function () { console.log(JSON.stringify(exec.test.options.tags)); }";
    let run = |flags: &[&str]| Program::script(flags, script).run().expect(0);
    run(&["--tag", "b=2"]).expect_log(r#"{\"b\":\"2\"}"#);
    run(&["--tag", "b=2", "--features", "merge-run-tags"])
        .expect_log(r#"{\"a\":\"1\",\"b\":\"2\",\"k6_feature_merge_run_tags\":\"true\"}"#);
    run(&["--features", "native-histograms"])
        .expect_log(r#"{\"a\":\"1\",\"b\":\"1\",\"k6_feature_native_histograms\":\"true\"}"#);
}

/// k6: a flag or variable with an empty text is as none.
#[test]
fn empty_settings_do_not_count() {
    let flags = [
        "--out",
        "",
        "--summary-mode",
        "",
        "--compatibility-mode",
        "",
        "--type",
        "",
        "--env",
        "",
        "--tag",
        "",
        "--console-output",
        "",
        "--local-ips",
        "",
        "--log-format",
        "",
        "--log-output",
        "",
        "--summary-export",
        "",
    ];
    let done = Program::script(&flags, "export default function () {}").env("K6_OUT", "").env("K6_TYPE", "").run();
    done.expect(0).expect_output("1 complete and 0 interrupted");
}

/// JSON would make `null` of it, which is as if the option were not set.
#[test]
fn options_that_are_not_numbers() {
    let check = |options: &str, expect: &str| {
        let script = format!("export const options = {options}; export default function () {{}}");
        Program::script(&[], &script).run().expect(104).expect_log(expect);
    };
    check("{ vus: parseInt(__ENV.NOT_SET), iterations: 3 }", "error parsing script options: vus is NaN\" hint=");
    check("{ iterations: 1 / 0 }", "error parsing script options: iterations is Infinity");
    check(
        "{ scenarios: { a: { executor: 'ramping-vus', stages: [{ duration: '1s', target: +'x' }] } } }",
        "scenarios.a.stages[0].target is NaN",
    );
    check("{ vus: 10n }", "vus is the BigInt 10n: write 10, or Number(10n)");
}

#[test]
fn scripts_see_the_consolidated_options() {
    let script = "import exec from 'k6/execution';
        export const options = { iterations: 1, tags: { a: 'b' } };
        export default function () { console.log(JSON.stringify([options.tags, exec.test.options.tags, exec.test.options.batch, exec.test.options.iterations])); }";
    let done = Program::script(&["--tag", "c=d", "--batch", "7"], script).run().expect(0);
    done.expect_log(r#"[{\"c\":\"d\"},{\"c\":\"d\"},7,null]"#);
}

#[test]
fn unknown_fields_only_warn() {
    let done = Program::script(&[], "export const options = { foo: 1 }; export default function () {}").run().expect(0);
    done.expect_log("level=warning msg=\"There were unknown fields in the options exported in the script\" error=\"json: unknown field \\\"foo\\\"\"");
}

#[test]
fn the_environment_reaches_the_script() {
    let script =
        "export default function () { console.log([__ENV.FROM_FLAG, __ENV.FROM_ENV, __ENV.COPIED].join('|')); }";
    let program =
        || Program::script(&["-e", "FROM_FLAG=1", "-e", "COPIED"], script).env("FROM_ENV", "2").env("COPIED", "3");
    program().run().expect_log("msg=\"1|2|3\"");
    let program = Program::script(&["-e", "FROM_FLAG=1", "--include-system-env-vars=false", "-e", "COPIED"], script);
    program.env("FROM_ENV", "2").env("COPIED", "3").run().expect_log("msg=\"1||3\"");
}

#[test]
fn segments_scale_the_test() {
    let script = "export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 8, iterations: 40 } } }; export default function () {}";
    let done = Program::script(&["--execution-segment", "0:1/4"], script).run().expect(0);
    let done = done.expect_output("scenarios: (25.00%) 1 scenario, 2 max VUs");
    done.expect_output("10 complete and 0 interrupted iterations");
}
