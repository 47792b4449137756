//! What it means to change the target of a scenario while it runs, as arithmetic.
//!
//! A target is for the whole test, as options are: an instance takes its share of it. It holds at once, or is reached
//! after a while ([`Ramp`]). VUs follow a staircase ([`VuCourse`]); a changed rate bends the schedule of arrivals
//! ([`ArrivalCourse`]). What was changed when can be written down as options that do the same from the start ([`replay`]).

mod arrivals;
mod ramp;
mod replay;

pub use arrivals::ArrivalCourse;
pub use ramp::{Ramp, VuCourse};
pub use replay::{Turn, replay};
use serde::{Deserialize, Serialize};

use crate::{
    executor::{Executor, vus_error},
    plan::ScenarioPlan,
};

/// What of a scenario can be set to a new value, for the whole test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// How many VUs loop.
    Vus(u64),
    /// How many VUs the scenario may use.
    MaxVus(u64),
    /// How many iterations start per `timeUnit`.
    Rate(u64),
}

impl Target {
    /// The option's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Vus(_) => "vus",
            Self::MaxVus(_) => "maxVUs",
            Self::Rate(_) => "rate",
        }
    }

    /// The number.
    #[must_use]
    pub fn value(self) -> u64 {
        match self {
            Self::Vus(value) | Self::MaxVus(value) | Self::Rate(value) => value,
        }
    }
}

/// What a scenario can be steered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steerable {
    /// VUs, as many as wanted: constant-vus, ramping-vus.
    Vus,
    /// VUs up to a limit that can be moved: externally-controlled.
    External,
    /// A rate, with VUs up to a limit that can be raised: the arrival rates.
    Rate,
    /// Its work is counted, so there is nothing to set: shared-iterations, per-vu-iterations.
    Nothing,
}

/// Most VUs one change may ask for where the scenario has no limit of its own: at roughly 100 KB each, what a large
/// machine can hold. A number mistyped must not end a run by taking all memory.
pub const STEERED_VUS_MAX: u64 = 100_000;
/// Highest rate per `timeUnit` that can be asked for.
pub const STEERED_RATE_MAX: u64 = 1_000_000_000;
/// Longest time a change may take: no test is longer than a year.
pub const STEERED_OVER_MAX_NS: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// The targets of a scenario as they are now, for the whole test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets {
    /// What can be changed.
    pub steerable: Steerable,
    /// VUs that loop, if that is what it is steered by; for ramping-vus the number at the moment.
    pub vus: Option<u64>,
    /// Its limit, where it has one.
    pub max_vus: Option<u64>,
    /// Iterations per `timeUnit`, rounded where the rate ramps.
    pub rate: Option<u64>,
    /// VUs or rate are on their way to another number, so staying where they are is a change, too.
    pub is_moving: bool,
}

/// A change as it was asked for; whole numbers of any sign, as clients send them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRequest {
    /// VUs that loop.
    pub vus: Option<i64>,
    /// The limit of VUs.
    pub max_vus: Option<i64>,
    /// Iterations per `timeUnit`.
    pub rate: Option<i64>,
    /// How long VUs or rate take to get there, in nanoseconds; at once if not given.
    pub over_ns: Option<u64>,
}

impl TargetRequest {
    /// Nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vus.is_none() && self.max_vus.is_none() && self.rate.is_none()
    }
}

