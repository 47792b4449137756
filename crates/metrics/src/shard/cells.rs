//! The folded values of a shard's series, each kind in its own dense array.

use std::mem;

use super::{
    SeriesIdx,
    http::{HttpBlock, HttpTimings},
};
use crate::{
    delta::{DeltaSeries, TagPairs},
    exact_sum::ExactSum,
    histogram::Recorder,
    registry::{MetricId, MetricKind},
    sink::{Gauge, Sink},
};

/// All series of a shard.
#[derive(Debug, Default)]
pub(super) struct Cells {
    counters: Vec<Counter>,
    gauges: Vec<Option<Gauge>>,
    rates: Vec<Rate>,
    #[expect(clippy::vec_box, reason = "a recorder is 400 bytes: an index is cheaper, and growing moves less")]
    trends: Vec<Box<Recorder>>,
    /// What each cell is for, by kind and then slot like the arrays above.
    labels: [Vec<Label>; 4],
    /// Series with samples, in the order of their first one since the last drain.
    touched: Vec<SeriesIdx>,
}

#[derive(Debug, Default)]
struct Counter {
    sum: ExactSum,
    /// How often 1 was added, which is what most counters do.
    ones: u64,
    /// Adding zero makes a counter known, so its sum does not tell.
    touched: bool,
}

#[derive(Debug, Default)]
struct Rate {
    hits: u64,
    total: u64,
}

#[derive(Debug)]
struct Label {
    metric: MetricId,
    tags: TagPairs,
}

impl Cells {
    pub(super) fn insert(&mut self, metric: MetricId, kind: MetricKind, tags: TagPairs) -> SeriesIdx {
        let labels = &mut self.labels[kind as usize];
        let slot = labels.len();
        if slot >= SLOTS_MAX {
            return SeriesIdx::NONE;
        }
        labels.push(Label { metric, tags });
        match kind {
            MetricKind::Counter => self.counters.push(Counter::default()),
            MetricKind::Gauge => self.gauges.push(None),
            MetricKind::Rate => self.rates.push(Rate::default()),
            MetricKind::Trend => self.trends.push(Box::new(Recorder::new())),
        }
        SeriesIdx((kind as u32) << SLOT_BITS | slot as u32)
    }

    pub(super) fn len(&self) -> usize {
        self.labels.iter().map(Vec::len).sum()
    }

    /// Folds one sample; `false` if there is no such series. `clock` orders gauge values.
    #[inline]
    pub(super) fn add(&mut self, series: SeriesIdx, value: f64, clock: &mut u64) -> bool {
        match series.0 >> SLOT_BITS {
            COUNTER => self.count(series, value),
            GAUGE => self.set(series, value, clock),
            RATE => self.hit(series, value != 0.0),
            _ => self.record(series, value),
        }
    }

    /// Folds the nine samples of a request.
    #[inline]
    pub(super) fn add_http(&mut self, block: &HttpBlock, timings: &HttpTimings, failed: Option<bool>) {
        let [reqs, req_failed, duration, blocked, connecting, tls_handshaking, sending, waiting, receiving] = *block;
        self.count(reqs, 1.0);
        if let Some(failed) = failed {
            self.hit(req_failed, failed);
        }
        self.record(duration, timings.duration);
        self.record(blocked, timings.blocked);
        self.record(connecting, timings.connecting);
        self.record(tls_handshaking, timings.tls_handshaking);
        self.record(sending, timings.sending);
        self.record(waiting, timings.waiting);
        self.record(receiving, timings.receiving);
    }

    /// Takes what was folded, in the order of first samples.
    pub(super) fn drain(&mut self) -> Vec<DeltaSeries> {
        let mut touched = mem::take(&mut self.touched);
        let drained = touched
            .drain(..)
            .filter_map(|series| {
                let sink = self.take(series)?;
                let label = &self.labels[(series.0 >> SLOT_BITS) as usize][slot(series)];
                Some(DeltaSeries { metric: label.metric, tags: TagPairs::clone(&label.tags), sink })
            })
            .collect();
        // Keeps the capacity.
        self.touched = touched;
        drained
    }

    fn take(&mut self, series: SeriesIdx) -> Option<Sink> {
        let slot = slot(series);
        match series.0 >> SLOT_BITS {
            COUNTER => {
                let Counter { mut sum, ones, touched } = mem::take(&mut self.counters[slot]);
                sum.add_times(1.0, ones);
                touched.then_some(Sink::Counter { sum })
            }
            GAUGE => self.gauges[slot].take().map(Sink::Gauge),
            RATE => {
                let Rate { hits, total } = mem::take(&mut self.rates[slot]);
                (total > 0).then_some(Sink::Rate { hits, total })
            }
            _ => self.trends[slot].drain().map(Sink::Trend),
        }
    }

    #[inline]
    fn count(&mut self, series: SeriesIdx, value: f64) -> bool {
        let Some(counter) = self.counters.get_mut(slot(series)) else {
            return false;
        };
        if !counter.touched {
            counter.touched = true;
            self.touched.push(series);
        }
        if value == 1.0 {
            counter.ones += 1;
        } else {
            counter.sum.add(value);
        }
        true
    }

    #[inline]
    fn set(&mut self, series: SeriesIdx, value: f64, clock: &mut u64) -> bool {
        let Some(gauge) = self.gauges.get_mut(slot(series)) else {
            return false;
        };
        // Values set at one time keep their order within the shard.
        *clock = clock.saturating_add(1);
        match gauge {
            Some(gauge) => gauge.set(value, *clock),
            None => {
                *gauge = Some(Gauge::new(value, *clock));
                self.touched.push(series);
            }
        }
        true
    }

    #[inline]
    fn hit(&mut self, series: SeriesIdx, hit: bool) -> bool {
        let Some(rate) = self.rates.get_mut(slot(series)) else {
            return false;
        };
        if rate.total == 0 {
            self.touched.push(series);
        }
        rate.total += 1;
        rate.hits += u64::from(hit);
        true
    }

    #[inline]
    fn record(&mut self, series: SeriesIdx, value: f64) -> bool {
        let Some(recorder) = self.trends.get_mut(slot(series)) else {
            return false;
        };
        if recorder.record(value) {
            self.touched.push(series);
        }
        true
    }
}

#[inline]
fn slot(series: SeriesIdx) -> usize {
    (series.0 & SLOT_MASK) as usize
}

/// An index is the kind in two bits and the slot in its array.
const SLOT_BITS: u32 = 30;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
/// The last slot is never used: as a trend's it would be [`SeriesIdx::NONE`].
const SLOTS_MAX: usize = SLOT_MASK as usize;
const COUNTER: u32 = MetricKind::Counter as u32;
const GAUGE: u32 = MetricKind::Gauge as u32;
const RATE: u32 = MetricKind::Rate as u32;
