//! Samples of several agents in the order of their times, as far as those that come late let it.

use std::time::Duration;

use onrush_metrics::{RawSample, SampleBatch, TagPairs};

/// Samples that wait for those that may be older.
#[derive(Default)]
pub(crate) struct Window {
    held: Vec<Held>,
    /// The time of the last sample that was let go.
    let_go: u64,
    /// Samples that came too late to stand in order.
    late: u64,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// The thread that made it, among those of all agents.
    pub(crate) thread: usize,
    pub(crate) raw: RawSample,
    pub(crate) metadata: Option<TagPairs>,
}

impl Window {
    /// How long a sample waits. It spends up to 200 ms in its thread and 100 ms on the way out of its process; the rest is for
    /// the network.
    pub(crate) const WAIT: Duration = Duration::from_secs(1);
    /// Samples that may wait, 56 bytes each: with more the older half goes.
    const HELD_MAX: usize = 500_000;

    /// Takes a batch.
    pub(crate) fn put(&mut self, thread: usize, batch: SampleBatch) {
        let SampleBatch { samples, metadata, .. } = batch;
        self.held.extend(samples.into_iter().map(|raw| {
            let metadata = metadata.get(raw.metadata as usize).filter(|_| raw.metadata != RawSample::NO_METADATA);
            Held { thread, raw, metadata: metadata.cloned() }
        }));
    }

    /// Those that have waited long enough, in order.
    pub(crate) fn due(&mut self, now: u64) -> Vec<Held> {
        let wait = u64::try_from(Self::WAIT.as_nanos()).unwrap_or(u64::MAX);
        let until = now.saturating_sub(wait);
        // What is there already is in order, so this costs little more than looking.
        self.held.sort_by_key(|held| held.raw.time);
        let old = self.held.partition_point(|held| held.raw.time <= until);
        let count = if self.held.len() > Self::HELD_MAX { old.max(self.held.len() / 2) } else { old };
        self.let_go(count)
    }

    /// All that are left.
    pub(crate) fn rest(&mut self) -> Vec<Held> {
        self.held.sort_by_key(|held| held.raw.time);
        self.let_go(self.held.len())
    }

    fn let_go(&mut self, count: usize) -> Vec<Held> {
        let gone: Vec<Held> = self.held.drain(..count).collect();
        self.late += gone.iter().take_while(|held| held.raw.time < self.let_go).count() as u64;
        if let Some(last) = gone.last() {
            self.let_go = self.let_go.max(last.raw.time);
        }
        gone
    }

    /// Samples that came too late to stand in order.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use onrush_metrics::builtin;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn batch(times: &[u64]) -> SampleBatch {
        let sample = |time: &u64| RawSample {
            metric: builtin::HTTP_REQS,
            tags: 0,
            metadata: RawSample::NO_METADATA,
            time: *time,
            value: 1.0,
        };
        SampleBatch { samples: times.iter().map(sample).collect(), ..SampleBatch::default() }
    }

    fn times(held: &[Held]) -> Vec<u64> {
        held.iter().map(|held| held.raw.time).collect()
    }

    #[test]
    fn samples_are_put_in_order() {
        let mut window = Window::default();
        window.put(0, batch(&[10 * S, 12 * S]));
        window.put(1, batch(&[9 * S, 11 * S]));
        assert_eq!(times(&window.due(11 * S)), [9 * S, 10 * S]);
        window.put(2, batch(&[10 * S + 1]));
        assert_eq!(times(&window.due(12 * S)), [10 * S + 1, 11 * S]);
        assert_eq!(window.late(), 0);
        // It comes after what it should have come before.
        window.put(2, batch(&[8 * S]));
        assert_eq!(times(&window.rest()), [8 * S, 12 * S]);
        assert_eq!(window.late(), 1);
        assert!(window.rest().is_empty());
    }

    #[test]
    fn it_holds_only_so_many() {
        let mut window = Window::default();
        let many: Vec<u64> = (0..=Window::HELD_MAX as u64).collect();
        window.put(0, batch(&many));
        // None is old enough.
        assert_eq!(window.due(0).len(), many.len() / 2);
        assert!(window.held.len() <= Window::HELD_MAX);
    }
}
