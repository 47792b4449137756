//! externally-controlled: as many VUs loop as somebody outside asks for, for a time or until the test is stopped.
//!
//! Asking is not planned, so there is little arithmetic here; what a change means is in [`crate::steer`].

use serde::{Deserialize, Serialize};

use super::fields::checked;
use crate::{duration::GoDuration, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternallyControlledConfig {
    /// How many VUs loop at first; none if not given.
    #[serde(default, deserialize_with = "int")]
    pub vus: Option<i64>,
    /// For how long; required, 0 is until the test is stopped.
    #[serde(default)]
    pub duration: Option<GoDuration>,
    /// How many VUs are made before the test, the most that may be asked for; as many as `vus` if not given.
    #[serde(default, deserialize_with = "int", rename = "maxVUs")]
    pub max_vus: Option<i64>,
}

impl ExternallyControlledConfig {
    pub(crate) const FIELDS: &[&str] = &["vus", "duration", "maxVUs"];

    pub(crate) fn validate(&self) -> Result<ExternallyControlled, Vec<String>> {
        let mut errors = Vec::new();
        let vus = self.vus.unwrap_or(0);
        let max_vus = self.max_vus.unwrap_or(vus);
        errors.extend(vus_error(vus, max_vus));
        match self.duration {
            None => errors.push("the duration must be specified, for infinite duration use 0".to_owned()),
            Some(duration) if duration < GoDuration::ZERO => {
                errors.push("the duration can't be negative, for infinite duration use 0".to_owned());
            }
            Some(_) => {}
        }
        let positive = |n: i64| u64::try_from(n).unwrap_or(0);
        let duration = self.duration.unwrap_or_default();
        checked(ExternallyControlled { vus: positive(vus), max_vus: positive(max_vus), duration }, errors)
    }
}

/// What is wrong with these numbers, in k6's words: for a configuration and for a change while the test runs.
pub(crate) fn vus_error(vus: i64, max_vus: i64) -> Option<String> {
    if vus < 0 {
        return Some("the number of VUs can't be negative".to_owned());
    }
    (vus > max_vus).then(|| {
        format!("the number of active VUs ({vus}) must be less than or equal to the number of maxVUs ({max_vus})")
    })
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternallyControlled {
    /// How many VUs loop at first.
    pub vus: u64,
    /// How many VUs are made before the test; at least `vus`.
    pub max_vus: u64,
    /// For how long; 0 is until the test is stopped.
    pub duration: GoDuration,
}

impl ExternallyControlled {
    /// k6: whoever runs it, this line shows the whole test's numbers.
    pub(crate) fn describe(&self) -> (String, Vec<String>) {
        let duration = if self.duration == GoDuration::ZERO {
            "infinite duration".to_owned()
        } else {
            format!("{} duration", self.duration)
        };
        let Self { vus, max_vus, .. } = self;
        (format!("Externally controlled execution with {vus} VUs, {max_vus} max VUs, {duration}"), Vec::new())
    }

    pub(crate) fn plan(&self, share: &Share) -> ExternallyControlledPlan {
        ExternallyControlledPlan { vus: share.scale(self.vus), max_vus: share.scale(self.max_vus) }
    }
}

/// One instance's share. It may be nothing at first: more can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternallyControlledPlan {
    /// How many VUs loop here at first.
    pub vus: u64,
    /// How many are made here before the test.
    pub max_vus: u64,
}
