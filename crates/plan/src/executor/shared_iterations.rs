//! shared-iterations: VUs take iterations from one count; fast VUs run more of them.

use serde::{Deserialize, Serialize};

use super::fields::{checked, max_duration, positive_vus};
use crate::{duration::GoDuration, error::PlanError, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedIterationsConfig {
    /// How many VUs; 1 if not given.
    #[serde(default, deserialize_with = "int")]
    pub vus: Option<i64>,
    /// How many iterations together; 1 if not given.
    #[serde(default, deserialize_with = "int")]
    pub iterations: Option<i64>,
    /// For at most how long; 10 minutes if not given.
    #[serde(default)]
    pub max_duration: Option<GoDuration>,
}

impl SharedIterationsConfig {
    pub(crate) const FIELDS: &[&str] = &["vus", "iterations", "maxDuration"];

    pub(crate) fn validate(&self) -> Result<SharedIterations, Vec<String>> {
        let mut errors = Vec::new();
        let wanted = self.vus.unwrap_or(1);
        let vus = positive_vus(wanted, &mut errors);
        let iterations = self.iterations.unwrap_or(1);
        if iterations < wanted {
            errors.push(format!(
                "the number of iterations ({iterations}) can't be less than the number of VUs ({wanted})"
            ));
        }
        let max_duration = max_duration(self.max_duration, &mut errors);
        let iterations = u64::try_from(iterations).unwrap_or(0);
        checked(SharedIterations { vus, iterations, max_duration }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedIterations {
    /// How many VUs.
    pub vus: u64,
    /// How many iterations together.
    pub iterations: u64,
    /// For at most how long.
    pub max_duration: GoDuration,
}

impl SharedIterations {
    pub(crate) fn describe(&self, share: &Share) -> Result<(String, Vec<String>), PlanError> {
        let iterations = share.from_value(self.vus)?.map_or(0, |t| t.scale(self.iterations));
        Ok((
            format!("{iterations} iterations shared among {} VUs", share.scale(self.vus)),
            vec![format!("maxDuration: {}", self.max_duration)],
        ))
    }

    pub(crate) fn plan(&self, share: &Share) -> Result<Option<SharedIterationsPlan>, PlanError> {
        let Some(iteration_share) = share.from_value(self.vus)? else {
            return Ok(None);
        };
        let vus = share.scale(self.vus);
        let iterations = iteration_share.scale(self.iterations);
        Ok((vus > 0 && iterations > 0).then_some(SharedIterationsPlan { vus, iterations, iteration_share }))
    }
}

/// One instance's share.
#[derive(Clone, Debug)]
pub struct SharedIterationsPlan {
    /// How many VUs run here; at least 1.
    pub vus: u64,
    /// How many iterations they share here; at least 1.
    pub iterations: u64,
    iteration_share: Share,
}

impl SharedIterationsPlan {
    pub(crate) fn striping(&self) -> &Share {
        &self.iteration_share
    }

    /// The number in the whole test of our `j`-th iteration, both from 0.
    #[must_use]
    pub fn iteration_in_test(&self, j: u64) -> Option<u64> {
        self.iteration_share.nth(j)
    }
}
