//! A change that takes its time: from one number to another within a while.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::along;
use crate::{
    duration::GoDuration,
    executor::{RampingVus, Stage},
    plan::ScenarioPlan,
    reservation::{Step, value_at},
};

/// A number, for the whole test, on its way to another. After it the other one holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ramp {
    /// When it begins, in nanoseconds after the scenario's start.
    pub at_ns: u64,
    /// The number it begins with.
    pub from: u64,
    /// The number it leads to.
    pub to: u64,
    /// How long it takes, in nanoseconds; 0 for at once.
    pub over_ns: u64,
}

impl Ramp {
    /// A number that holds at once.
    #[must_use]
    pub fn jump(at_ns: u64, to: u64) -> Self {
        Self { at_ns, from: to, to, over_ns: 0 }
    }

    /// The number at a moment after the scenario's start, rounded.
    #[must_use]
    pub fn value_at(&self, at_ns: u64) -> u64 {
        along(self.from, &[self.stage()], at_ns.saturating_sub(self.at_ns))
    }

    /// When it is over, in nanoseconds after the scenario's start.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.over_ns)
    }

    fn stage(&self) -> Stage {
        Stage { duration_ns: self.over_ns, target: self.to }
    }
}

/// How many VUs of one instance loop since a change: the staircase that ramping-vus has for a stage. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VuCourse {
    at_ns: u64,
    /// From `at_ns` on.
    steps: Arc<[Step]>,
    /// What holds in the end.
    last: u64,
}

impl VuCourse {
    /// An instance's share of a ramp.
    #[must_use]
    pub fn new(plan: &ScenarioPlan, ramp: Ramp) -> Self {
        let last = plan.share_of(ramp.to);
        let stages = vec![ramp.stage()];
        let own = RampingVus { start_vus: ramp.from, stages, graceful_ramp_down: GoDuration::ZERO };
        // More steps than are kept take more VUs than can be steered to; then it is a jump.
        let steps = if ramp.over_ns == 0 { Vec::new() } else { plan.staircase(&own).unwrap_or_default() };
        Self { at_ns: ramp.at_ns, steps: steps.into(), last }
    }

    /// When the change begins, in nanoseconds after the scenario's start.
    #[must_use]
    pub fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// VUs at a moment after the scenario's start.
    #[must_use]
    pub fn vus_at(&self, at_ns: u64) -> u64 {
        if self.next_after(at_ns).is_none() {
            self.last
        } else {
            value_at(&self.steps, at_ns.saturating_sub(self.at_ns))
        }
    }

    /// When the number changes next, in nanoseconds after the scenario's start.
    #[must_use]
    pub fn next_after(&self, at_ns: u64) -> Option<u64> {
        let at_ns = at_ns.saturating_sub(self.at_ns);
        let next = self.steps.partition_point(|step| step.at_ns <= at_ns);
        self.steps.get(next).map(|step| step.at_ns.saturating_add(self.at_ns))
    }

    /// Whether it has one number from its beginning on.
    #[must_use]
    pub fn is_jump(&self) -> bool {
        self.steps.len() <= 1
    }

    /// What holds in the end.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steer::tests::plan;

    const S: u64 = 1_000_000_000;

    #[test]
    fn numbers_on_their_way() {
        let ramp = Ramp { at_ns: 5 * S, from: 10, to: 20, over_ns: 10 * S };
        assert_eq!([0, 5, 10, 15, 99].map(|at| ramp.value_at(at * S)), [10, 10, 15, 20, 20]);
        let down = Ramp { from: 20, to: 10, ..ramp };
        assert_eq!([0, 5, 10, 15, 99].map(|at| down.value_at(at * S)), [20, 20, 15, 10, 10]);
        assert_eq!(Ramp::jump(S, 7).value_at(0), 7);
    }

    #[test]
    fn vus_follow_the_staircase_of_a_stage() {
        let plan = plan(r#"{"executor": "constant-vus", "vus": 1, "duration": "30s"}"#);
        let walk = |ramp: Ramp| {
            let course = VuCourse::new(&plan, ramp);
            let mut steps = vec![(ramp.at_ns, course.vus_at(ramp.at_ns))];
            while let Some(next) = course.next_after(steps.last().unwrap().0) {
                steps.push((next, course.vus_at(next)));
            }
            assert_eq!(course.last(), ramp.to);
            steps
        };
        let up = Ramp { at_ns: 10 * S, from: 1, to: 4, over_ns: 3 * S };
        assert_eq!(walk(up), [(10 * S, 1), (11 * S, 2), (12 * S, 3), (13 * S, 4)]);
        let down = Ramp { at_ns: 10 * S, from: 3, to: 1, over_ns: 2 * S };
        assert_eq!(walk(down), [(10 * S, 3), (11 * S, 2), (12 * S, 1)]);
        assert_eq!(walk(Ramp::jump(S, 9)), [(S, 9)]);
        assert_eq!(walk(Ramp { at_ns: 0, from: 5, to: 5, over_ns: S }), [(0, 5)]);
    }
}
