//! What is wrong with a record, in Go's words.

use thiserror::Error;

/// Why a record cannot be read. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RecordError {
    /// It has more or fewer fields than the first record.
    #[error("record on line {line}: wrong number of fields")]
    FieldCount {
        /// Where the record begins.
        line: u64,
    },
    /// A quote within a field that does not begin with one.
    #[error("{}parse error on line {line}, column {column}: bare \" in non-quoted-field", begun(*start, *line))]
    BareQuote {
        /// The line on which the record begins.
        start: u64,
        /// The line of the quote.
        line: u64,
        /// The column of the quote.
        column: u64,
    },
    /// A quoted field that goes on after its closing quote, or has none.
    #[error("{}parse error on line {line}, column {column}: extraneous or missing \" in quoted-field", begun(*start, *line))]
    Quote {
        /// The line on which the record begins.
        start: u64,
        /// The line of the quote, or the last one.
        line: u64,
        /// The column of the quote, or where it is missing.
        column: u64,
    },
    /// The delimiter is a quote, a line break or NUL.
    #[error("csv: invalid field or comment delimiter")]
    Delimiter,
    /// It has more than [`FIELDS_MAX`](crate::FIELDS_MAX) fields.
    #[error("record on line {line}: more than {} fields", crate::FIELDS_MAX)]
    TooManyFields {
        /// Where the record begins.
        line: u64,
    },
    /// The [`Pause`](crate::Pause) said to stop.
    #[error("stopped")]
    Stopped,
}

impl RecordError {
    /// The line on which the record begins, the line of the error and its column, where it has a place.
    #[must_use]
    pub fn place(&self) -> Option<(u64, u64, u64)> {
        match *self {
            Self::FieldCount { line } | Self::TooManyFields { line } => Some((line, line, 1)),
            Self::BareQuote { start, line, column } | Self::Quote { start, line, column } => {
                Some((start, line, column))
            }
            Self::Delimiter | Self::Stopped => None,
        }
    }
}

fn begun(start: u64, line: u64) -> String {
    if start == line { String::new() } else { format!("record on line {start}; ") }
}
