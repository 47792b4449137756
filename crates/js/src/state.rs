//! What all threads of one agent share while a test runs: counters, clock start, abort and failure marks.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use onrush_fiber::{Clock, Nanos};

use crate::sharded::ShardedCounter;

/// Why a script ended the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abort {
    /// `test aborted` or `test aborted: message`.
    pub message: String,
}

/// Counters and marks of a running test. All fields are monotone or last-writer-wins, so relaxed ordering suffices.
#[derive(Debug, Default)]
pub struct RunState {
    /// Iterations that ran to their end, whatever they threw.
    pub iterations_completed: ShardedCounter,
    /// Iterations cut from outside.
    pub iterations_interrupted: ShardedCounter,
    /// VUs at work for a scenario; those that wait for an arrival are not.
    pub vus_active: ShardedCounter,
    /// VUs whose init code has run.
    pub vus_initialized: AtomicU64,
    /// This agent's share of the option `rps`; 0 where it has all of it.
    rps_share: AtomicU64,
    started_at: AtomicU64,
    /// Since when the test's clock stands still; 0 while it runs.
    paused_at: AtomicU64,
    aborted: AtomicBool,
    abort: Mutex<Option<Abort>>,
    marked_failed: AtomicBool,
}

impl RunState {
    /// Sets this agent's share of the option `rps`.
    pub fn set_rps_share(&self, rps: u64) {
        self.rps_share.store(rps, Ordering::Relaxed);
    }

    /// Requests a second this agent may make; `option` is the option `rps`, and 0 means no limit.
    pub(crate) fn rps(&self, option: u64) -> u64 {
        match (option, self.rps_share.load(Ordering::Relaxed)) {
            (0, _) | (_, 0) => option,
            (_, share) => share,
        }
    }

    /// Starts the test's clock; later calls change nothing.
    pub fn start_clock(&self, at: Nanos) {
        let _ = self.started_at.compare_exchange(0, at.0.max(1), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// When the test's clock started, if it has.
    pub fn started_at(&self) -> Option<Nanos> {
        Some(self.started_at.load(Ordering::Relaxed)).filter(|at| *at != 0).map(Nanos)
    }

    /// What the test's clock shows: the time since it started, pauses not counted; 0 before.
    pub fn elapsed(&self, now: Nanos) -> Nanos {
        let paused_at = self.paused_at.load(Ordering::Relaxed);
        let now = if paused_at == 0 { now } else { Nanos(paused_at) };
        self.started_at().map_or(Nanos::ZERO, |start| now.saturating_sub(start))
    }

    /// Milliseconds since the test's clock started; 0 before.
    pub fn elapsed_ms(&self) -> f64 {
        self.elapsed(Clock::now()).0 as f64 / 1e6
    }

    /// Stops the test's clock.
    pub fn pause_clock(&self, at: Nanos) {
        let _ = self.paused_at.compare_exchange(0, at.0.max(1), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Has the test's clock go on; what it stood still counts as before its start.
    pub fn resume_clock(&self, at: Nanos) {
        let paused_at = self.paused_at.swap(0, Ordering::Relaxed);
        if paused_at != 0 && self.started_at().is_some() {
            self.started_at.fetch_add(at.0.saturating_sub(paused_at), Ordering::Relaxed);
        }
    }

    /// Records that the script asked to end the test. The first reason stays.
    pub fn abort(&self, abort: Abort) {
        self.abort.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(abort);
        self.aborted.store(true, Ordering::Release);
    }

    /// The reason given to [`RunState::abort`].
    pub fn aborted(&self) -> Option<Abort> {
        if !self.aborted.load(Ordering::Acquire) {
            return None;
        }
        self.abort.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `exec.test.fail()`: the run goes on and exits with 110.
    pub fn mark_failed(&self) {
        self.marked_failed.store(true, Ordering::Relaxed);
    }

    /// Whether the script marked the run as failed.
    pub fn is_marked_failed(&self) -> bool {
        self.marked_failed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_rate_counts_only_where_there_is_a_rate() {
        let state = RunState::default();
        assert_eq!([state.rps(0), state.rps(100)], [0, 100]);
        state.set_rps_share(34);
        assert_eq!([state.rps(0), state.rps(100)], [0, 34]);
    }
}
