//! What a metric is called in Prometheus, as k6 calls it: for what is pushed, and for the queries of dashboards.

use std::sync::Arc;

use onrush_metrics::{Contains, TagPairs, summary::TrendStat};

/// Of a counter.
pub fn counter(metric: &str) -> String {
    format!("k6_{metric}_total")
}

/// Of a gauge.
pub fn gauge(metric: &str) -> String {
    format!("k6_{metric}")
}

/// Of a rate.
pub fn rate(metric: &str) -> String {
    format!("k6_{metric}_rate")
}

/// Of a trend's statistic: `p(99.9)` is `_p999`.
pub fn statistic(metric: &str, stat: &TrendStat) -> String {
    let name: String = stat.name().chars().filter(|sign| !['(', ')', '.'].contains(sign)).collect();
    format!("k6_{metric}_{name}")
}

/// Of the sum of a trend's values.
pub fn sum(metric: &str) -> String {
    format!("k6_{metric}_sum")
}

/// Of a trend as a native histogram.
pub fn histogram(metric: &str, contains: Contains) -> String {
    let suffix = match contains {
        Contains::Time => "_seconds",
        Contains::Data => "_bytes",
        Contains::Default => "",
    };
    format!("k6_{metric}{suffix}")
}

/// A tag's name as a label. What Prometheus does not take in a name becomes `_`; names that begin with two underscores are its own.
pub fn label(tag: &str) -> String {
    let name = fit(tag, false);
    if name.starts_with("__") { format!("tag{name}") } else { name }
}

/// Tags as labels, sorted and each once. Tags that differ may become the same labels: an empty one is none, and `a-b` is `a_b`.
pub fn labels(tags: &TagPairs) -> TagPairs {
    let tags = tags.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let mut labels: Vec<(Arc<str>, Arc<str>)> = tags.map(|(name, value)| (label(name).into(), value.clone())).collect();
    labels.sort_by(|first, second| first.0.cmp(&second.0));
    labels.dedup_by(|later, first| later.0 == first.0);
    labels.into()
}

/// What Prometheus takes in the name of a metric, which may have colons, or of a label.
pub(super) fn fit(name: &str, is_metric: bool) -> String {
    let is_fit = |place: usize, sign: char| {
        sign.is_ascii_alphabetic() || sign == '_' || is_metric && sign == ':' || place > 0 && sign.is_ascii_digit()
    };
    name.chars().enumerate().map(|(place, sign)| if is_fit(place, sign) { sign } else { '_' }).collect()
}