/// Why a scenario cannot be steered so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl ScenarioPlan {
    /// The targets that hold at `at_ns` after the scenario's start when nobody has steered it.
    #[must_use]
    pub fn targets_at(&self, at_ns: u64) -> Targets {
        let none = Targets { steerable: Steerable::Nothing, vus: None, max_vus: None, rate: None, is_moving: false };
        match &self.scenario.executor {
            Executor::ConstantVus(e) => Targets { steerable: Steerable::Vus, vus: Some(e.vus), ..none },
            Executor::RampingVus(e) => {
                let vus = along(e.start_vus, &e.stages, at_ns);
                Targets { steerable: Steerable::Vus, vus: Some(vus), is_moving: true, ..none }
            }
            Executor::ExternallyControlled(e) => {
                Targets { steerable: Steerable::External, vus: Some(e.vus), max_vus: Some(e.max_vus), ..none }
            }
            Executor::ConstantArrivalRate(e) => {
                Targets { steerable: Steerable::Rate, rate: Some(e.rate), max_vus: Some(e.vus.max), ..none }
            }
            Executor::RampingArrivalRate(e) => {
                let rate = along(e.start_rate, &e.stages, at_ns);
                let max_vus = Some(e.vus.max);
                Targets { steerable: Steerable::Rate, rate: Some(rate), max_vus, is_moving: true, ..none }
            }
            Executor::SharedIterations(_) | Executor::PerVuIterations(_) => none,
        }
    }

    /// The least `maxVUs` may be steered to: what the test was started with.
    #[must_use]
    pub fn max_vus_min(&self) -> u64 {
        match &self.scenario.executor {
            Executor::ExternallyControlled(e) => e.max_vus,
            Executor::ConstantArrivalRate(e) => e.vus.max,
            Executor::RampingArrivalRate(e) => e.vus.max,
            _ => 0,
        }
    }

    /// Checks a change against the targets that hold now, and says what really changes; nothing when nothing does. A
    /// new limit comes before what it allows.
    ///
    /// # Errors
    /// Whatever is out of bounds or means nothing to the executor; k6's words where it has them.
    pub fn accept(&self, now: Targets, wanted: TargetRequest) -> Result<Vec<Target>, TargetError> {
        self.check_kind(now.steerable, wanted)?;
        check_over(wanted)?;
        self.check_limits(now, wanted)?;
        let limits = [
            (wanted.max_vus, now.max_vus, STEERED_VUS_MAX.max(self.max_vus_min()), Target::MaxVus as fn(u64) -> Target),
            (wanted.vus, now.vus, STEERED_VUS_MAX.max(now.max_vus.unwrap_or(0)), Target::Vus),
            (wanted.rate, now.rate, STEERED_RATE_MAX, Target::Rate),
        ];
        let mut changes = Vec::new();
        for (wanted, before, max, target) in limits {
            let Some(wanted) = wanted else { continue };
            let target = target(self.bounded(target(0).name(), wanted, max)?);
            if before != Some(target.value()) || (now.is_moving && !matches!(target, Target::MaxVus(_))) {
                changes.push(target);
            }
        }
        Ok(changes)
    }

    /// Refuses what means nothing to the executor.
    fn check_kind(&self, steerable: Steerable, wanted: TargetRequest) -> Result<(), TargetError> {
        let instead = match steerable {
            Steerable::Nothing => "which runs a given number of iterations: it has neither VUs nor a rate to change",
            Steerable::Vus | Steerable::External if wanted.rate.is_some() => "which has no rate: change its vus",
            Steerable::Vus if wanted.max_vus.is_some() => "which has no maxVUs: change its vus",
            Steerable::Rate if wanted.vus.is_some() => "whose VUs follow its rate: change its rate or its maxVUs",
            _ => return Ok(()),
        };
        let kind = self.scenario.executor.type_name();
        Err(TargetError(format!("scenario '{}' has the executor {kind}, {instead}", self.name())))
    }

    /// Refuses limits below what the test was started with, and VUs above the limit.
    fn check_limits(&self, now: Targets, wanted: TargetRequest) -> Result<(), TargetError> {
        let (vus, max_vus) = (wanted.vus.or_else(|| signed(now.vus)), wanted.max_vus.or_else(|| signed(now.max_vus)));
        if now.steerable == Steerable::External
            && let Some(problem) = vus_error(vus.unwrap_or(0), max_vus.unwrap_or(0))
        {
            return Err(TargetError(format!("invalid configuration supplied: {problem}")));
        }
        let max_vus_min = self.max_vus_min();
        if wanted.max_vus.is_some_and(|max| max < signed(Some(max_vus_min)).unwrap_or(0)) {
            return Err(TargetError(format!(
                "the new number of max VUs cannot be lower than the starting number of max VUs ({max_vus_min})"
            )));
        }
        Ok(())
    }

    /// A wanted number, if it is from 0 to `max`.
    fn bounded(&self, option: &str, wanted: i64, max: u64) -> Result<u64, TargetError> {
        let name = self.name();
        let error = |text: String| Err(TargetError(format!("the {option} of scenario '{name}' {text}")));
        match u64::try_from(wanted) {
            Err(_) => error(format!("can't be negative, but is {wanted}")),
            Ok(value) if value > max => error(format!("can be at most {max}, not {value}")),
            Ok(value) => Ok(value),
        }
    }
}

/// Refuses a duration without anything that could take it, and one too long.
fn check_over(wanted: TargetRequest) -> Result<(), TargetError> {
    let problem = match wanted.over_ns {
        Some(_) if wanted.vus.is_none() && wanted.rate.is_none() => "`over` needs `vus` or `rate`",
        Some(over_ns) if over_ns > STEERED_OVER_MAX_NS => "`over` can be at most a year",
        _ => return Ok(()),
    };
    Err(TargetError(problem.to_owned()))
}

/// The value stages have reached at a moment, rounded.
fn along(start: u64, stages: &[crate::executor::Stage], at_ns: u64) -> u64 {
    let (mut from, mut left) = (start, at_ns);
    for stage in stages {
        if left < stage.duration_ns {
            let rise = i128::from(stage.target) - i128::from(from);
            let half = i128::from(stage.duration_ns / 2) * rise.signum();
            let value = i128::from(from) + (rise * i128::from(left) + half) / i128::from(stage.duration_ns);
            return u64::try_from(value).unwrap_or(0);
        }
        left -= stage.duration_ns;
        from = stage.target;
    }
    from
}

