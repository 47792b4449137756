//! The plan of one instance: every scenario's schedule for its share, and the VUs they need together.

use std::sync::Arc;

use crate::{
    duration::GoDuration,
    error::PlanError,
    executor::{ConstantVusPlan, Executor, ExecutorPlan, FOREVER_NS, RampingVus},
    reservation::{RequirementStep, Step, sum, value_at},
    scenario::Scenario,
    stripe::Share,
};

/// What one instance does in a test. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenarios with work in this instance, in the order of (start time, name).
    pub scenarios: Arc<[ScenarioPlan]>,
    /// All scenarios in the same order, also those without work here, as the execution block lists them.
    pub descriptions: Arc<[Description]>,
    /// VUs to initialise before the test.
    pub planned_vus: u64,
    /// VUs that may exist at once, with those that arrival-rate scenarios start while the test runs.
    pub max_vus: u64,
    /// When the last VU is given back at the latest, from the start of the test, graceful stop included.
    pub end_offset: GoDuration,
    requirement: Arc<[RequirementStep]>,
    share: Share,
}

/// One line of the execution block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The scenario's name.
    pub name: String,
    /// `20 looping VUs for 1m0s (gracefulStop: 30s)`, scaled to this instance.
    pub text: String,
}

impl Plan {
    /// Plans the share `share` of the scenarios.
    ///
    /// # Errors
    /// When a share or a staircase is too fine to be laid out.
    pub fn new(scenarios: &[Scenario], share: &Share) -> Result<Self, PlanError> {
        let mut ordered: Vec<&Scenario> = scenarios.iter().collect();
        ordered.sort_by(|a, b| (a.start_time, &a.name).cmp(&(b.start_time, &b.name)));
        let mut plans = Vec::with_capacity(ordered.len());
        let mut descriptions = Vec::with_capacity(ordered.len());
        let mut parts = Vec::with_capacity(ordered.len());
        for scenario in ordered {
            let in_scenario =
                |source: PlanError| PlanError::Scenario { name: scenario.name.clone(), source: Box::new(source) };
            let text = scenario.describe(share.expected()).map_err(in_scenario)?;
            descriptions.push(Description { name: scenario.name.clone(), text });
            let start_ns = scenario.start_time.as_ns();
            let steps = match ScenarioPlan::new(scenario, share).map_err(in_scenario)? {
                Some(plan) => {
                    let steps = plan.requirement();
                    plans.push(plan);
                    steps
                }
                None => vec![RequirementStep { at_ns: 0, planned: 0, unplanned: 0 }],
            };
            parts.push((start_ns, steps));
        }
        let requirement = sum(&parts);
        // k6: the end counts from the last change in the number of VUs, so a scenario that ramps down to none early
        // does not prolong it. What has no end counts as 0, as in k6.
        let end_ns = requirement.iter().rev().map(|step| step.at_ns).find(|at_ns| *at_ns < FOREVER_NS).unwrap_or(0);
        Ok(Self {
            planned_vus: requirement.iter().map(|s| s.planned).max().unwrap_or(0),
            max_vus: requirement.iter().map(|s| s.planned.saturating_add(s.unplanned)).max().unwrap_or(0),
            end_offset: GoDuration::from_ns(i64::try_from(end_ns).unwrap_or(i64::MAX)),
            scenarios: plans.into(),
            descriptions: descriptions.into(),
            requirement: requirement.into(),
            share: share.clone(),
        })
    }

    /// Refuses a test that asks this instance for more VUs than any machine holds: a mistyped number must not take all
    /// memory before anything is said.
    ///
    /// # Errors
    /// [`PlanError::TooManyVus`].
    pub fn check_size(&self) -> Result<(), PlanError> {
        if self.planned_vus > PLANNED_VUS_MAX {
            return Err(PlanError::TooManyVus { vus: self.planned_vus, max: PLANNED_VUS_MAX });
        }
        Ok(())
    }

    /// The VUs all scenarios need together, from the start of the test.
    #[must_use]
    pub fn reservation_total(&self) -> &[RequirementStep] {
        &self.requirement
    }

    /// `exec.vu.idInTest` of this instance's `k`-th VU (from 0): unique in the whole test, from 1.
    #[must_use]
    pub fn vu_id_in_test(&self, k: u64) -> Option<u64> {
        vu_id_in_test(&self.share, k)
    }

    /// This instance's share.
    #[must_use]
    pub fn share(&self) -> &Share {
        &self.share
    }

    /// This instance's share as k6 prints it: `25.00%`.
    #[must_use]
    pub fn share_text(&self) -> String {
        format!("{:.2}%", self.share.length().as_f64() * 100.0)
    }
}

/// One scenario's schedule for one instance. All times are nanoseconds from the scenario's own start. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ScenarioPlan {
    /// The scenario as the whole test has it.
    pub scenario: Arc<Scenario>,
    /// When it starts, from the start of the test.
    pub start_ns: u64,
    /// No iteration begins after this.
    pub regular_end_ns: u64,
    /// Iterations still running are cut here.
    pub hard_end_ns: u64,
    /// The executor's own schedule.
    pub executor: ExecutorPlan,
    /// k6's one-line description, scaled to this instance.
    pub description: Arc<str>,
    pub(crate) share: Share,
}

impl ScenarioPlan {
    /// `None` when the scenario has no work in the share.
    fn new(scenario: &Scenario, share: &Share) -> Result<Option<Self>, PlanError> {
        let hard_end_ns = scenario.hard_end_ns();
        let planned = scenario.executor.plan(share.expected(), hard_end_ns)?;
        let executor = match share.as_joined() {
            Some(_) => waiting(&scenario.executor, planned),
            None => planned,
        };
        let Some(executor) = executor else {
            return Ok(None);
        };
        Ok(Some(Self {
            start_ns: scenario.start_time.as_ns(),
            regular_end_ns: scenario.regular_end_ns(),
            hard_end_ns,
            description: scenario.describe(share.expected())?.into(),
            scenario: Arc::new(scenario.clone()),
            executor,
            share: share.clone(),
        }))
    }

