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
