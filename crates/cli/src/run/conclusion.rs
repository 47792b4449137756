//! The end of a run: the last samples, the result, the summary, and what is to be said of the test as a whole.

use std::{collections::BTreeSet, time::Duration};

use onrush_engine::Event as Reported;
use onrush_fiber::Clock;
use onrush_session::{Event, Outcome};

use super::{drive::Drive, outputs, summary};
use crate::{log::Level, terminal::Message};

impl Drive<'_> {
    /// After the last iteration: the last samples, the result, the summary.
    pub(super) fn conclude(&mut self) -> Outcome {
        let now = Clock::now();
        let elapsed = self.elapsed(now);
        let state = self.prepared.run.state.clone();
        self.health.end(now);
        self.collect();
        if let Some(outputs) = self.outputs.take() {
            self.output_samples_missing = outputs::finish(outputs, &self.around.logger);
        }
        if state.is_marked_failed() {
            self.tell(Event::MarkedFailed);
        }
        let outcome = self.coordinator.finish(elapsed.as_duration());
        self.warn_of_unjudged();
        self.repeat_warnings();
        if outcome.stop.is_none() && state.iterations_completed.get() == 0 {
            self.around.logger.warn("No script iterations fully finished, consider making the test duration longer");
        }
        self.around.logger.debug("making the end-of-test summary");
        // The progress as it is now, whatever handleSummary() does.
        let block = self.block(now);
        self.around.terminal.send(Message::Frame(Vec::new()));
        // From here on even the first signal ends the process: only handleSummary() may still run.
        self.signals.set_graceful(false);
        summary::show(self, elapsed);
        if !self.args.quiet {
            self.around.terminal.stdout(block);
        }
        outcome
    }

    /// Asks every thread for its last samples and waits for them.
    fn collect(&mut self) {
        /// A thread answers within its time slice, unless something is badly wrong.
        const PATIENCE: Duration = Duration::from_secs(5);
        // Samples that were sent before everything ended are not the last ones.
        while let Ok(event) = self.events.try_recv() {
            self.take(event);
        }
        self.engine.flush();
        let mut missing: BTreeSet<usize> = (0..self.prepared.threads()).collect();
        let deadline = Clock::now() + PATIENCE;
        while !missing.is_empty() && !self.is_thread_gone {
            let left = deadline.saturating_sub(Clock::now());
            match self.events.recv_timeout(left.as_duration()) {
                Ok(Reported::Sample(sample)) => {
                    missing.remove(&sample.thread);
                    self.sample(*sample);
                }
                Err(_) => break,
                Ok(event) => self.take(event),
            }
        }
        if !missing.is_empty() && self.started_at.is_some() {
            self.around.logger.warn(format!(
                "{} worker threads did not hand in their last samples: the summary lacks them",
                missing.len()
            ));
        }
    }

    /// Thresholds that were never evaluated, and so count as neither passed nor failed.
    pub(super) fn unjudged(&self) -> Vec<String> {
        let thresholds = self.coordinator.thresholds();
        let metrics = thresholds.results().iter().filter(|_| thresholds.is_final());
        let unjudged = metrics.flat_map(|metric| {
            let expressions = metric.expressions.iter().filter(|result| result.history.judged == 0);
            expressions.map(|result| format!("'{}' on {}", result.source, metric.name))
        });
        unjudged.collect()
    }

    fn warn_of_unjudged(&self) {
        for threshold in self.unjudged() {
            self.around.logger.warn(format!(
                "the threshold {threshold} was never judged: there are no samples for it, or the test was over before its warm-up or first window; --fail-on unjudged fails such a test"
            ));
        }
    }

    fn repeat_warnings(&self) {
        for ((text, fields), count) in self.warnings.iter().filter(|(_, count)| **count > 1) {
            self.around.logger.log(Level::Warn, format!("{text} ({count} times in all)"), fields.clone());
        }
        if let Some((count, property)) = self.health.trapped_writes() {
            self.around.logger.warn(format!(
                "{count} writes to built-ins that VUs share were refused, the last to '{property}'; --vu-isolation isolated allows them"
            ));
        }
    }
}
