//! A run computed again from its file.

use std::io::Read;

use onrush_metrics::{Contains, DeclareError, Merged, MetricId, MetricKind, Phase, Registry, Step, Thresholds};

use crate::{End, Ending, Head, ReadError, Reader, Record, reader::renumbered};

/// Everything that a run measured, and its thresholds as judged at its end.
pub struct Replayed {
    /// What the run was.
    pub head: Head,
    /// How it ended; `None` for one that was killed.
    pub end: Option<End>,
    /// How the file ends.
    pub ending: Ending,
    /// All samples.
    pub merged: Merged,
    /// Evaluated.
    pub thresholds: Thresholds,
    /// How long the run took, in nanoseconds; of a killed one, as far as it was written.
    pub duration_ns: u64,
}

/// Why a run cannot be computed again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It has a metric that is none.
    #[error(transparent)]
    Metric(#[from] DeclareError),
    /// It has a metric of an unknown nature.
    #[error("the metric '{name}' has the unknown type '{kind}' or the unknown values '{contains}'")]
    Unknown {
        /// The metric.
        name: String,
        /// Its type as it stands there.
        kind: String,
        /// Its kind of values as it stands there.
        contains: String,
    },
    /// It has a threshold that cannot be judged.
    #[error("a threshold cannot be judged: {0}")]
    Threshold(String),
}

impl Head {
    /// The metrics of the run, and what each of the file's numbers stands for among them.
    ///
    /// # Errors
    /// The metric that cannot be.
    pub fn registry(&self) -> Result<(Registry, Vec<MetricId>), ReplayError> {
        let mut registry = Registry::new();
        let mut numbers = Vec::with_capacity(self.metrics.len().min(Registry::METRICS_MAX));
        for row in &self.metrics {
            let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
            let kind = kinds.into_iter().find(|kind| kind.as_str() == row.kind);
            let contents = [Contains::Default, Contains::Time, Contains::Data];
            let contains = contents.into_iter().find(|contains| contains.as_str() == row.contains);
            let Some((kind, contains)) = kind.zip(contains) else {
                let [name, kind, contains] = [&row.name, &row.kind, &row.contains].map(String::clone);
                return Err(ReplayError::Unknown { name, kind, contains });
            };
            numbers.push(registry.declare(&row.name, kind, contains)?);
        }
        Ok((registry, numbers))
    }
}

impl Replayed {
    /// Reads a whole file. `each` sees every step, with the numbers of [`Merged::registry`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: impl Read, each: impl FnMut(&Registry, &Step)) -> Result<Self, ReplayError> {
        Self::read_all(file, each, |_, _| {})
    }

    /// The same; `note` sees the name and the JSON of every note.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_all(
        file: impl Read,
        mut each: impl FnMut(&Registry, &Step),
        mut note: impl FnMut(&str, &str),
    ) -> Result<Self, ReplayError> {
        let mut reader = Reader::new(file)?;
        let head = reader.head().clone();
        let (registry, numbers) = head.registry()?;
        let mut thresholds = Thresholds::parse(&head.thresholds, &registry).map_err(|errors| {
            ReplayError::Threshold(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let mut merged = Merged::new(&registry);
        thresholds.submetrics().iter().for_each(|submetric| merged.watch(submetric));
        let (mut end, mut measured_ns) = (None, 0);
        while let Some(record) = reader.next()? {
            match record {
                Record::Step(step) => {
                    let Some(step) = renumbered(*step, &numbers) else { continue };
                    each(&registry, &step);
                    merged.add(&step.delta);
                    if let Some(span) = step.span {
                        thresholds.add(&step.delta, span);
                        measured_ns = span.until_ns.max(measured_ns);
                    }
                }
                Record::Note { name, json } => note(&name, &json),
                Record::End(found) => end = Some(*found),
            }
        }
        let duration_ns = end.as_ref().map_or(measured_ns, |end: &End| end.duration_ns);
        thresholds.finish_windows();
        thresholds.evaluate(&merged, duration_ns, Phase::End);
        if let Some(end) = &end {
            thresholds.set_standings(&end.standings);
        }
        let ending = reader.ending().unwrap_or(Ending::Whole);
        Ok(Self { head, end, ending, merged, thresholds, duration_ns })
    }
}
