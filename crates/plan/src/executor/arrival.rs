//! What the two arrival-rate executors share: their VUs, their events, and how a rate is shown.

use serde::{Deserialize, Serialize};

use crate::{duration::GoDuration, error::PlanError, stripe::Share};

/// One iteration that is due at a certain time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalEvent {
    /// Its number in the whole test, from 0.
    pub global: u64,
    /// When it is due, in nanoseconds from the scenario's start.
    pub at_ns: u64,
}

/// One instance's VUs of an arrival-rate scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalVus {
    /// Made before the test.
    pub planned: u64,
    /// Made before or, when the planned are all busy, during the test; at least `planned`.
    pub max: u64,
    /// What becomes of iterations that are due while all VUs are busy.
    pub when_busy: WhenBusy,
}

/// `whenBusy`: what becomes of iterations of an arrival rate that are due while all VUs are busy. An option that k6 does not
/// have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenBusy {
    /// They are dropped and counted, as in k6.
    #[default]
    Drop,
    /// They begin late, as soon as a VU is free, in their order; what has not begun at the end is dropped. How late they
    /// were is in the metrics that count from the intended start.
    Wait,
}

/// `preAllocatedVUs`, `maxVUs` and `whenBusy` as written.
pub(super) fn valid_vus(
    pre_allocated: Option<i64>,
    max: Option<i64>,
    when_busy: Option<WhenBusy>,
    errors: &mut Vec<String>,
) -> ArrivalVus {
    match pre_allocated {
        None => errors.push("the number of preAllocatedVUs isn't specified".to_owned()),
        Some(n) if n < 0 => errors.push("the number of preAllocatedVUs can't be negative".to_owned()),
        Some(_) => {}
    }
    let pre_allocated = pre_allocated.unwrap_or(0);
    let max = max.unwrap_or(pre_allocated);
    if max < pre_allocated {
        errors.push("maxVUs can't be less than preAllocatedVUs".to_owned());
    }
    ArrivalVus {
        planned: u64::try_from(pre_allocated).unwrap_or(0),
        max: u64::try_from(max).unwrap_or(0),
        when_busy: when_busy.unwrap_or_default(),
    }
}

pub(super) fn valid_time_unit(time_unit: Option<GoDuration>, errors: &mut Vec<String>) -> u64 {
    let time_unit = time_unit.unwrap_or(DEFAULT_TIME_UNIT);
    if time_unit <= GoDuration::ZERO {
        errors.push("the timeUnit must be more than 0".to_owned());
    }
    time_unit.as_ns()
}

impl ArrivalVus {
    /// Our share of the VUs, and the share of events that goes with it; `None` when we get no VU.
    pub(super) fn share(self, share: &Share) -> Result<Option<(Self, Share)>, PlanError> {
        let Some(events) = share.from_value(self.max)? else {
            return Ok(None);
        };
        let own = Self { planned: share.scale(self.planned), max: share.scale(self.max), ..self };
        Ok((own.max > 0).then_some((own, events)))
    }

    /// `maxVUs: 10-20`, or one number unless `range`. What decides it differs between the two executors, as in k6.
    pub(super) fn describe(self, share: &Share, range: bool) -> String {
        if range {
            format!("maxVUs: {}-{}", share.scale(self.planned), share.scale(self.max))
        } else {
            format!("maxVUs: {}", share.scale(self.max))
        }
    }
}

/// Our part of `rate` per `time_unit_ns`, in iterations per second.
pub(super) fn rate_per_sec(rate: u64, time_unit_ns: u64, events: Option<&Share>) -> f64 {
    let share = events.map_or(0.0, |t| t.length().as_f64());
    if time_unit_ns == 0 { 0.0 } else { rate as f64 * share * 1e9 / time_unit_ns as f64 }
}

/// `timeUnit` when it is not given.
const DEFAULT_TIME_UNIT: GoDuration = GoDuration::from_secs(1);
