//! A target that stands still every now and then, as a server does that collects garbage or waits for a disk.
//!
//! All threads stand still together: they answer nothing and read nothing, while the kernel goes on accepting connections
//! and taking bytes. How long each request is delayed besides is `delay_ns` of `Shared`.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::{
    io::Errno,
    thread::{ClockId, clock_nanosleep_absolute},
    time::Timespec,
};

use crate::clock::{NANOS_PER_SEC, monotonic_ns};

/// When a target stands still, counted from its first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// How long it does each time.
    pub length: Duration,
    /// From one end to the next: it stands still at the end of every such span.
    pub every: Duration,
}

/// The same while the target runs; shared by its threads.
#[derive(Debug)]
pub(crate) struct Freezer {
    length_ns: u64,
    every_ns: u64,
    /// The time of the first request; 0 before it.
    first_ns: AtomicU64,
}

impl Freezer {
    /// `None` if the length is not shorter than the span, or is nothing.
    pub(crate) fn new(freeze: Freeze) -> Option<Self> {
        let [length_ns, every_ns] =
            [freeze.length, freeze.every].map(|span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        (0 < length_ns && length_ns < every_ns).then_some(Self { length_ns, every_ns, first_ns: AtomicU64::new(0) })
    }

    /// Notes a request: the first one begins the first span.
    pub(crate) fn arrived(&self) {
        if self.first_ns.load(Ordering::Relaxed) == 0 {
            // Another thread may have been first.
            let _ = self.first_ns.compare_exchange(0, monotonic_ns(), Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Until when to stand still at that time.
    fn until_ns(&self, now_ns: u64) -> Option<u64> {
        let first_ns = self.first_ns.load(Ordering::Relaxed);
        let since_ns = now_ns.checked_sub(first_ns).filter(|_| first_ns > 0)?;
        let into_ns = since_ns % self.every_ns;
        (into_ns >= self.every_ns - self.length_ns).then(|| now_ns - into_ns + self.every_ns)
    }

    /// Stands still, if it is time to.
    pub(crate) fn hold(&self) {
        let Some(until_ns) = self.until_ns(monotonic_ns()) else { return };
        let until = Timespec { tv_sec: (until_ns / NANOS_PER_SEC) as _, tv_nsec: (until_ns % NANOS_PER_SEC) as _ };
        while clock_nanosleep_absolute(ClockId::Monotonic, &until) == Err(Errno::INTR) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freezer(length_s: u64, every_s: u64) -> Option<Freezer> {
        Freezer::new(Freeze { length: Duration::from_secs(length_s), every: Duration::from_secs(every_s) })
    }

    #[test]
    fn spans_begin_with_the_first_request() {
        let freezer = freezer(2, 10).unwrap();
        assert_eq!(freezer.until_ns(monotonic_ns()), None);
        freezer.arrived();
        let first_ns = freezer.first_ns.load(Ordering::Relaxed);
        let at = |seconds: u64| first_ns + seconds * NANOS_PER_SEC;
        assert_eq!(freezer.until_ns(first_ns), None);
        assert_eq!(freezer.until_ns(at(8) - 1), None);
        assert_eq!(freezer.until_ns(at(8)), Some(at(10)));
        assert_eq!(freezer.until_ns(at(10)), None);
        assert_eq!(freezer.until_ns(at(39)), Some(at(40)));
    }

    #[test]
    fn a_freeze_must_end() {
        assert!(freezer(10, 10).is_none() && freezer(0, 10).is_none() && freezer(9, 10).is_some());
    }
}
