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
            let is_second = shared.parts.get(&from).is_some_and(|part| part.is_new);
            let sums = [is_second.then(|| shared.take_sum(agents)), {
                shared.parts.insert(from, Part { value: gauge.last, updated: gauge.updated, is_new: true });
                let has_new = |id: AgentId| shared.parts.get(&id).is_some_and(|part| part.is_new);
                agents.live().all(|(id, _)| has_new(id)).then(|| shared.take_sum(agents))
            }];
            for sum in sums.into_iter().flatten() {
                delta.push(metric, tags.clone(), Sink::Gauge(sum));
            }
        }
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
    /// The sum of what those said last who are not lost.
    fn take_sum(&mut self, agents: &Agents) -> Gauge {
        self.parts.retain(|id, _| agents.get(*id).is_some_and(|agent| !agent.is_lost));
        self.parts.values_mut().for_each(|part| part.is_new = false);
        let updated = self.parts.values().map(|part| part.updated).max().unwrap_or(0);
        Gauge::new(self.parts.values().map(|part| part.value).sum(), updated)
    }
}