fn signed(value: Option<u64>) -> Option<i64> {
    value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Options, Plan, Tier, consolidate, parse_json};

    /// The plan of one scenario.
    pub(crate) fn plan(scenario: &str) -> ScenarioPlan {
        let options = parse_json(&format!(r#"{{"scenarios": {{"a": {scenario}}}}}"#)).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        Plan::new(&test.scenarios, &test.share).unwrap().scenarios[0].clone()
    }

    const EXTERNAL: &str = r#"{"executor": "externally-controlled", "vus": 2, "maxVUs": 5, "duration": "40s"}"#;
    const CONSTANT: &str = r#"{"executor": "constant-vus", "vus": 10, "duration": "10s"}"#;
    const RATE: &str =
        r#"{"executor": "constant-arrival-rate", "rate": 5, "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 4}"#;

    fn check(scenario: &str, wanted: TargetRequest, expect: Result<&[Target], &str>) {
        let plan = plan(scenario);
        let got = plan.accept(plan.targets_at(0), wanted).map_err(|error| error.to_string());
        assert_eq!(got, expect.map(<[Target]>::to_vec).map_err(str::to_owned), "{wanted:?} of {scenario}");
    }

    fn vus(vus: i64) -> TargetRequest {
        TargetRequest { vus: Some(vus), ..TargetRequest::default() }
    }

    fn max(max: i64) -> TargetRequest {
        TargetRequest { max_vus: Some(max), ..TargetRequest::default() }
    }

    fn rate(rate: i64) -> TargetRequest {
        TargetRequest { rate: Some(rate), ..TargetRequest::default() }
    }

    /// The texts about an externally-controlled scenario were printed by k6 1.8.1.
    #[test]
    fn bounds() {
        check(EXTERNAL, vus(4), Ok(&[Target::Vus(4)]));
        check(EXTERNAL, vus(2), Ok(&[]));
        check(EXTERNAL, TargetRequest::default(), Ok(&[]));
        check(
            EXTERNAL,
            TargetRequest { vus: Some(7), max_vus: Some(8), ..TargetRequest::default() },
            Ok(&[Target::MaxVus(8), Target::Vus(7)]),
        );
        let text = "invalid configuration supplied: the number of active VUs (9) must be less than or equal to the number of maxVUs (5)";
        check(EXTERNAL, vus(9), Err(text));
        check(EXTERNAL, vus(-1), Err("invalid configuration supplied: the number of VUs can't be negative"));
        check(
            EXTERNAL,
            max(4),
            Err("the new number of max VUs cannot be lower than the starting number of max VUs (5)"),
        );
        check(CONSTANT, vus(0), Ok(&[Target::Vus(0)]));
        check(CONSTANT, vus(10), Ok(&[]));
        // To stay where a ramp is at the moment is a change.
        let ramp = r#"{"executor": "ramping-vus", "startVUs": 3, "stages": [{"duration": "9s", "target": 9}]}"#;
        check(ramp, vus(3), Ok(&[Target::Vus(3)]));
        check(CONSTANT, TargetRequest { over_ns: Some(1), ..vus(3) }, Ok(&[Target::Vus(3)]));
        let text = "`over` needs `vus` or `rate`";
        check(RATE, TargetRequest { over_ns: Some(1), ..max(9) }, Err(text));
        check(CONSTANT, TargetRequest { over_ns: Some(u64::MAX), ..vus(3) }, Err("`over` can be at most a year"));
        check(CONSTANT, vus(-3), Err("the vus of scenario 'a' can't be negative, but is -3"));
        check(CONSTANT, vus(i64::MAX), Err("the vus of scenario 'a' can be at most 100000, not 9223372036854775807"));
        check(CONSTANT, rate(3), Err("scenario 'a' has the executor constant-vus, which has no rate: change its vus"));
        check(RATE, rate(0), Ok(&[Target::Rate(0)]));
        check(RATE, max(9), Ok(&[Target::MaxVus(9)]));
        check(RATE, max(3), Err("the new number of max VUs cannot be lower than the starting number of max VUs (4)"));
        check(
            RATE,
            vus(3),
            Err(
                "scenario 'a' has the executor constant-arrival-rate, whose VUs follow its rate: change its rate or its maxVUs",
            ),
        );
        check(
            r#"{"executor": "shared-iterations"}"#,
            vus(3),
            Err(
                "scenario 'a' has the executor shared-iterations, which runs a given number of iterations: it has neither VUs nor a rate to change",
            ),
        );
    }

    #[test]
    fn ramps_have_a_target_at_every_moment() {
        let ramp = plan(
            r#"{"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "10s", "target": 10}, {"duration": "0s", "target": 20}, {"duration": "10s", "target": 0}]}"#,
        );
        let at = |s: f64| ramp.targets_at((s * 1e9) as u64).vus;
        assert_eq!(
            [at(0.0), at(5.0), at(9.96), at(10.0), at(15.0), at(99.0)].map(Option::unwrap),
            [0, 5, 10, 20, 10, 0]
        );
    }
}
