//! The session's protocol as messages of `proto/cluster.proto`, and back.
//!
//! What comes in is checked: no message can make a value that the session's own types could not have.

mod command;
mod folded;
mod report;

pub(crate) use command::{command, encode_command};
pub(crate) use folded::{fold, unfold};
pub(crate) use report::{accepted, encode_accepted, encode_report, report};

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

/// All variants of a type are among these, as `Debug` shows them: one that was added to the protocol is to be tried, too.
#[cfg(test)]
fn check_variants<T: serde::de::DeserializeOwned>(tried: impl Iterator<Item = String>) {
    use std::collections::BTreeSet;

    use serde::de::{IntoDeserializer as _, value::Error};

    let first_word = |shown: String| shown.chars().take_while(|char| char.is_alphanumeric()).collect::<String>();
    let tried: BTreeSet<String> = tried.map(first_word).collect();
    let nothing: serde::de::value::StrDeserializer<'_, Error> = "nothing".into_deserializer();
    let error = T::deserialize(nothing).err().map(|error| error.to_string()).unwrap_or_default();
    // "unknown variant `nothing`, expected one of `A`, `B`"
    let known = error.split('`').skip(3).step_by(2).map(str::to_owned);
    assert_eq!(tried, known.collect(), "{error}");
}
