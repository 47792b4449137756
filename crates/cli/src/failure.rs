//! Why the program ends without success: an exit code, one message, and what the user can do.

use onrush_session::ExitCode;

/// A failure on its way to the last log line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The process's exit code.
    pub(crate) code: ExitCode,
    /// One message, k6's where it has one.
    pub(crate) message: String,
    /// What the user can do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// A failure with this exit code.
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Exit code 255.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Other, message)
    }

    /// Exit code 104.
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(ExitCode::InvalidConfig, message)
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
