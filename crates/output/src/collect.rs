//! Samples of agents elsewhere, on their way into the outputs here.

use std::collections::BTreeMap;

use onrush_metrics::{MetricId, SampleBatch};

use crate::queue::{Inlets, Unsent};

/// Takes the samples of agents. Never waits: what finds no room is counted.
pub struct Collector {
    inlets: Inlets,
    /// By agent and its thread.
    sources: BTreeMap<(u32, u32), Source>,
    /// Our ids of each agent's metrics.
    metrics: BTreeMap<u32, Vec<Option<MetricId>>>,
}

/// A thread of an agent.
struct Source {
    /// Its number among all.
    number: usize,
    /// Tag sets that have come.
    sets: u32,
    unsent: Unsent,
}

/// Threads of all agents together; more than any test was run with.
const SOURCES_MAX: usize = 65_536;

impl Collector {
    pub(crate) fn new(inlets: Inlets) -> Self {
        Self { inlets, sources: BTreeMap::new(), metrics: BTreeMap::new() }
    }

    /// An agent's metrics, in the order of its ids: which of ours each is.
    pub fn know(&mut self, agent: u32, metrics: Vec<Option<MetricId>>) {
        self.metrics.insert(agent, metrics);
    }

    /// Takes samples of an agent's thread, their times on this process's clock.
    pub fn take(&mut self, agent: u32, thread: u32, mut batch: SampleBatch) {
        let number = self.sources.len();
        if number >= SOURCES_MAX && !self.sources.contains_key(&(agent, thread)) {
            return self.inlets.lose(batch.samples.len() as u64);
        }
        let new = || Source { number, sets: 0, unsent: Unsent::default() };
        let source = self.sources.entry((agent, thread)).or_insert_with(new);
        if batch.first_tag_set != source.sets {
            // It is not what an agent of ours sends: its samples would get the tags of others.
            return self.inlets.lose(batch.samples.len() as u64);
        }
        // Sets have numbers of 32 bits; what a message can carry is far less.
        source.sets = source.sets.saturating_add(u32::try_from(batch.tag_sets.len()).unwrap_or(u32::MAX));
        let known = self.metrics.get(&agent).map_or(&[][..], Vec::as_slice);
        let before = batch.samples.len();
        batch.samples.retain_mut(|sample| {
            let own = known.get(sample.metric.0 as usize).copied().flatten();
            let Some(own) = own.filter(|_| sample.tags < source.sets) else { return false };
            sample.metric = own;
            true
        });
        self.inlets.lose((before - batch.samples.len()) as u64);
        source.unsent.join(&mut batch);
        if let Err(batch) = self.inlets.put(source.number, batch) {
            source.unsent.keep(batch);
        }
    }
}
