//! What an agent says of itself beside its name: labels that runs choose it by, and what it can bear.

use std::collections::BTreeMap;

use crate::messages::{Capacity as WireCapacity, Label};

/// What an agent can bear.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Capacity {
    /// Cores it may use.
    pub cores: f64,
    /// Memory of its machine or container.
    pub memory_bytes: u64,
    /// Open files it may have.
    pub files: u64,
}

const LABELS_MAX: usize = 64;
/// Labels are for choices and tags.
const TEXT_BYTES_MAX: usize = 1_024;
/// More than any machine has; what is no number is none.
const CORES_MAX: f64 = 65_536.0;

pub(crate) fn wire_labels(labels: &BTreeMap<String, String>) -> Vec<Label> {
    labels.iter().map(|(name, value)| Label { name: name.clone(), value: value.clone() }).collect()
}

/// Labels that came.
///
/// # Errors
/// When there are too many, or too long ones.
pub(crate) fn labels(labels: Vec<Label>) -> Result<BTreeMap<String, String>, String> {
    let is_too_long = |label: &Label| label.name.len().max(label.value.len()) > TEXT_BYTES_MAX;
    if labels.len() > LABELS_MAX || labels.iter().any(is_too_long) {
        return Err(format!(
            "an agent has at most {LABELS_MAX} labels, and their names and values at most {TEXT_BYTES_MAX} bytes"
        ));
    }
    Ok(labels.into_iter().map(|label| (label.name, label.value)).collect())
}

pub(crate) fn wire_capacity(capacity: Capacity) -> WireCapacity {
    let Capacity { cores, memory_bytes, files } = capacity;
    WireCapacity { cores, memory_bytes, files }
}

/// What came of it.
pub(crate) fn capacity(capacity: Option<WireCapacity>) -> Capacity {
    let WireCapacity { cores, memory_bytes, files } = capacity.unwrap_or_default();
    let cores = if cores.is_finite() { cores.clamp(0.0, CORES_MAX) } else { 0.0 };
    Capacity { cores, memory_bytes, files }
}
