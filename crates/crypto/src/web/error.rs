//! Why an operation of Web Crypto failed: a name scripts can compare, and k6's text.

use std::{borrow::Cow, fmt};

/// A failure as scripts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebError {
    /// The error's name, as `error.name` shows it; empty where k6 gives none.
    pub name: &'static str,
    /// What went wrong.
    pub message: Cow<'static, str>,
}

impl WebError {
    /// An error of that name.
    pub fn new(name: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { name, message: message.into() }
    }

    /// `OperationError`.
    pub fn operation(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("OperationError", message)
    }

    /// `DataError`: a key cannot be read.
    pub fn data(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("DataError", message)
    }

    /// `SyntaxError`: a parameter is missing or of the wrong kind.
    pub fn syntax(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("SyntaxError", message)
    }

    /// `NotSupportedError`.
    pub fn not_supported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("NotSupportedError", message)
    }

    /// `InvalidAccessError`: the key may not be used for that.
    pub fn invalid_access(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("InvalidAccessError", message)
    }

    /// An error without a name of its own.
    pub fn plain(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new("", message)
    }
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.name, self.message) }
    }
}

impl std::error::Error for WebError {}
