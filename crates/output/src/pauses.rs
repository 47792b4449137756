//! How long a receiver that took nothing is left alone before it is asked again, and when an output that tells the state of all series
//! every few seconds is to do so.

use std::time::Duration;

use onrush_fiber::{Clock, Nanos};

use crate::{Ending, post::Refused};

/// Pauses between attempts: longer each time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pauses {
    failed: usize,
}

impl Pauses {
    /// So a receiver that comes back is found soon, and one that stays away is not asked all the time.
    const LENGTHS: [Duration; 4] =
        [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(3)];

    /// The pause after one more attempt that failed.
    pub(crate) fn after_failure(&mut self) -> Duration {
        let length = Self::LENGTHS[self.failed.min(Self::LENGTHS.len() - 1)];
        self.failed += 1;
        length
    }
}

/// When a push is due: once an interval, and after one that failed as soon as its pause is over. The next push has all that the one before
/// lacked, so none is made while a receiver is left alone.
#[derive(Debug)]
pub(crate) struct Turns {
    interval_ns: u64,
    /// Nanoseconds of the scenarios up to which a push was tried.
    tried_ns: u64,
    pauses: Pauses,
    /// The last push failed.
    failed: Option<Failed>,
}

#[derive(Debug, Clone, Copy)]
struct Failed {
    /// When the pause is over.
    until: Nanos,
    /// The receiver may take the same later, so the interval does not matter.
    is_retried: bool,
}

impl Turns {
    /// A push each interval.
    pub(crate) fn new(interval: Duration) -> Self {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        Self { interval_ns, tried_ns: 0, pauses: Pauses::default(), failed: None }
    }

    /// Whether to push what was measured up to this time of the scenarios. If so, [`Turns::ended`] follows.
    pub(crate) fn is_due(&mut self, until_ns: u64, ending: &Ending) -> bool {
        let has_passed = until_ns >= self.tried_ns.saturating_add(self.interval_ns);
        let is_due = match self.failed {
            None => has_passed,
            // At the end of a run whose receiver took nothing last one push has all.
            Some(_) if ending.since().is_some() => false,
            Some(failed) => Clock::now() >= failed.until && (failed.is_retried || has_passed),
        };
        if is_due {
            self.tried_ns = until_ns;
        }
        is_due
    }

    /// A push arrived or failed.
    pub(crate) fn ended(&mut self, result: &Result<(), Refused>) {
        match result {
            Ok(()) => (self.pauses, self.failed) = (Pauses::default(), None),
            Err(refused) => {
                let until = Clock::now() + self.pauses.after_failure();
                self.failed = Some(Failed { until, is_retried: refused.may_be_taken_later });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS_PER_S: u64 = 1_000_000_000;

    #[test]
    fn pauses_grow_to_three_seconds() {
        let mut pauses = Pauses::default();
        let lengths: Vec<u128> = (0..6).map(|_| pauses.after_failure().as_millis()).collect();
        assert_eq!(lengths, [500, 1_000, 2_000, 3_000, 3_000, 3_000]);
    }

    #[test]
    fn a_receiver_that_took_nothing_is_left_alone() {
        let (ending, mut turns) = (Ending::default(), Turns::new(Duration::from_secs(2)));
        let due: Vec<bool> = (1..=4).map(|second| turns.is_due(second * NS_PER_S, &ending)).collect();
        assert_eq!(due, [false, true, false, true]);
        turns.ended(&Err(Refused::for_now("away".to_owned())));
        // However much has been measured meanwhile.
        assert!(!turns.is_due(9 * NS_PER_S, &ending));
        std::thread::sleep(Duration::from_millis(510));
        // Before the interval has passed.
        assert!(turns.is_due(5 * NS_PER_S, &ending));
        turns.ended(&Err(Refused::for_good("a wrong token".to_owned())));
        std::thread::sleep(Duration::from_millis(1_010));
        // The same would be refused again.
        assert!(!turns.is_due(6 * NS_PER_S, &ending));
        assert!(turns.is_due(7 * NS_PER_S, &ending));
        turns.ended(&Ok(()));
        assert!(!turns.is_due(8 * NS_PER_S, &ending) && turns.is_due(9 * NS_PER_S, &ending));
        turns.ended(&Err(Refused::for_now("away".to_owned())));
        ending.give_up();
        std::thread::sleep(Duration::from_millis(510));
        assert!(!turns.is_due(99 * NS_PER_S, &ending));
    }
}
