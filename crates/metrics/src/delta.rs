//! What left one shard since its last drain: the unit that travels to the coordinator.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{outcome::Outcome, registry::MetricId, sink::Sink};

/// Tags of a series, sorted by name.
pub type TagPairs = Arc<[(Arc<str>, Arc<str>)]>;

/// The samples of one shard over one interval, folded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    /// The series that got samples, in the order of their first one.
    pub series: Vec<DeltaSeries>,
    /// Told once per tag, when its values had to be folded.
    pub warnings: Vec<CardinalityWarning>,
    /// Tag values that were cut to [`crate::Limits::value_bytes_max`].
    pub values_cut: u64,
    /// Samples that could not be counted because a limit left no series for them.
    pub samples_lost: u64,
    /// What became of requests.
    pub outcomes: Vec<Outcome>,
}

/// The samples of one series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeltaSeries {
    /// The metric.
    pub metric: MetricId,
    /// The tags it keeps.
    #[serde(with = "tag_pairs")]
    pub tags: TagPairs,
    /// The folded samples.
    pub sink: Sink,
}

/// A tag had more values than a shard keeps apart; new ones count under [`crate::OTHER`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardinalityWarning {
    /// The tag with too many values.
    #[serde(with = "text")]
    pub tag: Arc<str>,
    /// Some of the values that were folded first.
    pub examples: Vec<String>,
}

impl Delta {
    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
            && self.warnings.is_empty()
            && self.values_cut == 0
            && self.samples_lost == 0
            && self.outcomes.is_empty()
    }

    /// Says when its outcomes were: shards know no time. `at_ns` is nanoseconds of the test.
    pub fn stamp(&mut self, at_ns: u64) {
        for outcome in &mut self.outcomes {
            (outcome.first_ns, outcome.last_ns) = (at_ns, at_ns);
        }
    }

    /// Adds a series by hand, for samples that no VU thread makes, such as `vus`.
    pub fn push(&mut self, metric: MetricId, tags: TagPairs, sink: Sink) {
        self.series.push(DeltaSeries { metric, tags, sink });
    }
}

/// Shared texts travel as texts.
mod text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

/// Several of them.
pub(crate) mod tag_sets {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(sets: &[TagPairs], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            sets.iter()
                .map(|set| -> Vec<(&str, &str)> { set.iter().map(|(name, value)| (&**name, &**value)).collect() }),
        )
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TagPairs>, D::Error> {
        let sets = Vec::<Vec<(String, String)>>::deserialize(deserializer)?;
        let pair = |(name, value): (String, String)| (Arc::from(name), Arc::from(value));
        Ok(sets.into_iter().map(|set| set.into_iter().map(pair).collect()).collect())
    }
}

/// Tags travel as a list of pairs.
mod tag_pairs {
    use super::*;

    pub(super) fn serialize<S: Serializer>(tags: &TagPairs, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(tags.iter().map(|(name, value)| (&**name, &**value)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TagPairs, D::Error> {
        let pairs = Vec::<(String, String)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value))).collect())
    }
}
