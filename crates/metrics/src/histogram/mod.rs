//! A distribution that merges exactly: an exponential histogram of base 2^(2^-8).
//!
//! Count, sum, minimum and maximum are exact. Up to [`EXACT_VALUES_MAX`] values are kept as they are, so small runs
//! have exact percentiles too; more are counted in buckets, and percentiles are then within [`RELATIVE_ERROR`]. Whether
//! a histogram is exact depends only on its count, and so does the result of a merge: not on how samples were split
//! over threads or machines.

mod boundaries;
mod bucket;
mod pages;
mod recorder;
mod wire;

use pages::Pages;
use serde::{Deserialize, Serialize};

pub(crate) use recorder::Recorder;

use crate::exact_sum::{ExactSum, Windowed};

/// Most a percentile can be off, relative to the true order statistics: 2^(1/512) - 1.
pub const RELATIVE_ERROR: f64 = 0.001_355;

/// Up to this many values a histogram keeps them all: as much memory as one page of buckets.
pub const EXACT_VALUES_MAX: usize = 64;

/// A distribution of `f64` values of either sign.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "wire::Wire", into = "wire::Wire")]
pub struct Histogram {
    count: u64,
    sum: ExactSum,
    min: f64,
    max: f64,
    /// Whether values are in the buckets; else they are all in `values`.
    bucketed: bool,
    values: Vec<f64>,
    zeros: u64,
    positive: Pages,
    /// By magnitude.
    negative: Pages,
}

/// A part of the value range and how many values fell in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Exclusive end towards zero; zero for the zero bucket.
    pub inner: f64,
    /// Inclusive end away from zero.
    pub outer: f64,
    /// Values in it.
    pub count: u64,
}

/// What a histogram has kept of its values, beside their number, sum and range.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept<'a> {
    /// All of them, in any order.
    Values(&'a [f64]),
    /// How many fell in each bucket. Bucket `i` covers (2^((i-1)/256), 2^(i/256)].
    Buckets {
        /// Values that are zero.
        zeros: u64,
        /// Positive values: buckets and counts, in rising order.
        positive: Vec<(i32, u64)>,
        /// The same of the magnitudes of negative values.
        negative: Vec<(i32, u64)>,
    },
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            count: 0,
            sum: ExactSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            bucketed: false,
            values: Vec::new(),
            zeros: 0,
            positive: Pages::default(),
            negative: Pages::default(),
        }
    }
}

impl Histogram {
    /// An empty histogram; it allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. NaN is ignored: the script API refuses it before it gets here.
    pub fn record(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.count += 1;
        self.measure(value);
        if self.bucketed {
            self.count_value(value, 1);
        } else {
            self.keep_value(value);
        }
    }

    /// Adds a value `times` times.
    pub fn record_n(&mut self, value: f64, times: u64) {
        if value.is_nan() || times == 0 {
            return;
        }
        self.count = self.count.saturating_add(times);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum.add_times(value, times);
        if !self.bucketed && self.count <= EXACT_VALUES_MAX as u64 {
            self.values.extend(std::iter::repeat_n(value, times as usize));
        } else {
            self.use_buckets();
            self.count_value(value, times);
        }
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum.merge(&other.sum);
        if !self.bucketed && self.count <= EXACT_VALUES_MAX as u64 {
            self.values.extend_from_slice(&other.values);
            return;
        }
        self.use_buckets();
        if other.bucketed {
            self.zeros += other.zeros;
            self.positive.merge(&other.positive);
            self.negative.merge(&other.negative);
        } else {
            for value in &other.values {
                self.count_value(*value, 1);
            }
        }
    }

    /// Moves what was recorded out and starts anew, keeping the memory that was in use.
    pub fn drain(&mut self) -> Self {
        let drained = Self {
            count: self.count,
            sum: std::mem::take(&mut self.sum),
            min: self.min,
            max: self.max,
            bucketed: self.bucketed,
            values: self.values.clone(),
            zeros: self.zeros,
            positive: self.positive.drain(),
            negative: self.negative.drain(),
        };
        self.count = 0;
        self.min = f64::INFINITY;
        self.max = f64::NEG_INFINITY;
        self.bucketed = false;
        self.values.clear();
        self.zeros = 0;
        drained
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The sum, rounded once.
    pub fn sum(&self) -> f64 {
        self.sum.value()
    }

    /// The smallest value; 0 if there is none, as in k6.
    pub fn min(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.min }
    }

