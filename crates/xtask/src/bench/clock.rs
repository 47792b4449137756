//! The wall clock of the benchmark: the one place of it that reads the time.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Now.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits while a client works. Nothing else runs on this thread.
pub(crate) fn pause(duration: Duration) {
    thread::sleep(duration);
}
