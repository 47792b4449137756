//! The `systemTags` option: which of the known tags samples get.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of system tags. Names k6 does not know are dropped, as in k6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemTags(BTreeSet<&'static str>);

impl SystemTags {
    /// The known ones among `names`.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().filter_map(|name| KNOWN.iter().find(|known| **known == name).copied()).collect())
    }

    /// Whether there is such a system tag.
    #[must_use]
    pub fn is_known(name: &str) -> bool {
        KNOWN.contains(&name)
    }

    /// The names of all system tags.
    #[must_use]
    pub fn known() -> &'static [&'static str] {
        KNOWN
    }

    /// Whether samples get the tag.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The tags, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    /// True when samples get no system tag at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What samples get when nothing is said.
impl Default for SystemTags {
    fn default() -> Self {
        Self(KNOWN.iter().take(DEFAULT_COUNT).copied().collect())
    }
}

/// k6: no tag at all is written as null.
impl Serialize for SystemTags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() { serializer.serialize_none() } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for SystemTags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(Self::of(names.iter().map(String::as_str)))
    }
}

/// All system tags, the default ones first.
const KNOWN: &[&str] = &[
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "service",
    "expected_response",
    "vu",
    "iter",
    "ocsp_status",
    "ip",
];
const DEFAULT_COUNT: usize = 14;
