//! The seven executors, one file each: what the user may write, what is valid, and the schedule for one instance.
//!
//! Each file has the same three parts: a `…Config` (as written, everything optional), the validated values, and a
//! `…Plan` for one instance's share. Nothing here runs anything.

mod arrival;
mod constant_arrival_rate;
mod constant_vus;
mod externally_controlled;
mod per_vu_iterations;
mod ramping_arrival_rate;
mod ramping_vus;
mod shared_iterations;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use arrival::{ArrivalEvent, ArrivalVus};
pub use constant_arrival_rate::{ConstantArrivalRate, ConstantArrivalRatePlan};
pub use constant_vus::{ConstantVus, ConstantVusPlan};
pub use externally_controlled::{ExternallyControlled, ExternallyControlledPlan};
pub use per_vu_iterations::{PerVuIterations, PerVuIterationsPlan};
pub(crate) use ramping_arrival_rate::Slope;
pub use ramping_arrival_rate::{RampingArrivalRate, RampingArrivalRateCursor, RampingArrivalRatePlan};
pub use ramping_vus::{HandleAction, HandleActions, HandleChange, RampingVus, RampingVusPlan};
pub use shared_iterations::{SharedIterations, SharedIterationsPlan};

pub use constant_arrival_rate::ConstantArrivalRateConfig;
pub use constant_vus::ConstantVusConfig;
pub use externally_controlled::ExternallyControlledConfig;
pub use per_vu_iterations::PerVuIterationsConfig;
pub use ramping_arrival_rate::RampingArrivalRateConfig;
pub use ramping_vus::RampingVusConfig;
pub use shared_iterations::SharedIterationsConfig;

pub(crate) use externally_controlled::vus_error;

use crate::duration::GoDuration;
use crate::options::int;
use crate::plan::PlanError;
use crate::reservation::Step;
use crate::stripe::Tuple;

/// A stage as written, of a scenario or of the `stages` shortcut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageConfig {
    /// How long the stage lasts.
    #[serde(default)]
    pub duration: Option<GoDuration>,
    /// What it leads to: VUs, or iterations per time unit.
    #[serde(default, deserialize_with = "int")]
    pub target: Option<i64>,
}

