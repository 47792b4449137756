//! Scenarios of a simulated agent whose VUs loop, as many as somebody wants.

use std::collections::BTreeMap;

use onrush_plan::{ExecutorPlan, ScenarioPlan, TakenUp, steer::VuCourse};

/// One scenario on one agent.
pub(crate) struct Looping {
    plan: ScenarioPlan,
    /// Not before this, on the scenarios' clock.
    from_ns: u64,
    /// What it was steered to.
    course: Option<VuCourse>,
    /// Until when each VU is inside an iteration.
    busy: BTreeMap<u64, u64>,
    /// Iterations begun.
    begun: u64,
}

impl Looping {
    /// `None` for a scenario of another kind.
    pub(crate) fn of(plan: &ScenarioPlan, from_ns: u64, taken: Option<TakenUp>) -> Option<Self> {
        let is_looping = matches!(plan.executor, ExecutorPlan::ConstantVus(_) | ExecutorPlan::ExternallyControlled(_));
        let begun = taken.map_or(0, |taken| plan.first_iteration(taken, None));
        let own = Self { plan: plan.clone(), from_ns, course: None, busy: BTreeMap::new(), begun };
        is_looping.then_some(own)
    }

    pub(crate) fn steer(&mut self, course: VuCourse) {
        self.course = Some(course);
    }

    /// How many VUs are to loop.
    pub(crate) fn wanted(&self, clock: u64) -> u64 {
        let at_ns = clock.saturating_sub(self.plan.start_ns);
        match &self.course {
            Some(course) => course.vus_at(at_ns),
            None => self.plan.planned_at(at_ns),
        }
    }

    /// VUs inside an iteration.
    pub(crate) fn busy(&self) -> u64 {
        self.busy.len() as u64
    }

    /// Nothing begins any more.
    pub(crate) fn is_over(&self, clock: u64) -> bool {
        clock >= self.plan.start_ns.saturating_add(self.plan.regular_end_ns)
    }

    /// Begins an iteration on each VU that is wanted and free. Returns their numbers; `duration` says how long one takes.
    pub(crate) fn turn(&mut self, clock: u64, duration: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        self.busy.retain(|_, ends_at| *ends_at > clock);
        if self.is_over(clock) || clock < self.from_ns.max(self.plan.start_ns) {
            return Vec::new();
        }
        let mut begun = Vec::new();
        for vu in 0..self.wanted(clock) {
            if self.busy.contains_key(&vu) {
                continue;
            }
            let number = self.plan.iteration_in_test(self.begun).unwrap_or(u64::MAX);
            let ends_at = clock + duration(number);
            self.begun += 1;
            self.busy.insert(vu, ends_at);
            begun.push((number, ends_at));
        }
        begun
    }
}
