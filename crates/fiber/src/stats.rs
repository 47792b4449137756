//! What a reactor tells about itself: the raw material of the generator's own health.

use crate::clock::Nanos;

/// A snapshot of one reactor. Peaks and lag cover the time since the previous snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Fibers alive.
    pub fibers: usize,
    /// Switches into a fiber since the reactor was made.
    pub switches: u64,
    /// The largest stack saved since the reactor was made, in bytes.
    pub max_saved_bytes: usize,
    /// Memory held for the stacks of suspended fibers, in bytes.
    pub saved_bytes_total: usize,
    /// Fibers and posted functions that ended in a panic since the reactor was made.
    pub panics: u64,
    /// How late fibers ran after the deadline they waited for, since the last snapshot. Large values mean that this
    /// thread is too busy to keep its schedule.
    pub loop_lag: Lag,
    /// The longest queue of fibers ready to run since the last snapshot.
    pub ready_queue_max: usize,
    /// Times the kernel was asked for events since the reactor was made.
    pub polls: u64,
}

/// A running maximum, sum and count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Dispatches counted.
    pub count: u64,
    /// The sum of their lags.
    pub sum: Nanos,
    /// The largest of them.
    pub max: Nanos,
}

impl Lag {
    pub(crate) fn record(&mut self, lag: Nanos) {
        self.count += 1;
        self.sum = self.sum + lag;
        self.max = self.max.max(lag);
    }

    /// The mean lag, zero if there was no dispatch.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        Nanos(self.sum.0.checked_div(self.count).unwrap_or(0))
    }
}
