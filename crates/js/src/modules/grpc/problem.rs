//! Why parameters, or a message, cannot be used.

use crate::embed::Throw;

/// What a script threw, or a text of k6 or Go.
pub(super) enum Problem {
    Throw(Throw),
    Text(String),
}

impl From<Throw> for Problem {
    fn from(throw: Throw) -> Self {
        Self::Throw(throw)
    }
}

impl Problem {
    /// As an exception, with what comes before the text.
    pub(super) fn throw(self, before: &str) -> Throw {
        match self {
            Self::Throw(throw) => throw,
            Self::Text(text) => Throw::error(format!("{before}{text}")),
        }
    }
}
