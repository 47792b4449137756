//! What the coordinator has to say to whoever runs it, beside its commands.

use std::{sync::Arc, time::Duration};

use crate::protocol::{Failure, LogLine, SummaryFile};

/// Something for the user, or for a client of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// An agent's warning. The same may come many times.
    Warning {
        /// What happened.
        message: String,
        /// Where: fields of the log line.
        fields: Vec<(String, String)>,
    },
    /// A line that the script logged on an agent that has no log of its own.
    Log(LogLine),
    /// Something the user may want to know.
    Info(String),
    /// Something went wrong that the user must know.
    Error(String),
    /// A change that was to be replayed cannot be made.
    NotReplayed {
        /// When it was due, on the scenarios' clock.
        at: Duration,
        /// Why not.
        error: String,
    },
    /// A function that ran for a client has ended.
    CallDone {
        /// The number the client's call was given.
        call: u64,
        /// What it returned, if it was `setup()`; why it failed.
        result: Result<Option<Arc<str>>, String>,
    },
    /// `handleSummary()` has ended.
    SummaryDone(Result<Option<Vec<SummaryFile>>, Failure>),
}
