//! What an engine tells the outside.

use std::{collections::BTreeMap, time::Duration};

use onrush_fiber::{Lag, Nanos};
use onrush_js::{HandleSummaryFile, ScriptFailure};
use onrush_metrics::{Delta, Histogram, OwnDelay};

/// Something that happened. Events of one thread arrive in order.
#[derive(Debug)]
pub enum Event {
    /// All planned VUs have run their init code.
    Initialized,
    /// Init code threw in a VU, or a thread could not be set up: the test cannot start.
    InitFailed(LifecycleError),
    /// `setup()` ended: its data as JSON text.
    SetupDone(Result<Option<String>, LifecycleError>),
    /// The first scenario that begins has begun.
    Begun {
        /// How long after the planned moment.
        late: Nanos,
    },
    /// Every scenario of every thread is over.
    ScenariosDone,
    /// `teardown()` ended.
    TeardownDone(Result<(), LifecycleError>),
    /// `handleSummary()` ended. `None`: print the built-in text.
    HandleSummaryDone(Result<Option<Vec<HandleSummaryFile>>, LifecycleError>),
    /// What a thread folded since its last delta.
    Sample(Box<ThreadSample>),
    /// Something the user should see once, such as an exhausted VU pool.
    Warning {
        /// What happened.
        message: String,
        /// Where: fields of the log line.
        fields: Vec<(&'static str, String)>,
    },
    /// A thread has ended: after [`crate::Engine::shutdown`], its last sample before, or unexpectedly.
    ThreadEnded {
        /// Which one.
        thread: usize,
    },
}

/// A thread's samples and its view of its own health over the last second.
#[derive(Debug)]
pub struct ThreadSample {
    /// Which thread.
    pub thread: usize,
    /// Folded samples.
    pub delta: Delta,
    /// Iterations that ended, or were cut, since the last sample, by scenario in plan order.
    pub ended: Vec<u64>,
    /// When they were taken.
    pub at: Nanos,
    /// The call of [`crate::Engine::flush`] that this answers, by its number.
    pub flush: Option<u64>,
    /// Scenarios had begun on this thread by then.
    pub in_scenarios: bool,
    /// How late timers fired.
    pub loop_lag: Lag,
    /// Intended to actual start of arrival-rate iterations, milliseconds.
    pub start_lag: Histogram,
    /// How long requests waited for this thread, by the scenario's place in the plan.
    pub own_delays: BTreeMap<usize, OwnDelay>,
    /// Largest fiber stack saved so far, bytes.
    pub stack_bytes_max: usize,
    /// Fibers that panicked so far: bugs of ours.
    pub panics: u64,
    /// Writes to shared built-ins trapped so far, and the last property.
    pub trapped_writes: (u64, String),
}

/// Why a life-cycle function did not finish.
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    /// The script threw or aborted.
    #[error("{0}")]
    Script(ScriptFailure),
    /// It did so in the init code of a VU.
    #[error("{failure}")]
    Init {
        /// The VU's number in this instance.
        vu: u64,
        /// What it threw.
        failure: ScriptFailure,
    },
    /// `setup() execution timed out after 60 seconds`.
    #[error("{function}() execution timed out after {} seconds", .after.as_secs_f64())]
    Timeout {
        /// `setup`, `teardown` or `handleSummary`.
        function: &'static str,
        /// The limit.
        after: Duration,
    },
    /// What it returned cannot be sent to VUs.
    #[error("{0}")]
    Data(String),
    /// The engine could not be set up.
    #[error("{0}")]
    Engine(String),
}
