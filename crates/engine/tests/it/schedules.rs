//! Schedules on real threads: which VUs there are, who begins an arrival, what is counted.

use onrush_metrics::builtin;
use onrush_session::ExitCode;

use crate::harness::case;

/// One scenario after another on more threads than VUs: nobody gets a number that is not planned, and nobody waits.
#[test]
fn no_more_vus_than_planned() {
    let report = case(
        "import { sleep } from 'k6';
         import exec from 'k6/execution';
         const scenario = (startTime) => ({ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s', startTime });
         export const options = { scenarios: { a: scenario('0s'), b: scenario('1s'), c: scenario('2s') } };
         export default function () {
           if (exec.scenario.iterationInInstance < 2) console.log(exec.scenario.name, __VU <= 2, exec.vu.idInTest <= 2);
           sleep(0.3);
         }",
    )
    .threads(3)
    .run();
    let expect = ["a", "b", "c"].map(|name| format!("{name} true true"));
    assert_eq!(report.said_sorted(), [&expect[0], &expect[0], &expect[1], &expect[1], &expect[2], &expect[2]]);
    report.assert_clean();
}

/// VUs that cannot be made do not count against `maxVUs`.
#[test]
fn a_vu_that_fails_leaves_its_place() {
    let report = case(
        "import { sleep } from 'k6';
         if (__VU === 2 || __VU === 3) throw new Error('not this one');
         export const options = { scenarios: { a: {
           executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '2s', preAllocatedVUs: 1, maxVUs: 2,
         } } };
         export default function () { if (__ITER === 0) console.log('VU', __VU); sleep(0.2); }",
    )
    .run();
    assert_eq!(report.said_sorted(), ["VU 1", "VU 4"], "{report:#?}");
    assert_eq!(report.level("warning").iter().filter(|line| line.contains("not this one")).count(), 2, "{report:#?}");
}

/// A script that computes keeps its thread from its arrivals: the other thread, which has idle VUs, begins them.
#[test]
fn arrivals_of_a_busy_thread_begin_elsewhere() {
    let report = case(
        "export const options = { scenarios: { a: {
           executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: '3s', preAllocatedVUs: 20,
         } } };
         const text = JSON.stringify(Array.from({ length: 20000 }, (_, i) => ({ i })));
         export default function () {
           if (__VU !== 1 || __ITER !== 0) { console.log('begun'); return; }
           console.log('busy');
           for (const end = Date.now() + 1500; Date.now() < end;) JSON.parse(text);
           console.log('done');
         }",
    )
    .threads(2)
    .run();
    let said = report.said();
    let at = |what: &str| said.iter().position(|line| *line == what).expect("VU 1 was used");
    // 150 are due meanwhile, 75 of them on the other thread.
    assert!(at("done") - at("busy") > 100, "{}", at("done") - at("busy"));
    assert_eq!(said.len(), 301);
}

/// The latest value is the last one, not that of the thread that adds most.
#[test]
fn the_last_value_of_a_gauge_is_the_latest() {
    let report = case(
        "import { Gauge } from 'k6/metrics';
         const gauge = new Gauge('level');
         export const options = {
           thresholds: { level: ['value==42'] },
           scenarios: {
             often: { executor: 'shared-iterations', vus: 1, iterations: 500, exec: 'often' },
             late: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'late', startTime: '1s' },
           },
         };
         export function often() { gauge.add(1); }
         export function late() { gauge.add(42); }",
    )
    .threads(2)
    .run();
    assert_eq!(report.exit, ExitCode::Success, "{report:#?}");
}

