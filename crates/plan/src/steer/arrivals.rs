//! The schedule of an arrival rate that is changed while it runs.
//!
//! Iterations are due where the area under the rate reaches whole numbers, whatever the rate does: a change bends the
//! curve from its moment on and leaves what is before it alone. So many small changes lose and add nothing, the number
//! of planned iterations stays exact, and since event `j` stays event `j`, threads that learn of a change a moment
//! apart still share the events without gap or overlap. A change may take its time: then the curve is a slope first.

use std::sync::Arc;

use super::Ramp;
use crate::{
    executor::{ArrivalEvent, ConstantArrivalRatePlan, ExecutorPlan, RampingArrivalRatePlan, Slope},
    plan::ScenarioPlan,
    stripe::Share,
};

/// An instance's arrivals after one or more changes of the rate. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ArrivalCourse {
    origin: Origin,
    /// Slopes, each followed by its last rate until the next begins. Areas are those of ramps.
    bends: Arc<[Slope]>,
    events: Share,
    time_unit_ns: u64,
    regular_end_ns: u64,
    own_events: u64,
}

/// The schedule before the first change.
#[derive(Clone, Debug)]
enum Origin {
    Constant(ConstantArrivalRatePlan),
    Ramping(RampingArrivalRatePlan),
}

impl ArrivalCourse {
    /// The course of a scenario that nobody has steered yet; `None` when it has no rate.
    #[must_use]
    pub fn of(plan: &ScenarioPlan) -> Option<Self> {
        let (origin, events, time_unit_ns, own_events) = match &plan.executor {
            ExecutorPlan::ConstantArrivalRate(p) => {
                (Origin::Constant(p.clone()), p.striping().clone(), p.time_unit_ns(), p.events())
            }
            ExecutorPlan::RampingArrivalRate(p) => {
                (Origin::Ramping(p.clone()), p.striping().clone(), p.time_unit_ns(), p.events())
            }
            _ => return None,
        };
        let regular_end_ns = plan.regular_end_ns;
        // The rate of an instance that joined is its own, wholly.
        let events = if plan.share.as_joined().is_some() { plan.share.clone() } else { events };
        Some(Self { origin, bends: Arc::new([]), events, time_unit_ns, regular_end_ns, own_events })
    }

    /// The course that has the rate of `ramp` (per time unit, for the whole test) from its beginning on and what it leads
    /// to after it, until the regular end or the next change. A change cannot come before the one it follows: it counts
    /// as of the same moment.
    #[must_use]
    pub fn bent(&self, ramp: Ramp) -> Self {
        let last_ns = self.bends.last().map_or(0, |bend| bend.start_ns);
        let start_ns = ramp.at_ns.clamp(last_ns, self.regular_end_ns.max(last_ns));
        // A rate above 63 bits could not be multiplied with a time.
        let (from, to) = (ramp.from.min(u64::MAX >> 1), ramp.to.min(u64::MAX >> 1));
        let (duration_ns, area_before) = (ramp.over_ns.min(u64::MAX >> 2), self.area_at(start_ns));
        let own = (u128::from(from) + u128::from(to)) * u128::from(duration_ns);
        let bend = Slope { start_ns, duration_ns, from, to, area_before, area_after: area_before.saturating_add(own) };
        let bends: Arc<[Slope]> = self.bends.iter().copied().chain([bend]).collect();
        let mut course = Self { bends, ..self.clone() };
        course.own_events = course.events.scale(course.total());
        course
    }

