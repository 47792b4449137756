//! Work that takes long within one call, beside a well-behaved VU of the same thread: the neighbour goes on, and the
//! work ends when its time is over. The table is the benchmark's: `bench/scripts/hostile.js`.

use std::time::Duration;

use onrush_js::init::IsolationMode;

use crate::harness::{Report, case};

const TABLE: &str = include_str!("../../../../bench/scripts/hostile.js");

const SCRIPT: &str = "import { sleep } from 'k6'; import { hostile } from './hostile.js';
    const scenario = (exec) => ({ executor: 'ramping-vus', exec, startVUs: 1, stages: [{ duration: '250ms', target: 1 }], gracefulStop: '0s' });
    export const options = __ENV.HOSTILE ? { scenarios: { work: scenario('work'), neighbour: scenario('neighbour') } } : {};
    export default function () { for (const name of Object.keys(hostile)) console.log(name); }
    export function work() { return hostile[__ENV.HOSTILE](); }
    export function neighbour() { sleep(0.005); console.log('here'); }";

/// A heap in which all the work fits, so that it is cut and does not fail.
const MEMORY_LIMIT: usize = 384 << 20;

/// Of the fifty turns that an idle machine gives; one without slices gives one or two.
const TURNS_MIN: usize = 5;

/// A row with fewer turns is tried so often, as others may have the processors: work that holds its thread holds it each
/// time. All else must be right in every try.
const TRIES: usize = 3;

/// What each scenario may take.
const TIME_MS: f64 = 250.0;

/// On an idle machine it is below 100 ms, which the benchmark looks at; others may be busy beside a test.
const LATE_MS_MAX: f64 = 5_000.0;

fn names() -> Vec<String> {
    let report = case(SCRIPT).file("hostile.js", TABLE).run();
    report.assert_clean();
    report.said().into_iter().map(str::to_owned).collect()
}

/// Each fourth of the table, so that these tests run side by side. Half of it in each layout.
fn check(part: usize) {
    let mut wrong = Vec::new();
    for (row, name) in names().iter().enumerate().filter(|(row, _)| row % 4 == part) {
        let layout = if row % 8 < 4 { IsolationMode::Dense } else { IsolationMode::Isolated };
        let mut tries = (0..TRIES).map(|_| turns_beside(name, layout));
        match tries.find(|turns| !matches!(turns, Ok(0..TURNS_MIN))) {
            Some(Ok(_)) => {}
            Some(Err(why)) => wrong.push(why),
            None => {
                wrong.push(format!("{name}: the neighbour had fewer than {TURNS_MIN} turns in each of {TRIES} runs"))
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The neighbour's turns beside one kind of work; an error when the work does not end as it should.
#[expect(clippy::print_stdout, reason = "figures beside the outcome, with --nocapture")]
fn turns_beside(name: &str, layout: IsolationMode) -> Result<usize, String> {
    let case = case(SCRIPT).file("hostile.js", TABLE).env("HOSTILE", name);
    let report = case.isolation(layout).memory_limit(MEMORY_LIMIT).run();
    // A thread that is held past the end is given up after two seconds, with a warning: there may be others.
    let is_given_up = report.lines.iter().any(|line| line.contains("given up"));
    let is_clean = report.stop.is_none() && report.level("error").is_empty() && !is_given_up;
    let turns = report.said().len();
    let late_ms = end_ms(&report) - TIME_MS;
    println!("{name}: {turns} turns, ended {late_ms:.1} ms after its time");
    if !is_clean || late_ms > LATE_MS_MAX {
        return Err(format!("{name}: {turns} turns, ended {late_ms:.1} ms late, {report:#?}"));
    }
    Ok(turns)
}

/// How long the scenario took that was over last.
fn end_ms(report: &Report) -> f64 {
    let progress = report.progress();
    let took = progress
        .scenarios
        .iter()
        .filter_map(|scenario| Some(scenario.ended_at?.since(scenario.started_at?).as_secs_f64()));
    took.fold(0.0, f64::max) * 1000.0
}

#[test]
fn a_neighbour_goes_on_and_the_work_ends_1() {
    check(0);
}

#[test]
fn a_neighbour_goes_on_and_the_work_ends_2() {
    check(1);
}

#[test]
fn a_neighbour_goes_on_and_the_work_ends_3() {
    check(2);
}

#[test]
fn a_neighbour_goes_on_and_the_work_ends_4() {
    check(3);
}

/// Its turns come between those of VUs that compute, not after all of them.
#[test]
fn a_neighbour_goes_on_beside_many_that_compute() {
    const VUS: usize = 50;
    // In a second; where all of them have a slice of 5 to 10 ms before it, two or three.
    const TURNS_MIN: usize = 9;
    let turns = || {
        let report = case(
            "import { sleep } from 'k6';
            const scenario = (exec, vus) => ({ executor: 'constant-vus', exec, vus, duration: '1s', gracefulStop: '0s' });
            export const options = { scenarios: { work: scenario('work', Number(__ENV.VUS)), neighbour: scenario('neighbour', 1) } };
            export function work() { for (;;); }
            export function neighbour() { sleep(0.005); console.log('here'); }",
        )
        .env("VUS", &VUS.to_string())
        .run();
        report.assert_clean();
        report.said().len()
    };
    let tried: Vec<usize> = (0..TRIES).map(|_| turns()).take_while(|turns| *turns < TURNS_MIN).collect();
    assert!(tried.len() < TRIES, "turns: {tried:?}");
}

/// VUs that compute are started in steps, of which each takes as long as all of them compute.
#[test]
fn an_interrupt_while_vus_start_ends_the_run() {
    for executor in ["constant-vus", "externally-controlled"] {
        let report = case(
            "export const options = { scenarios: { work: { executor: __ENV.EXECUTOR, vus: 100, duration: '20s' } } };
            export default function () { for (;;); }",
        )
        .env("EXECUTOR", executor)
        .interrupt_after(Duration::from_millis(300))
        .run();
        // 0 where the scenario has no end.
        let end_ms = end_ms(&report);
        assert!(end_ms > 0.0 && end_ms < LATE_MS_MAX, "{executor}: {report:#?}");
    }
}
