//! Gauges of which each agent measures its own part: VUs. Their value is the sum over the agents.

use std::collections::BTreeMap;

use onrush_metrics::{Delta, DeltaSeries, Gauge, MetricId, Sink, TagPairs, builtin};

use super::agents::Agents;
use crate::protocol::AgentId;

/// What agents said last of each of them.
#[derive(Debug, Default)]
pub(super) struct SharedGauges(Vec<SharedGauge>);

/// One series.
#[derive(Debug)]
struct SharedGauge {
    metric: MetricId,
    tags: TagPairs,
    parts: BTreeMap<AgentId, Part>,
}

/// What an agent said last.
#[derive(Debug, Clone, Copy)]
struct Part {
    value: f64,
    updated: u64,
    /// No sum has it yet.
    is_new: bool,
}

impl SharedGauges {
    /// Takes such gauges out of an agent's delta. Where now all agents have said something new, or one of them the second
    /// time, the delta gets the sum of what all said last.
    pub(super) fn sum(&mut self, from: AgentId, delta: &mut Delta, agents: &Agents) {
        let is_shared = |series: &DeltaSeries| [builtin::VUS, builtin::VUS_MAX].contains(&series.metric);
        let taken: Vec<DeltaSeries> = delta.series.extract_if(.., |series| is_shared(series)).collect();
        for DeltaSeries { metric, tags, sink } in taken {
            let Sink::Gauge(gauge) = sink else { continue };
            let shared = self.of(metric, &tags);
            let mut sums = Vec::new();
            if shared.has_news_of(from) {
                sums.push(shared.take_sum(agents));
            }
            shared.parts.insert(from, Part { value: gauge.last, updated: gauge.updated, is_new: true });
            if agents.taking_part().all(|(id, _)| shared.has_news_of(id)) {
                sums.push(shared.take_sum(agents));
            }
            for sum in sums {
                delta.push(metric, tags.clone(), sum);
            }
        }
    }

    /// What is in no sum yet, at the end of the run.
    pub(super) fn rest(&mut self, agents: &Agents) -> Delta {
        let mut delta = Delta::default();
        for shared in &mut self.0 {
            if shared.parts.values().any(|part| part.is_new) {
                let sum = shared.take_sum(agents);
                delta.push(shared.metric, shared.tags.clone(), sum);
            }
        }
        delta
    }

    fn of(&mut self, metric: MetricId, tags: &TagPairs) -> &mut SharedGauge {
        let known = self.0.iter().position(|shared| shared.metric == metric && shared.tags == *tags);
        let place = known.unwrap_or_else(|| {
            self.0.push(SharedGauge { metric, tags: tags.clone(), parts: BTreeMap::new() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

impl SharedGauge {
    fn has_news_of(&self, id: AgentId) -> bool {
        self.parts.get(&id).is_some_and(|part| part.is_new)
    }

    /// The sum of what those said last who are not lost.
    fn take_sum(&mut self, agents: &Agents) -> Sink {
        self.parts.retain(|id, _| agents.get(*id).is_some_and(|agent| !agent.is_lost));
        self.parts.values_mut().for_each(|part| part.is_new = false);
        let updated = self.parts.values().map(|part| part.updated).max().unwrap_or(0);
        Sink::Gauge(Gauge::new(self.parts.values().map(|part| part.value).sum(), updated))
    }
}
