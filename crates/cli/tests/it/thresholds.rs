//! Thresholds decide the exit code, and may end a run early.

use crate::program::Program;

#[test]
fn crossed_thresholds_are_99() {
    let script = "
        import { check } from 'k6';
        export const options = { iterations: 4, thresholds: { 'checks{kind:good}': ['rate==1'], checks: ['rate>0.9'], iterations: ['count>=4'] } };
        export default function () { check(1, { holds: (x) => x === 1 }, { kind: 'good' }); check(1, { breaks: (x) => x === 2 }); }";
    let done = Program::script(&["-q"], script)
        .run()
        .expect(99)
        .expect_log("thresholds on metrics 'checks' have been crossed");
    let done = done
        .expect_output("✗ 'rate>0.9' rate=50.00%")
        .expect_output("{kind:good}")
        .expect_output("✓ 'rate==1' rate=100.00%");
    done.expect_output("✓ 'count>=4' count=4");
}

#[test]
fn a_threshold_may_end_the_run() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 2, duration: '20s', thresholds: { iterations: [{ threshold: 'count<1', abortOnFail: true }] } };
        export default function () { sleep(0.1); }
        export function teardown() { console.log('teardown'); }";
    let done = Program::script(&[], script).run().expect(99).expect_log("msg=teardown");
    let done = done.expect_log("thresholds on metrics 'iterations' were crossed; at least one has abortOnFail enabled, stopping test prematurely");
    done.expect_output("default ✗ [  1");
}

/// 100 arrivals a second, slow ones in the middle of the third second; nothing of it depends on how fast this machine is.
#[test]
fn windows_are_judged_on_their_own() {
    let script = "
        import { Trend, Counter } from 'k6/metrics';
        import exec from 'k6/execution';
        const slowness = new Trend('slowness'), counted = new Counter('counted');
        export const options = {
            scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '4s', preAllocatedVUs: 4 } },
            thresholds: {
                slowness: [
                    'avg<50',
                    { threshold: 'max<50', over: '1s' },
                    { threshold: 'max<50', over: '1s', for: 2 },
                    { threshold: 'max<50', after: '3s' },
                    { threshold: 'max<50', over: '1m' },
                    { threshold: 'max<1', after: '1h' },
                ],
                counted: [{ threshold: 'rate<200', over: '2s' }],
            },
        };
        export function setup() { counted.add(1000); }
        export default function () {
            const arrival = exec.scenario.iterationInTest;
            slowness.add(arrival >= 240 && arrival < 260 ? 80 : 10);
            counted.add(1);
        }
        export function teardown() { counted.add(1000); }";
    let flags = ["--threads=2", "--summary-export=out.json", "--new-machine-readable-summary"];
    let done = Program::script(&flags, script).run().expect(99);
    let done = done.expect_output("✓ 'avg<50' avg=");
    let done = done.expect_output("✓ 'rate<200 over 2s' rate=");
    let done = done.expect_output("✓ 'max<50 over 1s for 2' max=");
    let done = done.expect_output("✗ 'max<50 over 1m0s' max=80 (held in 0 % of 1 window, first crossed at 4s)");
    let done = done.expect_output("– 'max<1 after 1h0m0s' (never judged: no samples)");
    let done = done.expect_log("the threshold 'max<1 after 1h0m0s' on slowness was never judged");
    let json = done.json("out.json");
    let thresholds = json["results"]["thresholds"].as_array().expect("a list");
    let history = |source: &str| &thresholds.iter().find(|one| one["source"] == source).expect("listed")["history"];
    assert_eq!(history("max<50 over 1s")["judged"], 4);
    assert_eq!(history("rate<200 over 2s")["held"], 2);
}

#[test]
fn a_failing_window_may_end_the_run() {
    let script = "
        import { sleep } from 'k6';
        export const options = { vus: 2, duration: '30s', thresholds: {
            iterations: [{ threshold: 'rate>1000000', over: '1s', for: 2, abortOnFail: true }] } };
        export default function () { sleep(0.1); }";
    let done = Program::script(&[], script).run().expect(99);
    done.expect_log("thresholds on metrics 'iterations' were crossed; at least one has abortOnFail enabled");
}

