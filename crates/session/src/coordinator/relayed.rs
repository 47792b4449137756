//! What comes over relays: samples of several agents that were added up, and beside them what each agent is to be known by.

use std::borrow::Cow;

use onrush_metrics::Delta;

use super::{Coordinator, Input, Orders};
use crate::protocol::{AgentId, Relayed, RelayedPart, RelayedSum, ThreadDelta, Time};

impl Coordinator {
    /// Takes deltas that a relay added up. Whoever hands it over knows that none of its parts came before, and that none is of an
    /// agent that is lost.
    pub fn relayed(&mut self, relayed: Relayed, now: Time) -> Orders {
        self.note(&Input::Relayed(Cow::Borrowed(&relayed)), now);
        let Relayed { parts, sums } = relayed;
        // Sums of gauges that all agents have a part of: they belong to no agent's samples.
        let mut gauges = Vec::new();
        for part in parts {
            if let Some(delta) = self.part_relayed(part, now) {
                gauges.push(delta);
            }
        }
        for RelayedSum { metrics_of, span, mut delta } in sums {
            // Also of an agent that was lost since: its samples are in the sum.
            let Some(table) = self.agents.get(metrics_of).and_then(|agent| agent.table.as_ref()) else { continue };
            table.translate(&mut delta);
            let part = ThreadDelta { span: Some(span), delta, ..ThreadDelta::default() };
            self.fold(metrics_of, &part);
        }
        for (from, part) in gauges {
            self.fold(from, &part);
        }
        self.take()
    }

    /// Notes what is an agent's own; returns what is to be counted of that.
    fn part_relayed(&mut self, part: RelayedPart, now: Time) -> Option<(AgentId, ThreadDelta)> {
        let RelayedPart { agent: from, thread, span, ended, requests, gauges, .. } = part;
        let agent = self.agents.get_mut(from)?;
        agent.heard_at = now;
        agent.requests += requests;
        let has_table = agent.table.is_some();
        if !has_table {
            return None;
        }
        agent.end(&ended);
        self.watermark.note(from, thread, std::time::Duration::from_nanos(span.until_ns));
        let mut delta = Delta { series: gauges, ..Delta::default() };
        if let Some(table) = self.agents.get(from).and_then(|agent| agent.table.as_ref()) {
            table.translate(&mut delta);
        }
        if self.agents.len() > 1 {
            self.shared_gauges.sum(from, &mut delta, &self.agents);
        }
        (!delta.is_empty()).then(|| (from, ThreadDelta { thread, span: Some(span), delta, ..ThreadDelta::default() }))
    }

    /// Counts samples, with the run's ids.
    pub(super) fn fold(&mut self, from: AgentId, part: &ThreadDelta) {
        self.merged.add(&part.delta);
        if let Some(span) = part.span.filter(|_| self.settings.evaluates_thresholds) {
            self.thresholds.add(&part.delta, span);
        }
        self.sinks.iter_mut().for_each(|sink| sink.delta(from, part));
    }
}
