//! What a scenario is meant to do over time, for whoever draws it.

use crate::{
    executor::{Executor, FOREVER_NS},
    plan::ScenarioPlan,
};

/// A scenario's target over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    /// Whether it is iterations per second; else it is VUs.
    pub is_rate: bool,
    /// Times from the start of the test in nanoseconds and targets, joined by straight lines. Empty where the plan has none.
    pub points: Vec<(u64, f64)>,
}

impl ScenarioPlan {
    /// The target that its stages, or its fixed number, give it.
    #[must_use]
    pub fn planned(&self) -> Planned {
        let vus = |vus: u64| self.share_of(vus) as f64;
        // A number of iterations per time unit, of which this is a share.
        let share = self.share.length().as_f64();
        let rate = |rate: u64, time_unit_ns: u64| rate as f64 * share * 1e9 / time_unit_ns.max(1) as f64;
        let is_rate = self.executor.is_open();
        let (first, stages): (f64, Vec<(u64, f64)>) = match &self.scenario.executor {
            Executor::RampingVus(own) => {
                (vus(own.start_vus), own.stages.iter().map(|stage| (stage.duration_ns, vus(stage.target))).collect())
            }
            Executor::RampingArrivalRate(own) => {
                let at = |target| rate(target, own.time_unit_ns);
                (at(own.start_rate), own.stages.iter().map(|stage| (stage.duration_ns, at(stage.target))).collect())
            }
            Executor::ConstantArrivalRate(own) => {
                let rate = rate(own.rate, own.time_unit_ns);
                (rate, vec![(self.regular_end_ns, rate)])
            }
            Executor::ConstantVus(own) => (vus(own.vus), vec![(self.regular_end_ns, vus(own.vus))]),
            // How long iterations take is not known, nor what somebody outside asks for.
            Executor::SharedIterations(_) | Executor::PerVuIterations(_) | Executor::ExternallyControlled(_) => {
                return Planned { is_rate, points: Vec::new() };
            }
        };
        let mut points = vec![(self.start_ns, first)];
        for (duration_ns, target) in stages {
            let at_ns = points.last().map_or(0, |(at_ns, _)| *at_ns).saturating_add(duration_ns).min(FOREVER_NS);
            points.push((at_ns, target));
        }
        Planned { is_rate, points }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Plan, Tier, consolidate, parse_json};

    fn check(options: &str, expect: &[(u64, f64)]) {
        let script = parse_json(options).expect("valid");
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, script.options)]);
        let test = test.expect("valid");
        let plan = Plan::new(&test.scenarios, &test.share).expect("small");
        let points: Vec<_> =
            plan.scenarios[0].planned().points.iter().map(|(at, target)| (at / 1_000_000_000, *target)).collect();
        assert_eq!(points, expect, "{options}");
    }

    #[test]
    fn targets_are_those_of_the_plan() {
        check(r#"{"vus": 20, "duration": "1m"}"#, &[(0, 20.0), (60, 20.0)]);
        check(r#"{"vus": 20, "iterations": 100}"#, &[]);
        let stages = r#"{"stages": [{"duration": "10s", "target": 5}, {"duration": "0s", "target": 9}]}"#;
        check(stages, &[(0, 1.0), (10, 5.0), (10, 9.0)]);
        let rates = r#"{"scenarios": {"b": {"executor": "ramping-arrival-rate", "startTime": "10s", "startRate": 60,
            "timeUnit": "1m", "preAllocatedVUs": 1, "stages": [{"duration": "10s", "target": 120}]}}}"#;
        check(rates, &[(10, 1.0), (20, 2.0)]);
        check(r#"{"vus": 20, "duration": "1m", "executionSegment": "0:1/2"}"#, &[(0, 10.0), (60, 10.0)]);
    }
}