    /// How many iterations are due here until the regular end.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.own_events
    }

    /// Our `j`-th event (from 0); `None` after the last. Due times never decrease with `j`.
    #[must_use]
    pub fn event(&self, j: u64) -> Option<ArrivalEvent> {
        if j >= self.own_events {
            return None;
        }
        let global = self.events.nth(j)?;
        let needed = self.needed(global);
        // What was due before the first change stays where it was; a change before the start changes everything. Where a
        // constant rate turns, the iteration that is due at that very moment belongs to the new rate: if that is 0, it
        // waits for one that is not.
        let belongs = |bend: &&Slope| match self.origin {
            Origin::Constant(_) => needed >= bend.area_before,
            Origin::Ramping(_) => needed > bend.area_before || bend.start_ns == 0,
        };
        let bend = self.bends.iter().rev().find(belongs);
        let Some(bend) = bend else {
            return match &self.origin {
                Origin::Constant(plan) => plan.event(j),
                Origin::Ramping(plan) => plan.event(j),
            };
        };
        let at_ns = if needed <= bend.area_before {
            bend.start_ns
        } else if needed <= bend.area_after {
            bend.instant(needed)
        } else {
            // With a rate of 0 the area does not grow, so only an event that was due before can be found here.
            let after_ns = (needed - bend.area_after).checked_div(2 * u128::from(bend.to)).unwrap_or(0);
            let end_ns = bend.start_ns.saturating_add(bend.duration_ns);
            end_ns.saturating_add(u64::try_from(after_ns).unwrap_or(u64::MAX))
        };
        Some(ArrivalEvent { global, at_ns: at_ns.min(self.regular_end_ns) })
    }

    /// Our first event (from 0) that is due at a moment or after it; the number of all where none is.
    #[must_use]
    pub fn first_from(&self, at_ns: u64) -> u64 {
        let (mut low, mut high) = (0, self.own_events);
        // Due times never decrease.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.event(middle) {
                Some(event) if event.at_ns < at_ns => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Our rate at a moment, in iterations per second.
    #[must_use]
    pub fn rate_at(&self, at_ns: u64) -> f64 {
        match self.bends.iter().rev().find(|bend| bend.start_ns <= at_ns) {
            Some(bend) => {
                let into = (at_ns - bend.start_ns) as f64 / bend.duration_ns.max(1) as f64;
                let rate = bend.from as f64 + (bend.to as f64 - bend.from as f64) * into.min(1.0);
                let rate = if bend.duration_ns == 0 { bend.to as f64 } else { rate };
                rate * self.events.part_of_steered().as_f64() * 1e9 / self.time_unit_ns as f64
            }
            None => match &self.origin {
                Origin::Constant(plan) => plan.rate_per_sec,
                Origin::Ramping(plan) => plan.rate_at(at_ns),
            },
        }
    }

    /// The area at which event number `global` of the whole test is due.
    fn needed(&self, global: u64) -> u128 {
        let unit = 2 * u128::from(self.time_unit_ns);
        match self.origin {
            Origin::Constant(_) => u128::from(global) * unit,
            Origin::Ramping(_) => (u128::from(global) + 1) * unit,
        }
    }

    /// The area under the rate of the whole test from the start to a moment.
    fn area_at(&self, at_ns: u64) -> u128 {
        match self.bends.last() {
            Some(bend) => {
                let into_ns = at_ns.saturating_sub(bend.start_ns);
                match into_ns.checked_sub(bend.duration_ns) {
                    None => bend.area_at(into_ns),
                    Some(after_ns) => bend.area_after.saturating_add(2 * u128::from(bend.to) * u128::from(after_ns)),
                }
            }
            None => match &self.origin {
                Origin::Constant(plan) => plan.area_at(at_ns),
                Origin::Ramping(plan) => plan.area_at(at_ns),
            },
        }
    }

    /// How many events the whole test has until the regular end.
    fn total(&self) -> u64 {
        let (area, unit) = (self.area_at(self.regular_end_ns), 2 * u128::from(self.time_unit_ns));
        let total = match self.origin {
            // As planned from the start: the first is due at once, one due exactly at the end is none.
            Origin::Constant(_) => area.div_ceil(unit),
            Origin::Ramping(_) => area / unit,
        };
        u64::try_from(total).unwrap_or(u64::MAX)
    }
}

