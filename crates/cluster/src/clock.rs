//! How far another machine's clock is from ours: the round trip that took least says it best.

use std::time::Duration;

/// What the coordinator's clock is ahead of an agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// Nanoseconds; negative where it is behind.
    pub ahead_ns: i64,
    /// By how much that may be wrong: half of the round trip.
    pub error: Duration,
}

/// Round trips so far.
#[derive(Debug, Default)]
pub(crate) struct OffsetEstimate {
    best: Option<ClockOffset>,
}

impl OffsetEstimate {
    /// Takes a round trip: our clock when it began and when it was over, theirs between the two.
    pub(crate) fn note(&mut self, sent_ns: u64, theirs_ns: u64, received_ns: u64) {
        let Some(trip) = received_ns.checked_sub(sent_ns) else { return };
        let middle = i128::from(sent_ns) + i128::from(trip / 2);
        let Ok(ahead_ns) = i64::try_from(i128::from(theirs_ns) - middle) else { return };
        let error = Duration::from_nanos(trip.div_ceil(2));
        if self.best.is_none_or(|best| error < best.error) {
            self.best = Some(ClockOffset { ahead_ns, error });
        }
    }

    pub(crate) fn best(&self) -> Option<ClockOffset> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut estimate = OffsetEstimate::default();
        assert_eq!(estimate.best(), None);
        // Theirs is 1,000 ahead; the way there took longer than the way back.
        estimate.note(100, 1_190, 200);
        assert_eq!(estimate.best(), Some(ClockOffset { ahead_ns: 1_040, error: Duration::from_nanos(50) }));
        estimate.note(300, 1_305, 310);
        assert_eq!(estimate.best(), Some(ClockOffset { ahead_ns: 1_000, error: Duration::from_nanos(5) }));
        estimate.note(400, 9_999, 500);
        // A clock that goes back, or an answer to nothing.
        estimate.note(600, 0, 500);
        assert_eq!(estimate.best().map(|best| best.ahead_ns), Some(1_000));
    }

    proptest::proptest! {
        #[test]
        fn the_error_is_a_bound(start in 0_u64..1 << 60, there in 0_u64..1 << 40, back in 0_u64..1 << 40, ahead in -(1_i64 << 59)..1 << 59) {
            let theirs = (start + there).checked_add_signed(ahead);
            proptest::prop_assume!(theirs.is_some());
            let mut estimate = OffsetEstimate::default();
            estimate.note(start, theirs.unwrap_or_default(), start + there + back);
            let best = estimate.best().expect("a round trip");
            proptest::prop_assert!(u128::from(best.ahead_ns.abs_diff(ahead)) <= best.error.as_nanos());
        }
    }
}
