//! Options that do from the start what a scenario was steered to do: stages with jumps in between.

use serde_json::{Map, Value, json};

use super::{Ramp, Target, along};
use crate::{
    duration::GoDuration,
    executor::{ArrivalVus, Executor, FOREVER_NS, Stage, WhenBusy},
    scenario::{DEFAULT_EXEC, Scenario},
};

/// A change that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When, in nanoseconds after the scenario's start, pauses not counted.
    pub at_ns: u64,
    /// What was set.
    pub target: Target,
    /// What it was before.
    pub from: u64,
    /// How long it took, in nanoseconds.
    pub over_ns: u64,
}

impl Turn {
    fn ramp(&self) -> Ramp {
        Ramp { at_ns: self.at_ns, from: self.from, to: self.target.value(), over_ns: self.over_ns }
    }
}

/// The entry of `scenarios` that has this scenario do by plan what it was steered to do; `ran_ns` is how long it ran if
/// it had no end of its own. `None` for executors that cannot be steered.
///
/// Numbers of VUs and rates are whole: where a ramp was left between two of them, the nearest counts.
#[must_use]
pub fn replay(scenario: &Scenario, turns: &[Turn], ran_ns: u64) -> Option<Value> {
    let end_ns = scenario.regular_end_ns();
    let end_ns = if end_ns >= FOREVER_NS { ran_ns } else { end_ns };
    let mut turns: Vec<Turn> = turns.to_vec();
    turns.sort_by_key(|turn| turn.at_ns);
    let flat = |target: u64| vec![Stage { duration_ns: end_ns, target }];
    let mut entry = Map::new();
    let stages = match &scenario.executor {
        Executor::ConstantVus(e) => {
            let stages = vus(&mut entry, scenario, e.vus, &flat(e.vus), &turns, end_ns);
            // VUs that are taken away have as long as all have at the end.
            entry.insert("gracefulRampDown".to_owned(), json!(scenario.graceful_stop));
            stages
        }
        Executor::ExternallyControlled(e) => {
            let stages = vus(&mut entry, scenario, e.vus, &flat(e.vus), &turns, end_ns);
            // VUs that are taken away are cut at once, and at the end as well.
            entry.insert("gracefulRampDown".to_owned(), json!("0s"));
            entry.insert("gracefulStop".to_owned(), json!("0s"));
            stages
        }
        Executor::RampingVus(e) => {
            let stages = vus(&mut entry, scenario, e.start_vus, &e.stages, &turns, end_ns);
            entry.insert("gracefulRampDown".to_owned(), json!(e.graceful_ramp_down));
            stages
        }
        Executor::ConstantArrivalRate(e) => {
            rate(&mut entry, scenario, e.rate, &flat(e.rate), &turns, end_ns, (e.time_unit_ns, e.vus))
        }
        Executor::RampingArrivalRate(e) => {
            rate(&mut entry, scenario, e.start_rate, &e.stages, &turns, end_ns, (e.time_unit_ns, e.vus))
        }
        Executor::SharedIterations(_) | Executor::PerVuIterations(_) => return None,
    };
    entry.insert("stages".to_owned(), Value::Array(stages));
    Some(Value::Object(entry))
}

fn vus(
    entry: &mut Map<String, Value>,
    scenario: &Scenario,
    start: u64,
    stages: &[Stage],
    turns: &[Turn],
    end_ns: u64,
) -> Vec<Value> {
    common(entry, scenario, "ramping-vus");
    entry.insert("startVUs".to_owned(), json!(start));
    let turns: Vec<Ramp> = turns.iter().filter(|turn| matches!(turn.target, Target::Vus(_))).map(Turn::ramp).collect();
    bent(start, stages, &turns, end_ns)
}

