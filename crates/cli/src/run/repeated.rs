//! The log of init code that runs again from its start: what it has said before is not shown twice.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use onrush_js::log::{Line, Sink};

use crate::log::Logger;

/// Passes lines on, without as many as earlier runs of the same code have printed.
pub(super) struct Repeated {
    to: Arc<Logger>,
    /// Lines shown so far.
    shown: AtomicUsize,
    /// Lines still to be left out.
    known: AtomicUsize,
}

impl Repeated {
    pub(super) fn new(to: Arc<Logger>) -> Self {
        Self { to, shown: AtomicUsize::new(0), known: AtomicUsize::new(0) }
    }

    /// The code starts again.
    pub(super) fn again(&self) {
        self.known.store(self.shown.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// It does not run again: whatever comes is new.
    pub(super) fn end(&self) {
        self.known.store(0, Ordering::Relaxed);
    }
}

impl Sink for Repeated {
    fn line(&self, line: Line) {
        if self.known.load(Ordering::Relaxed) > 0 {
            self.known.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        self.shown.fetch_add(1, Ordering::Relaxed);
        self.to.line(line);
    }
}
