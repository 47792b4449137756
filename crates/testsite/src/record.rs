//! What a target notes of every request while it serves, for somebody who wants to check what a client says: when it
//! arrived, and how long its connection had been idle since the answer before.
//!
//! Each thread notes into a list of its own, which is handed over when the thread ends, so noting costs two looks at the
//! clock and no lock. The counters of `/stats` are kept all the time and are elsewhere (`stats`).

use std::{fmt, sync::Mutex};

use crate::clock::monotonic_ns;

/// Requests one thread notes; those beyond are only counted. 64 MiB of them, a minute of 60,000 requests a second.
pub const ARRIVALS_MAX: usize = 4_000_000;

/// One request as the target saw it. Prints as its two numbers, `-` where there is no second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When its head was complete, in nanoseconds of `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// From the previous answer on its connection until then; none for a connection's first request and for HTTP/2.
    pub turnaround_ns: Option<u64>,
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.turnaround_ns {
            Some(turnaround_ns) => write!(f, "{} {turnaround_ns}", self.at_ns),
            None => write!(f, "{} -", self.at_ns),
        }
    }
}

/// All that a target noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In the order of their arrival.
    pub arrivals: Vec<Arrival>,
    /// Requests beyond [`ARRIVALS_MAX`].
    pub omitted: u64,
}

/// What one thread notes; nothing unless it was asked to.
pub(crate) struct Recorder {
    record: Option<Record>,
}

impl Recorder {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { record: is_wanted.then(Record::default) }
    }

    /// Notes a request, if anybody wants to know. `answered_ns` is when its connection was last answered, 0 for never.
    pub(crate) fn arrived(&mut self, answered_ns: u64) {
        let Some(record) = &mut self.record else { return };
        if record.arrivals.len() >= ARRIVALS_MAX {
            record.omitted += 1;
            return;
        }
        let at_ns = monotonic_ns();
        let turnaround_ns = (answered_ns > 0).then(|| at_ns.saturating_sub(answered_ns));
        record.arrivals.push(Arrival { at_ns, turnaround_ns });
    }

    /// The time of an answer; 0 where nothing is noted.
    pub(crate) fn answered_ns(&self) -> u64 {
        if self.record.is_some() { monotonic_ns() } else { 0 }
    }

    /// Adds what this thread noted to what the others did.
    pub(crate) fn hand_over(&mut self, all: &Mutex<Record>) {
        let Some(record) = self.record.take() else { return };
        // A thread that panicked while it held the lock left a list that is whole.
        let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.omitted += record.omitted;
        if all.arrivals.is_empty() {
            all.arrivals = record.arrivals;
        } else {
            all.arrivals.extend(record.arrivals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_and_handed_over() {
        let all = Mutex::default();
        let mut silent = Recorder::new(false);
        silent.arrived(0);
        assert_eq!(silent.answered_ns(), 0);
        silent.hand_over(&all);
        assert_eq!(*all.lock().unwrap(), Record::default());

        let mut recorder = Recorder::new(true);
        recorder.arrived(0);
        let answered_ns = recorder.answered_ns();
        recorder.arrived(answered_ns);
        let mut other = Recorder::new(true);
        other.arrived(0);
        recorder.hand_over(&all);
        other.hand_over(&all);
        let all = all.into_inner().unwrap();
        let known: Vec<bool> = all.arrivals.iter().map(|arrival| arrival.turnaround_ns.is_some()).collect();
        assert_eq!(known, [false, true, false]);
        assert!(all.arrivals[1].at_ns >= answered_ns);
    }

    #[test]
    fn lines() {
        assert_eq!(Arrival { at_ns: 12, turnaround_ns: Some(3) }.to_string(), "12 3");
        assert_eq!(Arrival { at_ns: 12, turnaround_ns: None }.to_string(), "12 -");
    }
}
