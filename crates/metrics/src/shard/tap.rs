//! Raw samples, for outputs that write each one down.
//!
//! A shard without a tap folds samples and forgets them, which is what makes a run cheap. With one it also notes each
//! sample and hands them over in batches. Tag sets travel once: a sample names its set by number. The tap never waits:
//! what the receiver has no room for is the receiver's to count.

use std::{mem, sync::Arc};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{
    HttpIdx, SeriesIdx, TagNode,
    http::{HttpTimings, METRICS},
};
use crate::{
    delta::{TagPairs, tag_sets},
    registry::MetricId,
};

/// Takes batches from one thread's shard.
pub trait SampleSink: Send {
    /// Takes a batch, or gives it back at once when there is no room. A batch that was given back is counted by the
    /// sink; its tag sets come again with the next one.
    ///
    /// # Errors
    /// The batch itself.
    fn accept(&mut self, batch: SampleBatch) -> Result<(), SampleBatch>;
}

/// Samples of one thread in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleBatch {
    /// The samples.
    pub samples: Vec<RawSample>,
    /// The number of the first of `tag_sets`; those before it came with earlier batches of the thread.
    pub first_tag_set: u32,
    /// Tag sets that no earlier batch had.
    #[serde(with = "tag_sets")]
    pub tag_sets: Vec<TagPairs>,
    /// What the batch's samples point to with [`RawSample::metadata`].
    #[serde(with = "tag_sets")]
    pub metadata: Vec<TagPairs>,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawSample {
    /// The metric.
    pub metric: MetricId,
    /// The number of its tag set among those of its thread.
    pub tags: u32,
    /// The index of its metadata in the batch, or [`RawSample::NO_METADATA`].
    pub metadata: u32,
    /// When it was made, on the clock given to [`Tap::new`].
    pub time: u64,
    /// Its value.
    pub value: f64,
}

impl RawSample {
    /// The sample has no metadata.
    pub const NO_METADATA: u32 = u32::MAX;
}

/// Where a shard's raw samples go.
pub struct Tap {
    sink: Box<dyn SampleSink>,
    clock: fn() -> u64,
    /// What a tapped shard's [`SeriesIdx`] stands for.
    handles: Vec<Handle>,
    by_node: FxHashMap<(MetricId, TagNode), SeriesIdx>,
    sets: FxHashMap<TagNode, u32>,
    /// By [`HttpIdx`]: blocks are numbered in the order they are made.
    http_sets: Vec<u32>,
    batch: SampleBatch,
    /// The metadata of the samples to come, if the batch has it already.
    annotation: u32,
}

#[derive(Clone, Copy, Debug)]
struct Handle {
    metric: MetricId,
    tags: u32,
    folded: SeriesIdx,
}

impl Tap {
    /// Samples a batch holds at most: 128 KiB of them.
    pub const BATCH_MAX: usize = 4_096;

    /// A tap into `sink`; `clock` is asked once for each sample (once for the nine of a request).
    pub fn new(sink: Box<dyn SampleSink>, clock: fn() -> u64) -> Self {
        Self {
            sink,
            clock,
            handles: Vec::new(),
            by_node: FxHashMap::default(),
            sets: FxHashMap::default(),
            http_sets: Vec::new(),
            batch: SampleBatch::default(),
            annotation: RawSample::NO_METADATA,
        }
    }

    /// Gives the samples to come this metadata.
    pub(super) fn annotate(&mut self, metadata: Option<&TagPairs>) {
        let Some(metadata) = metadata else {
            self.annotation = RawSample::NO_METADATA;
            return;
        };
        let list = &mut self.batch.metadata;
        if self.batch.samples.is_empty() {
            // No sample needs what was announced so far, but perhaps those to come.
            list.retain(|known| Arc::ptr_eq(known, metadata));
            list.truncate(1);
        }
        if !list.last().is_some_and(|last| Arc::ptr_eq(last, metadata)) {
            list.push(Arc::clone(metadata));
        }
        // The cast cannot truncate: each was announced for a sample, and there are BATCH_MAX of them.
        self.annotation = (list.len() - 1) as u32;
    }

