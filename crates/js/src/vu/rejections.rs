//! Promises of one VU that were rejected and that nobody handles so far.

use rustc_hash::FxHashMap;

/// Rejected promises `P` by their identity. Noting, forgetting and taking one costs the same however many there are.
pub(super) struct Rejections<P> {
    promises: FxHashMap<usize, P>,
    /// In the order they were rejected; some of them handled since.
    order: Vec<usize>,
}

/// Handled ones left in `order`, beyond as many as are not, before it is cleaned up.
const STALE_MAX: usize = 64;

impl<P> Default for Rejections<P> {
    fn default() -> Self {
        Self { promises: FxHashMap::default(), order: Vec::new() }
    }
}

impl<P> Rejections<P> {
    /// A promise was rejected, and nobody handles it yet.
    pub(super) fn note(&mut self, identity: usize, promise: P) {
        self.promises.insert(identity, promise);
        self.order.push(identity);
    }

    /// Somebody handles it.
    #[must_use]
    pub(super) fn forget(&mut self, identity: usize) -> Option<P> {
        let forgotten = self.promises.remove(&identity)?;
        if self.order.len() > 2 * self.promises.len() + STALE_MAX {
            self.order.retain(|identity| self.promises.contains_key(identity));
        }
        Some(forgotten)
    }

    /// Takes the latest.
    pub(super) fn pop(&mut self) -> Option<P> {
        while let Some(identity) = self.order.pop() {
            if let Some(promise) = self.promises.remove(&identity) {
                return Some(promise);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_unhandled_one_is_found_and_handled_ones_leave_nothing() {
        let mut rejections = Rejections::default();
        for identity in 1..1000 {
            rejections.note(identity, identity);
        }
        for identity in 3..1000 {
            assert_eq!(rejections.forget(identity), Some(identity));
            assert_eq!(rejections.forget(identity), None);
        }
        assert!(rejections.order.len() <= 2 * 2 + STALE_MAX, "{}", rejections.order.len());
        // An address that is used again.
        rejections.note(999, 0);
        assert_eq!(std::iter::from_fn(|| rejections.pop()).collect::<Vec<_>>(), [0, 2, 1]);
    }
}
