//! What a run is: the first record.

use std::collections::BTreeMap;

use onrush_metrics::Registry;
use serde::{Deserialize, Serialize};

/// Version of the stream.
pub(crate) const VERSION: u32 = 1;

/// The record `head`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Version of the stream.
    pub view: u32,
    /// Version of Onrush.
    pub onrush: String,
    /// What it is read from.
    pub mode: Mode,
    /// The script, as it was named.
    pub script: String,
    /// When the run began, Unix time in milliseconds.
    pub started_ms: Option<f64>,
    /// When its plan ends, if it does.
    pub planned_ms: Option<f64>,
    /// Agents of the run.
    pub agents: u32,
    /// Whether iterations start by a rate.
    pub is_open: bool,
    /// Whether whoever reads it may change the run.
    pub can_steer: bool,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// The metrics; series call them by their place.
    pub metrics: Vec<MetricRow>,
    /// Expressions of thresholds by metric or sub-metric.
    pub thresholds: BTreeMap<String, Vec<String>>,
    /// The columns of trends (option `summaryTrendStats`).
    pub trend_stats: Vec<String>,
    /// The unit of times (option `summaryTimeUnit`).
    pub time_unit: String,
}

/// What a stream is read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// A run under way.
    #[default]
    Live,
    /// A file.
    Report,
}

/// What a scenario is meant to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its executor.
    pub executor: String,
    /// One line about it.
    pub description: String,
    /// When it starts.
    pub start_ms: f64,
    /// Whether its target is a rate.
    pub is_rate: bool,
    /// What its target is counted in.
    pub unit: String,
    /// Its target over the time of the run, joined by straight lines.
    pub planned: Vec<(f64, f64)>,
}

/// A metric.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricRow {
    /// Its name.
    pub name: String,
    /// `counter`, `gauge`, `rate` or `trend`.
    pub kind: String,
    /// `default`, `time` or `data`.
    pub contains: String,
    /// Whether the script made it.
    pub custom: bool,
}

impl Head {
    /// One of this version of the stream, with a run's metrics.
    pub fn new(registry: &Registry) -> Self {
        let built_in = Registry::new();
        let row = |metric: &onrush_metrics::Metric| MetricRow {
            name: metric.name.to_string(),
            kind: metric.kind.as_str().to_owned(),
            contains: metric.contains.as_str().to_owned(),
            custom: built_in.iter().all(|known| known.name != metric.name),
        };
        Self { view: VERSION, metrics: registry.iter().map(row).collect(), ..Self::default() }
    }
}