fn rate(
    entry: &mut Map<String, Value>,
    scenario: &Scenario,
    start: u64,
    stages: &[Stage],
    turns: &[Turn],
    end_ns: u64,
    (time_unit_ns, vus): (u64, ArrivalVus),
) -> Vec<Value> {
    common(entry, scenario, "ramping-arrival-rate");
    let raised = turns.iter().filter_map(|turn| if let Target::MaxVus(max) = turn.target { Some(max) } else { None });
    entry.insert("startRate".to_owned(), json!(start));
    entry.insert("timeUnit".to_owned(), text(time_unit_ns));
    entry.insert("preAllocatedVUs".to_owned(), json!(vus.planned));
    entry.insert("maxVUs".to_owned(), json!(raised.fold(vus.max, u64::max)));
    if vus.when_busy != WhenBusy::default() {
        entry.insert("whenBusy".to_owned(), json!(vus.when_busy));
    }
    let turns: Vec<Ramp> = turns.iter().filter(|turn| matches!(turn.target, Target::Rate(_))).map(Turn::ramp).collect();
    bent(start, stages, &turns, end_ns)
}

/// What the scenario has whatever its executor is.
fn common(entry: &mut Map<String, Value>, scenario: &Scenario, executor: &str) {
    entry.insert("executor".to_owned(), json!(executor));
    if scenario.exec != DEFAULT_EXEC {
        entry.insert("exec".to_owned(), json!(scenario.exec));
    }
    if scenario.start_time > GoDuration::ZERO {
        entry.insert("startTime".to_owned(), json!(scenario.start_time));
    }
    entry.insert("gracefulStop".to_owned(), json!(scenario.graceful_stop));
    if !scenario.tags.is_empty() {
        entry.insert("tags".to_owned(), json!(scenario.tags));
    }
}

/// Stages up to the first change as they were, from then on a jump or a slope and a plateau for each.
fn bent(start: u64, stages: &[Stage], turns: &[Ramp], end_ns: u64) -> Vec<Value> {
    let stage = |duration_ns: u64, target: u64| json!({"duration": text(duration_ns), "target": target});
    let first_ns = turns.first().map_or(end_ns, |turn| turn.at_ns);
    let (mut result, mut now_ns) = (Vec::new(), 0_u64);
    for own in stages {
        let left_ns = first_ns - now_ns;
        if own.duration_ns >= left_ns && !turns.is_empty() {
            if left_ns > 0 {
                result.push(stage(left_ns, along(start, stages, first_ns)));
            }
            break;
        }
        result.push(stage(own.duration_ns, own.target));
        now_ns = now_ns.saturating_add(own.duration_ns).min(first_ns);
    }
    for (i, turn) in turns.iter().enumerate() {
        let until_ns = turns.get(i + 1).map_or_else(|| end_ns.max(turn.at_ns), |next| next.at_ns);
        // A slope may be cut by what comes next.
        let slope_end_ns = turn.end_ns().min(until_ns);
        let reached = turn.value_at(slope_end_ns);
        if turn.over_ns == 0 || slope_end_ns > turn.at_ns {
            result.push(stage(slope_end_ns - turn.at_ns, reached));
        }
        if until_ns > slope_end_ns {
            result.push(stage(until_ns - slope_end_ns, reached));
        }
    }
    result
}

