//! What is compared.

use std::fmt;

/// A statistic of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The metric or sub-metric, such as `http_req_duration` or `http_req_duration{name:login}`.
    pub metric: String,
    /// What of it.
    pub statistic: Statistic,
    /// What is better.
    pub direction: Direction,
}

/// What of a metric is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// Of a trend: the value that this share of the values does not exceed, 0 to 1.
    Quantile(f64),
    /// Of a trend: the average.
    Mean,
    /// Of a rate: how often it was true, 0 to 1.
    Share,
    /// Of a counter: how much a second.
    PerSecond,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Less, as of times and failures.
    Lower,
    /// More, as of requests a second and checks.
    Higher,
    /// Nobody said.
    Neither,
}

impl Statistic {
    /// Whether two runs are compared by the difference of it, as of shares, or by the ratio.
    pub fn is_difference(self) -> bool {
        self == Self::Share
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Two shares that differ by less than a thousandth of a percent are printed alike.
            Self::Quantile(q) => write!(f, "p({})", (q * 1e5).round() / 1e3),
            Self::Mean => f.write_str("avg"),
            Self::Share => f.write_str("rate"),
            Self::PerSecond => f.write_str("per second"),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.statistic)
    }
}
