//! What samples of one series (or of several, added up) have become.
//!
//! Adding sinks is exact: any grouping and any order give the same result.

use serde::{Deserialize, Serialize};

use crate::{exact_sum::ExactSum, histogram::Histogram, registry::MetricKind};

/// The folded samples of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sink {
    /// A sum; see [`ExactSum::value`].
    Counter {
        /// The sum of all values added.
        sum: ExactSum,
    },
    /// The last value and the extremes.
    Gauge(Gauge),
    /// How many values were not zero.
    Rate {
        /// Non-zero values.
        hits: u64,
        /// All values.
        total: u64,
    },
    /// A distribution.
    Trend(Histogram),
}

/// The state of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// The latest value.
    pub last: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// When `last` was set, in whatever order the writer counts: a later one wins a merge.
    pub updated: u64,
}

impl Gauge {
    /// A gauge with its first value.
    pub fn new(value: f64, updated: u64) -> Self {
        Self { last: value, min: value, max: value, updated }
    }

    /// Sets it.
    pub fn set(&mut self, value: f64, updated: u64) {
        self.merge(&Self::new(value, updated));
    }

    /// Adds another gauge's history. Of two values set at the same time the larger one stays, so that the order of
    /// merging does not matter.
    pub fn merge(&mut self, other: &Self) {
        let later = other.updated.cmp(&self.updated).then(other.last.total_cmp(&self.last));
        if later.is_gt() {
            self.last = other.last;
            self.updated = other.updated;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

impl Sink {
    /// The kind of metric it belongs to.
    pub fn kind(&self) -> MetricKind {
        match self {
            Self::Counter { .. } => MetricKind::Counter,
            Self::Gauge(_) => MetricKind::Gauge,
            Self::Rate { .. } => MetricKind::Rate,
            Self::Trend(_) => MetricKind::Trend,
        }
    }

    /// A counter's sum.
    pub fn counter(&self) -> Option<f64> {
        match self {
            Self::Counter { sum } => Some(sum.value()),
            _ => None,
        }
    }

    /// A gauge.
    pub fn gauge(&self) -> Option<&Gauge> {
        match self {
            Self::Gauge(gauge) => Some(gauge),
            _ => None,
        }
    }

    /// A rate's hits and total.
    pub fn rate(&self) -> Option<(u64, u64)> {
        match self {
            Self::Rate { hits, total } => Some((*hits, *total)),
            _ => None,
        }
    }

    /// A trend's distribution.
    pub fn trend(&self) -> Option<&Histogram> {
        match self {
            Self::Trend(histogram) => Some(histogram),
            _ => None,
        }
    }

    /// Adds `other`. Gives `false` and changes nothing if it is of another kind.
    #[must_use = "a mismatch means the samples are not counted"]
    pub fn merge(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Counter { sum }, Self::Counter { sum: more }) => sum.merge(more),
            (Self::Gauge(gauge), Self::Gauge(more)) => gauge.merge(more),
            (Self::Rate { hits, total }, Self::Rate { hits: more_hits, total: more_total }) => {
                *hits = hits.saturating_add(*more_hits);
                *total = total.saturating_add(*more_total);
            }
            (Self::Trend(histogram), Self::Trend(more)) => histogram.merge(more),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_merge_in_any_order() {
        let parts = [Gauge::new(3.0, 1), Gauge::new(1.0, 7), Gauge::new(2.0, 7), Gauge::new(9.0, 2)];
        let merged = |order: [usize; 4]| {
            let mut gauge = parts[order[0]];
            for index in &order[1..] {
                gauge.merge(&parts[*index]);
            }
            gauge
        };
        let expect = Gauge { last: 2.0, min: 1.0, max: 9.0, updated: 7 };
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            assert_eq!(merged(order), expect);
        }
    }

    #[test]
    fn kinds_do_not_mix() {
        let mut rate = Sink::Rate { hits: 1, total: 2 };
        assert!(!rate.merge(&Sink::Gauge(Gauge::new(1.0, 1))));
        assert!(rate.merge(&Sink::Rate { hits: 2, total: 2 }));
        assert_eq!(rate, Sink::Rate { hits: 3, total: 4 });
    }
}
