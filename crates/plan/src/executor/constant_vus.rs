//! constant-vus: a fixed number of VUs loop without pause until the regular end.

use serde::{Deserialize, Serialize};

use super::fields::{checked, positive_vus, required_duration};
use crate::{duration::GoDuration, json::int, stripe::Share};

/// As written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConstantVusConfig {
    /// How many VUs; 1 if not given.
    #[serde(default, deserialize_with = "int")]
    pub vus: Option<i64>,
    /// For how long; required.
    #[serde(default)]
    pub duration: Option<GoDuration>,
}

impl ConstantVusConfig {
    pub(crate) const FIELDS: &[&str] = &["vus", "duration"];

    pub(crate) fn validate(&self) -> Result<ConstantVus, Vec<String>> {
        let mut errors = Vec::new();
        let vus = positive_vus(self.vus.unwrap_or(1), &mut errors);
        let duration = required_duration(self.duration, &mut errors);
        checked(ConstantVus { vus, duration }, errors)
    }
}

/// Valid values, for the whole test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantVus {
    /// How many VUs.
    pub vus: u64,
    /// For how long.
    pub duration: GoDuration,
}

impl ConstantVus {
    pub(crate) fn describe(&self, share: &Share) -> (String, Vec<String>) {
        (format!("{} looping VUs for {}", share.scale(self.vus), self.duration), Vec::new())
    }

    pub(crate) fn plan(&self, share: &Share) -> Option<ConstantVusPlan> {
        let vus = share.scale(self.vus);
        (vus > 0).then_some(ConstantVusPlan { vus })
    }
}

/// One instance's share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantVusPlan {
    /// How many VUs loop here, from the start to the regular end; at least 1.
    pub vus: u64,
}
