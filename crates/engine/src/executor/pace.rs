//! How fast VUs are started.

use std::time::Duration;

use onrush_fiber::{Clock, Woke};

/// VUs started at once. Thousands of VUs that connect in the same instant overflow the accept queue of the system under
/// test (4,096 by Linux's default), which then answers some of them seconds later; and each would hold the stack of its
/// first request at the same time. 32 a millisecond and thread is 15,000 VUs in a quarter of a second on two threads.
const STARTED_PER_STEP: u64 = 32;
/// The pause between them.
const START_STEP: Duration = Duration::from_millis(1);

/// Counts VUs that are started one after another, and pauses now and then.
#[derive(Debug, Default)]
pub(super) struct Pace {
    started: u64,
}

impl Pace {
    /// Before each start; `false` when the run is interrupted. The fiber stays cancelled, so that the driver's next
    /// wait ends as well.
    pub(super) fn next(&mut self) -> bool {
        self.started += 1;
        if !self.started.is_multiple_of(STARTED_PER_STEP) {
            return true;
        }
        onrush_fiber::sleep_until(Clock::now() + START_STEP) != Woke::Cancelled
    }

    /// None was started yet.
    pub(super) fn is_at_start(&self) -> bool {
        self.started == 0
    }
}
