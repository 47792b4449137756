//! How many time series a run has, over all its threads: what keeps memory bounded when a tag has endless values.
//!
//! A series that several threads have counts once. Threads only come here when they meet a series that is new to them;
//! the path of a sample does not.

use std::{
    hash::{Hash, Hasher},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use rustc_hash::{FxHashSet, FxHasher};

use crate::{delta::TagPairs, registry::MetricId};

/// The series of a run, shared by its shards.
#[derive(Debug)]
pub struct Census {
    limit: AtomicUsize,
    /// Hashes of metric and tags. Two series that share one of 2^64 count as one, which does no harm.
    seen: Mutex<FxHashSet<u64>>,
    is_full: AtomicBool,
}

/// How much of its tags a series has given up to get in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// Nothing: up to the limit.
    Nothing,
    /// The tags with many values: there are few such series, but other tags may yet make them many.
    Largest,
    /// Every tag: no more than one for each set of tag names.
    All,
}

impl Census {
    /// The number of series k6 warns of.
    pub const LIMIT: usize = 100_000;

    /// A run of at most `limit` series, and a quarter more of folded ones.
    pub fn new(limit: usize) -> Self {
        Self { limit: AtomicUsize::new(limit), seen: Mutex::default(), is_full: AtomicBool::new(false) }
    }

    /// The limit.
    pub fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets another limit, such as an agent's share of it. What is counted already stays.
    pub fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// How many series there are.
    pub fn len(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the limit has been reached: from now on values are folded before they are kept.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Counts a series unless there are too many.
    pub(crate) fn admit(&self, metric: MetricId, tags: &TagPairs, folded: Folded) -> bool {
        let mut hasher = FxHasher::default();
        (metric, tags).hash(&mut hasher);
        let hash = hasher.finish();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = match folded {
            Folded::Nothing => self.limit(),
            Folded::Largest => self.limit().saturating_add(self.limit() / 4).saturating_add(RESERVE_MIN),
            Folded::All => usize::MAX,
        };
        if seen.len() < limit || seen.contains(&hash) {
            seen.insert(hash);
            return true;
        }
        self.is_full.store(true, Ordering::Relaxed);
        false
    }
}

/// Series kept free for folded ones where the limit is small.
const RESERVE_MIN: usize = 64;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::builtin;

    fn tags(value: usize) -> TagPairs {
        Arc::from([(Arc::from("url"), Arc::from(value.to_string()))])
    }

    #[test]
    fn a_share_replaces_the_limit() {
        let census = Census::new(10);
        census.set_limit(3);
        let admitted = (0..10).filter(|value| census.admit(builtin::CHECKS, &tags(*value), Folded::Nothing)).count();
        assert_eq!((admitted, census.limit(), census.is_full()), (3, 3, true));
    }

    #[test]
    fn known_series_are_always_let_in() {
        let census = Census::new(10);
        for value in 0..10 {
            assert!(census.admit(builtin::CHECKS, &tags(value), Folded::Nothing));
            assert!(census.admit(builtin::CHECKS, &tags(value), Folded::Nothing));
        }
        assert!(!census.is_full(), "ten are allowed");
        assert!(!census.admit(builtin::HTTP_REQS, &tags(1), Folded::Nothing));
        assert!(census.is_full() && census.len() == 10);
        assert!(census.admit(builtin::CHECKS, &tags(3), Folded::Nothing));
        for value in 0..66 {
            assert!(census.admit(builtin::HTTP_REQS, &tags(value), Folded::Largest));
        }
        assert!(!census.admit(builtin::HTTP_REQS, &tags(66), Folded::Largest));
        assert!(census.admit(builtin::HTTP_REQS, &tags(66), Folded::All));
    }
}
