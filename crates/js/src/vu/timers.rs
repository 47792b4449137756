//! The timers of one VU, by when they are due. What runs them is `event_loop`.

use std::collections::BTreeMap;

use onrush_fiber::Nanos;
use rustc_hash::FxHashMap;

/// Timers a VU may have at once; each keeps a closure alive.
pub(super) const TIMERS_MAX: usize = 100_000;

/// Timers that hold a `T` each. Every operation costs the logarithm of their number.
pub(super) struct Timers<T> {
    /// Ids grow, so of timers due at the same time the older one comes first.
    by_due: BTreeMap<(Nanos, u32), Timer<T>>,
    due_of: FxHashMap<u32, Nanos>,
    last_id: u32,
}

struct Timer<T> {
    /// `setInterval`'s period.
    period: Option<Nanos>,
    held: T,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self { by_due: BTreeMap::new(), due_of: FxHashMap::default(), last_id: 0 }
    }
}

impl<T: Clone> Timers<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.by_due.is_empty()
    }

    /// Adds a timer and returns its id; `None` where there are too many.
    pub(super) fn add(&mut self, held: T, due: Nanos, period: Option<Nanos>) -> Option<u32> {
        if self.by_due.len() >= TIMERS_MAX {
            return None;
        }
        self.last_id += 1;
        self.due_of.insert(self.last_id, due);
        self.by_due.insert((due, self.last_id), Timer { period, held });
        Some(self.last_id)
    }

    /// Takes a timer away; unknown ids do nothing.
    #[must_use]
    pub(super) fn remove(&mut self, id: u32) -> Option<T> {
        let due = self.due_of.remove(&id)?;
        self.by_due.remove(&(due, id)).map(|timer| timer.held)
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.by_due.first_key_value().map(|((due, _), _)| *due)
    }

    /// Takes what the earliest timer holds, if that is due. Ties go to the older timer.
    pub(super) fn take_due(&mut self, now: Nanos) -> Option<T> {
        self.next_due().filter(|due| *due <= now)?;
        let ((_, id), timer) = self.by_due.pop_first()?;
        let Some(period) = timer.period else {
            self.due_of.remove(&id);
            return Some(timer.held);
        };
        let again = Nanos(now.0.saturating_add(period.0.max(1)));
        let held = timer.held.clone();
        self.due_of.insert(id, again);
        self.by_due.insert((again, id), timer);
        Some(held)
    }

    /// How many there are, and what the oldest of them were called in the script.
    pub(super) fn named(&self, shown: usize) -> (usize, Vec<String>) {
        let mut timers: Vec<_> = self.by_due.iter().map(|((_, id), timer)| (*id, timer.period.is_some())).collect();
        timers.sort_unstable();
        let name = |(id, repeats)| format!("{} {id}", if repeats { "setInterval" } else { "setTimeout" });
        (timers.len(), timers.into_iter().take(shown).map(name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(timers: &mut Timers<u32>, due: u64, period: Option<u64>) -> u32 {
        let held = timers.last_id + 1;
        timers.add(held, Nanos(due), period.map(Nanos)).expect("there is room")
    }

    fn taken(timers: &mut Timers<u32>, now: u64) -> Vec<u32> {
        std::iter::from_fn(|| timers.take_due(Nanos(now))).collect()
    }

    #[test]
    fn the_earliest_comes_first_and_of_equals_the_older() {
        let mut timers = Timers::default();
        for due in [30, 10, 20, 10] {
            add(&mut timers, due, None);
        }
        assert_eq!(timers.next_due(), Some(Nanos(10)));
        assert!(taken(&mut timers, 9).is_empty());
        assert_eq!(taken(&mut timers, 20), [2, 4, 3]);
        assert_eq!(timers.named(10), (1, vec!["setTimeout 1".to_owned()]));
        assert_eq!(timers.next_due(), Some(Nanos(30)));
    }

    #[test]
    fn a_removed_timer_is_gone_and_an_interval_comes_again() {
        let mut timers = Timers::default();
        let (gone, again) = (add(&mut timers, 10, None), add(&mut timers, 10, Some(5)));
        assert_eq!(timers.remove(gone), Some(gone));
        assert_eq!(timers.remove(gone), None);
        assert_eq!(taken(&mut timers, 12), [again]);
        assert_eq!(timers.next_due(), Some(Nanos(17)));
        assert_eq!(timers.named(0), (1, vec![]));
        assert_eq!(timers.remove(again), Some(again));
        assert!(timers.is_empty() && timers.due_of.is_empty());
    }

    #[test]
    fn there_is_a_limit() {
        let mut timers = Timers::default();
        for _ in 0..TIMERS_MAX {
            add(&mut timers, 1, None);
        }
        assert_eq!(timers.add(0, Nanos(1), None), None);
    }
}
