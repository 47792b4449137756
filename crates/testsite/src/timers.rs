//! Delay timers of one thread: a heap of deadlines and one `timerfd`.
//!
//! `epoll_wait` takes milliseconds, a `timerfd` takes nanoseconds and is not
//! rounded up by the timer slack, which is what makes delays accurate.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::clock::NANOS_PER_SEC;

/// Identifies one timer; a connection forgets it to cancel it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerId(u64);

/// Deadlines of one thread, soonest first.
pub(crate) struct Timers {
    fd: OwnedFd,
    heap: BinaryHeap<Reverse<(u64, TimerId, u32)>>,
    /// What the `timerfd` is set to, or `u64::MAX` when it is not.
    armed_ns: u64,
    next_id: u64,
    /// Entries whose connection is gone. They are dropped when they come due, or all at once when they are the
    /// majority.
    stale: usize,
}

/// Stale entries kept before a clean-up is worth a pass over the heap.
const STALE_MIN: usize = 1024;

impl Timers {
    pub(crate) fn new() -> io::Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { fd, heap: BinaryHeap::new(), armed_ns: u64::MAX, next_id: 0, stale: 0 })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Adds a timer for a connection's slot.
    pub(crate) fn add(&mut self, deadline_ns: u64, slot: u32) -> TimerId {
        let id = TimerId(self.next_id);
        self.next_id += 1;
        self.heap.push(Reverse((deadline_ns, id, slot)));
        id
    }

    /// Notes that a timer's connection is gone.
    pub(crate) fn forget(&mut self, is_live: impl Fn(TimerId, u32) -> bool) {
        self.stale += 1;
        if self.stale >= STALE_MIN && self.stale * 2 > self.heap.len() {
            self.heap.retain(|Reverse((_, id, slot))| is_live(*id, *slot));
            self.stale = 0;
        }
    }

    /// Notes that the `timerfd` has fired.
    pub(crate) fn fired(&mut self) {
        self.armed_ns = u64::MAX;
    }

    /// Takes the next timer that is due, if any, with its deadline.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, TimerId, u32)> {
        let Reverse((deadline_ns, _, _)) = self.heap.peek()?;
        if *deadline_ns > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse(timer)| timer)
    }

    /// Notes that a timer's connection waits for another one now.
    pub(crate) fn replaced(&mut self) {
        self.stale += 1;
    }

    /// Notes that a popped timer belonged to nobody.
    pub(crate) fn popped_stale(&mut self) {
        self.stale = self.stale.saturating_sub(1);
    }

    /// Sets the `timerfd` to the soonest deadline, if it changed.
    pub(crate) fn arm(&mut self) -> io::Result<()> {
        let Some(Reverse((deadline_ns, _, _))) = self.heap.peek() else {
            // A timer that still fires once for nobody costs one wakeup.
            return Ok(());
        };
        if *deadline_ns == self.armed_ns {
            return Ok(());
        }
        self.armed_ns = *deadline_ns;
        // Zero would disarm the timer; a deadline is never zero in practice.
        let at = (*deadline_ns).max(1);
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec { tv_sec: (at / NANOS_PER_SEC) as _, tv_nsec: (at % NANOS_PER_SEC) as _ };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval: zero, it_value: value })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_due_in_order_of_deadline() {
        let mut timers = Timers::new().unwrap();
        let late = timers.add(300, 3);
        let soon = timers.add(100, 1);
        let same = timers.add(100, 2);
        assert_eq!(timers.pop_due(99), None);
        assert_eq!(timers.pop_due(100), Some((100, soon, 1)));
        assert_eq!(timers.pop_due(100), Some((100, same, 2)));
        assert_eq!(timers.pop_due(100), None);
        assert_eq!(timers.pop_due(u64::MAX), Some((300, late, 3)));
        assert!(timers.is_empty());
    }

    #[test]
    fn abandoned_timers_do_not_pile_up() {
        let mut timers = Timers::new().unwrap();
        let kept = timers.add(u64::MAX, 7);
        for _ in 0..10 * STALE_MIN {
            timers.add(u64::MAX - 1, 1);
            timers.forget(|id, _| id == kept);
        }
        assert!(timers.heap.len() <= STALE_MIN + 1);
        assert!(timers.pop_due(u64::MAX).is_some());
    }
}
