//! The share of an instance that joins a test under way.
//!
//! It has no segment, as the segments of a test are divided once and for all: whatever it is steered to is its own part,
//! wholly. Its VUs and iterations have numbers far above those of the instances that began with the test and of others that
//! joined, so that nobody gets a number twice. At first it has nothing to do.

use crate::{
    segment::SegmentError,
    stripe::{Cut, Share},
};

/// VU numbers of each instance that joined: more than instances ever make, and few enough for numbers in a script to be exact.
const VUS_OF_EACH: u64 = 1_000_000_000;
/// Iteration numbers of each: a million a second for a hundred days.
const ITERATIONS_OF_EACH: u64 = 10_000_000_000_000;
/// Most instances that join a test: numbers in a script are exact up to 2^53.
pub const JOINED_MAX: u32 = 900;

/// What an instance that joined has instead of a segment. Cheap to clone, as what it is part of.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    /// Its number among those that joined, from 1.
    number: u32,
    /// The share it would have had, had it been there from the start: for so much it makes itself ready.
    pub(crate) expected: Share,
}

impl Joined {
    pub(crate) fn new(number: u32, expected: Share) -> Self {
        Self { number, expected }
    }

    /// The same of a part of it.
    pub(crate) fn part(&self, cut: Cut) -> Result<Self, SegmentError> {
        Ok(Self { number: self.number, expected: self.expected.part(cut)? })
    }

    /// Its first VU has this number, from 0.
    pub(crate) fn first_vu(&self) -> u64 {
        u64::from(self.number) * VUS_OF_EACH
    }

    /// Its first iteration of each scenario has this number, from 0.
    pub(crate) fn first_iteration(&self) -> u64 {
        u64::from(self.number) * ITERATIONS_OF_EACH
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::{
        Cut, Options, Plan, ScenarioPlan, SegmentSequence, Share, Tier, consolidate, parse_json,
        steer::{ArrivalCourse, Ramp, VuCourse},
    };

    const S: u64 = 1_000_000_000;
    const ALL: &str = r#"{"scenarios": {
        "constant": {"executor": "constant-vus", "vus": 6, "duration": "10s"},
        "counted": {"executor": "shared-iterations", "vus": 6, "iterations": 60},
        "external": {"executor": "externally-controlled", "vus": 3, "maxVUs": 12, "duration": "10s"},
        "one": {"executor": "constant-vus", "vus": 1, "duration": "10s"},
        "own": {"executor": "per-vu-iterations", "vus": 6, "iterations": 60},
        "ramp": {"executor": "ramping-arrival-rate", "startRate": 3, "preAllocatedVUs": 9,
                 "stages": [{"target": 30, "duration": "10s"}]},
        "rate": {"executor": "constant-arrival-rate", "rate": 10, "duration": "10s", "preAllocatedVUs": 9},
        "stages": {"executor": "ramping-vus", "startVUs": 1, "stages": [{"target": 9, "duration": "10s"}]}}}"#;

    fn plan(share: &Share) -> Plan {
        let options = parse_json(ALL).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        Plan::new(&test.scenarios, share).unwrap()
    }

    fn joined(number: u32) -> Share {
        let sequence = SegmentSequence::weighted(&[2, 1]).unwrap();
        Share::of_sequence(&sequence, 1).unwrap().joined(number)
    }

    fn scenario<'a>(plan: &'a Plan, name: &str) -> &'a ScenarioPlan {
        plan.scenarios.iter().find(|scenario| scenario.name() == name).expect("it is there")
    }

    #[test]
    fn it_is_ready_for_its_share_of_what_can_be_steered() {
        let plan = plan(&joined(1));
        let mut ready: Vec<(&str, u64)> =
            plan.scenarios.iter().map(|scenario| (scenario.name(), scenario.executor.planned_vus())).collect();
        ready.sort_unstable();
        let expect = [("constant", 2), ("external", 4), ("one", 0), ("ramp", 3), ("rate", 3), ("stages", 3)];
        assert_eq!(ready, expect);
    }

    #[test]
    fn what_it_is_steered_to_is_its_own() {
        let plan = plan(&joined(1));
        for name in ["constant", "external", "one", "stages"] {
            let scenario = scenario(&plan, name);
            assert_eq!(VuCourse::new(scenario, Ramp::jump(S, 7)).last(), 7, "{name}");
            let slowly = VuCourse::new(scenario, Ramp { at_ns: S, from: 0, to: 4, over_ns: 4 * S });
            assert_eq!([1, 3, 5, 9].map(|at| slowly.vus_at(at * S)), [0, 2, 4, 4], "{name}");
        }
        for name in ["ramp", "rate"] {
            let nothing = ArrivalCourse::of(scenario(&plan, name)).unwrap().bent(Ramp::jump(0, 0));
            assert_eq!((nothing.events(), nothing.rate_at(S)), (0, 0.0), "{name}");
            let later = nothing.bent(Ramp::jump(5 * S, 4));
            assert_eq!((later.events(), later.rate_at(9 * S)), (20, 4.0), "{name}");
            assert!((0..20).all(|j| later.event(j).unwrap().at_ns >= 5 * S), "{name}");
        }
    }

    #[test]
    fn nobody_has_its_numbers() {
        let even = SegmentSequence::even(2).unwrap();
        let mut shares = vec![Share::of_sequence(&even, 0).unwrap(), Share::of_sequence(&even, 1).unwrap(), joined(1)];
        // The second that joined was lost, and two others took up what it did.
        shares.extend((0..2).map(|index| joined(2).part(Cut { index, of: 2 }).unwrap()));
        let plans: Vec<Plan> = shares.iter().map(plan).collect();
        let vus: BTreeSet<u64> =
            plans.iter().flat_map(|plan| (0..500).map(|k| plan.vu_id_in_test(k).unwrap())).collect();
        assert_eq!(vus.len(), 5 * 500);
        for name in ["constant", "external", "ramp", "rate", "stages"] {
            let numbers = plans.iter().map(|plan| scenario(plan, name));
            let numbers: BTreeSet<u64> =
                numbers.flat_map(|plan| (0..500).map(|j| plan.iteration_in_test(j).unwrap())).collect();
            assert_eq!(numbers.len(), 5 * 500, "{name}");
        }
        assert!(plan(&joined(super::JOINED_MAX)).vu_id_in_test(0).unwrap() < 1 << 53);
        let last = plan(&joined(super::JOINED_MAX));
        assert!(scenario(&last, "rate").iteration_in_test(u64::from(u32::MAX)).unwrap() < 1 << 53);
    }
}