/// k6 1.8.1: a script's own `options` become what was set, with the shortcuts.
#[test]
fn a_scripts_options_are_the_merged_ones() {
    let report = case(
        "import exec from 'k6/execution';
         export const options = { vus: 2, iterations: 2, maxRedirects: 3 };
         export default function () {
           if (exec.scenario.iterationInTest === 0) {
             console.log(options.vus, options.iterations, options.duration, options.maxRedirects, options.dns);
             console.log(exec.test.options.vus, exec.test.options.scenarios.default.vus);
           }
         }",
    )
    .options(r#"{"vus": 5, "iterations": 5}"#)
    .run();
    assert_eq!(report.said(), ["5 5 undefined 3 undefined", "undefined 5"], "{report:#?}");
}

/// VUs that a ramp takes away have `gracefulRampDown`, also where the scenario ends meanwhile and would give them longer.
#[test]
fn a_ramp_down_at_the_end_keeps_its_deadline() {
    case(
        "import { sleep } from 'k6';
         export const options = { scenarios: { ramp: {
           executor: 'ramping-vus', startVUs: 4, gracefulRampDown: '200ms', gracefulStop: '30s',
           stages: [{ duration: '300ms', target: 4 }, { duration: '200ms', target: 0 }],
         } } };
         export default function () { sleep(5); console.log('too late'); }",
    )
    .both(|report| assert_eq!((report.said(), report.iterations()), (vec![], 0.0), "{report:#?}"));
}

/// Threads that prepare VUs at different times never have more of them together than `maxVUs`.
#[test]
fn arrivals_never_grow_past_the_most_vus() {
    let report = case(
        "import { sleep } from 'k6';
         for (let i = 0; i < 300000; i++) Math.sqrt(i);
         export const options = { scenarios: { grows: {
           executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', duration: '1s', preAllocatedVUs: 3, maxVUs: 5,
         } } };
         export default function () { console.log(__VU); sleep(0.4); }",
    )
    .threads(3)
    .run();
    let mut vus = report.said();
    vus.sort_unstable();
    vus.dedup();
    assert!((3..=5).contains(&vus.len()), "{vus:?}");
    assert!(vus.iter().all(|vu| vu.parse::<u32>().is_ok_and(|vu| vu <= 5)), "{vus:?}");
    assert!(report.count(builtin::DROPPED_ITERATIONS) > 0.0, "{report:#?}");
}

/// k6: the wait is a part of the iteration.
#[test]
fn an_iteration_cut_while_it_waits_for_its_least_duration_is_interrupted() {
    case(
        "export const options = { minIterationDuration: '1m', scenarios: { a: {
           executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '200ms', target: 2 }], gracefulStop: '0s',
         } } };
         export default function () { console.log('ran'); }",
    )
    .both(|report| {
        let progress = report.progress();
        assert_eq!(report.said(), ["ran", "ran"], "{report:#?}");
        assert_eq!((progress.complete, progress.interrupted), (0, 2), "{report:#?}");
        assert_eq!((progress.scenarios[0].done, progress.scenarios[0].interrupted), (0, 2), "{report:#?}");
        // k6: the samples were made when the function had returned.
        assert_eq!(report.iterations(), 2.0);
    });
}

/// k6: what is measured when a VU is cut makes no sample. A check that its predicate did not finish has not failed.
#[test]
fn what_was_measured_when_a_vu_is_cut_makes_no_sample() {
    let scenario = |name: &str| {
        format!("{name}: {{ executor: 'constant-vus', exec: '{name}', vus: 2, duration: '1s', gracefulStop: '0s' }}")
    };
    let names = ["asleep", "asks", "busy", "inGroup", "inSession"];
    let scenarios = names.map(scenario).join(", ");
    case(&format!(
        "import {{ check, group, sleep }} from 'k6'; import http from 'k6/http'; import ws from 'k6/ws';
         export const options = {{ scenarios: {{ {scenarios} }} }};
         const waits = {{ 'it waits': () => {{ sleep(20); return true; }} }};
         export function asleep() {{ check(1, waits); }}
         export function asks() {{ check(1, {{ c: () => http.get(`http://${{__ENV.TARGET}}/delay/10`).status === 200 }}); }}
         export function busy() {{ check(1, {{ c: () => {{ for (;;) {{}} }} }}); }}
         export function inGroup() {{ group('g', () => check(1, waits)); }}
         export function inSession() {{ ws.connect(`ws://${{__ENV.TARGET}}/ws/echo`, {{}}, (socket) => {{ socket.on('open', () => check(1, waits)); socket.on('close', () => console.log('never')); }}); }}"
    ))
    .both(|report| {
        assert_eq!(report.rate(builtin::CHECKS), (0, 0), "{report:#?}");
        assert_eq!(report.iterations(), 0.0);
        assert_eq!(report.count(builtin::WS_SESSIONS), 2.0);
        assert_eq!(report.said(), [""; 0]);
        for trend in [builtin::GROUP_DURATION, builtin::WS_SESSION_DURATION] {
            assert_eq!(report.samples(trend), 0, "{trend:?}");
        }
    });
}
