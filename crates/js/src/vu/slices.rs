//! Time slices: who tells a VU that computes to let the others of its thread run.
//!
//! A watchdog looks at each thread's [`Turn`] at about every tick of the kernel's. Where the same VU has run since the
//! last look it raises the engine's flag, which the interpreter and the loops of built-ins that may take long look at;
//! the interrupt handler in `context` then suspends the VU. So a slice is between one look and the next but one. Entering
//! and leaving a VU costs a counter each, and nobody reads a clock.

use std::{
    cell::Cell,
    io,
    num::NonZeroU64,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::thread::set_current_timer_slack;

use crate::embed::{Asked, flag};

/// The watchdog sleeps for so long, and up to as long again: until its processor's next tick, where that comes first. An
/// idle processor does not tick, and there a slice lasts 5 to 10 ms, as in Go; it lasts 4 to 8 where the processor is busy
/// and ticks 250 times a second.
///
/// A timer that has to be exact interrupts the processor by itself. On a virtual machine that cost a thread which sent
/// requests 2.4 % of its CPU (± 1.2) at 200 a second; one that goes off with the tick that comes anyway costs less than
/// can be measured there.
const TICK: Duration = Duration::from_micros(2_500);

/// One thread's flag and whose turn it is.
pub(crate) struct Turn {
    flag: &'static AtomicU32,
    /// Odd while a VU runs; another number for each time one is entered.
    count: AtomicU64,
}

thread_local! {
    static TURN: Cell<Option<&'static Turn>> = const { Cell::new(None) };
}

/// The threads the watchdog looks at. They are never taken off: as the runtimes they lie in, turns live for ever, and
/// one of a thread that has ended is never anybody's.
static WATCHED: Mutex<Watched> = Mutex::new(Watched { turns: Vec::new(), is_started: false });

struct Watched {
    turns: Vec<(&'static Turn, u64)>,
    is_started: bool,
}

/// Has the watchdog look after this thread, which has its runtime.
///
/// # Errors
///
/// The watchdog's thread could not be started.
pub(crate) fn watch() -> io::Result<()> {
    let turn: &'static Turn = Box::leak(Box::new(Turn { flag: flag(), count: AtomicU64::new(0) }));
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if !watched.is_started {
        thread::Builder::new().name("onrush-slices".to_owned()).spawn(|| {
            // Where the kernel has none to give, its ticks are exact, and cost what they cost.
            let _ = set_current_timer_slack(NonZeroU64::new(TICK.as_nanos() as u64));
            loop {
                thread::park_timeout(TICK);
                WATCHED.lock().unwrap_or_else(PoisonError::into_inner).look();
            }
        })?;
        watched.is_started = true;
    }
    watched.turns.push((turn, 0));
    TURN.set(Some(turn));
    Ok(())
}

impl Watched {
    fn look(&mut self) {
        for (turn, seen) in &mut self.turns {
            let count = turn.count.load(Ordering::Relaxed);
            if count == *seen && count % 2 == 1 {
                Asked::Yield.of(turn.flag);
            }
            *seen = count;
        }
    }
}

impl Turn {
    fn next(&self) {
        // Only its own thread writes it.
        self.count.store(self.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
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
        let turn: &'static Turn = Box::leak(Box::new(Turn { flag, count: AtomicU64::new(0) }));
        let mut watched = Watched { turns: vec![(turn, 0)], is_started: true };
        let mut check = |turns: u64, asked: Asked| {
            (0..turns).for_each(|_| turn.next());
            watched.look();
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
