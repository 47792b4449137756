//! Time slices: who tells a VU that computes to let the others of its thread run.
//!
//! The kernel interrupts a thread each [`TICK`] of CPU time it uses ([`BusyTicks`]). Where the same VU has run since the
//! last tick, that raises the engine's flag, which the interpreter and every loop of a built-in that may take long look
//! at; the interrupt handler in `context` then suspends the VU. So a slice is between one tick and two. Entering and
//! leaving a VU costs a counter each, and nobody reads a clock.
#![expect(unsafe_code, reason = "the handler of a signal")]

use std::{
    cell::{Cell, RefCell},
    ffi::c_int,
    io,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use onrush_fiber::{BusyTicks, Nanos};

use crate::embed::{Asked, flag};

/// A slice lasts between one and two of these, and at most a tick of the kernel's longer (4 ms where there are 250 a
/// second): what a neighbour on the thread waits for is about 10 ms, which is also when Go preempts.
const TICK: Nanos = Nanos::from_millis(4);

/// One thread's flag and whose turn it is. Only its own thread uses it, but in the middle of what it does.
pub(crate) struct Turn {
    flag: &'static AtomicU32,
    /// Odd while a VU runs; another number for each time one is entered.
    count: AtomicU64,
    /// What it was at the last tick.
    seen: AtomicU64,
}

thread_local! {
    static TURN: Cell<Option<&'static Turn>> = const { Cell::new(None) };
    static TICKS: RefCell<Option<BusyTicks>> = const { RefCell::new(None) };
}

/// Has this thread's turns looked at, which has its runtime. As the runtime it lies in, a turn lives for ever.
///
/// # Errors
///
/// The system gave no timer.
pub(crate) fn watch() -> io::Result<()> {
    TURN.set(Some(Box::leak(Box::new(Turn::new(flag())))));
    // SAFETY: the handler reads and writes numbers, of which the thread has its own.
    let ticks = unsafe { BusyTicks::start(TICK, tick) }?;
    TICKS.set(Some(ticks));
    Ok(())
}

extern "C" fn tick(_: c_int) {
    if let Some(turn) = TURN.get() {
        turn.look();
    }
}

impl Turn {
    fn new(flag: &'static AtomicU32) -> Self {
        Self { flag, count: AtomicU64::new(0), seen: AtomicU64::new(0) }
    }

    fn next(&self) {
        // Only its own thread writes it.
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn look(&self) {
        let count = self.count.load(Ordering::Relaxed);
        if count % 2 == 1 && count == self.seen.load(Ordering::Relaxed) {
            Asked::Yield.of(self.flag);
        }
        self.seen.store(count, Ordering::Relaxed);
    }
}

/// A VU is entered; `is_halted` if nothing more of its call may run.
pub(super) fn begin(is_halted: bool) {
    if let Some(turn) = TURN.get() {
        turn.next();
        if is_halted { Asked::Halt } else { fresh() }.of(turn.flag);
    }
}

/// What is asked of a VU whose slice begins.
pub(super) fn fresh() -> Asked {
    if onrush_quickjs_sys::suspends_at_every_poll() { Asked::Yield } else { Asked::Nothing }
}

/// The VU that was entered last is left.
pub(super) fn end() {
    if let Some(turn) = TURN.get() {
        turn.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_ran_since_the_last_look_is_asked_to_yield() {
        let flag: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        let turn = Turn::new(flag);
        let check = |turns: u64, asked: Asked| {
            (0..turns).for_each(|_| turn.next());
            turn.look();
            assert_eq!(flag.swap(0, Ordering::Relaxed), asked as u32, "after {turns} turns");
        };
        // Nobody runs.
        check(0, Asked::Nothing);
        // Entered just now, there at the next look, and still there at the one after.
        check(1, Asked::Nothing);
        check(0, Asked::Yield);
        check(0, Asked::Yield);
        // Left and entered again: a slice of its own.
        check(2, Asked::Nothing);
        check(0, Asked::Yield);
        check(1, Asked::Nothing);
        check(0, Asked::Nothing);
    }
}