    pub(super) fn find(&self, metric: MetricId, node: TagNode) -> Option<SeriesIdx> {
        self.by_node.get(&(metric, node)).copied()
    }

    /// A handle for the samples of a metric and a tag set.
    pub(super) fn insert(
        &mut self,
        metric: MetricId,
        node: TagNode,
        folded: SeriesIdx,
        pairs: impl FnOnce() -> TagPairs,
    ) -> SeriesIdx {
        let tags = self.set(node, pairs);
        // The cast cannot truncate: series are limited, nodes as well.
        let handle = SeriesIdx(self.handles.len() as u32);
        self.handles.push(Handle { metric, tags, folded });
        self.by_node.insert((metric, node), handle);
        handle
    }

    /// Notes that the next block of HTTP series is for this tag set.
    pub(super) fn insert_http(&mut self, node: TagNode, pairs: impl FnOnce() -> TagPairs) {
        let set = self.set(node, pairs);
        self.http_sets.push(set);
    }

    /// Notes a sample and says which series it is folded into.
    pub(super) fn note(&mut self, handle: SeriesIdx, value: f64) -> SeriesIdx {
        let Some(Handle { metric, tags, folded }) = self.handles.get(handle.0 as usize).copied() else {
            return SeriesIdx::NONE;
        };
        if folded != SeriesIdx::NONE {
            let time = (self.clock)();
            self.push(RawSample { metric, tags, metadata: self.annotation, time, value });
        }
        folded
    }

    /// Notes the samples of a request, in k6's order.
    pub(super) fn note_http(&mut self, http: HttpIdx, timings: &HttpTimings, failed: Option<bool>) {
        let Some(tags) = self.http_sets.get(http.index()).copied() else { return };
        let time = (self.clock)();
        let [reqs, req_failed, timed @ ..] = METRICS;
        let values = [
            timings.duration,
            timings.blocked,
            timings.connecting,
            timings.tls_handshaking,
            timings.sending,
            timings.waiting,
            timings.receiving,
        ];
        let metadata = self.annotation;
        let mut push = |metric, value| self.batch.samples.push(RawSample { metric, tags, metadata, time, value });
        push(reqs, 1.0);
        timed.into_iter().zip(values).for_each(|(metric, value)| push(metric, value));
        if let Some(failed) = failed {
            push(req_failed, f64::from(u8::from(failed)));
        }
        if self.batch.samples.len() >= Self::BATCH_MAX {
            self.hand_over();
        }
    }

    /// Hands over what was noted since the last time.
    pub(super) fn hand_over(&mut self) {
        if self.batch.samples.is_empty() {
            return;
        }
        let batch = mem::take(&mut self.batch);
        // What the next samples have was announced before this batch was full.
        let metadata: Vec<TagPairs> = batch.metadata.get(self.annotation as usize).cloned().into_iter().collect();
        self.annotation = if metadata.is_empty() { RawSample::NO_METADATA } else { 0 };
        let next = batch.first_tag_set + batch.tag_sets.len() as u32;
        self.batch = match self.sink.accept(batch) {
            Ok(()) => SampleBatch { first_tag_set: next, metadata, ..SampleBatch::default() },
            Err(SampleBatch { first_tag_set, tag_sets, .. }) => {
                SampleBatch { first_tag_set, tag_sets, metadata, ..SampleBatch::default() }
            }
        };
    }

    fn push(&mut self, sample: RawSample) {
        self.batch.samples.push(sample);
        if self.batch.samples.len() >= Self::BATCH_MAX {
            self.hand_over();
        }
    }

    fn set(&mut self, node: TagNode, pairs: impl FnOnce() -> TagPairs) -> u32 {
        let batch = &mut self.batch;
        *self.sets.entry(node).or_insert_with(|| {
            batch.tag_sets.push(pairs());
            // The cast cannot truncate: there is at most one set for each node.
            batch.first_tag_set + batch.tag_sets.len() as u32 - 1
        })
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap").field("sets", &self.sets.len()).field("batch", &self.batch.samples.len()).finish()
    }
}
