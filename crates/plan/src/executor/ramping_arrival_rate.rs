//! ramping-arrival-rate: iterations start where the integral of a piecewise linear rate reaches 1, 2, 3, …
//!
//! The area under the rate is kept as an exact integer, in units of half an iteration per time unit, so which stage an
//! event falls in and how many events there are do not depend on rounding. Only the instant within a stage takes a
//! square root, in a form that does not cancel.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    arrival::{ArrivalEvent, ArrivalVus, WhenBusy, rate_per_sec, valid_time_unit, valid_vus},
    fields::{Stage, StageConfig, checked, text_ns, total_ns, valid_stages},
};
use crate::{duration::GoDuration, error::PlanError, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RampingArrivalRateConfig {
    /// Iterations per time unit at the start; 0 if not given.
    #[serde(default, deserialize_with = "int")]
    pub start_rate: Option<i64>,
    /// The time unit; 1 second if not given.
    #[serde(default)]
    pub time_unit: Option<GoDuration>,
    /// The stages; targets are iterations per time unit.
    #[serde(default)]
    pub stages: Option<Vec<StageConfig>>,
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

impl RampingArrivalRateConfig {
    pub(crate) const FIELDS: &[&str] = &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs", "whenBusy"];

    pub(crate) fn validate(&self) -> Result<RampingArrivalRate, Vec<String>> {
        let mut errors = Vec::new();
        let start_rate = self.start_rate.unwrap_or(0);
        if start_rate < 0 {
            errors.push("the startRate value can't be negative".to_owned());
        }
        let time_unit_ns = valid_time_unit(self.time_unit, &mut errors);
        let stages = valid_stages(self.stages.as_deref(), None, &mut errors);
        let vus = valid_vus(self.pre_allocated_vus, self.max_vus, self.when_busy, &mut errors);
        let start_rate = u64::try_from(start_rate).unwrap_or(0);
        checked(RampingArrivalRate { start_rate, time_unit_ns, stages, vus }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RampingArrivalRate {
    /// Iterations per time unit at the start.
    pub start_rate: u64,
    /// The time unit in nanoseconds; at least 1.
    pub time_unit_ns: u64,
    /// The stages; targets are iterations per time unit.
    pub stages: Vec<Stage>,
    /// The VUs.
    pub vus: ArrivalVus,
}

impl RampingArrivalRate {
    pub(crate) fn describe(&self, share: &Share) -> (String, Vec<String>) {
        let peak = self.stages.iter().map(|s| s.target).fold(self.start_rate, u64::max);
        // k6: this line shows the segment's share of the rate, not the share that is re-derived from maxVUs, which is
        // what really runs here and what constant-arrival-rate shows.
        let rate = rate_per_sec(peak, self.time_unit_ns, Some(share));
        // k6: a range when the whole test has one.
        let range = self.vus.planned != self.vus.max;
        let duration = text_ns(total_ns(&self.stages));
        (
            format!("Up to {rate:.2} iterations/s for {duration} over {} stages", self.stages.len()),
            vec![self.vus.describe(share, range)],
        )
    }

    pub(crate) fn plan(&self, share: &Share) -> Result<Option<RampingArrivalRatePlan>, PlanError> {
        let Some((vus, events)) = self.vus.share(share)? else {
            return Ok(None);
        };
        let mut slopes = Vec::with_capacity(self.stages.len());
        let (mut from, mut start_ns, mut area) = (self.start_rate, 0_u64, 0_u128);
        for stage in &self.stages {
            // Rates are below 2^63 and all durations together below 2^63 ns, so the sum of all areas fits 127 bits.
            let own = (u128::from(from) + u128::from(stage.target)) * u128::from(stage.duration_ns);
            slopes.push(Slope {
                start_ns,
                duration_ns: stage.duration_ns,
                from,
                to: stage.target,
                area_before: area,
                area_after: area + own,
            });
            area += own;
            start_ns += stage.duration_ns;
            from = stage.target;
        }
        let unit = 2 * u128::from(self.time_unit_ns.max(1));
        let total = u64::try_from(area / unit).unwrap_or(u64::MAX);
        Ok(Some(RampingArrivalRatePlan {
            vus,
            own_events: events.scale(total),
            own_share: events.length().as_f64(),
            time_unit_ns: self.time_unit_ns.max(1),
            slopes: slopes.into(),
            events,
        }))
    }
}

/// One instance's share.
#[derive(Clone, Debug)]
pub struct RampingArrivalRatePlan {
    /// The VUs here.
    pub vus: ArrivalVus,
    own_events: u64,
    own_share: f64,
    time_unit_ns: u64,
    slopes: Arc<[Slope]>,
    events: Share,
}

impl RampingArrivalRatePlan {
    /// How many iterations are due here up to and including the regular end.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.own_events
    }

    /// Our `j`-th event (from 0); `None` after the last. The first event of the whole test is where the area reaches
    /// 1, and the last may be due exactly at the regular end. Use a [`cursor`](Self::cursor) to walk many.
    #[must_use]
    pub fn event(&self, j: u64) -> Option<ArrivalEvent> {
        self.cursor().event(j)
    }

    /// A cursor that remembers its stage.
    #[must_use]
    pub fn cursor(&self) -> RampingArrivalRateCursor {
        RampingArrivalRateCursor { plan: self.clone(), stage: 0 }
    }

    /// Our rate at a moment, in iterations per second; the last target after the regular end.
    #[must_use]
    pub fn rate_at(&self, at_ns: u64) -> f64 {
        let slope = self
            .slopes
            .iter()
            .find(|s| at_ns < s.start_ns.saturating_add(s.duration_ns))
            .or_else(|| self.slopes.last());
        let Some(slope) = slope else { return 0.0 };
        let progress = if slope.duration_ns == 0 {
            1.0
        } else {
            (at_ns.saturating_sub(slope.start_ns) as f64 / slope.duration_ns as f64).min(1.0)
        };
        self.per_sec(slope.from as f64 + (slope.to as f64 - slope.from as f64) * progress)
    }

    /// The highest rate of all stages here, in iterations per second.
    #[must_use]
    pub fn peak_rate(&self) -> f64 {
        self.per_sec(self.slopes.iter().map(|s| s.from.max(s.to)).max().unwrap_or(0) as f64)
    }

    /// The area under the whole test's rate up to a moment, in halves of an iteration per time unit.
    pub(crate) fn area_at(&self, at_ns: u64) -> u128 {
        let slope = self.slopes.iter().find(|s| at_ns < s.start_ns.saturating_add(s.duration_ns));
        match slope {
            Some(slope) => slope.area_at(at_ns.saturating_sub(slope.start_ns)),
            None => self.slopes.last().map_or(0, |slope| slope.area_after),
        }
    }

    pub(crate) fn striping(&self) -> &Share {
        &self.events
    }

    pub(crate) fn time_unit_ns(&self) -> u64 {
        self.time_unit_ns
    }

    fn per_sec(&self, rate: f64) -> f64 {
        rate * self.own_share * 1e9 / self.time_unit_ns as f64
    }

    /// The number in the whole test of our `j`-th iteration, both from 0. k6 numbers iterations as they *start*, so
    /// after a dropped event this is not the event's own number.
    #[must_use]
    pub fn iteration_in_test(&self, j: u64) -> Option<u64> {
        self.events.nth(j)
    }
}

/// Walks a [`RampingArrivalRatePlan`]'s events. Any order is right; ascending is cheap.
#[derive(Clone, Debug)]
pub struct RampingArrivalRateCursor {
    plan: RampingArrivalRatePlan,
    stage: usize,
}

impl RampingArrivalRateCursor {
    /// Our `j`-th event (from 0); `None` after the last.
    pub fn event(&mut self, j: u64) -> Option<ArrivalEvent> {
        if j >= self.plan.own_events {
            return None;
        }
        let global = self.plan.events.nth(j)?;
        // `global` is below the area in whole iterations, so this stays below the area in half units.
        let area = (u128::from(global) + 1) * 2 * u128::from(self.plan.time_unit_ns);
        let slopes = &self.plan.slopes;
        if slopes.get(self.stage).is_some_and(|s| area <= s.area_before) {
            self.stage = 0;
        }
        while slopes.get(self.stage).is_some_and(|s| area > s.area_after) {
            self.stage += 1;
        }
        let at_ns = slopes.get(self.stage)?.instant(area);
        Some(ArrivalEvent { global, at_ns })
    }
}

/// One stage. Areas are in units of half an iteration per time unit: the area of a stage is (from + to) * duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slope {
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) area_before: u128,
    pub(crate) area_after: u128,
}

impl Slope {
    /// The area `x` nanoseconds into the stage, less than half a unit too small where the rate ramps.
    pub(crate) fn area_at(&self, x: u64) -> u128 {
        let (x, rise) = (u128::from(x), u128::from(self.from.abs_diff(self.to)));
        let level = 2 * u128::from(self.from) * x;
        let duration = u128::from(self.duration_ns.max(1));
        // rise * x is below 2^126; squared it may not fit, then the division comes first.
        let bend = (rise * x).checked_mul(x).map_or_else(|| rise * x / duration * x, |square| square / duration);
        let own = if self.to >= self.from { level.saturating_add(bend) } else { level.saturating_sub(bend) };
        self.area_before.saturating_add(own).min(self.area_after)
    }

    /// When the area reaches `area`, which lies within this stage (so the stage has a duration and a rate): the last
    /// whole nanosecond at which the area is not above it. Exact, so later events are never planned earlier.
    pub(crate) fn instant(&self, area: u128) -> u64 {
        let part = area - self.area_before;
        let mut low = self.estimate(part);
        // A float is near, then doubling steps find a pair around the exact answer and halving closes in on it.
        let mut step = 1;
        while low > 0 && !self.is_within(low, part) {
            low = low.saturating_sub(step);
            step *= 2;
        }
        let mut high = low + 1;
        step = 1;
        while high <= self.duration_ns && self.is_within(high, part) {
            low = high;
            high = high.saturating_add(step);
            step *= 2;
        }
        high = high.min(self.duration_ns + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.is_within(middle, part) {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.start_ns.saturating_add(low)
    }

    /// About when the stage's own area reaches `part`. With rates a -> b over d, x solves (b - a) x^2 + 2 a d x - d
    /// part = 0. This root has no subtraction of near-equal numbers.
    fn estimate(&self, part: u128) -> u64 {
        let (duration, part) = (self.duration_ns as f64, part as f64);
        let from_area = self.from as f64 * duration;
        let discriminant = from_area * from_area + (self.to as f64 - self.from as f64) * duration * part;
        let x = duration * part / (from_area + discriminant.max(0.0).sqrt());
        // NaN cannot be, but would become 0 here.
        (x as u64).min(self.duration_ns)
    }

    /// Whether the stage's own area `x` nanoseconds into it is at most `part`: 2 a d x + (b - a) x^2 <= d part, of
    /// which each side has up to 192 bits.
    fn is_within(&self, x: u64, part: u128) -> bool {
        let level = 2 * u128::from(self.from) * u128::from(self.duration_ns);
        let bend = u128::from(self.from.abs_diff(self.to)) * u128::from(x);
        // x is at most d, so the bend is at most half the level.
        let factor = if self.to >= self.from { level + bend } else { level - bend };
        wide(factor, x) <= wide(part, self.duration_ns)
    }
}

/// The product's high and low parts; the low one has 64 bits.
fn wide(a: u128, b: u64) -> (u128, u128) {
    let low = (a & u128::from(u64::MAX)) * u128::from(b);
    ((a >> 64) * u128::from(b) + (low >> 64), low & u128::from(u64::MAX))
}
