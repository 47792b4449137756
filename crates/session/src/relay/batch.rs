//! Deltas that wait to go on as one message.

use std::collections::BTreeMap;

use onrush_metrics::{DeltaSeries, DeltaSum, Span, builtin};

use crate::protocol::{AgentId, Relayed, RelayedPart, RelayedSum, ThreadDelta};

/// One that is being filled.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) parts: Vec<RelayedPart>,
    /// The last report of each agent.
    last: BTreeMap<AgentId, u64>,
    sums: Vec<Sum>,
    /// Series of all sums at most: those that several parts have count once for each.
    pub(super) series: usize,
}

/// Samples of one second and one table of names.
#[derive(Debug)]
struct Sum {
    table: usize,
    second: u128,
    metrics_of: AgentId,
    span: Span,
    sum: DeltaSum,
}

impl Batch {
    /// Whether a report follows what is here of its agent: of what a sum stands for, nothing may come between.
    pub(super) fn is_continued_by(&self, agent: AgentId, number: u64) -> bool {
        self.last.get(&agent).is_none_or(|last| last + 1 == number)
    }

    /// Adds a delta of an agent whose metrics have the names of a table.
    pub(super) fn add(&mut self, agent: AgentId, (number, acknowledged): (u64, u64), table: usize, part: &ThreadDelta) {
        let Some(span) = part.span else { return };
        let mut delta = part.delta.clone();
        let gauges: Vec<DeltaSeries> = delta.series.extract_if(.., |series| is_shared(series)).collect();
        let requests = delta.series.iter().filter(|series| series.metric == builtin::HTTP_REQS);
        let requests = requests.filter_map(|series| series.sink.counter()).sum();
        self.last.insert(agent, number);
        let (thread, ended) = (part.thread, part.ended.clone());
        self.parts.push(RelayedPart { agent, number, acknowledged, thread, span, ended, requests, gauges });
        self.series += delta.series.len();
        // Windows of thresholds are whole seconds, and a delta is in the one that its middle is in.
        let second = (u128::from(span.from_ns) + u128::from(span.until_ns)) / (2 * NS_PER_S);
        let place = self.sums.iter().position(|sum| sum.table == table && sum.second == second);
        let place = place.unwrap_or_else(|| {
            self.sums.push(Sum { table, second, metrics_of: agent, span, sum: DeltaSum::default() });
            self.sums.len() - 1
        });
        let sum = &mut self.sums[place];
        sum.span.from_ns = sum.span.from_ns.min(span.from_ns);
        sum.span.until_ns = sum.span.until_ns.max(span.until_ns);
        sum.sum.add(&delta);
    }

    pub(super) fn into_relayed(self) -> Relayed {
        let sum = |Sum { metrics_of, span, sum, .. }| RelayedSum { metrics_of, span, delta: sum.into_delta() };
        Relayed { parts: self.parts, sums: self.sums.into_iter().map(sum).collect() }
    }
}

const NS_PER_S: u128 = 1_000_000_000;

/// Built-in metrics have the same ids everywhere.
fn is_shared(series: &DeltaSeries) -> bool {
    [builtin::VUS, builtin::VUS_MAX].contains(&series.metric)
}
