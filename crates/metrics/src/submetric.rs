//! Sub-metrics: one metric restricted to samples with given tags, `http_reqs{status:200}`.
//!
//! Only the name's grammar and its meaning live here; [`crate::Merged`] sums the series up.

use std::sync::Arc;

use crate::{
    delta::TagPairs,
    registry::{Metric, MetricId, Registry},
    tag::SystemTag,
    threshold::go_quote,
};

/// A metric restricted to the samples whose tags include all of `tags`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubMetric {
    /// Full name as summaries show it, `metric{suffix}`.
    pub name: String,
    /// Text between the braces, trimmed.
    pub suffix: String,
    /// The metric it restricts.
    pub metric: MetricId,
    /// That metric's name.
    pub metric_name: Arc<str>,
    /// Tags a sample must have, sorted by name, each name once.
    pub tags: Vec<(String, String)>,
}

/// Why a metric name of the `thresholds` option cannot be used. The texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SubMetricError {
    /// k6's text.
    pub message: String,
    /// Byte offset of the offending part in the name.
    pub position: usize,
}

/// What a key of the `thresholds` option names.
pub(crate) enum ThresholdTarget {
    Metric(MetricId),
    SubMetric(SubMetric),
}

impl SubMetric {
    /// The sub-metric every summary shows if it has samples.
    pub fn expected_response(registry: &Registry) -> Self {
        let metric = registry.metric(crate::builtin::HTTP_REQ_DURATION);
        Self::of(metric, &[(SystemTag::ExpectedResponse.as_str(), "true")])
    }

    /// The sub-metric of `metric` that selects by `tags`.
    pub fn of(metric: &Metric, tags: &[(&str, &str)]) -> Self {
        let suffix = tags.iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join(",");
        let tags = normalise(tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect());
        Self {
            name: format!("{}{{{suffix}}}", metric.name),
            suffix,
            metric: metric.id,
            metric_name: Arc::clone(&metric.name),
            tags,
        }
    }

    /// Parses `metric{tag:value,…}`.
    ///
    /// # Errors
    /// If the braces or the tags are malformed, there are none, or the metric is unknown.
    pub fn parse(name: &str, registry: &Registry) -> Result<Self, SubMetricError> {
        match ThresholdTarget::parse(name, registry)? {
            ThresholdTarget::SubMetric(submetric) => Ok(submetric),
            ThresholdTarget::Metric(_) => Err(SubMetricError {
                message: format!("submetric criteria for metric '{name}' cannot be empty"),
                position: name.len(),
            }),
        }
    }

    /// Whether a series with these tags belongs to it.
    pub fn matches(&self, tags: &TagPairs) -> bool {
        self.tags.iter().all(|(key, value)| tags.iter().any(|(name, actual)| **name == **key && **actual == **value))
    }

    /// The names among its tags that are metadata and so never match a series.
    pub fn metadata_tags(&self) -> impl Iterator<Item = SystemTag> {
        self.tags.iter().filter_map(|(key, _)| SystemTag::from_str(key)).filter(|tag| tag.is_metadata())
    }
}

impl ThresholdTarget {
    pub(crate) fn metric(&self) -> MetricId {
        match self {
            Self::Metric(metric) => *metric,
            Self::SubMetric(submetric) => submetric.metric,
        }
    }

    /// k6: braces are checked first, then tags, and only then whether the metric exists.
    pub(crate) fn parse(name: &str, registry: &Registry) -> Result<Self, SubMetricError> {
        let malformed = |position: usize, quoted: &str, reason: &str| SubMetricError {
            message: format!(
                "unable to validate threshold expressions; reason: parsing metric name failed, metric {} {reason}",
                go_quote(quoted)
            ),
            position,
        };
        let unknown = || SubMetricError {
            message: format!("invalid threshold defined on {name}; reason: no metric name {} found", go_quote(name)),
            position: 0,
        };

        let (open, close) = match (name.find('{'), name.rfind('}')) {
            (None, None) => return registry.lookup(name).map(Self::Metric).ok_or_else(unknown),
            (Some(open), Some(close)) => (open, close),
            (Some(lonely), None) | (None, Some(lonely)) => {
                return Err(malformed(lonely, name, "has unmatched opening/close curly brace"));
            }
        };
        if close < open {
            return Err(malformed(close, name, "closing curly brace appears before opening one"));
        }
        if close != name.len() - 1 {
            return Err(malformed(close + 1, name, "lacks a closing curly brace in its last position"));
        }

        let inner = &name[open + 1..close];
        let mut tags = Vec::new();
        let mut position = open + 1;
        for pair in inner.split(',') {
            let parts = pair.split_once(':').filter(|(_, value)| !value.is_empty());
            let parts = parts.map(|(key, value)| (unquote(key), unquote(value)));
            // An empty key crashes k6; here it is as malformed as an empty value.
            let Some((key, value)) = parts.filter(|(key, _)| !key.is_empty()) else {
                return Err(malformed(position, pair, "tag expression is malformed"));
            };
            tags.push((key.to_owned(), value.to_owned()));
            position += pair.len() + 1;
        }

        let metric = registry.lookup(&name[..open]).and_then(|id| registry.find(id)).ok_or_else(unknown)?;
        let suffix = inner.trim();
        Ok(Self::SubMetric(SubMetric {
            name: format!("{}{{{suffix}}}", metric.name),
            suffix: suffix.to_owned(),
            metric: metric.id,
            metric_name: Arc::clone(&metric.name),
            tags: normalise(tags),
        }))
    }
}

