//! What a metric is called in Prometheus, as k6 calls it: for what is pushed, and for the queries of dashboards.

use onrush_metrics::{Contains, summary::TrendStat};

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