fn text(ns: u64) -> Value {
    json!(GoDuration::from_ns(i64::try_from(ns).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steer::{ArrivalCourse, tests::plan};

    const S: u64 = 1_000_000_000;

    fn check(scenario: &str, turns: &[(f64, Target)], expect: &str) -> Value {
        let plan = plan(scenario);
        let turn = |&(at, target): &(f64, Target)| Turn { at_ns: (at * 1e9) as u64, target, from: 0, over_ns: 0 };
        let turns: Vec<Turn> = turns.iter().map(turn).collect();
        let value = replay(&plan.scenario, &turns, 99 * S).unwrap();
        assert_eq!(value.to_string(), expect, "{turns:?}");
        // It is a scenario again.
        super::super::tests::plan(&value.to_string());
        value
    }

    #[test]
    fn scenarios() {
        check(
            r#"{"executor": "constant-vus", "vus": 10, "duration": "1m"}"#,
            &[(12.5, Target::Vus(50)), (40.0, Target::Vus(5))],
            r#"{"executor":"ramping-vus","gracefulStop":"30s","startVUs":10,"gracefulRampDown":"30s","stages":[{"duration":"12.5s","target":10},{"duration":"0s","target":50},{"duration":"27.5s","target":50},{"duration":"0s","target":5},{"duration":"20s","target":5}]}"#,
        );
        check(
            r#"{"executor": "externally-controlled", "vus": 2, "maxVUs": 9, "duration": 0}"#,
            &[(9.0, Target::Vus(3))],
            r#"{"executor":"ramping-vus","gracefulStop":"0s","startVUs":2,"gracefulRampDown":"0s","stages":[{"duration":"9s","target":2},{"duration":"0s","target":3},{"duration":"1m30s","target":3}]}"#,
        );
        check(
            r#"{"executor": "ramping-vus", "exec": "run", "startVUs": 0, "stages": [{"duration": "10s", "target": 10}, {"duration": "10s", "target": 0}]}"#,
            &[(15.0, Target::Vus(30))],
            r#"{"executor":"ramping-vus","exec":"run","gracefulStop":"30s","startVUs":0,"gracefulRampDown":"30s","stages":[{"duration":"10s","target":10},{"duration":"5s","target":5},{"duration":"0s","target":30},{"duration":"5s","target":30}]}"#,
        );
        check(
            r#"{"executor": "constant-arrival-rate", "rate": 5, "timeUnit": "2s", "duration": "10s", "preAllocatedVUs": 2, "tags": {"a": "b"}}"#,
            &[(0.0, Target::Rate(7)), (0.0, Target::MaxVus(9))],
            r#"{"executor":"ramping-arrival-rate","gracefulStop":"30s","tags":{"a":"b"},"startRate":5,"timeUnit":"2s","preAllocatedVUs":2,"maxVUs":9,"stages":[{"duration":"0s","target":7},{"duration":"10s","target":7}]}"#,
        );
    }

    #[test]
    fn a_rate_whose_iterations_wait_goes_on_waiting() {
        let text = r#"{"executor": "constant-arrival-rate", "rate": 5, "duration": "10s", "preAllocatedVUs": 2, "whenBusy": "wait"}"#;
        let turn = Turn { at_ns: S, target: Target::Rate(7), from: 5, over_ns: 0 };
        let value = replay(&plan(text).scenario, &[turn], 99 * S).unwrap();
        assert_eq!(value["whenBusy"], "wait");
    }

    #[test]
    fn slopes_are_stages() {
        let plan = plan(r#"{"executor": "constant-vus", "vus": 10, "duration": "1m"}"#);
        let turn =
            |at: u64, from, to, over: u64| Turn { at_ns: at * S, target: Target::Vus(to), from, over_ns: over * S };
        // The second slope is cut half-way.
        let turns = [turn(10, 10, 50, 20), turn(40, 50, 0, 10), turn(45, 25, 25, 0)];
        let value = replay(&plan.scenario, &turns, 99 * S).unwrap();
        assert_eq!(
            value["stages"].to_string(),
            r#"[{"duration":"10s","target":10},{"duration":"20s","target":50},{"duration":"10s","target":50},{"duration":"5s","target":25},{"duration":"0s","target":25},{"duration":"15s","target":25}]"#
        );
    }

    /// Both start the same number of iterations, but for the one at 0 s that only constant-arrival-rate has.
    #[test]
    fn a_replayed_rate_plans_as_many_iterations() {
        let text = r#"{"executor": "constant-arrival-rate", "rate": 100, "duration": "10s", "preAllocatedVUs": 2}"#;
        let value = check(
            text,
            &[(2.25, Target::Rate(700)), (3.5, Target::Rate(10))],
            r#"{"executor":"ramping-arrival-rate","gracefulStop":"30s","startRate":100,"timeUnit":"1s","preAllocatedVUs":2,"maxVUs":2,"stages":[{"duration":"2.25s","target":100},{"duration":"0s","target":700},{"duration":"1.25s","target":700},{"duration":"0s","target":10},{"duration":"6.5s","target":10}]}"#,
        );
        let steered =
            ArrivalCourse::of(&plan(text)).unwrap().bent(Ramp::jump(9 * S / 4, 700)).bent(Ramp::jump(7 * S / 2, 10));
        assert_eq!(steered.events(), 225 + 875 + 65);
        assert_eq!(ArrivalCourse::of(&plan(&value.to_string())).unwrap().events(), steered.events());
    }
}