/// k6: of a name given twice, the last value counts.
fn normalise(tags: Vec<(String, String)>) -> Vec<(String, String)> {
    tags.into_iter().collect::<std::collections::BTreeMap<_, _>>().into_iter().collect()
}

fn unquote(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expect: &str) {
        let registry = Registry::new();
        let shown = match ThresholdTarget::parse(name, &registry) {
            Ok(ThresholdTarget::Metric(id)) => format!("metric {}", registry.metric(id).name),
            Ok(ThresholdTarget::SubMetric(sub)) => format!("{} {:?}", sub.name, sub.tags),
            Err(error) => {
                let text = error
                    .message
                    .replace("unable to validate threshold expressions; reason: parsing metric name failed, ", "~ ");
                format!("{}: {text}", error.position)
            }
        };
        assert_eq!(shown, expect, "{name:?}");
    }

    /// Each line was compared with what k6 1.8 says, `vus{:b}` excepted: that one crashes it.
    #[test]
    fn names() {
        check("vus", "metric vus");
        check("vus{}", "4: ~ metric \"\" tag expression is malformed");
        check("vus{", "3: ~ metric \"vus{\" has unmatched opening/close curly brace");
        check("vus}", "3: ~ metric \"vus}\" has unmatched opening/close curly brace");
        check("vus{a:b", "3: ~ metric \"vus{a:b\" has unmatched opening/close curly brace");
        check("vus}a{", "3: ~ metric \"vus}a{\" closing curly brace appears before opening one");
        check("vus{a:b}c", "8: ~ metric \"vus{a:b}c\" lacks a closing curly brace in its last position");
        check("vus{a:b}{", "8: ~ metric \"vus{a:b}{\" lacks a closing curly brace in its last position");
        check("vus{a}", "4: ~ metric \"a\" tag expression is malformed");
        check("vus{a:}", "4: ~ metric \"a:\" tag expression is malformed");
        check("vus{a:b,}", "8: ~ metric \"\" tag expression is malformed");
        check("vus{ }", "4: ~ metric \" \" tag expression is malformed");
        check("vus{:b}", "4: ~ metric \":b\" tag expression is malformed");
        check("{a:b}", "0: invalid threshold defined on {a:b}; reason: no metric name \"{a:b}\" found");
        check("vus}{a:b}", "0: invalid threshold defined on vus}{a:b}; reason: no metric name \"vus}{a:b}\" found");
        check("nope{a:b}", "0: invalid threshold defined on nope{a:b}; reason: no metric name \"nope{a:b}\" found");
        check(" vus", "0: invalid threshold defined on  vus; reason: no metric name \" vus\" found");
        check("", "0: invalid threshold defined on ; reason: no metric name \"\" found");
        check("vus{a:b}}", "vus{a:b}} [(\"a\", \"b}\")]");
        check("vus{{a:b}}", "vus{{a:b}} [(\"{a\", \"b}\")]");
        check("vus{ a : 'b' }", "vus{a : 'b'} [(\"a\", \"b\")]");
        check("vus{'a:b'}", "vus{'a:b'} [(\"a\", \"b\")]");
        check("vus{a: }", "vus{a:} [(\"a\", \"\")]");
        check("vus{a:''}", "vus{a:''} [(\"a\", \"\")]");
        check("vus{group:::setup}", "vus{group:::setup} [(\"group\", \"::setup\")]");
        check("vus{z:1,a:b,a:c}", "vus{z:1,a:b,a:c} [(\"a\", \"c\"), (\"z\", \"1\")]");
    }

    #[test]
    fn matching() {
        let sub = SubMetric::parse("vus{a:b,c:d}", &Registry::new()).expect("well-formed");
        let tags = |pairs: &[(&str, &str)]| -> TagPairs {
            pairs.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect()
        };
        assert!(sub.matches(&tags(&[("a", "b"), ("b", "x"), ("c", "d")])));
        assert!(!sub.matches(&tags(&[("a", "b")])));
        assert!(!sub.matches(&tags(&[("a", "b"), ("c", "x")])));
    }

    #[test]
    fn the_plain_name_is_not_a_sub_metric() {
        let error = SubMetric::parse("vus", &Registry::new()).expect_err("no criteria");
        assert_eq!(error.message, "submetric criteria for metric 'vus' cannot be empty");
    }

    #[test]
    fn expected_response() {
        assert_eq!(SubMetric::expected_response(&Registry::new()).name, "http_req_duration{expected_response:true}");
    }
}
