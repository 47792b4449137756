//! `metadata.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an archive knows about its script. Its JSON form is k6's: the same keys in the same order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// `js`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The options as they were when the archive was made, all tiers laid over each other.
    pub options: Value,
    /// The script's URL, the user's name removed.
    pub filename: String,
    /// The URL of the folder relative names start from.
    pub pwd: String,
    /// Variables the script sees; `None` when they were left out.
    pub env: Option<BTreeMap<String, String>>,
    /// `extended` or `base`.
    #[serde(rename = "compatibilityMode")]
    pub compatibility_mode: String,
    /// The version of k6 that made it, or the one whose behaviour the maker has.
    #[serde(rename = "k6version")]
    pub k6_version: String,
    /// The operating system it was made on, as Go names it.
    #[serde(rename = "goos")]
    pub os: String,
    /// What must be there to run it, with version constraints.
    pub dependencies: BTreeMap<String, String>,
}

impl Default for Metadata {
    fn default() -> Self {
        Self {
            kind: KIND.to_owned(),
            options: Value::Object(serde_json::Map::new()),
            filename: String::new(),
            pwd: String::new(),
            env: None,
            compatibility_mode: "extended".to_owned(),
            k6_version: String::new(),
            os: match std::env::consts::OS {
                "macos" => "darwin",
                other => other,
            }
            .to_owned(),
            dependencies: BTreeMap::new(),
        }
    }
}

/// The one kind of test there is.
pub(crate) const KIND: &str = "js";
