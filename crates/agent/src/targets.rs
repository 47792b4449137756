//! What a decision about a scenario's target means for this agent's share.

use onrush_engine::NewTarget;
use onrush_plan::{
    Plan, ScenarioPlan,
    steer::{ArrivalCourse, VuCourse},
};
use onrush_session::protocol::TargetChange;

/// The scenarios of this agent, with their arrivals as steered so far.
pub(crate) struct Targets(Vec<(ScenarioPlan, Option<ArrivalCourse>)>);

impl Targets {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self(plan.scenarios.iter().map(|plan| (plan.clone(), ArrivalCourse::of(plan))).collect())
    }

    /// The scenario's index here and this agent's share of its new target; `None` for a scenario without work here.
    pub(crate) fn share(&mut self, scenario: &str, change: TargetChange) -> Option<(usize, NewTarget)> {
        let index = self.0.iter().position(|(plan, _)| plan.name() == scenario)?;
        let (plan, course) = &mut self.0[index];
        let target = match change {
            TargetChange::Vus(ramp) => NewTarget::Vus(VuCourse::new(plan, ramp)),
            TargetChange::MaxVus(max) => NewTarget::MaxVus(plan.share_of(max)),
            TargetChange::Rate(ramp) => {
                let bent = course.as_ref()?.bent(ramp);
                *course = Some(bent.clone());
                NewTarget::Arrivals(bent)
            }
        };
        Some((index, target))
    }
}

#[cfg(test)]
mod tests {
    use onrush_plan::{Options, SegmentSequence, Share, Tier, consolidate, parse_json, steer::Ramp};

    use super::*;

    const S: u64 = 1_000_000_000;

    fn targets(agent: usize, agents: u64) -> Targets {
        let options = parse_json(
            r#"{"scenarios": {
                "users": {"executor": "constant-vus", "vus": 6, "duration": "10s"},
                "rate": {"executor": "constant-arrival-rate", "rate": 10, "duration": "10s", "preAllocatedVUs": 6}}}"#,
        )
        .unwrap();
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.options)]).unwrap();
        let sequence = SegmentSequence::even(agents).unwrap();
        Targets::new(&Plan::new(&test.scenarios, &Share::of_sequence(&sequence, agent).unwrap()).unwrap())
    }

    #[test]
    fn shares_of_all_agents_are_the_whole() {
        let (mut vus, mut events) = (0, 0);
        for agent in 0..3 {
            let mut own = targets(agent, 3);
            match own.share("users", TargetChange::Vus(Ramp::jump(S, 31))) {
                Some((_, NewTarget::Vus(course))) => vus += course.last(),
                other => panic!("{other:?}"),
            }
            // Two changes: the second bends what the first one left.
            own.share("rate", TargetChange::Rate(Ramp::jump(5 * S, 20)));
            match own.share("rate", TargetChange::Rate(Ramp::jump(8 * S, 50))) {
                Some((_, NewTarget::Arrivals(course))) => events += course.events(),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((vus, events), (31, 5 * 10 + 3 * 20 + 2 * 50));
    }

    #[test]
    fn what_has_no_such_target_is_left_alone() {
        let mut own = targets(0, 1);
        assert_eq!(own.share("nobody", TargetChange::MaxVus(3)), None);
        assert_eq!(own.share("users", TargetChange::Rate(Ramp::jump(0, 3))), None);
    }
}
