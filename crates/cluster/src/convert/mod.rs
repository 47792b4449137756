//! The session's protocol as messages of `proto/cluster.proto`, and back.
//!
//! What comes in is checked: no message can make a value that the session's own types could not have.

mod command;
mod folded;
mod report;

pub(crate) use command::{command, encode_command};
pub(crate) use report::{encode_report, report};

/// A message that cannot be what was said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the message cannot be read: {0}")]
pub struct WireError(pub(crate) String);

impl WireError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    fn missing(what: &str) -> Self {
        Self(format!("it has no {what}"))
    }
}

impl From<prost::DecodeError> for WireError {
    fn from(error: prost::DecodeError) -> Self {
        Self(error.to_string())
    }
}
