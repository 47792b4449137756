//! Why a statement came to nothing.

/// The error of a statement or a connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The server refused; the connection is as good as before.
    #[error("{0}")]
    Refused(String),
    /// Anything else: the connection is of no more use.
    #[error("{0}")]
    Broken(String),
    /// The file is in use by others: the same call may succeed later.
    #[error("database is locked")]
    Locked,
    /// The time for it is over. Go's text.
    #[error("context deadline exceeded")]
    Timeout,
    /// Whoever asked no longer waits.
    #[error("cancelled")]
    Cancelled,
}

impl SqlError {
    pub(crate) fn broken(text: impl Into<String>) -> Self {
        Self::Broken(text.into())
    }

    /// The same where no connection came about.
    pub(crate) fn without_connection(self) -> Self {
        match self {
            Self::Refused(text) => Self::Broken(text),
            error => error,
        }
    }

    /// Whether the connection can be used again.
    pub fn keeps_connection(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Locked)
    }
}