/// A valid stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// How long the stage lasts, in nanoseconds; 0 jumps at once.
    pub duration_ns: u64,
    /// What it leads to: VUs, or iterations per time unit.
    pub target: u64,
}

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
    /// The name users write in `executor:`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::ConstantVus(_) => "constant-vus",
            Self::RampingVus(_) => "ramping-vus",
            Self::SharedIterations(_) => "shared-iterations",
            Self::PerVuIterations(_) => "per-vu-iterations",
            Self::ConstantArrivalRate(_) => "constant-arrival-rate",
            Self::RampingArrivalRate(_) => "ramping-arrival-rate",
            Self::ExternallyControlled(_) => "externally-controlled",
        }
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

    /// What this does in the share `tuple`, before the parenthesis of k6's text, and the facts it puts first in it.
    pub(crate) fn describe(&self, tuple: &Tuple) -> Result<(String, Vec<String>), PlanError> {
        Ok(match self {
            Self::ConstantVus(e) => e.describe(tuple),
            Self::RampingVus(e) => e.describe(tuple),
            Self::SharedIterations(e) => e.describe(tuple)?,
            Self::PerVuIterations(e) => e.describe(tuple),
            Self::ConstantArrivalRate(e) => e.describe(tuple)?,
            Self::RampingArrivalRate(e) => e.describe(tuple),
            Self::ExternallyControlled(e) => e.describe(),
        })
    }

    /// The schedule for the share `tuple`; `None` when there is no work in it.
    pub(crate) fn plan(&self, tuple: &Tuple, hard_end_ns: u64) -> Result<Option<ExecutorPlan>, PlanError> {
        Ok(match self {
            Self::ConstantVus(e) => e.plan(tuple).map(ExecutorPlan::ConstantVus),
            Self::RampingVus(e) => e.plan(tuple, hard_end_ns)?.map(ExecutorPlan::RampingVus),
            Self::SharedIterations(e) => e.plan(tuple)?.map(ExecutorPlan::SharedIterations),
            Self::PerVuIterations(e) => e.plan(tuple).map(ExecutorPlan::PerVuIterations),
            Self::ConstantArrivalRate(e) => e.plan(tuple)?.map(ExecutorPlan::ConstantArrivalRate),
            Self::RampingArrivalRate(e) => e.plan(tuple)?.map(ExecutorPlan::RampingArrivalRate),
            Self::ExternallyControlled(e) => Some(ExecutorPlan::ExternallyControlled(e.plan(tuple))),
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

/// The end of what has none, and later than any other: the longest duration there is, 292 years.
pub const FOREVER_NS: u64 = i64::MAX.unsigned_abs();
/// The smallest `duration` and `maxDuration`.
pub(crate) const MIN_DURATION: GoDuration = GoDuration::from_secs(1);
/// `maxDuration` when it is not given.
pub(crate) const DEFAULT_MAX_DURATION: GoDuration = GoDuration::from_secs(600);
/// Most VUs a stage of ramping-vus may ask for.
pub(crate) const VUS_MAX: i64 = 100_000_000;

/// Reads and checks `vus` as most executors do.
fn positive_vus(vus: i64, errors: &mut Vec<String>) -> u64 {
    if vus <= 0 {
        errors.push("the number of VUs must be more than 0".to_owned());
    }
    u64::try_from(vus).unwrap_or(0)
}

fn required_duration(duration: Option<GoDuration>, errors: &mut Vec<String>) -> GoDuration {
    match duration {
        None => errors.push("the duration is unspecified".to_owned()),
        Some(d) if d < MIN_DURATION => {
            errors.push(format!("the duration must be at least {MIN_DURATION}, but is {d}"));
        }
        Some(_) => {}
    }
    duration.unwrap_or_default()
}

fn max_duration(duration: Option<GoDuration>, errors: &mut Vec<String>) -> GoDuration {
    let duration = duration.unwrap_or(DEFAULT_MAX_DURATION);
    if duration < MIN_DURATION {
        errors.push(format!("the maxDuration must be at least {MIN_DURATION}, but is {duration}"));
    }
    duration
}

/// Checks stages; `target_max` only where k6 has one.
fn valid_stages(stages: Option<&[StageConfig]>, target_max: Option<i64>, errors: &mut Vec<String>) -> Vec<Stage> {
    let stages = stages.unwrap_or_default();
    if stages.is_empty() {
        errors.push("at least one stage has to be specified".to_owned());
    }
    let mut total: i64 = 0;
    let mut valid = Vec::with_capacity(stages.len());
    for (i, stage) in stages.iter().enumerate() {
        let number = i + 1;
        match stage.duration {
            None => errors.push(format!("stage {number} doesn't have a duration")),
            Some(d) if d < GoDuration::ZERO => {
                errors.push(format!("the duration for stage {number} can't be negative"));
            }
            Some(d) => match total.checked_add(d.ns()) {
                Some(sum) => total = sum,
                None => errors.push(format!("the stages up to stage {number} are longer than 292 years")),
            },
        }
        match stage.target {
            None => errors.push(format!("stage {number} doesn't have a target")),
            Some(t) if t < 0 => errors.push(format!("the target for stage {number} can't be negative")),
            Some(t) => {
                if let Some(max) = target_max.filter(|max| t > *max) {
                    errors.push(format!("target for stage {number} exceeds max limit of {max}"));
                }
            }
        }
        valid.push(Stage {
            duration_ns: stage.duration.unwrap_or_default().as_ns(),
            target: u64::try_from(stage.target.unwrap_or(0)).unwrap_or(0),
        });
    }
    valid
}

/// The sum of the stages' durations. Validation keeps it within an `i64`; anything else saturates.
fn total_ns(stages: &[Stage]) -> u64 {
    stages.iter().fold(0, |sum, stage| sum.saturating_add(stage.duration_ns))
}

/// `1m30s` for unsigned nanoseconds.
fn text_ns(ns: u64) -> String {
    crate::duration::format_go_duration(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// VUs, or the result of a check that needs the errors collected so far to be none.
fn checked<T>(value: T, errors: Vec<String>) -> Result<T, Vec<String>> {
    if errors.is_empty() { Ok(value) } else { Err(errors) }
}
