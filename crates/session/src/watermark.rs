//! Up to when all deltas have come: what windows of thresholds wait for.

use std::{collections::BTreeMap, time::Duration};

use crate::protocol::AgentId;

/// The newest delta of every source, in the scenarios' time.
#[derive(Debug, Default)]
pub(crate) struct Watermark {
    newest: BTreeMap<(AgentId, u32), Duration>,
}

impl Watermark {
    /// How long a silent source is waited for. Sources report once a second; one that is later is stuck or gone, and
    /// must not hold back the judgement. What it sends then counts in the window that is open.
    const PATIENCE: Duration = Duration::from_secs(5);

    /// So many threads of an agent will report. One that never does is waited for like one that has stopped.
    pub(crate) fn expect(&mut self, agent: AgentId, threads: u32) {
        for thread in 0..threads {
            self.newest.entry((agent, thread)).or_default();
        }
    }

    /// The agent is gone.
    pub(crate) fn forget(&mut self, agent: AgentId) {
        self.newest.retain(|(of, _), _| *of != agent);
    }

    /// So many threads of an agent begin to report at a moment.
    pub(crate) fn expect_from(&mut self, agent: AgentId, threads: u32, from: Duration) {
        for thread in 0..threads {
            self.note(agent, thread, from);
        }
    }

    /// Up to when all that an agent measured has come; `None` if nothing has.
    pub(crate) fn of(&self, agent: AgentId) -> Option<Duration> {
        self.newest.range((agent, 0)..=(agent, u32::MAX)).map(|(_, newest)| *newest).min()
    }

    /// A thread of an agent handed in what it measured until then.
    pub(crate) fn note(&mut self, agent: AgentId, thread: u32, until: Duration) {
        let newest = self.newest.entry((agent, thread)).or_default();
        *newest = until.max(*newest);
    }

    /// No delta of the time before is missing.
    pub(crate) fn reached(&self) -> Duration {
        let last = self.newest.values().max().copied().unwrap_or_default();
        let first = self.newest.values().min().copied().unwrap_or_default();
        first.max(last.saturating_sub(Self::PATIENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_source_counts_until_patience_ends() {
        let secs = Duration::from_secs;
        let mut watermark = Watermark::default();
        assert_eq!(watermark.reached(), Duration::ZERO);
        watermark.note(AgentId(0), 0, secs(3));
        watermark.note(AgentId(0), 1, secs(2));
        watermark.note(AgentId(1), 0, secs(4));
        assert_eq!(watermark.reached(), secs(2));
        watermark.note(AgentId(0), 1, secs(1));
        assert_eq!(watermark.reached(), secs(2), "time does not go back");
        watermark.note(AgentId(1), 0, secs(60));
        assert_eq!(watermark.reached(), secs(55));
    }

    #[test]
    fn threads_that_never_reported_are_waited_for_and_lost_agents_are_not() {
        let secs = Duration::from_secs;
        let mut watermark = Watermark::default();
        watermark.expect(AgentId(0), 2);
        watermark.note(AgentId(0), 0, secs(3));
        assert_eq!(watermark.reached(), Duration::ZERO);
        watermark.note(AgentId(0), 0, secs(9));
        assert_eq!(watermark.reached(), secs(4), "until patience ends");
        watermark.note(AgentId(0), 1, secs(8));
        watermark.expect(AgentId(1), 1);
        assert_eq!((watermark.of(AgentId(0)), watermark.of(AgentId(1))), (Some(secs(8)), Some(secs(0))));
        assert_eq!((watermark.of(AgentId(2)), watermark.reached()), (None, secs(4)));
        watermark.forget(AgentId(1));
        assert_eq!(watermark.reached(), secs(8));
    }
}
