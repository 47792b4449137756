//! The metrics of a run: the built-in ones and those the script declares.
//!
//! A registry only names metrics; it holds no samples.

use std::{fmt, sync::Arc};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::builtin;

/// All metrics of a run, built-ins first. Every clone that sees the same declarations in the same order gives the same
/// ids.
#[derive(Clone, Debug)]
pub struct Registry {
    metrics: Vec<Metric>,
    by_name: FxHashMap<Arc<str>, MetricId>,
}

/// Why a metric could not be declared. The texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclareError {
    /// The name breaks k6's rule of 2 to 129 characters.
    #[error(
        "Invalid metric name: '{0}'. Metric names must only include up to 128 ASCII letters, numbers, or underscores and start with a letter or an underscore."
    )]
    Name(String),
    /// The name is taken by a metric of another kind.
    #[error("metric '{name}' already exists but with type {existing}, instead of {wanted}")]
    Kind {
        /// The name asked for.
        name: String,
        /// What the existing metric is.
        existing: MetricKind,
        /// What was asked for.
        wanted: MetricKind,
    },
    /// The name is taken by a metric with another kind of value.
    #[error("metric '{name}' already exists but with a value type {existing}, instead of {wanted}")]
    Contains {
        /// The name asked for.
        name: String,
        /// What the existing metric holds.
        existing: Contains,
        /// What was asked for.
        wanted: Contains,
    },
    /// There are [`Registry::METRICS_MAX`] metrics already.
    #[error("metric '{0}' cannot be added, there are already {max} metrics", max = Registry::METRICS_MAX)]
    TooMany(String),
}

impl Registry {
    /// Most metrics a run may declare, built-ins included. A script that declares more does so in a loop over data,
    /// where tags are meant.
    pub const METRICS_MAX: usize = 65_536;

    /// A registry of the built-in metrics.
    pub fn new() -> Self {
        let mut registry = Self { metrics: Vec::with_capacity(builtin::TABLE.len()), by_name: FxHashMap::default() };
        for row in builtin::TABLE {
            registry.insert(row.name, row.kind, row.contains);
        }
        registry
    }

    /// Declares a metric. Declaring the same one again, built-ins included, gives its id.
    ///
    /// # Errors
    /// See [`DeclareError`].
    pub fn declare(&mut self, name: &str, kind: MetricKind, contains: Contains) -> Result<MetricId, DeclareError> {
        if !is_valid_name(name) {
            return Err(DeclareError::Name(name.to_owned()));
        }
        if let Some(existing) = self.lookup(name).and_then(|id| self.find(id)) {
            if existing.kind != kind {
                return Err(DeclareError::Kind { name: name.to_owned(), existing: existing.kind, wanted: kind });
            }
            if existing.contains != contains {
                return Err(DeclareError::Contains {
                    name: name.to_owned(),
                    existing: existing.contains,
                    wanted: contains,
                });
            }
            return Ok(existing.id);
        }
        if self.metrics.len() >= Self::METRICS_MAX {
            return Err(DeclareError::TooMany(name.to_owned()));
        }
        Ok(self.insert(name, kind, contains))
    }

    /// The id of a declared metric.
    pub fn lookup(&self, name: &str) -> Option<MetricId> {
        self.by_name.get(name).copied()
    }

    /// The metric of an id this registry (or a clone of it) gave out.
    ///
    /// # Panics
    /// If the id is not from this registry; see [`Registry::find`].
    pub fn metric(&self, id: MetricId) -> &Metric {
        &self.metrics[id.0 as usize]
    }

    /// The metric of an id that may come from elsewhere.
    pub fn find(&self, id: MetricId) -> Option<&Metric> {
        self.metrics.get(id.0 as usize)
    }

    /// All metrics in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter()
    }

    /// How many metrics there are.
    pub fn len(&self) -> usize {
        self.metrics.len()
    }

    /// Never true: the built-ins are always there.
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    fn insert(&mut self, name: &str, kind: MetricKind, contains: Contains) -> MetricId {
        // The cast cannot truncate: METRICS_MAX bounds the length.
        let id = MetricId(self.metrics.len() as u32);
        let name: Arc<str> = Arc::from(name);
        self.metrics.push(Metric { id, name: Arc::clone(&name), kind, contains });
        self.by_name.insert(name, id);
        id
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// A metric's name and nature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its id in the registry.
    pub id: MetricId,
    /// Its name, as scripts and outputs say it.
    pub name: Arc<str>,
    /// How its samples are aggregated.
    pub kind: MetricKind,
    /// What its values mean.
    pub contains: Contains,
}

/// Index of a metric in its [`Registry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MetricId(pub u32);

/// How samples are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MetricKind {
    /// A sum.
    Counter,
    /// The last value, with the smallest and the largest.
    Gauge,
    /// The share of non-zero values.
    Rate,
    /// A distribution.
    Trend,
}

impl MetricKind {
    /// k6's name of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
        }
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What values mean, which decides how they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Contains {
    /// A plain number.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl Contains {
    /// k6's name of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Time => "time",
            Self::Data => "data",
        }
    }
}

impl fmt::Display for Contains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// k6: `^[a-zA-Z_][a-zA-Z0-9_]{1,128}$`, so a single letter is not a name.
fn is_valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    (2..=129).contains(&bytes.len())
        && !bytes[0].is_ascii_digit()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_have_their_constants_ids() {
        let registry = Registry::new();
        for (name, id) in [
            ("vus", builtin::VUS),
            ("checks", builtin::CHECKS),
            ("http_reqs", builtin::HTTP_REQS),
            ("http_req_receiving", builtin::HTTP_REQ_RECEIVING),
            ("grpc_streams_msgs_received", builtin::GRPC_STREAMS_MSGS_RECEIVED),
        ] {
            assert_eq!(registry.lookup(name), Some(id), "{name}");
            assert_eq!(&*registry.metric(id).name, name);
        }
        assert_eq!(registry.len(), builtin::TABLE.len());
    }

    #[test]
    fn names() {
        let check = |name: &str, valid: bool| {
            let declared = Registry::new().declare(name, MetricKind::Counter, Contains::Default);
            assert_eq!(declared.is_ok(), valid, "{name:?}: {declared:?}");
        };
        check("ab", true);
        check("_1", true);
        check(&"a".repeat(129), true);
        check(&"a".repeat(130), false);
        check("a", false);
        check("", false);
        check("1a", false);
        check("a-b", false);
        check("é1", false);
        check("a b", false);
    }

    #[test]
    fn declaring_again() {
        let mut registry = Registry::new();
        assert_eq!(registry.declare("checks", MetricKind::Rate, Contains::Default), Ok(builtin::CHECKS));
        let message = |result: Result<MetricId, DeclareError>| {
            result.map_err(|error| error.to_string()).expect_err("must be refused")
        };
        assert_eq!(
            message(registry.declare("checks", MetricKind::Counter, Contains::Default)),
            "metric 'checks' already exists but with type rate, instead of counter"
        );
        assert_eq!(
            message(registry.declare("checks", MetricKind::Rate, Contains::Time)),
            "metric 'checks' already exists but with a value type default, instead of time"
        );
        let mine = registry.declare("mine", MetricKind::Trend, Contains::Time);
        assert_eq!(registry.declare("mine", MetricKind::Trend, Contains::Time), mine);
        assert!(
            message(registry.declare("a", MetricKind::Trend, Contains::Time))
                .starts_with("Invalid metric name: 'a'. Metric names must")
        );
    }
}