impl PartialEq for ArrivalCourse {
    /// Courses of the same scenario are equal when the same changes made them.
    fn eq(&self, other: &Self) -> bool {
        self.bends == other.bends && self.own_events == other.own_events
    }
}

impl Eq for ArrivalCourse {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::steer::tests::plan;

    const S: u64 = 1_000_000_000;

    impl ArrivalCourse {
        fn turned(&self, at_ns: u64, rate: u64) -> Self {
            self.bent(Ramp::jump(at_ns, rate))
        }
    }

    fn constant(rate: u64, seconds: u64) -> ArrivalCourse {
        ArrivalCourse::of(&plan(&format!(
            r#"{{"executor": "constant-arrival-rate", "rate": {rate}, "duration": "{seconds}s", "preAllocatedVUs": 1}}"#
        )))
        .unwrap()
    }

    fn ramping() -> ArrivalCourse {
        ArrivalCourse::of(&plan(
            r#"{"executor": "ramping-arrival-rate", "startRate": 0, "preAllocatedVUs": 1, "stages": [{"duration": "10s", "target": 10}, {"duration": "10s", "target": 10}]}"#,
        ))
        .unwrap()
    }

    fn times(course: &ArrivalCourse) -> Vec<u64> {
        (0..).map_while(|j| course.event(j)).map(|event| event.at_ns).collect()
    }

    #[test]
    fn unbent_it_is_the_plan() {
        assert_eq!(times(&constant(2, 3)), [0, S / 2, S, 3 * S / 2, 2 * S, 5 * S / 2]);
        assert_eq!(ramping().events(), 150);
    }

    #[test]
    fn a_new_rate_goes_on_where_the_old_one_was() {
        // A quarter of the way to the next iteration at 1/s: the other three quarters pass at 2/s.
        let course = constant(1, 4).turned(5 * S / 4, 2);
        assert_eq!(times(&course), [0, S, 13 * S / 8, 17 * S / 8, 21 * S / 8, 25 * S / 8, 29 * S / 8]);
        assert_eq!(course.events(), 7);
        assert_eq!((course.rate_at(0), course.rate_at(3 * S)), (1.0, 2.0));
    }

    #[test]
    fn a_rate_of_zero_stops_and_another_goes_on() {
        let stopped = constant(1, 10).turned(5 * S / 2, 0);
        assert_eq!(times(&stopped), [0, S, 2 * S]);
        let again = stopped.turned(8 * S, 1);
        assert_eq!(times(&again), [0, S, 2 * S, 17 * S / 2, 19 * S / 2]);
        assert_eq!(times(&constant(5, 10).turned(0, 0)), [0; 0]);
        // Stopped before it began, or exactly when an iteration is due: that one waits for the new rate.
        assert_eq!(times(&constant(5, 10).turned(0, 0).turned(8 * S, 1)), [8 * S, 9 * S]);
        assert_eq!(times(&constant(1, 10).turned(2 * S, 0).turned(8 * S, 1)), [0, S, 8 * S, 9 * S]);
        let slope = Ramp { at_ns: 8 * S, from: 0, to: 2, over_ns: 2 * S };
        assert_eq!(times(&constant(1, 10).turned(0, 0).bent(slope)), [8 * S, 8 * S + 1_414_213_562]);
    }

    #[test]
    fn a_ramp_is_left_where_it_is() {
        // At 5 s the ramp has had 12.5 iterations and a rate of 5/s.
        let course = ramping().turned(5 * S, 1);
        assert_eq!(course.events(), 12 + 15);
        assert_eq!(course.event(11), ramping().event(11));
        assert_eq!(course.event(12).unwrap().at_ns, 11 * S / 2);
    }

