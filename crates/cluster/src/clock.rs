//! How far another machine's clock is from ours: the round trip that took least says it best, and the better the less time
//! has passed since.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use onrush_session::protocol::ClockOffset;

/// Two clocks may run apart by so much: crystals are good to 20 to 50 millionths, and the system's clocks are slewed by less
/// than that while they are kept right.
const DRIFT_PER_SECOND: Duration = Duration::from_micros(100);

/// The coordinator's clock, as an agent knows it: compared again and again as long as they are connected. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct CoordinatorClock(Arc<Mutex<ClockOffset>>);

impl CoordinatorClock {
    /// What it is ahead of this process's clock.
    pub fn offset(&self) -> ClockOffset {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, offset: ClockOffset) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = offset;
    }
}

/// Round trips so far.
#[derive(Debug, Default)]
pub(crate) struct OffsetEstimate {
    /// The best of them, and when it began.
    best: Option<(ClockOffset, u64)>,
}

impl OffsetEstimate {
    /// Takes a round trip: our clock when it began and when it was over, theirs between the two.
    pub(crate) fn note(&mut self, sent_ns: u64, theirs_ns: u64, received_ns: u64) {
        let Some(trip) = received_ns.checked_sub(sent_ns) else { return };
        let middle = i128::from(sent_ns) + i128::from(trip / 2);
        let Ok(ahead_ns) = i64::try_from(i128::from(theirs_ns) - middle) else { return };
        let error = Duration::from_nanos(trip.div_ceil(2));
        if self.best(received_ns).is_none_or(|best| error <= best.error) {
            self.best = Some((ClockOffset { ahead_ns, error }, sent_ns));
        }
    }

    /// What is known at this moment of our clock: less, the longer ago the best round trip was.
    pub(crate) fn best(&self, now_ns: u64) -> Option<ClockOffset> {
        let (best, at_ns) = self.best?;
        let age = Duration::from_nanos(now_ns.saturating_sub(at_ns));
        Some(ClockOffset { error: best.error.saturating_add(drift(age)), ..best })
    }
}

/// How far two clocks may have run apart in so long, rounded up.
fn drift(age: Duration) -> Duration {
    let ns = age.as_nanos() * DRIFT_PER_SECOND.as_nanos();
    Duration::from_nanos(u64::try_from(ns.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut estimate = OffsetEstimate::default();
        assert_eq!(estimate.best(0), None);
        // A nanosecond each is for what the clocks may have run apart meanwhile.
        // Theirs is 1,000 ahead; the way there took longer than the way back.
        estimate.note(100, 1_190, 200);
        assert_eq!(estimate.best(200), Some(ClockOffset { ahead_ns: 1_040, error: Duration::from_nanos(51) }));
        estimate.note(300, 1_305, 310);
        assert_eq!(estimate.best(310), Some(ClockOffset { ahead_ns: 1_000, error: Duration::from_nanos(6) }));
        estimate.note(400, 9_999, 500);
        // A clock that goes back, or an answer to nothing.
        estimate.note(600, 0, 500);
        assert_eq!(estimate.best(600).map(|best| best.ahead_ns), Some(1_000));
    }

    #[test]
    fn what_was_long_ago_is_worth_less() {
        let mut estimate = OffsetEstimate::default();
        estimate.note(0, 1_000, 0);
        let error = |estimate: &OffsetEstimate, at: u64| estimate.best(at).map(|best| best.error);
        assert_eq!(error(&estimate, 0), Some(Duration::ZERO));
        assert_eq!(error(&estimate, 10_000_000_000), Some(Duration::from_millis(1)));
        // A worse comparison counts once the better one is old.
        estimate.note(1_000_000_000, 1_000_003_000, 1_000_400_000);
        assert_eq!(estimate.best(1_000_400_000).map(|best| best.ahead_ns), Some(1_000));
        estimate.note(10_000_000_000, 10_000_203_000, 10_000_400_000);
        assert_eq!(estimate.best(10_000_400_000).map(|best| best.ahead_ns), Some(3_000));
    }

    proptest::proptest! {
        #[test]
        fn the_error_is_a_bound(start in 0_u64..1 << 60, there in 0_u64..1 << 40, back in 0_u64..1 << 40, ahead in -(1_i64 << 59)..1 << 59) {
            let theirs = (start + there).checked_add_signed(ahead);
            proptest::prop_assume!(theirs.is_some());
            let mut estimate = OffsetEstimate::default();
            estimate.note(start, theirs.unwrap_or_default(), start + there + back);
            let best = estimate.best(start + there + back).expect("a round trip");
            proptest::prop_assert!(u128::from(best.ahead_ns.abs_diff(ahead)) <= best.error.as_nanos());
        }

        /// Their clock runs up to 80 millionths fast or slow; a comparison every so often keeps up with it.
        #[test]
        fn clocks_that_run_apart_are_followed(
            per_million in -80_i64..=80, trips in proptest::collection::vec((1_u64..30, 0_u64..4_000_000, 0_u64..4_000_000), 1..60),
        ) {
            const START: u64 = 1 << 50;
            let ahead = |at: u64| 5_000 + (at - START) as i64 * per_million / 1_000_000;
            let mut estimate = OffsetEstimate::default();
            let mut now = START;
            for (seconds, there, back) in trips {
                now += seconds * 1_000_000_000;
                let arrived = now + there;
                estimate.note(now, arrived.saturating_add_signed(ahead(arrived)), arrived + back);
                now = arrived + back;
                let best = estimate.best(now).expect("a round trip");
                // One for what the integers above round.
                proptest::prop_assert!(u128::from(best.ahead_ns.abs_diff(ahead(now))) <= best.error.as_nanos() + 1);
                // Whatever happened before, the last comparison is worth that much.
                let trip = there + back;
                proptest::prop_assert!(best.error.as_nanos() <= u128::from(trip.div_ceil(2) + trip.div_ceil(10_000)));
            }
        }
    }
}
