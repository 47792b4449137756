//! Where an instance begins that takes up the work of another in the middle of a test.
//!
//! It has a part of the other's share ([`Share::part`]), runs the same schedule with the same numbers, and leaves out what
//! is over: arrivals that were due before, iterations that the other is known to have ended. What is known of the other are
//! counts, not numbers: of ten iterations that ended, the ten first count as those.

use crate::{ExecutorPlan, ScenarioPlan, Share, steer::ArrivalCourse};

/// What is known of a scenario of the share that is taken up, and when that happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenUp {
    /// When, from the scenario's own start.
    pub from_ns: u64,
    /// Iterations of the divided share that ended, as far as is known.
    pub ended: u64,
    /// Iterations of the divided share that may have begun; at least `ended`.
    pub begun: u64,
}

impl ScenarioPlan {
    /// The number here (from 0) of the first iteration to begin. `course` is the schedule of arrivals, where it was steered.
    #[must_use]
    pub fn first_iteration(&self, taken: TakenUp, course: Option<&ArrivalCourse>) -> u64 {
        let own = |share: &Share, count: u64| share.divided().map_or(count, |(_, cut)| cut.count_of(count));
        match &self.executor {
            ExecutorPlan::SharedIterations(plan) => own(plan.striping(), taken.ended).min(plan.iterations),
            ExecutorPlan::PerVuIterations(plan) => {
                (0..plan.vus).map(|vu| self.iterations_of_vu_before(vu, taken)).fold(0, u64::saturating_add)
            }
            ExecutorPlan::ConstantArrivalRate(_) | ExecutorPlan::RampingArrivalRate(_) => match course {
                Some(course) => course.first_from(taken.from_ns),
                None => ArrivalCourse::of(self).map_or(0, |course| course.first_from(taken.from_ns)),
            },
            _ => own(&self.share, taken.begun),
        }
    }

    /// How many of its own iterations the `vu`-th VU here (from 0) need not run any more, where each has a number of its own:
    /// what ended is spread evenly over the VUs of the divided share.
    #[must_use]
    pub fn iterations_of_vu_before(&self, vu: u64, taken: TakenUp) -> u64 {
        let ExecutorPlan::PerVuIterations(plan) = &self.executor else { return 0 };
        let (vus, vu) = match self.share.divided() {
            Some((share, cut)) => (share.scale(self.vus_in_test()), cut.number_of(vu)),
            None => (plan.vus, vu),
        };
        let vus = vus.max(1);
        (taken.ended / vus + u64::from(vu < taken.ended % vus)).min(plan.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cut, Options, Plan, SegmentSequence, Tier, consolidate, parse_json};

    /// The second of three agents, divided between the two others.
    fn parts(scenario: &str) -> (ScenarioPlan, Vec<ScenarioPlan>) {
        let options = parse_json(&format!(r#"{{"scenarios": {{"a": {scenario}}}}}"#)).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        let share = Share::of_sequence(&SegmentSequence::even(3).unwrap(), 1).unwrap();
        let plan = |share: &Share| Plan::new(&test.scenarios, share).unwrap().scenarios.first().cloned();
        let parts = (0..2).filter_map(|index| plan(&share.part(Cut { index, of: 2 }).unwrap()));
        (plan(&share).unwrap(), parts.collect())
    }

    #[test]
    fn counted_iterations_are_run_to_the_last() {
        let (whole, parts) =
            parts(r#"{"executor": "shared-iterations", "vus": 9, "iterations": 100, "maxDuration": "10s"}"#);
        let total = whole.total_iterations().unwrap();
        for ended in 0..=total {
            let taken = TakenUp { ended, begun: ended + 3, from_ns: 1 };
            let left: u64 =
                parts.iter().map(|part| part.total_iterations().unwrap() - part.first_iteration(taken, None)).sum();
            assert_eq!(left, total - ended);
            // None of the numbers that count as done comes again.
            let next = parts.iter().filter_map(|part| part.iteration_in_test(part.first_iteration(taken, None)));
            assert_eq!(next.min(), whole.iteration_in_test(ended));
        }
    }

    #[test]
    fn fewer_vus_than_parts_take_all_iterations() {
        let (whole, parts) =
            parts(r#"{"executor": "shared-iterations", "vus": 3, "iterations": 30, "maxDuration": "10s"}"#);
        assert_eq!((whole.total_iterations(), parts.len()), (Some(10), 1));
        let taken = TakenUp { ended: 4, begun: 5, from_ns: 0 };
        assert_eq!(parts[0].total_iterations().unwrap() - parts[0].first_iteration(taken, None), 6);
    }

    #[test]
    fn every_vu_has_its_own_iterations_left() {
        let (whole, parts) =
            parts(r#"{"executor": "per-vu-iterations", "vus": 15, "iterations": 4, "maxDuration": "10s"}"#);
        let total = whole.total_iterations().unwrap();
        assert_eq!(total, 20);
        for ended in 0..=total {
            let taken = TakenUp { ended, begun: ended, from_ns: 0 };
            let mut done = 0;
            for part in &parts {
                let vus = part.executor.planned_vus();
                let of_vus: u64 = (0..vus).map(|vu| part.iterations_of_vu_before(vu, taken)).sum();
                assert_eq!(part.first_iteration(taken, None), of_vus);
                done += of_vus;
            }
            assert_eq!(done, ended);
        }
    }

    #[test]
    fn arrivals_that_were_due_before_are_left_out() {
        let (whole, parts) =
            parts(r#"{"executor": "constant-arrival-rate", "rate": 30, "duration": "10s", "preAllocatedVUs": 9}"#);
        let all = ArrivalCourse::of(&whole).unwrap();
        for from_ns in [0, 1, 3_333_333_333, 5_000_000_000, 10_000_000_000] {
            let taken = TakenUp { from_ns, ..TakenUp::default() };
            let before = (0..all.events()).filter(|j| all.event(*j).unwrap().at_ns < from_ns).count() as u64;
            let first: u64 = parts.iter().map(|part| part.first_iteration(taken, None)).sum();
            assert_eq!(first, before, "{from_ns}");
        }
    }

    #[test]
    fn looping_vus_go_on_with_numbers_nobody_had() {
        let (whole, parts) = parts(r#"{"executor": "constant-vus", "vus": 9, "duration": "10s"}"#);
        let taken = TakenUp { ended: 5, begun: 11, from_ns: 0 };
        let mut next: Vec<u64> =
            parts.iter().filter_map(|part| part.iteration_in_test(part.first_iteration(taken, None))).collect();
        next.sort_unstable();
        assert_eq!(next, [11, 12].map(|j| whole.iteration_in_test(j).unwrap()));
    }
}
