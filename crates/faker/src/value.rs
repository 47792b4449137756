//! What functions make, and why they do not.

/// A made-up value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number that may be too large for an `Integer`.
    Unsigned(u64),
    /// Any number.
    Float(f64),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object, its members in order.
    Object(Vec<(String, Self)>),
}

impl Value {
    pub(crate) fn texts<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(|item| Self::Text(item.into())).collect())
    }
}

/// Why a call makes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FakerError {
    /// An argument that has no default was left out. k6's text.
    #[error("missing parameter: {0}")]
    MissingParameter(&'static str),
    /// An argument is not what it should be.
    #[error("{function}: {parameter} must be {expected}, not {found:?}")]
    InvalidArgument {
        /// The function.
        function: &'static str,
        /// The name of its parameter.
        parameter: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is, cut to a readable length.
        found: String,
    },
    /// More was asked for than one call makes.
    #[error("{function}: a value of more than {TEXT_BYTES_MAX} bytes was asked for")]
    TooLarge {
        /// The function.
        function: &'static str,
    },
}

/// The most that one call makes: about a millisecond's work, or a few for words.
pub(crate) const TEXT_BYTES_MAX: usize = 256 << 10;
