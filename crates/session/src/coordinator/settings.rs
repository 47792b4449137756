//! What the coordinator needs to know of a run.

use std::time::Duration;

/// Fixed before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The script exports `setup()` and it is not switched off.
    pub has_setup: bool,
    /// The script exports `teardown()` and it is not switched off.
    pub has_teardown: bool,
    /// Thresholds are evaluated (not `--no-thresholds`).
    pub evaluates_thresholds: bool,
    /// The run waits to be resumed before it starts (`--paused`).
    pub starts_paused: bool,
    /// What becomes of a run that loses an agent.
    pub on_loss: LossPolicy,
    /// How long it waits for agents.
    pub patience: Patience,
    /// How long after the last agent is ready scenarios start: what a command may take to reach all agents, so that
    /// they start at the same time.
    pub start_in: Duration,
    /// Time series of the whole run.
    pub series_max: u64,
    /// Requests per second of the whole run.
    pub rps: Option<u64>,
}

/// What becomes of a run that loses an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// It ends, with `teardown()` and an exit code of its own.
    #[default]
    Fail,
    /// It goes on with the others, and its measurement is SUSPECT.
    Tolerate,
    /// The others take up what it had to do, and the measurement is SUSPECT for the gap.
    Rebalance,
}

/// How long the coordinator waits, so that no barrier waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// An agent that says nothing for so long is lost; `None` where it cannot be lost without being noticed, such as in
    /// the same process. Agents say how they stand once a second at least.
    pub silence: Option<Duration>,
    /// How long an agent that was lost in silence may go on making load: its lease is longer than the silence. What it
    /// had to do is not begun by others before.
    pub lingers: Duration,
    /// `setupTimeout`.
    pub setup: Duration,
    /// `teardownTimeout`.
    pub teardown: Duration,
    /// `handleSummaryTimeout`.
    pub summary: Duration,
    /// What agents may need beyond the limits above and the plan's end: they keep these limits themselves, so whoever
    /// takes so much longer is lost.
    pub beyond: Duration,
    /// What they may need to hand in their last samples.
    pub flush: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            has_setup: false,
            has_teardown: false,
            evaluates_thresholds: false,
            starts_paused: false,
            on_loss: LossPolicy::default(),
            patience: Patience::default(),
            start_in: Duration::ZERO,
            series_max: onrush_metrics::Census::LIMIT as u64,
            rps: None,
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        // The limits are k6's defaults.
        let minute = Duration::from_secs(60);
        Self {
            silence: None,
            lingers: Duration::ZERO,
            setup: minute,
            teardown: minute,
            summary: 2 * minute,
            beyond: minute,
            flush: Duration::from_secs(30),
        }
    }
}
