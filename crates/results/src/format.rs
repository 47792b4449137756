//! What is in a result file.

use std::collections::BTreeMap;

use onrush_metrics::{Registry, Span, Standing, Step, ThresholdSource};
use serde::{Deserialize, Serialize};

/// The first bytes of every result file; the number is the format's version.
pub(crate) const MAGIC: &[u8; 16] = b"onrush result 2\n";
/// Those of the version before, which has no notes.
pub(crate) const MAGIC_1: &[u8; 16] = b"onrush result 1\n";
/// Before each frame: its length and its checksum.
pub(crate) const FRAME_HEAD_BYTES: usize = 8;
/// Longest frame.
pub(crate) const FRAME_BYTES_MAX: usize = 32 << 20;
/// Longest record, unpacked.
pub(crate) const RECORD_BYTES_MAX: usize = 128 << 20;
/// Most records that are read from a file: more than a year has.
pub(crate) const RECORDS_MAX: u64 = 1_000_000;
/// Memory that unpacking looks back on, as a power of two.
pub(crate) const WINDOW_LOG: u32 = 21;

/// A frame unpacked. What may change between versions of Onrush is JSON.
#[derive(Serialize, Deserialize)]
pub(crate) enum Packed {
    /// The first record: a [`Head`] as JSON.
    Head(String),
    /// What was measured.
    Step(Step),
    /// The last record of a run that came to its end: an [`End`] as JSON.
    End(String),
    /// Something else about the run: its name, and JSON. Readers pass over what they do not know.
    Note(String, String),
}

/// What a run is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The version of Onrush.
    pub onrush: String,
    /// When the file was begun: RFC 3339.
    pub started: String,
    /// The same as Unix time in milliseconds; files of the first version have none.
    #[serde(default)]
    pub started_ms: Option<f64>,
    /// The script, as it was named.
    pub script: String,
    /// Tests with the same have the same script, options and scenarios.
    pub fingerprint: String,
    /// The scenarios, as people read them.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// What each of them is meant to do; the view's business.
    #[serde(default)]
    pub plan: Option<serde_json::Value>,
    /// Agents of the run.
    pub agents: u32,
    /// Whether iterations start by a rate, and not when others have ended.
    #[serde(default)]
    pub is_open: bool,
    /// The times of the scenarios in which the plan changes neither VUs nor rates.
    #[serde(default)]
    pub steady: Vec<Span>,
    /// The metrics; their place is what steps call them.
    pub metrics: Vec<MetricRow>,
    /// Thresholds by metric or sub-metric.
    #[serde(default)]
    pub thresholds: BTreeMap<String, Vec<ThresholdSource>>,
    /// The columns of trends (option `summaryTrendStats`).
    #[serde(default)]
    pub trend_stats: Vec<String>,
    /// The unit of times (option `summaryTimeUnit`).
    #[serde(default)]
    pub time_unit: String,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricRow {
    /// Its name.
    pub name: String,
    /// `counter`, `gauge`, `rate` or `trend`.
    pub kind: String,
    /// `default`, `time` or `data`.
    pub contains: String,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// How long the test took, pauses not counted, in nanoseconds.
    pub duration_ns: u64,
    /// The exit code.
    pub exit_code: u8,
    /// What stopped it before its plan did.
    #[serde(default)]
    pub stopped: Option<String>,
    /// The verdict on the measurement: `VALID`, `SUSPECT` or `INVALID`.
    pub verdict: String,
    /// Why it is not valid.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// What else is to be known about it.
    #[serde(default)]
    pub notes: Vec<String>,
    /// How late the iterations of arrival rates began; `None` where there were none.
    #[serde(default)]
    pub start_lag: Option<StartLag>,
    /// The generator's own delay in the latencies; `None` where it was not measured. What is in it is the session's business.
    #[serde(default)]
    pub own_delay: Option<serde_json::Value>,
    /// What the generators used and met while scenarios ran, as the summary's JSON has it; the session's, too.
    #[serde(default)]
    pub generator: Option<serde_json::Value>,
    /// How each threshold stood, in the order of their metrics' names.
    #[serde(default)]
    pub standings: Vec<Vec<Standing>>,
}

/// Delays of iterations after the instant the plan gave them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StartLag {
    /// Iterations begun.
    pub iterations: u64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

impl MetricRow {
    /// All metrics of a run, in the order of their numbers.
    pub fn all(registry: &Registry) -> Vec<Self> {
        let row = |metric: &onrush_metrics::Metric| Self {
            name: metric.name.to_string(),
            kind: metric.kind.as_str().to_owned(),
            contains: metric.contains.as_str().to_owned(),
        };
        registry.iter().map(row).collect()
    }
}
