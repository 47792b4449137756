//! constant-arrival-rate: iterations start at evenly spaced times, whether or not earlier ones have ended.

use serde::{Deserialize, Serialize};

use super::{
    arrival::{ArrivalEvent, ArrivalVus, WhenBusy, rate_per_sec, valid_time_unit, valid_vus},
    fields::{checked, required_duration},
};
use crate::{duration::GoDuration, error::PlanError, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConstantArrivalRateConfig {
    /// Iterations per time unit; required.
    #[serde(default, deserialize_with = "int")]
    pub rate: Option<i64>,
    /// The time unit; 1 second if not given.
    #[serde(default)]
    pub time_unit: Option<GoDuration>,
    /// For how long; required.
    #[serde(default)]
    pub duration: Option<GoDuration>,
    /// VUs made before the test; required.
    #[serde(default, deserialize_with = "int", rename = "preAllocatedVUs")]
    pub pre_allocated_vus: Option<i64>,
    /// VUs made at most; as many as pre-allocated if not given.
    #[serde(default, deserialize_with = "int", rename = "maxVUs")]
    pub max_vus: Option<i64>,
    /// What becomes of iterations that are due while all VUs are busy; they are dropped if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<WhenBusy>,
}

impl ConstantArrivalRateConfig {
    pub(crate) const FIELDS: &[&str] = &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs", "whenBusy"];

    pub(crate) fn validate(&self) -> Result<ConstantArrivalRate, Vec<String>> {
        let mut errors = Vec::new();
        match self.rate {
            None => errors.push("the iteration rate isn't specified".to_owned()),
            Some(rate) if rate <= 0 => errors.push("the iteration rate must be more than 0".to_owned()),
            Some(_) => {}
        }
        let time_unit_ns = valid_time_unit(self.time_unit, &mut errors);
        let duration = required_duration(self.duration, &mut errors);
        let vus = valid_vus(self.pre_allocated_vus, self.max_vus, self.when_busy, &mut errors);
        let rate = u64::try_from(self.rate.unwrap_or(0)).unwrap_or(0);
        checked(ConstantArrivalRate { rate, time_unit_ns, duration, vus }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantArrivalRate {
    /// Iterations per time unit; at least 1.
    pub rate: u64,
    /// The time unit in nanoseconds; at least 1.
    pub time_unit_ns: u64,
    /// For how long.
    pub duration: GoDuration,
    /// The VUs.
    pub vus: ArrivalVus,
}

impl ConstantArrivalRate {
    pub(crate) fn describe(&self, share: &Share) -> Result<(String, Vec<String>), PlanError> {
        let events = share.from_value(self.vus.max)?;
        let rate = rate_per_sec(self.rate, self.time_unit_ns, events.as_ref());
        // k6: a range when our share is one.
        let range = share.scale(self.vus.planned) != share.scale(self.vus.max);
        Ok((format!("{rate:.2} iterations/s for {}", self.duration), vec![self.vus.describe(share, range)]))
    }

    pub(crate) fn plan(&self, share: &Share) -> Result<Option<ConstantArrivalRatePlan>, PlanError> {
        let Some((vus, events)) = self.vus.share(share)? else {
            return Ok(None);
        };
        // The last due time is below the duration, so: how many g have g * time_unit / rate < duration.
        let total =
            (u128::from(self.duration.as_ns()) * u128::from(self.rate)).div_ceil(u128::from(self.time_unit_ns.max(1)));
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        Ok(Some(ConstantArrivalRatePlan {
            vus,
            rate_per_sec: rate_per_sec(self.rate, self.time_unit_ns, Some(&events)),
            own_events: events.scale(total),
            rate: self.rate.max(1),
            time_unit_ns: self.time_unit_ns.max(1),
            events,
        }))
    }
}

/// One instance's share.
#[derive(Clone, Debug)]
pub struct ConstantArrivalRatePlan {
    /// The VUs here.
    pub vus: ArrivalVus,
    /// Our rate, in iterations per second.
    pub rate_per_sec: f64,
    own_events: u64,
    rate: u64,
    time_unit_ns: u64,
    events: Share,
}

impl ConstantArrivalRatePlan {
    /// How many iterations are due here before the regular end.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.own_events
    }

    /// Our `j`-th event (from 0); `None` after the last. Due times never decrease with `j` and are all before the
    /// regular end; number 0 of the whole test is due at once. So there are exactly rate × duration of them.
    ///
    /// k6 lets one more, due exactly at the regular end, race with the end and mostly win.
    #[must_use]
    pub fn event(&self, j: u64) -> Option<ArrivalEvent> {
        if j >= self.own_events {
            return None;
        }
        let global = self.events.nth(j)?;
        let at_ns = match global.checked_mul(self.time_unit_ns) {
            Some(product) => product / self.rate,
            // The quotient is below the duration, which fits 64 bits.
            None => u64::try_from(u128::from(global) * u128::from(self.time_unit_ns) / u128::from(self.rate)).ok()?,
        };
        Some(ArrivalEvent { global, at_ns })
    }

    /// The area under the whole test's rate up to a moment, in halves of an iteration per time unit.
    pub(crate) fn area_at(&self, at_ns: u64) -> u128 {
        2 * u128::from(self.rate) * u128::from(at_ns)
    }

    pub(crate) fn striping(&self) -> &Share {
        &self.events
    }

    pub(crate) fn time_unit_ns(&self) -> u64 {
        self.time_unit_ns
    }

    /// The number in the whole test of our `j`-th iteration, both from 0. k6 numbers iterations as they *start*, so
    /// after a dropped event this is not the event's own number.
    #[must_use]
    pub fn iteration_in_test(&self, j: u64) -> Option<u64> {
        self.events.nth(j)
    }
}
