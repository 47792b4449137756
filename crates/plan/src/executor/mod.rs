//! The seven executors, one file each: what the user may write, what is valid, and the schedule for one instance.
//!
//! Each file has the same three parts: a `…Config` (as written, everything optional), the validated values, and a
//! `…Plan` for one instance's share. Nothing here runs anything.

mod arrival;
mod constant_arrival_rate;
mod constant_vus;
mod externally_controlled;
mod fields;
mod kind;
mod per_vu_iterations;
mod ramping_arrival_rate;
mod ramping_vus;
mod shared_iterations;

use std::sync::Arc;

pub use arrival::{ArrivalEvent, ArrivalVus, WhenBusy};
pub use constant_arrival_rate::{ConstantArrivalRate, ConstantArrivalRateConfig, ConstantArrivalRatePlan};
pub use constant_vus::{ConstantVus, ConstantVusConfig, ConstantVusPlan};
pub(crate) use externally_controlled::vus_error;
pub use externally_controlled::{ExternallyControlled, ExternallyControlledConfig, ExternallyControlledPlan};
use fields::total_ns;
pub use fields::{FOREVER_NS, Stage, StageConfig};
pub use kind::ExecutorKind;
pub use per_vu_iterations::{PerVuIterations, PerVuIterationsConfig, PerVuIterationsPlan};
pub(crate) use ramping_arrival_rate::Slope;
pub use ramping_arrival_rate::{
    RampingArrivalRate, RampingArrivalRateConfig, RampingArrivalRateCursor, RampingArrivalRatePlan,
};
pub use ramping_vus::{HandleAction, HandleActions, HandleChange, RampingVus, RampingVusConfig, RampingVusPlan};
pub use shared_iterations::{SharedIterations, SharedIterationsConfig, SharedIterationsPlan};

use crate::{duration::GoDuration, error::PlanError, reservation::Step, stripe::Share};

/// A valid executor with its values, for the whole test.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// A fixed number of VUs loop for a time.
    ConstantVus(ConstantVus),
    /// The number of looping VUs follows stages.
    RampingVus(RampingVus),
    /// VUs share one count of iterations.
    SharedIterations(SharedIterations),
    /// Each VU runs its own count of iterations.
    PerVuIterations(PerVuIterations),
    /// Iterations start at a fixed rate.
    ConstantArrivalRate(ConstantArrivalRate),
    /// The rate at which iterations start follows stages.
    RampingArrivalRate(RampingArrivalRate),
    /// The number of looping VUs is whatever somebody outside asks for.
    ExternallyControlled(ExternallyControlled),
}

impl Executor {
    /// Which executor it is.
    #[must_use]
    pub fn kind(&self) -> ExecutorKind {
        match self {
            Self::ConstantVus(_) => ExecutorKind::ConstantVus,
            Self::RampingVus(_) => ExecutorKind::RampingVus,
            Self::SharedIterations(_) => ExecutorKind::SharedIterations,
            Self::PerVuIterations(_) => ExecutorKind::PerVuIterations,
            Self::ConstantArrivalRate(_) => ExecutorKind::ConstantArrivalRate,
            Self::RampingArrivalRate(_) => ExecutorKind::RampingArrivalRate,
            Self::ExternallyControlled(_) => ExecutorKind::ExternallyControlled,
        }
    }

