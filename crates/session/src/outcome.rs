//! How a run ended, and the exit code that says so.

use serde::{Deserialize, Serialize};

use crate::protocol::{Failure, FailureKind};

/// Exit codes, as k6 documents them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum ExitCode {
    /// The run ended as planned and no threshold was crossed; iterations may have thrown.
    Success = 0,
    /// A threshold was crossed.
    ThresholdsHaveFailed = 99,
    /// `setup()` took too long.
    SetupTimeout = 100,
    /// `teardown()` took too long.
    TeardownTimeout = 101,
    /// Some other time limit.
    GenericTimeout = 102,
    /// Stopped over the REST API.
    ScriptStoppedFromRestApi = 103,
    /// `--fail-on` names what the measurement was.
    MeasurementRefused = 80,
    /// `onrush compare` found a run worse than the one before.
    ComparedWorse = 81,
    /// `onrush compare --fail-on unjudged` could not judge what it was to judge.
    ComparedUnjudged = 82,
    /// Options, thresholds or scenario functions are wrong.
    InvalidConfig = 104,
    /// Ended by a signal.
    ExternalAbort = 105,
    /// The REST API's address could not be listened on.
    CannotStartRestApi = 106,
    /// Init code, `setup()` or `teardown()` threw.
    ScriptException = 107,
    /// The script called `exec.test.abort()`.
    ScriptAborted = 108,
    /// A bug of ours.
    Panic = 109,
    /// The script called `exec.test.fail()`.
    MarkedAsFailed = 110,
    /// An agent was lost, or no agent was left. k6's own codes end at 110; ours begin at 120.
    AgentLost = 120,
    /// Anything else: a bad flag, a missing file.
    Other = 255,
}

impl ExitCode {
    const ALL: [Self; 18] = [
        Self::Success,
        Self::ThresholdsHaveFailed,
        Self::SetupTimeout,
        Self::TeardownTimeout,
        Self::GenericTimeout,
        Self::ScriptStoppedFromRestApi,
        Self::MeasurementRefused,
        Self::ComparedWorse,
        Self::ComparedUnjudged,
        Self::InvalidConfig,
        Self::ExternalAbort,
        Self::CannotStartRestApi,
        Self::ScriptException,
        Self::ScriptAborted,
        Self::Panic,
        Self::MarkedAsFailed,
        Self::AgentLost,
        Self::Other,
    ];

    /// What a process of ours ended with.
    pub fn of_process(code: u8) -> Self {
        Self::ALL.into_iter().find(|known| *known as u8 == code).unwrap_or(Self::Other)
    }
}

/// What ended a run before its plan did, or spoiled it. The first one decides the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The exit code.
    pub code: ExitCode,
    /// One line for the log.
    pub message: String,
}

impl Stop {
    /// An agent could not make its VUs, or cannot go on.
    pub(crate) fn init(failure: &Failure) -> Self {
        Self::from_failure(failure, ExitCode::GenericTimeout)
    }

    /// `setup()` failed.
    pub(crate) fn setup(failure: &Failure) -> Self {
        Self::from_failure(failure, ExitCode::SetupTimeout)
    }

    /// `teardown()` failed.
    pub(crate) fn teardown(failure: &Failure) -> Self {
        Self::from_failure(failure, ExitCode::TeardownTimeout)
    }

    fn from_failure(failure: &Failure, timeout: ExitCode) -> Self {
        let code = match failure.kind {
            FailureKind::Script => ExitCode::ScriptException,
            FailureKind::Aborted => ExitCode::ScriptAborted,
            FailureKind::Timeout => timeout,
            FailureKind::Engine => ExitCode::Other,
            FailureKind::Bug => ExitCode::Panic,
        };
        Self { code, message: failure.message.clone() }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What stopped it, if anything did.
    pub stop: Option<Stop>,
    /// Metrics whose thresholds were crossed, sorted.
    pub crossed: Vec<String>,
    /// `exec.test.fail()` was called.
    pub is_marked_failed: bool,
}

impl Outcome {
    /// k6's order: an abort or exception, then `test.fail()`, then thresholds.
    pub fn exit_code(&self) -> ExitCode {
        match &self.stop {
            Some(stop) => stop.code,
            None if self.is_marked_failed => ExitCode::MarkedAsFailed,
            None if !self.crossed.is_empty() => ExitCode::ThresholdsHaveFailed,
            None => ExitCode::Success,
        }
    }

    /// The last line of the log, for codes other than 0.
    pub fn message(&self) -> Option<String> {
        match &self.stop {
            Some(stop) => Some(stop.message.clone()),
            None if self.is_marked_failed => Some("test run was marked as failed".to_owned()),
            None if !self.crossed.is_empty() => {
                Some(format!("thresholds on metrics '{}' have been crossed", self.crossed.join(", ")))
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stop: Option<ExitCode>, crossed: &[&str], failed: bool, expect: ExitCode) {
        let stop = stop.map(|code| Stop { code, message: "why".to_owned() });
        let crossed = crossed.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(Outcome { stop, crossed, is_marked_failed: failed }.exit_code(), expect);
    }

    #[test]
    fn the_first_reason_decides() {
        check(None, &[], false, ExitCode::Success);
        check(None, &["a"], false, ExitCode::ThresholdsHaveFailed);
        check(None, &["a"], true, ExitCode::MarkedAsFailed);
        check(Some(ExitCode::ExternalAbort), &["a"], true, ExitCode::ExternalAbort);
    }
}