#[test]
fn mistakes_are_104_and_pointed_at() {
    let check = |thresholds: &str, code: i32, log: &str| {
        let script = format!(
            "import {{ Trend }} from 'k6/metrics'; new Trend('mine');
            export const options = {{ thresholds: {thresholds} }}; export default function () {{}}"
        );
        Program::script(&[], &script).run().expect(code).expect_log(log);
    };
    check(
        "{ iterations: ['count>5x'] }",
        104,
        r#"parsing \"5x\": invalid syntax\n  count>5x\n         ^ thresholds.iterations[0], character 8: expected a number without a unit"#,
    );
    check("{ iterations: ['avg>5'] }", 104, "supported aggregation methods for this metric are: count, rate");
    check("{ nope: ['avg>5'] }", 104, r#"invalid threshold defined on nope; reason: no metric name \"nope\" found"#);
    check("{ mine: ['avg>5', 'count>1'] }", 104, "unsupported aggregation method count on metric of type trend");
    check(
        "{ 'mine{a:b': ['avg>5'] }",
        104,
        r#"has unmatched opening/close curly brace\n  mine{a:b\n      ^ thresholds.mine{a:b, character 5"#,
    );
    check("{ mine: 'avg>5' }", 104, "thresholds.mine");
    check("{ mine: [{ threshold: 'avg>5', over: '500ms' }] }", 104, "'over' must be a whole number of seconds from 1s");
    check(
        "{ mine: [{ threshold: 'avg>5', over: 'a' }] }",
        104,
        r#"thresholds.mine[0].over: time: invalid duration \"a\""#,
    );
    check(
        "{ mine: [{ threshold: 'avg>5', over: '1s', for: 'x' }] }",
        104,
        "thresholds.mine[0].for: expected a whole number from 0",
    );
    check(
        "{ mine: [{ threshold: 'avg>5', abortOnFail: 1 }] }",
        104,
        "thresholds.mine[0].abortOnFail: expected true or false, got 1",
    );
    check("{ mine: null, iterations: null }", 0, "");
    check("{ mine: [{ threshold: 'avg>5', for: 2 }] }", 104, "'for' counts windows, so it needs their length: 'over'");
    check("{ mine: [{ threshold: 'avg>5', over: '1s', for: 0 }] }", 104, "'for' must be at least 1");
    check("{ mine: [{ threshold: 'avg>5', after: '-1s' }] }", 104, "'after' must be a whole number of seconds");
    check(&format!("{{ mine: ['{}<5'] }}", "x".repeat(10_000)), 104, "failed parsing method from expression");
    check("{ mine: [{ threshold: 'avg<5', ovre: '1s' }] }", 0, "thresholds.mine[0]: 'ovre' is no field of a threshold");
    check("{ 'iterations{ip:1}': ['count==0'] }", 0, "needs the system tag 'ip', which is off");
}

/// NaN is no value; infinities are values without a distribution between them.
#[test]
fn odd_numbers_and_odd_tags() {
    let script = r#"
        import { Trend, Counter } from 'k6/metrics';
        const odd = new Trend('odd'), tagged = new Counter('tagged');
        const thresholds = { odd: ['max>1e308', 'min<-1e308', 'med==1', 'p(50)===1'],
            'tagged{a:{"x"}}': ['count==1'], "tagged{a:b:c}": ['count==2'], "tagged{ a : 'q' , d : e f }": ['count==3'],
            'tagged{a:ünï}': ['count==4'] };
        for (let i = 0; i < 1000; i++) { thresholds[`tagged{n:${i}}`] = [i < 3 ? 'count==1' : 'count==0']; }
        export const options = { thresholds };
        export default function () {
            [1, Infinity, -Infinity].forEach((value) => odd.add(value));
            tagged.add(1, { a: '{"x"}' }); tagged.add(2, { a: 'b:c' }); tagged.add(3, { a: 'q', d: 'e f' }); tagged.add(4, { a: 'ünï' });
            for (let i = 0; i < 3; i++) { tagged.add(1, { n: `${i}` }); }
        }"#;
    Program::script(&["-q"], script).run().expect(0);
}

#[test]
fn endless_tag_values_are_folded_with_one_warning() {
    let script = "
        import { Counter } from 'k6/metrics';
        const tagged = new Counter('tagged');
        export const options = { iterations: 40, vus: 4, cardinalityLimit: 1, thresholds: {
            'tagged{id:0-1}': ['count==1'], 'tagged{id:39-49}': ['count==1'], tagged: ['count==2000'] } };
        import exec from 'k6/execution';
        export default function () {
            for (let i = 0; i < 50; i++) { tagged.add(1, { id: `${exec.scenario.iterationInTest}-${i}` }); }
        }";
    let done = Program::script(&["-q", "--cardinality-limit=200", "--threads=2"], script).run().expect(0);
    let warnings = done.stderr.lines().filter(|line| line.contains("too many time series")).count();
    assert_eq!(warnings, 1, "{}", done.stderr);
    let done = done.expect_log("(limit 200) because of the tag 'id'").expect_log("raise --cardinality-limit");
    done.expect_output("count=2000");
    Program::script(&["--cardinality-limit=0"], script)
        .run()
        .expect(104)
        .expect_log("cardinalityLimit must be at least 1");
    Program::script(&["--cardinality-limit=x"], script).run().expect(255);
}

/// k6: a tag called like a system tag that is off is the script's own.
#[test]
fn a_name_may_be_the_scripts_own_tag() {
    let server = onrush_testkit::GoodServer::start(|_| onrush_testkit::Reply::text("hello"));
    let script = "
        import http from 'k6/http';
        export const options = { systemTags: ['url'], thresholds: {
            'http_reqs{name:x}': ['count==1'], 'http_reqs{status:200}': ['count==0'] } };
        export default function () { http.get(__ENV.URL, { tags: { name: 'x' } }); }";
    let url = format!("URL={}", server.url("/"));
    let done = Program::script(&["-e", &url], script).run().expect(0);
    done.expect_log("needs the system tag 'status', which is off");
}