    /// The name users write in `executor:`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.kind().name()
    }

    /// Nanoseconds from the scenario's start to its regular end; [`FOREVER_NS`] when it has none.
    #[must_use]
    pub fn regular_end_ns(&self) -> u64 {
        match self {
            Self::ConstantVus(e) => e.duration.as_ns(),
            Self::RampingVus(e) => total_ns(&e.stages),
            Self::SharedIterations(e) => e.max_duration.as_ns(),
            Self::PerVuIterations(e) => e.max_duration.as_ns(),
            Self::ConstantArrivalRate(e) => e.duration.as_ns(),
            Self::RampingArrivalRate(e) => total_ns(&e.stages),
            Self::ExternallyControlled(e) if e.duration == GoDuration::ZERO => FOREVER_NS,
            Self::ExternallyControlled(e) => e.duration.as_ns(),
        }
    }

    /// What this does in the share `share`, before the parenthesis of k6's text, and the facts it puts first in it.
    pub(crate) fn describe(&self, share: &Share) -> Result<(String, Vec<String>), PlanError> {
        Ok(match self {
            Self::ConstantVus(e) => e.describe(share),
            Self::RampingVus(e) => e.describe(share),
            Self::SharedIterations(e) => e.describe(share)?,
            Self::PerVuIterations(e) => e.describe(share),
            Self::ConstantArrivalRate(e) => e.describe(share)?,
            Self::RampingArrivalRate(e) => e.describe(share),
            Self::ExternallyControlled(e) => e.describe(),
        })
    }

    /// The schedule for the share `share`; `None` when there is no work in it.
    pub(crate) fn plan(&self, share: &Share, hard_end_ns: u64) -> Result<Option<ExecutorPlan>, PlanError> {
        Ok(match self {
            Self::ConstantVus(e) => e.plan(share).map(ExecutorPlan::ConstantVus),
            Self::RampingVus(e) => e.plan(share, hard_end_ns)?.map(ExecutorPlan::RampingVus),
            Self::SharedIterations(e) => e.plan(share)?.map(ExecutorPlan::SharedIterations),
            Self::PerVuIterations(e) => e.plan(share).map(ExecutorPlan::PerVuIterations),
            Self::ConstantArrivalRate(e) => e.plan(share)?.map(ExecutorPlan::ConstantArrivalRate),
            Self::RampingArrivalRate(e) => e.plan(share)?.map(ExecutorPlan::RampingArrivalRate),
            Self::ExternallyControlled(e) => Some(ExecutorPlan::ExternallyControlled(e.plan(share))),
        })
    }
}

/// One instance's schedule of one scenario. Cheap to clone.
#[derive(Clone, Debug)]
pub enum ExecutorPlan {
    /// See [`ConstantVusPlan`].
    ConstantVus(ConstantVusPlan),
    /// See [`RampingVusPlan`].
    RampingVus(RampingVusPlan),
    /// See [`SharedIterationsPlan`].
    SharedIterations(SharedIterationsPlan),
    /// See [`PerVuIterationsPlan`].
    PerVuIterations(PerVuIterationsPlan),
    /// See [`ConstantArrivalRatePlan`].
    ConstantArrivalRate(ConstantArrivalRatePlan),
    /// See [`RampingArrivalRatePlan`].
    RampingArrivalRate(RampingArrivalRatePlan),
    /// See [`ExternallyControlledPlan`].
    ExternallyControlled(ExternallyControlledPlan),
}

impl ExecutorPlan {
    /// Whether iterations begin when the plan says, not when a VU is free: arrival rates.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::ConstantArrivalRate(_) | Self::RampingArrivalRate(_))
    }

    /// VUs that must exist before the test starts, at the scenario's busiest moment.
    #[must_use]
    pub fn planned_vus(&self) -> u64 {
        match self {
            Self::ConstantVus(p) => p.vus,
            Self::RampingVus(p) => p.max_vus(),
            Self::SharedIterations(p) => p.vus,
            Self::PerVuIterations(p) => p.vus,
            Self::ConstantArrivalRate(p) => p.vus.planned,
            Self::RampingArrivalRate(p) => p.vus.planned,
            Self::ExternallyControlled(p) => p.max_vus,
        }
    }

    /// VUs the scenario may reach, with those started while the test runs.
    #[must_use]
    pub fn max_vus(&self) -> u64 {
        match self {
            Self::ConstantArrivalRate(p) => p.vus.max,
            Self::RampingArrivalRate(p) => p.vus.max,
            _ => self.planned_vus(),
        }
    }

    /// The raw staircase of VUs that should be working, and 0 at the regular end.
    #[must_use]
    pub fn steps(&self, regular_end_ns: u64) -> Arc<[Step]> {
        match self {
            Self::RampingVus(p) => p.steps(),
            other => crate::reservation::constant(other.planned_vus(), regular_end_ns).into(),
        }
    }

    /// The VUs that must be kept for the scenario at each moment, and 0 at the hard end.
    #[must_use]
    pub fn reservation(&self, hard_end_ns: u64) -> Arc<[Step]> {
        match self {
            Self::RampingVus(p) => p.reservation(),
            other => crate::reservation::constant(other.planned_vus(), hard_end_ns).into(),
        }
    }
}
