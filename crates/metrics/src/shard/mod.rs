//! One thread's open accounts: samples are folded here and leave once a second.
//!
//! The path of a sample is: tags to a [`TagNode`] (memoised), node and metric to a [`SeriesIdx`] or, for a request's
//! nine metrics at once, an [`HttpIdx`] (memoised), then [`Shard::add`] or [`Shard::record_http`], which allocate
//! nothing once warm. A shard belongs to one thread and takes no lock.

mod cells;
mod http;
mod tag_sets;
mod tap;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use http::{HttpIdx, HttpTimings};
pub use tag_sets::{OTHER, TagNode};
pub use tap::{RawSample, SampleBatch, SampleSink, Tap};

use cells::Cells;
use http::HttpBlocks;
use tag_sets::TagSets;

use crate::{
    census::{Census, Folded},
    delta::{Delta, TagPairs},
    outcome::Outcomes,
    registry::{MetricId, MetricKind, Registry},
    subscriptions::Subscriptions,
    tag::{SystemTag, TagKey},
};

/// A thread's series and what was folded into them since the last drain.
#[derive(Debug)]
pub struct Shard {
    subscriptions: Arc<Subscriptions>,
    kinds: Vec<MetricKind>,
    /// Counts series over all shards of the run.
    census: Arc<Census>,
    tag_sets: TagSets,
    /// By metric and the node asked for.
    series: FxHashMap<(MetricId, TagNode), SeriesIdx>,
    cells: Cells,
    http: HttpBlocks,
    /// Orders gauge values; never goes back.
    time: u64,
    samples_lost: u64,
    outcomes: Outcomes,
    /// Where raw samples go, if an output wants them.
    tap: Option<Box<Tap>>,
}

/// What bounds a shard's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most series, over all shards that share a [`Census`]. Beyond it, new tag values are counted together under
    /// [`OTHER`].
    pub series_max: usize,
    /// Longest tag value in bytes; longer ones are cut. URLs and error texts may be script-made.
    pub value_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { series_max: Census::LIMIT, value_bytes_max: 8_192 }
    }
}

/// A series of one shard. Another shard does not know it: there its samples are lost (and counted so) or go to a series
/// of the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeriesIdx(u32);

impl Shard {
    /// An empty shard for the metrics declared so far.
    pub fn new(registry: &Registry, subscriptions: Arc<Subscriptions>, limits: Limits) -> Self {
        Self::sharing(registry, subscriptions, limits.value_bytes_max, Arc::new(Census::new(limits.series_max)))
    }

    /// One of several shards of a run, which share its number of series.
    pub fn sharing(
        registry: &Registry,
        subscriptions: Arc<Subscriptions>,
        value_bytes_max: usize,
        census: Arc<Census>,
    ) -> Self {
        let mut shard = Self {
            tag_sets: TagSets::new(&subscriptions, value_bytes_max, Arc::clone(&census)),
            subscriptions,
            kinds: Vec::new(),
            census,
            series: FxHashMap::default(),
            cells: Cells::default(),
            http: HttpBlocks::default(),
            time: 0,
            samples_lost: 0,
            outcomes: Outcomes::default(),
            tap: None,
        };
        shard.sync(registry);
        shard
    }

    /// Learns metrics that were declared since.
    pub fn sync(&mut self, registry: &Registry) {
        self.kinds.extend(registry.iter().skip(self.kinds.len()).map(|metric| metric.kind));
    }

    /// Hands every sample to `tap` as well. Must come before the first series.
    pub fn tap(&mut self, tap: Tap) {
        debug_assert!(self.series.is_empty(), "indices given out before would mean something else");
        self.tag_sets.keep_exact();
        self.tap = Some(Box::new(tap));
    }

    /// Whether raw samples are wanted, so that their metadata is worth collecting.
    #[inline]
    pub fn is_tapped(&self) -> bool {
        self.tap.is_some()
    }

    /// Gives the raw samples to come this metadata, until the next call.
    pub fn annotate(&mut self, metadata: Option<&TagPairs>) {
        if let Some(tap) = &mut self.tap {
            tap.annotate(metadata);
        }
    }

    /// Hands over the raw samples noted since the last time.
    pub fn hand_over(&mut self) {
        if let Some(tap) = &mut self.tap {
            tap.hand_over();
        }
    }

