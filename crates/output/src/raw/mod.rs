//! Outputs of raw samples: one line or message for each.

mod csv;
mod json;
mod message;
mod rendered;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use onrush_metrics::{Metric, RawSample, SubMetric, SystemTags, TagPairs};

pub(crate) use csv::CsvFormat;
pub(crate) use json::JsonFormat;
use message::{JsonMessages, LineMessages};

use crate::influx::FieldKinds;

/// An output that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Its format.
    pub kind: Kind,
    /// Where it goes.
    pub target: Target,
}

/// The format of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `json`: an object a line.
    Json,
    /// `csv`: a table.
    Csv {
        /// How times look.
        time: TimeFormat,
        /// How long lines may wait to be written.
        save_interval: Duration,
    },
    /// Messages to somebody who takes them one by one.
    Messages(MessageFormat),
}

/// How a message says a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageFormat {
    /// An object.
    Json,
    /// A line of InfluxDB's protocol, in which these tags are fields.
    Influx(FieldKinds),
}

/// Where an output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The standard output stream.
    Stdout,
    /// A file, compressed if its name ends in `.gz`.
    File(PathBuf),
    /// A topic of a Kafka cluster.
    #[cfg(feature = "kafka")]
    Kafka(Box<crate::kafka::Config>),
}

/// How times look in CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// Seconds since 1970.
    #[default]
    Unix,
    /// Milliseconds.
    UnixMilli,
    /// Microseconds.
    UnixMicro,
    /// Nanoseconds.
    UnixNano,
    /// `2026-08-21T10:00:00Z`
    Rfc3339,
    /// With a fraction.
    Rfc3339Nano,
}

impl TimeFormat {
    /// Names of all formats, as k6 has them.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("unix", Self::Unix),
        ("unix_milli", Self::UnixMilli),
        ("unix_micro", Self::UnixMicro),
        ("unix_nano", Self::UnixNano),
        ("rfc3339", Self::Rfc3339),
        ("rfc3339_nano", Self::Rfc3339Nano),
    ];

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }
}

/// k6's description, as the execution block shows it: `json (out.json)`.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, &self.target) {
            (Kind::Json, Target::Stdout) => f.write_str("json(stdout)"),
            (kind, Target::Stdout) => write!(f, "{} (-)", kind.name()),
            (kind, Target::File(path)) => write!(f, "{} ({})", kind.name(), path.display()),
            #[cfg(feature = "kafka")]
            (_, Target::Kafka(config)) => config.fmt(f),
        }
    }
}

impl Kind {
    /// The name it is asked for by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv { .. } => "csv",
            Self::Messages(_) => "kafka",
        }
    }
}

/// What an output says about a metric, by [`onrush_metrics::MetricId`].
#[derive(Debug, Clone)]
pub struct MetricInfo {
    name: Arc<str>,
    /// The JSON output's line about it.
    declaration: Box<str>,
}

impl MetricInfo {
    /// Describes a metric with its thresholds as JSON and its sub-metrics.
    pub fn new(metric: &Metric, thresholds: &[serde_json::Value], submetrics: &[&SubMetric]) -> Self {
        let declaration = json::declaration(metric, thresholds, submetrics).into();
        Self { name: Arc::clone(&metric.name), declaration }
    }
}

/// One sample with what it refers to.
pub(crate) struct Sample<'a> {
    pub(crate) thread: usize,
    pub(crate) raw: &'a RawSample,
    pub(crate) tags: &'a TagPairs,
    pub(crate) metadata: Option<&'a TagPairs>,
    /// Nanoseconds since 1970.
    pub(crate) unix_ns: i128,
}

/// Appends lines, or messages.
pub(crate) trait Format: Send {
    /// What comes before the first sample.
    fn head(&mut self, _: &mut Vec<u8>) {}
    /// A sample's lines, or its message; nothing where the format has no way to say it.
    fn sample(&mut self, sample: &Sample<'_>, out: &mut Vec<u8>);
}

/// The formatter of an output.
pub(crate) fn format(kind: &Kind, metrics: &Arc<[MetricInfo]>, system_tags: SystemTags) -> Box<dyn Format> {
    match kind {
        Kind::Json => Box::new(JsonFormat::new(Arc::clone(metrics))),
        Kind::Csv { time, .. } => Box::new(CsvFormat::new(Arc::clone(metrics), *time, system_tags)),
        Kind::Messages(MessageFormat::Json) => Box::new(JsonMessages::new(Arc::clone(metrics))),
        Kind::Messages(MessageFormat::Influx(apart)) => Box::new(LineMessages::new(Arc::clone(metrics), apart.clone())),
    }
}
