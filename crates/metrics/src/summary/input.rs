//! What the summary needs to know about a run.
//!
//! Plain values and one small trait, so that a summary can be made from merged metrics, from a stored run or from a
//! table in a test.

use crate::{
    registry::{Contains, MetricKind},
    threshold::History,
};

use super::trend_stat::{TimeUnit, TrendStat};

/// A finished run, as far as its summary is concerned.
#[derive(Debug)]
pub struct SummaryInput<'a> {
    /// The run itself.
    pub run: RunInfo,
    /// The metrics to show, over the whole run: those with samples or thresholds, the sub-metrics to show, and every
    /// sub-metric's parent.
    pub metrics: Vec<MetricInput<'a>>,
    /// Every expression of every threshold, in the user's order.
    pub thresholds: Vec<ThresholdInput>,
    /// Every check in the order of its first outcome.
    pub checks: Vec<CheckInput>,
    /// Every group in the order it was first seen. Groups of checks need not be repeated here.
    pub groups: Vec<GroupInput>,
    /// The metrics of each scenario and group. Only the full layout shows them.
    pub scopes: Vec<ScopeInput<'a>>,
}

/// What the summary needs to know beside the metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// How long the run took, paused time excluded, ns. Counter rates are per this time.
    pub duration_ns: u64,
    /// The columns of trends (option `summaryTrendStats`).
    pub trend_stats: Vec<TrendStat>,
    /// The unit of durations (option `summaryTimeUnit`).
    pub time_unit: Option<TimeUnit>,
    /// Whether the user switched colours off.
    pub no_color: bool,
    /// Whether stdout is a terminal.
    pub stdout_tty: bool,
    /// Whether stderr is a terminal.
    pub stderr_tty: bool,
    /// What `setup()` returned, if anything.
    pub setup_data: Option<serde_json::Value>,
}

impl Default for RunInfo {
    /// A run of no length with the default columns.
    fn default() -> Self {
        Self {
            duration_ns: 0,
            trend_stats: TrendStat::defaults(),
            time_unit: None,
            no_color: false,
            stdout_tty: false,
            stderr_tty: false,
            setup_data: None,
        }
    }
}

/// A metric or a sub-metric.
#[derive(Debug)]
pub struct MetricInput<'a> {
    /// `http_reqs`, or `http_reqs{status:200}` for a sub-metric.
    pub name: String,
    /// What the values mean.
    pub contains: Contains,
    /// What the samples came to.
    pub values: Values<'a>,
}

/// What the samples of a metric came to.
pub enum Values<'a> {
    /// A sum.
    Counter {
        /// The sum.
        count: f64,
    },
    /// The last value and the extremes.
    Gauge {
        /// The last value.
        value: f64,
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// The share of non-zero values.
    Rate {
        /// Non-zero values.
        hits: u64,
        /// All values.
        total: u64,
    },
    /// A distribution.
    Trend(Box<dyn TrendStats + 'a>),
}

/// A distribution that can be asked for its statistics. All of them are 0 for an empty one.
pub trait TrendStats {
    /// Arithmetic mean.
    fn avg(&self) -> f64;
    /// Smallest value.
    fn min(&self) -> f64;
    /// Median.
    fn med(&self) -> f64 {
        self.quantile(0.5)
    }
    /// Largest value.
    fn max(&self) -> f64;
    /// Number of values.
    fn count(&self) -> u64;
    /// The value below which the share `q` (0 to 1) of the values lies, interpolated.
    fn quantile(&self, q: f64) -> f64;
}

/// One threshold expression and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdInput {
    /// The metric or sub-metric as [`MetricInput::name`] says it.
    pub metric: String,
    /// The expression as the user wrote it.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// What it was compared with.
    pub observed: f64,
    /// How long it held, if that was counted.
    pub history: Option<History>,
}

/// The outcomes of one check in one scenario and group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckInput {
    /// The scenario, or nothing for `setup()`, `teardown()` and where scenarios are not kept apart.
    pub scenario: String,
    /// Path of the group, `::a::b`, or nothing.
    pub group: String,
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// A group that a sample names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInput {
    /// The scenario, or nothing.
    pub scenario: String,
    /// Its path, `::a::b`.
    pub path: String,
    /// `group()` has measured it or a check is in it. k6: others are in the full layout only.
    pub is_entered: bool,
}

/// The metrics of one scenario, or of one group in it.
#[derive(Debug)]
pub struct ScopeInput<'a> {
    /// The scenario, or nothing.
    pub scenario: String,
    /// The group's path; `None` for all of the scenario, its groups included.
    pub group: Option<String>,
    /// What was measured there and only there: not in nested groups.
    pub metrics: Vec<MetricInput<'a>>,
}

impl Values<'_> {
    /// The values of a metric that got no sample.
    pub fn empty(kind: MetricKind) -> Self {
        match kind {
            MetricKind::Counter => Self::Counter { count: 0.0 },
            MetricKind::Gauge => Self::Gauge { value: 0.0, min: 0.0, max: 0.0 },
            MetricKind::Rate => Self::Rate { hits: 0, total: 0 },
            MetricKind::Trend => Self::Trend(Box::new(NoValues)),
        }
    }
}

impl std::fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Counter { count } => f.debug_struct("Counter").field("count", count).finish(),
            Self::Gauge { value, min, max } => {
                f.debug_struct("Gauge").field("value", value).field("min", min).field("max", max).finish()
            }
            Self::Rate { hits, total } => f.debug_struct("Rate").field("hits", hits).field("total", total).finish(),
            Self::Trend(trend) => f.debug_struct("Trend").field("count", &trend.count()).finish_non_exhaustive(),
        }
    }
}

/// A trend without samples.
struct NoValues;

impl TrendStats for NoValues {
    fn avg(&self) -> f64 {
        0.0
    }
    fn min(&self) -> f64 {
        0.0
    }
    fn max(&self) -> f64 {
        0.0
    }
    fn count(&self) -> u64 {
        0
    }
    fn quantile(&self, _: f64) -> f64 {
        0.0
    }
}