    #[test]
    fn a_rate_that_takes_its_time_is_a_slope() {
        // From 2/s to 6/s within 4 s: 16 iterations there, 4 before and 6 a second after.
        let course = constant(2, 10).bent(Ramp { at_ns: 2 * S, from: 2, to: 6, over_ns: 4 * S });
        assert_eq!(course.events(), 4 + 16 + 24);
        assert_eq!([course.rate_at(2 * S), course.rate_at(4 * S), course.rate_at(9 * S)], [2.0, 4.0, 6.0]);
        let times = times(&course);
        assert_eq!(times.iter().filter(|&&at| at < 4 * S).count(), 4 + 6);
        assert!(times.is_sorted());
        // The same by plan.
        let planned = ArrivalCourse::of(&plan(
            r#"{"executor": "ramping-arrival-rate", "startRate": 2, "preAllocatedVUs": 1, "stages": [{"duration": "2s", "target": 2}, {"duration": "4s", "target": 6}, {"duration": "4s", "target": 6}]}"#,
        ));
        // It lacks the iteration at the very beginning, and has one at the very end.
        assert_eq!(times[1..], self::times(&planned.unwrap())[..43]);
        // Changed on the way, it goes on from where it was: 4 + 6 iterations by then.
        assert_eq!(course.turned(4 * S, 0).events(), 10);
        assert_eq!(course.turned(4 * S, 1).events(), 16);
    }

    fn changes() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0..12 * S, 0_u64..2_000), 0..8)
    }

    proptest! {
        /// However often the rate changes, there are as many events as the area under it has whole iterations.
        #[test]
        fn the_area_is_the_count(rate in 1_u64..2_000, mut changes in changes()) {
            changes.sort_unstable();
            let course = changes.iter().fold(constant(rate, 10), |course, &(at, rate)| course.turned(at, rate));
            let (mut area, mut from, mut now) = (0_u128, 0, rate);
            for &(at, rate) in changes.iter().chain([&(10 * S, 0)]) {
                let at = at.min(10 * S);
                area += u128::from(now) * u128::from(at - from);
                (from, now) = (at, rate);
            }
            prop_assert_eq!(u128::from(course.events()), area.div_ceil(u128::from(S)));
            let times = times(&course);
            prop_assert_eq!(times.len() as u64, course.events());
            prop_assert!(times.is_sorted());
        }

        #[test]
        fn what_was_due_before_a_change_stays(rate in 1_u64..2_000, at in 0..10 * S, to in 0_u64..2_000) {
            let before = constant(rate, 10);
            let after = before.turned(at.max(1), to);
            for j in (0..before.events()).take_while(|&j| before.event(j).unwrap().at_ns < at) {
                prop_assert_eq!(after.event(j), before.event(j));
            }
        }

        /// Slopes, cut anywhere: times never decrease, and no event is lost or added.
        #[test]
        fn slopes_keep_the_order(rate in 1_u64..500, mut changes in prop::collection::vec((0..12 * S, 0_u64..500, 0..5 * S), 0..6)) {
            changes.sort_unstable();
            let mut now = Ramp::jump(0, rate);
            let mut course = constant(rate, 10);
            for &(at_ns, to, over_ns) in &changes {
                now = Ramp { at_ns, from: now.value_at(at_ns), to, over_ns };
                let next = course.bent(now);
                for j in (0..course.events()).take_while(|&j| course.event(j).unwrap().at_ns < at_ns.min(10 * S)) {
                    prop_assert_eq!(next.event(j), course.event(j));
                }
                course = next;
            }
            let times = times(&course);
            prop_assert_eq!(times.len() as u64, course.events());
            prop_assert!(times.is_sorted());
        }

        #[test]
        fn extremes_do_not_panic(at: u64, rate: u64, j: u64, over_ns: u64) {
            for course in [constant(u64::MAX >> 1, 1), ramping()] {
                let ramp = Ramp { at_ns: at, from: u64::MAX, to: rate, over_ns };
                let bent = course.turned(at, rate).bent(ramp).turned(at.saturating_add(over_ns / 2), u64::MAX);
                let _ = (bent.event(j), bent.event(0), bent.rate_at(at));
            }
        }
    }
}