    /// The largest value; 0 if there is none, as in k6.
    pub fn max(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.max }
    }

    /// The average; 0 if there is no value, as in k6.
    pub fn mean(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.sum() / self.count as f64 }
    }

    /// Whether percentiles are exact, not only within [`RELATIVE_ERROR`].
    pub fn is_exact(&self) -> bool {
        !self.bucketed
    }

    /// The value at a share `q` of the sorted values, 0 to 1 (others are clamped); 0 if there is none.
    ///
    /// k6: linear interpolation between the order statistics around `q * (count - 1)`.
    pub fn quantile(&self, q: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let position = q.clamp(0.0, 1.0) * (self.count - 1) as f64;
        // NaN becomes 0.
        let rank = position as u64;
        let fraction = position - rank as f64;
        let last = self.count - 1;
        let (lower, upper) = self.order_statistics(rank.min(last), (rank + 1).min(last));
        // Between a number and infinity there is nothing to interpolate.
        if fraction > 0.0 && lower < upper && lower.is_finite() { lower + (upper - lower) * fraction } else { lower }
    }

    /// What it has kept, for whoever computes with it elsewhere.
    pub fn kept(&self) -> Kept<'_> {
        if !self.bucketed {
            return Kept::Values(&self.values);
        }
        Kept::Buckets {
            zeros: self.zeros,
            positive: self.positive.iter().collect(),
            negative: self.negative.iter().collect(),
        }
    }

    /// The values by bucket in rising order, for outputs of whole distributions.
    pub fn buckets(&self) -> Vec<Bucket> {
        if !self.bucketed {
            let mut counted = self.clone();
            counted.use_buckets();
            return counted.buckets();
        }
        let bound = |index: i32, sign: f64, count: u64| Bucket {
            inner: sign * bucket::upper_bound(index - 1),
            outer: sign * bucket::upper_bound(index),
            count,
        };
        let negative = self.negative.iter().rev().map(|(index, count)| bound(index, -1.0, count));
        let zero = (self.zeros > 0).then_some(Bucket { inner: 0.0, outer: 0.0, count: self.zeros });
        negative.chain(zero).chain(self.positive.iter().map(|(index, count)| bound(index, 1.0, count))).collect()
    }

    /// Adds many values, none of them NaN, with less work for each than [`Histogram::record`].
    fn record_batch(&mut self, values: &[f64]) {
        debug_assert!(values.len() <= recorder::BATCH && values.iter().all(|value| !value.is_nan()));
        self.count += values.len() as u64;
        if !self.bucketed && self.count <= EXACT_VALUES_MAX as u64 {
            self.values.extend_from_slice(values);
            values.iter().for_each(|value| self.measure(*value));
            return;
        }
        self.use_buckets();
        let (mut sum, mut zeros, mut min, mut max) = (0_i128, 0, f64::INFINITY, f64::NEG_INFINITY);
        let mut values = values.iter();
        loop {
            let mut pages = self.positive.open();
            let unusual = values.find(|value| {
                let bits = value.to_bits();
                // Phases of a request that did not happen are 0.
                if bits == 0 {
                    zeros += 1;
                    return false;
                }
                let Some(Windowed(magnitude)) = Windowed::of_magnitude(bits) else {
                    return true;
                };
                if !pages.count(bucket::index_of_normal(bits)) {
                    return true;
                }
                sum += magnitude;
                min = if **value < min { **value } else { min };
                max = if **value > max { **value } else { max };
                false
            });
            let Some(unusual) = unusual else {
                break;
            };
            self.measure(*unusual);
            self.count_value(*unusual, 1);
        }
        self.sum.add_window(sum);
        self.zeros += zeros;
        let (min, max) = if zeros > 0 { (min.min(0.0), max.max(0.0)) } else { (min, max) };
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    fn measure(&mut self, value: f64) {
        self.sum.add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn count_value(&mut self, value: f64, times: u64) {
        if value > 0.0 {
            self.positive.add(bucket::index_of(value), times);
        } else if value < 0.0 {
            self.negative.add(bucket::index_of(-value), times);
        } else {
            self.zeros += times;
        }
    }

    fn keep_value(&mut self, value: f64) {
        if self.values.len() < EXACT_VALUES_MAX {
            self.values.push(value);
        } else {
            self.use_buckets();
            self.count_value(value, 1);
        }
    }

    fn use_buckets(&mut self) {
        if std::mem::replace(&mut self.bucketed, true) {
            return;
        }
        let mut values = std::mem::take(&mut self.values);
        for value in values.drain(..) {
            self.count_value(value, 1);
        }
        self.values = values;
    }

    /// The values of two neighbouring ranks (or one rank twice), counted from 0.
    fn order_statistics(&self, lower: u64, upper: u64) -> (f64, f64) {
        if !self.bucketed {
            let mut sorted = self.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            return (sorted[lower as usize], sorted[upper as usize]);
        }
        let negative = self.negative.iter().rev().map(|(index, count)| (-bucket::representative(index), count));
        let positive = self.positive.iter().map(|(index, count)| (bucket::representative(index), count));
        let zero = (self.zeros > 0).then_some((0.0, self.zeros));
        let mut below = 0;
        let mut lower_value = None;
        for (value, count) in negative.chain(zero).chain(positive) {
            below += count;
            if lower_value.is_none() && lower < below {
                lower_value = Some(value);
            }
            if upper < below {
                return (self.at_rank(lower, lower_value.unwrap_or(value)), self.at_rank(upper, value));
            }
        }
        // Unreachable while the counts add up; the maximum is right in any case.
        (self.max, self.max)
    }

    /// The first and the last rank are known exactly.
    fn at_rank(&self, rank: u64, representative: f64) -> f64 {
        if rank == 0 {
            self.min
        } else if rank == self.count - 1 {
            self.max
        } else {
            // The outermost bucket may hold infinities and the largest numbers: all of them count as what is more usual.
            match representative {
                value if value >= bucket::LARGEST && self.max.is_infinite() => self.max,
                value if value <= -bucket::LARGEST && self.min.is_infinite() => self.min,
                value => value.clamp(self.min, self.max),
            }
        }
    }
}

/// Equal if every result and every later merge is.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |histogram: &Self| {
            // Adding zero makes one of the two zeros.
            let mut values: Vec<f64> = histogram.values.iter().map(|value| value + 0.0).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        self.count == other.count
            && self.sum == other.sum
            && self.min == other.min
            && self.max == other.max
            && self.bucketed == other.bucketed
            && self.zeros == other.zeros
            && self.positive == other.positive
            && self.negative == other.negative
            && sorted(self) == sorted(other)
    }
}

#[cfg(test)]
mod tests;
