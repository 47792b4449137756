//! What is said while the process waits for outputs at the end of a run.

use std::time::Duration;

use onrush_fiber::{Clock, Nanos};

use crate::log::{Level, Logger};

/// Says once whom the process waits for.
pub(in crate::run) struct Waiting<'a> {
    logger: &'a Logger,
    since: Nanos,
    is_said: bool,
}

impl<'a> Waiting<'a> {
    /// Who waits shorter than this asks nobody why.
    const SAYS_AFTER: Duration = Duration::from_secs(2);
    /// Outputs that are named.
    const NAMES_MAX: usize = 3;

    /// From now on.
    pub(in crate::run) fn new(logger: &'a Logger) -> Self {
        Self { logger, since: Clock::now(), is_said: false }
    }

    /// It still waits for these; `limit` says how long it does.
    pub(in crate::run) fn look(&mut self, names: &[String], limit: impl FnOnce() -> String) {
        let is_due = Clock::now().saturating_sub(self.since).as_duration() >= Self::SAYS_AFTER;
        if names.is_empty() || !is_due || std::mem::replace(&mut self.is_said, true) {
            return;
        }
        let mut named = names[..names.len().min(Self::NAMES_MAX)].join(", ");
        if names.len() > Self::NAMES_MAX {
            named.push_str(&format!(" and {} more", names.len() - Self::NAMES_MAX));
        }
        let limit = limit();
        let message = format!(
            "the run is over; waiting for {named} to take the rest of it before the summary is made, {limit}; Ctrl+C ends the wait"
        );
        self.logger.log(Level::Info, message, Vec::new());
    }
}
