//! Why options cannot be read and why a valid test cannot be planned.

use serde_json::Value;

use crate::segment::SegmentError;

/// Why options could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    /// Which option: `scenarios.contacts.vus`, `K6_VUS`, `--stage`; empty when the text names it or it is the whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl OptionsError {
    pub(crate) fn new(path: impl Into<String>, message: impl ToString) -> Self {
        Self { path: path.into(), message: message.to_string() }
    }

    pub(crate) fn plain(message: String) -> Self {
        Self { path: String::new(), message }
    }

    pub(crate) fn wrong_type(path: &str, expected: &str, got: &Value) -> Self {
        Self::new(path, format!("expected {expected}, got {}", shown(got)))
    }

    /// k6: the text is Go's; where it was found and what may be meant are added.
    pub(crate) fn unknown_field(path: &str, field: &str, known: &[&str]) -> Self {
        let hint = crate::names::did_you_mean(field, known);
        Self::plain(format!("json: unknown field {field:?} in {path}{hint}"))
    }
}

impl std::fmt::Display for OptionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for OptionsError {}

/// Why a valid test cannot be planned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The pattern of the shares is too long to keep.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// A staircase has too many steps to keep.
    #[error(
        "the stages change the number of VUs {steps} times on this instance, the limit is {max}: use smaller targets or more instances"
    )]
    TooManySteps {
        /// How many it would have.
        steps: u64,
        /// How many it may have.
        max: u64,
    },
    /// There are more VUs than an instance may have.
    #[error(
        "the test needs {vus} VUs on this instance, the limit is {max}: use fewer VUs or more instances (--execution-segment)"
    )]
    TooManyVus {
        /// How many it needs before it starts.
        vus: u64,
        /// How many it may have.
        max: u64,
    },
    /// Which scenario it is about.
    #[error("scenario {name}: {source}")]
    Scenario {
        /// Its name.
        name: String,
        /// What is wrong.
        #[source]
        source: Box<PlanError>,
    },
}

/// A value as an error repeats it: of lists and objects only that they are such.
pub(crate) fn shown(value: &Value) -> String {
    let mut text = match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    };
    if let Some((end, _)) = text.char_indices().nth(VALUE_SHOWN_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Longest piece of a value that an error repeats, in characters.
const VALUE_SHOWN_MAX: usize = 60;
