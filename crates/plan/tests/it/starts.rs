//! Starts of iterations as the real k6 has made them, beside those that are planned. `k6/record_starts.py` made
//! `starts.jsonl` and says how; nothing here reads a clock.
//!
//! k6 begins an iteration when its timer fires: never early, and late by the timer, by a goroutine's turn and by whatever
//! else the machine does. Each test was run three times. The earliest of an iteration's three starts has to be within
//! [`LATENESS_MS`] after the planned one; how far the three lie apart is the recording's own jitter, and one with more than
//! [`JITTER_MAX_MS`] is not good enough to compare with.

use onrush_plan::{ExecutorPlan, HandleChange, Plan, ScenarioPlan};
use serde_json::Value;

use super::script;

#[test]
fn iterations_start_when_k6_starts_them() {
    let (mut arrivals, mut spells) = (0, 0);
    for line in include_str!("k6/starts.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let test = script(&case["options"].to_string()).unwrap();
        let plan = Plan::new(&test.scenarios, &test.share).unwrap();
        if case["spells"] == true {
            check_spells(&case, &plan);
            spells += 1;
        } else {
            check_arrivals(&case, &plan);
            arrivals += 1;
        }
    }
    assert!(arrivals >= 20 && spells >= 12, "{arrivals} {spells}");
}

/// Every iteration of the arrival executors: its number in the whole test, and when.
fn check_arrivals(case: &Value, plan: &Plan) {
    let mut expect: Vec<(u64, u64)> = plan.scenarios.iter().flat_map(arrivals_of).collect();
    let mut runs: Vec<Vec<(f64, f64)>> = case["iterations"].as_array().unwrap().iter().map(pairs).collect();
    // What is due at the very end of the last scenario races with it, in k6; of the two executors here one plans it.
    let end_ns = plan.scenarios.iter().map(|scenario| scenario.start_ns + scenario.regular_end_ns).max().unwrap();
    expect.retain(|(_, at_ns)| *at_ns < end_ns);
    for run in &mut runs {
        assert!(
            (expect.len()..=expect.len() + 1).contains(&run.len()),
            "{} and not {}: {case}",
            run.len(),
            expect.len()
        );
        if let Some((_, ms)) = run.get(expect.len()) {
            assert!((0.0..JITTER_MAX_MS).contains(&(ms - millis(end_ns))), "one more at {ms}: {case}");
        }
        run.truncate(expect.len());
    }
    for run in &runs {
        let got: Vec<u64> = run.iter().map(|(number, _)| *number as u64).collect();
        assert_eq!(got, expect.iter().map(|(number, _)| *number).collect::<Vec<_>>(), "numbers in the test: {case}");
    }
    let starts: Vec<Vec<f64>> = runs.iter().map(|run| run.iter().map(|(_, ms)| *ms).collect()).collect();
    let planned: Vec<f64> = expect.iter().map(|(_, ns)| millis(*ns)).collect();
    check_starts(case, &planned, &starts);
}

fn arrivals_of(scenario: &ScenarioPlan) -> Vec<(u64, u64)> {
    let events: Vec<u64> = match &scenario.executor {
        ExecutorPlan::ConstantArrivalRate(plan) => (0..plan.events()).map(|j| plan.event(j).unwrap().at_ns).collect(),
        ExecutorPlan::RampingArrivalRate(plan) => {
            let mut cursor = plan.cursor();
            (0..plan.events()).map(|j| cursor.event(j).unwrap().at_ns).collect()
        }
        other => panic!("{other:?} has no arrivals"),
    };
    let numbers = (0..).map(|j| scenario.iteration_in_test(j).unwrap());
    numbers.zip(events.into_iter().map(|at_ns| scenario.start_ns + at_ns)).collect()
}

