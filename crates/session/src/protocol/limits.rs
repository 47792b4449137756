//! How large what an agent sends may be. A transport checks it before the coordinator sees a report.

use onrush_metrics::{Registry, Tap};

use super::{Failure, Relayed, Report};

/// The limits of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a message, a stack, a line of the log.
    pub text_bytes_max: usize,
    /// Fields of a line.
    pub fields_max: usize,
    /// Series of a delta.
    pub series_max: usize,
    /// Bytes of the JSON that `setup()` returned.
    pub setup_bytes_max: usize,
    /// Bytes of all that `handleSummary()` returned.
    pub summary_bytes_max: usize,
    /// Scenarios and worker threads.
    pub scenarios_max: usize,
    /// Worker threads.
    pub threads_max: u32,
    /// Raw samples of a batch.
    pub samples_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A log line is cut at one MiB; a failure's stack may stand behind its text.
            text_bytes_max: 2 << 20,
            fields_max: 64,
            // Ten times the series a run may have by default.
            series_max: 1_000_000,
            setup_bytes_max: 256 << 20,
            summary_bytes_max: 256 << 20,
            scenarios_max: 65_536,
            threads_max: 1_024,
            // A batch is handed over once it is full, and the samples of a request come together.
            samples_max: 2 * Tap::BATCH_MAX,
        }
    }
}

/// A report that is too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an agent sent {what} of {size}, the limit is {limit}")]
pub struct LimitError {
    /// Which part of it.
    pub what: &'static str,
    /// How large it is.
    pub size: usize,
    /// How large it may be.
    pub limit: usize,
}

impl Limits {
    /// Checks a report.
    ///
    /// # Errors
    /// With the first part that is too large.
    pub fn check(&self, report: &Report) -> Result<(), LimitError> {
        let text = |text: &str| within("a text", text.len(), self.text_bytes_max);
        let failure = |failure: &Failure| text(&failure.message);
        let line = |message: &str, fields: &[(String, String)]| {
            text(message)?;
            within("a number of fields", fields.len(), self.fields_max)?;
            fields.iter().try_for_each(|(name, value)| text(name).and_then(|()| text(value)))
        };
        match report {
            Report::Accepted(accepted) => {
                within("a number of metrics", accepted.metrics.len(), Registry::METRICS_MAX)?;
                accepted.metrics.iter().try_for_each(|metric| text(&metric.name))?;
                within("a number of scenarios", accepted.scenarios.len(), self.scenarios_max)?;
                accepted.scenarios.iter().try_for_each(|name| text(name))?;
                within("a number of threads", accepted.threads as usize, self.threads_max as usize)
            }
            Report::SetupDone(Ok(data)) => {
                within("setup data", data.as_ref().map_or(0, |data| data.len()), self.setup_bytes_max)
            }
            Report::OfShare { report, .. } => match **report {
                // It would be about nothing, and could go on for ever.
                Report::OfShare { .. } => within("a report in a report", 1, 0),
                _ => self.check(report),
            },
            Report::Delta(part) => {
                within("a number of scenarios", part.ended.len(), self.scenarios_max)?;
                within("a number of series", part.delta.series.len(), self.series_max)?;
                within("a number of outcomes", part.delta.outcomes.len(), OUTCOMES_MAX)?;
                within("a number of warnings", part.delta.warnings.len(), self.series_max)
            }
            Report::Samples(part) => {
                let batch = &part.batch;
                within("a thread with the number", part.thread as usize, self.threads_max as usize)?;
                within("a number of samples", batch.samples.len(), self.samples_max)?;
                within("a number of tag sets", batch.tag_sets.len(), self.series_max)?;
                within("a number of sets of metadata", batch.metadata.len(), self.samples_max)
            }
            Report::SecretWanted(wanted) => text(&wanted.source).and_then(|()| text(&wanted.key)),
            Report::Health(health) => {
                text(&health.trapped_property)?;
                health.computing.iter().try_for_each(|(scenario, _)| text(scenario))
            }
            Report::Warning { message, fields } => line(message, fields),
            Report::Log(said) => line(&said.message, &said.fields),
            Report::Progress(progress) => within("a number of scenarios", progress.scenarios.len(), self.scenarios_max),
            Report::Aborted { message } => text(message),
            Report::SummaryDone(Ok(files)) => {
                let bytes = files.iter().flatten().map(|file| file.path.len() + file.content.len()).sum();
                within("files of handleSummary()", bytes, self.summary_bytes_max)
            }
            Report::SetupDone(Err(error)) | Report::TeardownDone(Err(error)) => failure(error),
            Report::SummaryDone(Err(error)) | Report::Failed(error) => failure(error),
            Report::Ready
            | Report::Started { .. }
            | Report::Begun { .. }
            | Report::MarkedFailed
            | Report::ScenariosDone
            | Report::TeardownDone(Ok(()))
            | Report::Flushed(_) => Ok(()),
        }
    }
}

impl Limits {
    /// Checks what a relay added up.
    ///
    /// # Errors
    /// With the first part that is too large.
    pub fn check_relayed(&self, relayed: &Relayed) -> Result<(), LimitError> {
        within("a sum of reports", relayed.parts.len(), RELAYED_MAX)?;
        within("a number of sums", relayed.sums.len(), relayed.parts.len())?;
        for part in &relayed.parts {
            within("a number of scenarios", part.ended.len(), self.scenarios_max)?;
            within("a number of gauges", part.gauges.len(), self.fields_max)?;
        }
        for sum in &relayed.sums {
            within("a number of series", sum.delta.series.len(), self.series_max)?;
            within("a number of warnings", sum.delta.warnings.len(), self.series_max)?;
        }
        Ok(())
    }
}

/// Reports in a sum: those of a second of 1,000 agents with 64 threads.
const RELAYED_MAX: usize = 65_536;
/// Kinds of outcomes that a thread tells apart, more than it has.
const OUTCOMES_MAX: usize = 4 * onrush_metrics::Outcomes::ROWS_MAX;

fn within(what: &'static str, size: usize, limit: usize) -> Result<(), LimitError> {
    if size <= limit { Ok(()) } else { Err(LimitError { what, size, limit }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_is_named() {
        let limits = Limits { text_bytes_max: 10, fields_max: 1, summary_bytes_max: 5, ..Limits::default() };
        let check = |report: Report, expect: &str| {
            assert_eq!(limits.check(&report).map_err(|error| error.to_string()), Err(expect.to_owned()));
        };
        let long = "12345678901".to_owned();
        check(Report::Aborted { message: long.clone() }, "an agent sent a text of 11, the limit is 10");
        let fields = vec![(String::new(), String::new()); 2];
        let warning = Report::Warning { message: String::new(), fields };
        check(warning, "an agent sent a number of fields of 2, the limit is 1");
        let file = super::super::SummaryFile { path: "a".to_owned(), content: long.into_bytes() };
        check(
            Report::SummaryDone(Ok(Some(vec![file]))),
            "an agent sent files of handleSummary() of 12, the limit is 5",
        );
        assert_eq!(limits.check(&Report::Ready), Ok(()));
        let of_share = |report: Report| Report::OfShare { share: 1, report: Box::new(report) };
        assert_eq!(limits.check(&of_share(Report::Ready)), Ok(()));
        let long = Report::Aborted { message: "12345678901".to_owned() };
        check(of_share(long), "an agent sent a text of 11, the limit is 10");
        check(of_share(of_share(Report::Ready)), "an agent sent a report in a report of 1, the limit is 0");
    }
}
