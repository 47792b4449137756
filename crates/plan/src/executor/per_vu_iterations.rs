//! per-vu-iterations: each VU runs exactly its own number of iterations.

use serde::{Deserialize, Serialize};

use super::fields::{checked, max_duration, positive_vus};
use crate::{duration::GoDuration, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PerVuIterationsConfig {
    /// How many VUs; 1 if not given.
    #[serde(default, deserialize_with = "int")]
    pub vus: Option<i64>,
    /// How many iterations each; 1 if not given.
    #[serde(default, deserialize_with = "int")]
    pub iterations: Option<i64>,
    /// For at most how long; 10 minutes if not given.
    #[serde(default)]
    pub max_duration: Option<GoDuration>,
}

impl PerVuIterationsConfig {
    pub(crate) const FIELDS: &[&str] = &["vus", "iterations", "maxDuration"];

    pub(crate) fn validate(&self) -> Result<PerVuIterations, Vec<String>> {
        let mut errors = Vec::new();
        let vus = positive_vus(self.vus.unwrap_or(1), &mut errors);
        let iterations = self.iterations.unwrap_or(1);
        if iterations <= 0 {
            errors.push("the number of iterations must be more than 0".to_owned());
        }
        let max_duration = max_duration(self.max_duration, &mut errors);
        let iterations = u64::try_from(iterations).unwrap_or(0);
        checked(PerVuIterations { vus, iterations, max_duration }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerVuIterations {
    /// How many VUs.
    pub vus: u64,
    /// How many iterations each.
    pub iterations: u64,
    /// For at most how long.
    pub max_duration: GoDuration,
}

impl PerVuIterations {
    pub(crate) fn describe(&self, share: &Share) -> (String, Vec<String>) {
        (
            format!("{} iterations for each of {} VUs", self.iterations, share.scale(self.vus)),
            vec![format!("maxDuration: {}", self.max_duration)],
        )
    }

    pub(crate) fn plan(&self, share: &Share) -> Option<PerVuIterationsPlan> {
        let vus = share.scale(self.vus);
        (vus > 0).then_some(PerVuIterationsPlan { vus, iterations: self.iterations })
    }
}

/// One instance's share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerVuIterationsPlan {
    /// How many VUs run here; at least 1.
    pub vus: u64,
    /// How many iterations each of them runs; not scaled by the segment.
    pub iterations: u64,
}

impl PerVuIterationsPlan {
    /// The iterations of all VUs here together; saturates.
    #[must_use]
    pub fn total_iterations(&self) -> u64 {
        self.vus.saturating_mul(self.iterations)
    }
}