    /// The subscriptions it reduces tags by.
    pub fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.subscriptions
    }

    /// The key of a tag name; `None` if nobody reads it. Unlike [`Subscriptions::key`] this also finds room for new
    /// names when everything is kept.
    pub fn key(&mut self, name: &str) -> Option<TagKey> {
        if let Some(key) = self.subscriptions.key(name) {
            return Some(key);
        }
        if self.subscriptions.builds_all() { self.tag_sets.own_key(name) } else { None }
    }

    /// The tags of `node` with one added or replaced.
    pub fn with(&mut self, node: TagNode, key: TagKey, value: &str) -> TagNode {
        self.tag_sets.with(node, key, value)
    }

    /// The tags of `node` with a system tag, if that tag is switched on and read by anyone.
    #[inline]
    pub fn with_system(&mut self, node: TagNode, tag: SystemTag, value: &str) -> TagNode {
        if self.subscriptions.wants(tag) { self.tag_sets.with(node, tag.key(), value) } else { node }
    }

    /// The series of `metric` for the tags of `node` that the metric keeps.
    #[inline]
    pub fn series(&mut self, metric: MetricId, node: TagNode) -> SeriesIdx {
        if self.tap.is_some() { self.tapped_series(metric, node) } else { self.folded_series(metric, node) }
    }

    #[inline]
    fn folded_series(&mut self, metric: MetricId, node: TagNode) -> SeriesIdx {
        match self.series.get(&(metric, node)) {
            Some(series) => *series,
            None => self.make_series(metric, node),
        }
    }

    /// Folds one sample: a counter grows by it, a gauge becomes it, a rate counts whether it is zero, a trend records
    /// it. NaN is ignored.
    #[inline]
    pub fn add(&mut self, series: SeriesIdx, value: f64) {
        if value.is_nan() {
            return;
        }
        let series = match &mut self.tap {
            None => series,
            Some(tap) => tap.note(series, value),
        };
        if !self.cells.add(series, value, &mut self.time) {
            self.samples_lost += 1;
        }
    }

    /// Sets the time gauge values are ordered by, in any unit all shards share (nanoseconds of the run). Without it
    /// they are ordered within this shard only.
    #[inline]
    pub fn set_time(&mut self, time: u64) {
        self.time = self.time.max(time);
    }

    /// The block of the nine HTTP metrics for the tags of `node`.
    #[inline]
    pub fn http(&mut self, node: TagNode) -> HttpIdx {
        match self.http.find(node) {
            Some(block) => block,
            None => {
                let series = http::METRICS.map(|metric| self.folded_series(metric, node));
                if let Some(tap) = &mut self.tap {
                    tap.insert_http(node, || self.tag_sets.pairs(node));
                }
                self.http.insert(node, series)
            }
        }
    }

    /// Folds the samples of one request. `failed` is `None` if there is no response callback.
    #[inline]
    pub fn record_http(&mut self, http: HttpIdx, timings: &HttpTimings, failed: Option<bool>) {
        match self.http.block(http) {
            Some(block) => self.cells.add_http(block, timings, failed),
            None => self.samples_lost += 1,
        }
        if let Some(tap) = &mut self.tap {
            tap.note_http(http, timings, failed);
        }
    }

    /// What became of requests.
    pub fn outcomes(&mut self) -> &mut Outcomes {
        &mut self.outcomes
    }

    /// How many series there are.
    pub fn series_len(&self) -> usize {
        self.cells.len()
    }

    /// Takes what was folded since the last drain. Interned tags, indices and capacity stay.
    pub fn drain(&mut self) -> Delta {
        Delta {
            series: self.cells.drain(),
            warnings: self.tag_sets.take_warnings(),
            values_cut: self.tag_sets.take_values_cut(),
            samples_lost: std::mem::take(&mut self.samples_lost),
            outcomes: self.outcomes.drain(),
        }
    }

    /// The handle under which the tap knows a series and its whole tag set.
    #[cold]
    fn tapped_series(&mut self, metric: MetricId, node: TagNode) -> SeriesIdx {
        if let Some(handle) = self.tap.as_ref().and_then(|tap| tap.find(metric, node)) {
            return handle;
        }
        let folded = self.folded_series(metric, node);
        match &mut self.tap {
            Some(tap) => tap.insert(metric, node, folded, || self.tag_sets.pairs(node)),
            None => folded,
        }
    }

    #[cold]
    fn make_series(&mut self, metric: MetricId, node: TagNode) -> SeriesIdx {
        let Some(kind) = self.kinds.get(metric.0 as usize).copied() else {
            // Not declared before `new` or `sync`: its samples are counted as lost.
            return SeriesIdx::NONE;
        };
        let mut reduced = self.tag_sets.reduce(node, self.subscriptions.kept_by(metric));
        // Folding step by step ends at a set that exists or that there are few of.
        let mut folded = Folded::Nothing;
        let series = loop {
            if let Some(series) = self.series.get(&(metric, reduced)) {
                break *series;
            }
            let pairs = self.tag_sets.pairs(reduced);
            if self.census.admit(metric, &pairs, folded) {
                let series = self.cells.insert(metric, kind, pairs);
                self.series.insert((metric, reduced), series);
                break series;
            }
            folded = if folded == Folded::Nothing { Folded::Largest } else { Folded::All };
            reduced = self.tag_sets.fold(reduced, folded == Folded::All);
        };
        if reduced != node {
            self.series.insert((metric, node), series);
        }
        series
    }
}

impl SeriesIdx {
    /// Counts nothing.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

#[cfg(test)]
mod tests;
