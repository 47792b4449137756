//! What a run is doing, and how far it got.

use onrush_fiber::Nanos;

/// What the run as a whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// VUs run their init code.
    Initializing,
    /// All is ready, and somebody must resume the run for it to start.
    Paused,
    /// `setup()` runs.
    Setup,
    /// Scenarios run, or ran.
    Running,
    /// Somebody ended them, and iterations that had begun are waited for.
    Stopping,
    /// `teardown()` runs.
    Teardown,
    /// All is over, and `--linger` keeps the results to be looked at.
    Lingering,
}

impl Stage {
    pub(super) fn is_before_scenarios(self) -> bool {
        matches!(self, Self::Initializing | Self::Paused | Self::Setup)
    }

    /// The word in front of the totals.
    pub(crate) fn word(self, is_paused: bool) -> &'static str {
        match self {
            Self::Stopping => "stopping, Ctrl+C ends it at once",
            Self::Teardown => "teardown()",
            Self::Lingering => "over, Ctrl+C ends --linger",
            _ if is_paused => "paused",
            _ => "running",
        }
    }
}

/// Counts over all scenarios.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Since the test's clock started.
    pub(crate) elapsed: Nanos,
    /// The run stands still.
    pub(crate) is_paused: bool,
    /// When the scenarios started, in the process's clock.
    pub(crate) scenarios_at: Option<Nanos>,
    /// VUs a scenario holds.
    pub(crate) vus_active: u64,
    /// VUs whose init code has run.
    pub(crate) vus_initialized: u64,
    /// Iterations that ended.
    pub(crate) complete: u64,
    /// Iterations that were cut.
    pub(crate) interrupted: u64,
}
