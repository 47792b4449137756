//! Why something came to nothing.

use crate::code;

/// The error of a request, a connection or a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KafkaError {
    /// The broker refused, with one of Kafka's numbers.
    #[error("{}", code::text(*.0))]
    Refused(i16),
    /// The same, with what the broker says about it.
    #[error("{}: {}", code::title(*.0), .1)]
    RefusedWith(i16, String),
    /// The connection is of no more use.
    #[error("{0}")]
    Broken(String),
    /// What was asked for cannot be.
    #[error("{0}")]
    Invalid(String),
    /// What a broker sent does not fit the memory it may take.
    #[error("{0}")]
    TooLarge(String),
    /// The time for it is over. Go's text.
    #[error("context deadline exceeded")]
    Timeout,
    /// Whoever asked no longer waits.
    #[error("cancelled")]
    Cancelled,
}

impl KafkaError {
    pub(crate) fn broken(text: impl Into<String>) -> Self {
        Self::Broken(text.into())
    }

    pub(crate) fn malformed(what: &str) -> Self {
        Self::Broken(format!("the broker's answer cannot be read: {what}"))
    }

    /// Whether the same may succeed a little later, perhaps with another broker.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Refused(code) | Self::RefusedWith(code, _) => code::is_passing(*code),
            Self::Broken(_) | Self::Timeout => true,
            Self::Invalid(_) | Self::TooLarge(_) | Self::Cancelled => false,
        }
    }

    /// Whether the connection can be used again.
    pub(crate) fn keeps_connection(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::RefusedWith(..) | Self::Invalid(_))
    }

    /// Kafka's number, if the broker gave one.
    pub fn code(&self) -> Option<i16> {
        match self {
            Self::Refused(code) | Self::RefusedWith(code, _) => Some(*code),
            _ => None,
        }
    }
}

/// A number that a broker answers with.
pub(crate) fn checked(code: i16) -> Result<(), KafkaError> {
    if code == code::NONE { Ok(()) } else { Err(KafkaError::Refused(code)) }
}