    /// The scenario's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.scenario.name
    }

    /// The raw staircase of VUs that should be working; 0 at the regular end.
    #[must_use]
    pub fn steps(&self) -> Arc<[Step]> {
        self.executor.steps(self.regular_end_ns)
    }

    /// The planned VUs that are kept for the scenario at each moment; 0 at the hard end.
    #[must_use]
    pub fn reservation(&self) -> Arc<[Step]> {
        self.executor.reservation(self.hard_end_ns)
    }

    /// The VUs this scenario needs, planned and unplanned, from its own start.
    fn requirement(&self) -> Vec<RequirementStep> {
        let unplanned = self.executor.max_vus().saturating_sub(self.executor.planned_vus());
        if unplanned > 0 {
            let planned = self.executor.planned_vus();
            return vec![
                RequirementStep { at_ns: 0, planned, unplanned },
                RequirementStep { at_ns: self.hard_end_ns, planned: 0, unplanned: 0 },
            ];
        }
        let steps = self.reservation();
        steps.iter().map(|s| RequirementStep { at_ns: s.at_ns, planned: s.vus, unplanned: 0 }).collect()
    }

    /// How many VUs should be working at a moment (for arrival rates: how many are planned).
    #[must_use]
    pub fn planned_at(&self, at_ns: u64) -> u64 {
        match &self.executor {
            ExecutorPlan::RampingVus(p) => p.planned_at(at_ns),
            ExecutorPlan::ExternallyControlled(p) if at_ns < self.regular_end_ns => p.vus,
            _ if at_ns < self.regular_end_ns => self.executor.planned_vus(),
            _ => 0,
        }
    }

    /// How many VUs are kept for the scenario at a moment.
    #[must_use]
    pub fn reserved_at(&self, at_ns: u64) -> u64 {
        value_at(&self.reservation(), at_ns)
    }

    /// Our rate of iterations at a moment, per second; `None` for executors without a rate.
    #[must_use]
    pub fn rate_at(&self, at_ns: u64) -> Option<f64> {
        match &self.executor {
            ExecutorPlan::ConstantArrivalRate(p) => Some(p.rate_per_sec),
            ExecutorPlan::RampingArrivalRate(p) => Some(p.rate_at(at_ns)),
            _ => None,
        }
    }

    /// How many iterations are meant to run here; `None` where only time ends the scenario.
    #[must_use]
    pub fn total_iterations(&self) -> Option<u64> {
        match &self.executor {
            ExecutorPlan::SharedIterations(p) => Some(p.iterations),
            ExecutorPlan::PerVuIterations(p) => Some(p.total_iterations()),
            _ => None,
        }
    }

    /// `exec.scenario.iterationInTest` of this instance's `j`-th started iteration, both from 0.
    #[must_use]
    pub fn iteration_in_test(&self, j: u64) -> Option<u64> {
        if let Some(joined) = self.share.as_joined() {
            return self.share.nth(j)?.checked_add(joined.first_iteration());
        }
        match &self.executor {
            ExecutorPlan::SharedIterations(p) => p.iteration_in_test(j),
            ExecutorPlan::ConstantArrivalRate(p) => p.iteration_in_test(j),
            ExecutorPlan::RampingArrivalRate(p) => p.iteration_in_test(j),
            _ => self.share.nth(j),
        }
    }

    /// How many of `n` numbered things of the whole test, such as VUs, are this instance's.
    #[must_use]
    pub fn share_of(&self, n: u64) -> u64 {
        self.share.scale(n)
    }

    /// VUs of the whole test, where each has iterations of its own; else 0.
    pub(crate) fn vus_in_test(&self) -> u64 {
        match &self.scenario.executor {
            Executor::PerVuIterations(executor) => executor.vus,
            _ => 0,
        }
    }

    /// This instance's VUs along stages.
    pub(crate) fn staircase(&self, stages: &RampingVus) -> Result<Vec<Step>, PlanError> {
        stages.staircase(&self.share)
    }

    /// `exec.vu.idInTest` of this instance's `k`-th VU (from 0), as [`Plan::vu_id_in_test`].
    #[must_use]
    pub fn vu_id_in_test(&self, k: u64) -> Option<u64> {
        vu_id_in_test(&self.share, k)
    }
}

/// The schedule of an instance that joined, which waits to be steered; `None` for a scenario that cannot be.
fn waiting(executor: &Executor, planned: Option<ExecutorPlan>) -> Option<ExecutorPlan> {
    match executor {
        Executor::SharedIterations(_) | Executor::PerVuIterations(_) => None,
        // Stages are not followed once VUs are steered.
        Executor::ConstantVus(_) | Executor::RampingVus(_) => {
            let vus = planned.map_or(0, |planned| planned.planned_vus());
            Some(ExecutorPlan::ConstantVus(ConstantVusPlan { vus }))
        }
        Executor::ConstantArrivalRate(_) | Executor::RampingArrivalRate(_) | Executor::ExternallyControlled(_) => {
            planned
        }
    }
}

/// From 1 in the whole test.
fn vu_id_in_test(share: &Share, k: u64) -> Option<u64> {
    let first = share.as_joined().map_or(1, |joined| joined.first_vu() + 1);
    share.nth(k)?.checked_add(first)
}

/// Most VUs that are made before a test: at roughly 100 KB each, a terabyte. What the machine at hand can hold is not
/// known here.
pub const PLANNED_VUS_MAX: u64 = 10_000_000;
