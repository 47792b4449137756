//! How the generators fared: seconds of each agent, added up for what is long past.

use std::collections::BTreeMap;

use onrush_metrics::Span;
use serde::{Deserialize, Serialize};

use crate::{
    bins::{Bin, Bins, Sum},
    number::ms,
};

/// A second of one agent, or several: means, worst values and sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSecond {
    /// Its number.
    pub agent: u32,
    /// Seconds that it is made of.
    pub seconds: u32,
    /// CPU the process used, in cores: the mean.
    pub cpu_cores: f64,
    /// CPU of its busiest thread, in cores: the most.
    pub busiest_thread_cores: f64,
    /// Cores it may use.
    pub available_cores: f64,
    /// CPU everything on the machine used, in cores: the mean.
    pub machine_cores: f64,
    /// CPU the hypervisor took, in cores: the mean.
    pub steal_cores: f64,
    /// Share of the time in which its control group had to wait for its quota: the most.
    pub throttled: f64,
    /// Most memory.
    pub rss_bytes: u64,
    /// The same as a share of what there is, 0 where that is not known.
    pub memory_used: f64,
    /// Most open files.
    pub open_files: u64,
    /// Worst delay of a timer.
    pub timer_lag_ms: f64,
    /// Longest share of a second in which a thread waited for a core.
    pub run_queue: f64,
    /// Bytes received by the machine's interfaces.
    pub received_bytes: u64,
    /// Bytes sent by them.
    pub sent_bytes: u64,
    /// TCP segments sent.
    pub segments: u64,
    /// Those of them that were sent again.
    pub retransmitted: u64,
    /// Packets that were dropped.
    pub packets_dropped: u64,
    /// Pages that came back from swap.
    pub swapped_in: u64,
}

/// The record `health`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HealthStep {
    /// Where the time it covers begins.
    pub from_ms: f64,
    /// Where it ends.
    pub at_ms: f64,
    /// The agents that have said something of it.
    pub agents: Vec<AgentSecond>,
}

impl AgentSecond {
    /// Adds what came later.
    pub fn add(&mut self, other: &Self) {
        let (before, more) = (f64::from(self.seconds), f64::from(other.seconds));
        let all = (before + more).max(1.0);
        for (mean, other) in [
            (&mut self.cpu_cores, other.cpu_cores),
            (&mut self.machine_cores, other.machine_cores),
            (&mut self.steal_cores, other.steal_cores),
        ] {
            *mean = (*mean * before + other * more) / all;
        }
        for (most, other) in [
            (&mut self.busiest_thread_cores, other.busiest_thread_cores),
            (&mut self.throttled, other.throttled),
            (&mut self.memory_used, other.memory_used),
            (&mut self.timer_lag_ms, other.timer_lag_ms),
            (&mut self.run_queue, other.run_queue),
        ] {
            *most = most.max(other);
        }
        for (sum, other) in [
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.sent_bytes, other.sent_bytes),
            (&mut self.segments, other.segments),
            (&mut self.retransmitted, other.retransmitted),
            (&mut self.packets_dropped, other.packets_dropped),
            (&mut self.swapped_in, other.swapped_in),
        ] {
            *sum = sum.saturating_add(other);
        }
        self.available_cores = other.available_cores;
        self.rss_bytes = self.rss_bytes.max(other.rss_bytes);
        self.open_files = self.open_files.max(other.open_files);
        self.seconds = self.seconds.saturating_add(other.seconds);
    }
}

impl HealthStep {
    /// The time it covers. Whoever wrote it may have written nonsense.
    pub(crate) fn span(&self) -> Span {
        let ns = |ms: f64| (ms.max(0.0) * 1e6) as u64;
        Span { from_ns: ns(self.from_ms), until_ns: ns(self.at_ms).max(ns(self.from_ms)) }
    }

    /// The record.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Agents by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct HealthSum(BTreeMap<u32, AgentSecond>);

impl Sum for HealthSum {
    type Part = HealthStep;

    fn add(&mut self, part: &HealthStep) {
        for second in &part.agents {
            let known = self.0.get_mut(&second.agent);
            match known {
                Some(sum) => sum.add(second),
                None => {
                    self.0.insert(second.agent, *second);
                }
            }
        }
    }
}

impl HealthSum {
    /// It as a step of this time.
    pub(crate) fn into_step(self, span: Span) -> HealthStep {
        HealthStep { from_ms: ms(span.from_ns), at_ms: ms(span.until_ns), agents: self.0.into_values().collect() }
    }
}

impl Bin<HealthSum> {
    /// The bin as a step.
    pub(crate) fn into_step(self) -> HealthStep {
        self.sum.into_step(self.span)
    }
}

/// Adds seconds up for a file that keeps them.
#[derive(Debug, Default)]
pub struct HealthBins {
    bins: Bins<HealthSum>,
    /// The last part that came; alone in its bin it is that bin.
    last: Option<HealthStep>,
}

impl HealthBins {
    /// Adds a second. Gives what is over.
    pub fn add(&mut self, step: &HealthStep) -> Option<HealthStep> {
        let before = self.last.replace(step.clone());
        let is_new = before.as_ref().is_some_and(|before| bin_of(before) != bin_of(step));
        let over = self.bins.add(step.span(), step, 0).map(Bin::into_step);
        if is_new { over.or(before) } else { None }
    }

    /// What is left at the end.
    pub fn rest(&mut self) -> Option<HealthStep> {
        let last = self.last.take();
        self.bins.rest().map(Bin::into_step).or(last)
    }
}

fn bin_of(step: &HealthStep) -> u64 {
    onrush_metrics::Steps::kept_around(step.span().from_ns).from_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u32, cores: f64) -> HealthStep {
        let from_ms = f64::from(number) * 1e3;
        let row = AgentSecond {
            agent: 1,
            seconds: 1,
            cpu_cores: cores,
            sent_bytes: 5,
            rss_bytes: u64::from(number),
            ..AgentSecond::default()
        };
        HealthStep { from_ms, at_ms: from_ms + 1e3, agents: vec![row] }
    }

    #[test]
    fn nothing_is_lost_when_seconds_become_longer() {
        let mut bins = HealthBins::default();
        let mut kept: Vec<HealthStep> =
            (0..310).filter_map(|number| bins.add(&second(number, f64::from(number % 2)))).collect();
        kept.extend(bins.rest());
        assert_eq!(kept.len(), 300 + 2);
        assert_eq!(kept.iter().flat_map(|step| &step.agents).map(|row| row.sent_bytes).sum::<u64>(), 310 * 5);
        let last = kept.last().and_then(|step| step.agents.first()).copied().expect("a row");
        assert_eq!((last.seconds, last.cpu_cores, last.rss_bytes), (5, 0.6, 309));
        assert_eq!(bins.rest(), None);
    }
}
