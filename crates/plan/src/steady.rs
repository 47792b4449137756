//! When a plan asks for the same load all the time.

use crate::{
    executor::{Executor, Stage},
    plan::Plan,
    scenario::Scenario,
};

impl Plan {
    /// Whether a scenario starts iterations by a rate, and not when others have ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.scenarios.iter().any(|scenario| scenario.executor.is_open())
    }

    /// The times in which at least one scenario works and none changes its VUs or its rate, from the start of the test, in
    /// nanoseconds. What depends on the iterations (how long a count of them takes) or on somebody outside is not foreseen.
    #[must_use]
    pub fn steady(&self) -> Vec<(u64, u64)> {
        let (mut edges, mut ramps, mut active) = (Vec::new(), Vec::new(), Vec::new());
        for scenario in self.scenarios.iter().map(|plan| &*plan.scenario) {
            let start_ns = scenario.start_time.as_ns();
            let end_ns = start_ns.saturating_add(scenario.regular_end_ns());
            active.push((start_ns, end_ns));
            edges.extend([start_ns, end_ns]);
            let mut at_ns = start_ns;
            for (from, stage) in changes(scenario) {
                let until_ns = at_ns.saturating_add(stage.duration_ns);
                if from != stage.target {
                    edges.extend([at_ns, until_ns]);
                    ramps.push((at_ns, until_ns));
                }
                at_ns = until_ns;
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let covers = |times: &[(u64, u64)], from: u64| times.iter().any(|time| (time.0..time.1).contains(&from));
        let spans = edges.windows(2).map(|pair| (pair[0], pair[1]));
        spans.filter(|(from, _)| covers(&active, *from) && !covers(&ramps, *from)).collect()
    }
}

/// The stages of a scenario that has some, each with the target it begins at.
fn changes(scenario: &Scenario) -> Vec<(u64, Stage)> {
    let (mut from, stages) = match &scenario.executor {
        Executor::RampingVus(executor) => (executor.start_vus, &executor.stages[..]),
        Executor::RampingArrivalRate(executor) => (executor.start_rate, &executor.stages[..]),
        _ => (0, &[][..]),
    };
    stages.iter().map(|stage| (std::mem::replace(&mut from, stage.target), *stage)).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Options, Plan, Tier, consolidate, parse_json};

    fn steady(options: &str) -> Vec<(u64, u64)> {
        let script = parse_json(options).expect("valid");
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, script.options)]);
        let test = test.expect("valid");
        let spans = Plan::new(&test.scenarios, &test.share).expect("small").steady();
        spans.into_iter().map(|(from, until)| (from / 1_000_000_000, until / 1_000_000_000)).collect()
    }

    #[test]
    fn ramps_are_left_out() {
        assert_eq!(steady(r#"{"vus": 20, "duration": "1m"}"#), [(0, 60)]);
        let stages = r#"{"stages": [{"duration": "10s", "target": 5}, {"duration": "40s", "target": 5},
            {"duration": "0s", "target": 9}, {"duration": "10s", "target": 9}, {"duration": "5s", "target": 0}]}"#;
        assert_eq!(steady(stages), [(10, 50), (50, 60)]);
        assert_eq!(steady(r#"{"stages": [{"duration": "10s", "target": 5}]}"#), []);
    }

    #[test]
    fn scenarios_are_seen_together() {
        let options = r#"{"scenarios": {
            "a": {"executor": "constant-vus", "vus": 2, "duration": "60s"},
            "b": {"executor": "ramping-arrival-rate", "startTime": "10s", "startRate": 0, "preAllocatedVUs": 1,
                  "stages": [{"duration": "10s", "target": 9}, {"duration": "60s", "target": 9}]}}}"#;
        assert_eq!(steady(options), [(0, 10), (20, 60), (60, 80)]);
    }
}