/// Each spell of a VU: when it begins to work and when, at the latest, it begins its last iteration.
fn check_spells(case: &Value, plan: &Plan) {
    let mut expect: Vec<(u64, Option<u64>)> = plan.scenarios.iter().flat_map(spells_of).collect();
    expect.sort_unstable();
    let runs: Vec<Vec<(f64, f64)>> = case["vus"].as_array().unwrap().iter().map(pairs).collect();
    for run in &runs {
        assert_eq!(run.len(), expect.len(), "spells: {expect:?} {case}");
    }
    let firsts: Vec<Vec<f64>> = runs.iter().map(|run| run.iter().map(|(first, _)| *first).collect()).collect();
    let planned: Vec<f64> = expect.iter().map(|(from, _)| millis(*from)).collect();
    check_starts(case, &planned, &firsts);
    // VUs that begin together end in any order.
    let mut untils: Vec<f64> = expect.iter().filter_map(|(_, until)| until.map(millis)).collect();
    untils.sort_by(f64::total_cmp);
    let sleep = case["sleep"].as_f64().unwrap() * 1e3;
    for run in &runs {
        let mut lasts: Vec<f64> = run.iter().map(|(_, last)| *last).collect();
        lasts.sort_by(f64::total_cmp);
        for (until, last) in untils.iter().zip(&lasts) {
            let earliest = until - sleep - JITTER_MAX_MS;
            assert!(
                (earliest..until + JITTER_MAX_MS).contains(last),
                "last iteration at {last}, end at {until}: {case}"
            );
        }
    }
}

fn spells_of(scenario: &ScenarioPlan) -> Vec<(u64, Option<u64>)> {
    let from = |ns: u64| scenario.start_ns + ns;
    match &scenario.executor {
        ExecutorPlan::RampingVus(plan) => {
            let mut spells: Vec<(u64, Option<u64>)> = Vec::new();
            for handle in 0..plan.max_vus() {
                for action in plan.handle_actions_of(handle) {
                    match action.change {
                        HandleChange::Start => spells.push((from(action.at_ns), None)),
                        HandleChange::GracefulStop => spells.last_mut().unwrap().1 = Some(from(action.at_ns)),
                        HandleChange::HardStop => {}
                    }
                }
            }
            spells
        }
        ExecutorPlan::ConstantVus(plan) => vec![(from(0), Some(from(scenario.regular_end_ns))); plan.vus as usize],
        // Until somebody steers it.
        ExecutorPlan::ExternallyControlled(plan) => {
            vec![(from(0), Some(from(scenario.regular_end_ns))); plan.vus as usize]
        }
        // How many iterations each VU has is a race, or the script's own doing.
        other => vec![(from(0), None); other.planned_vus() as usize],
    }
}

/// Compares starts, in milliseconds.
fn check_starts(case: &Value, planned: &[f64], runs: &[Vec<f64>]) {
    let of = |index: usize| runs.iter().map(move |run| run[index]);
    let earliest = |index: usize| of(index).fold(f64::INFINITY, f64::min);
    let spread = |index: usize| of(index).fold(f64::NEG_INFINITY, f64::max) - earliest(index);
    let jitter = (0..planned.len()).map(spread).fold(0.0, f64::max);
    assert!(jitter < JITTER_MAX_MS, "record it again, on a quieter machine: {jitter} ms between runs of {case}");
    for (index, planned) in planned.iter().enumerate() {
        let late = earliest(index) - planned;
        assert!((0.0..LATENESS_MS).contains(&late), "start {index}, planned at {planned}, is {late} late: {case}");
    }
}

fn pairs(run: &Value) -> Vec<(f64, f64)> {
    let pair = |pair: &Value| (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
    run.as_array().unwrap().iter().map(pair).collect()
}

fn millis(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The latest of all recorded first starts is 1.94 ms late.
const LATENESS_MS: f64 = 2.5;
/// The largest distance between two runs is 5.5 ms; an iteration of a VU's spell is late by its `sleep`, too.
const JITTER_MAX_MS: f64 = 7.0;
