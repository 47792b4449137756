//! The end of a run: last samples, last evaluation, verdict, `handleSummary()`.

use std::{borrow::Cow, time::Duration};

use onrush_metrics::{Phase as Evaluated, Sink, builtin};

use super::{Coordinator, Input, Notice, Orders, RunPhase, nanos};
use crate::{
    ExitCode, Judgement, Outcome, ScenarioLoad, Stop,
    protocol::{AgentId, Command, Failure, FailureKind, SummaryFile, ThreadDelta, Time},
};

impl Coordinator {
    /// The test's clock shows how long the test ran, however long it is looked at afterwards.
    pub fn stop_clock(&mut self, now: Time) {
        self.note(&Input::StopClock, now);
        self.clock.stop(now);
    }

    /// Nothing is left to run: has the agents hand in their last samples. The run is [`RunPhase::Closed`] once they have.
    pub fn close(&mut self, now: Time) -> Orders {
        self.note(&Input::Close, now);
        if self.phase != RunPhase::Done {
            return Vec::new();
        }
        self.clock.stop(now);
        self.enter(RunPhase::Closing, Some(now + self.settings.patience.flush));
        self.tell_all(&Command::Flush);
        if self.agents.live().next().is_none() {
            self.closed();
        }
        self.take()
    }

    /// All samples are in, as far as they will ever be.
    pub(super) fn closed(&mut self) {
        let rest = ThreadDelta { delta: self.shared_gauges.rest(&self.agents), ..ThreadDelta::default() };
        if let Some(id) = self.agents.ids().first().filter(|_| !rest.delta.is_empty()) {
            self.merged.add(&rest.delta);
            self.sinks.iter_mut().for_each(|sink| sink.delta(*id, &rest));
        }
        let flushed = || self.agents.live().map(|(_, agent)| agent.flushed);
        let silent = flushed().filter(Option::is_none).count();
        let threads: u32 = flushed().flatten().map(|flushed| flushed.threads_missing).sum();
        let outputs: u64 = flushed().flatten().map(|flushed| flushed.output_samples_missing).sum();
        let has_started = self.clock.started().is_some();
        if silent > 0 && has_started {
            self.notices.push(Notice::Error(format!(
                "{silent} agents did not hand in their last samples: the summary lacks them"
            )));
        }
        if threads > 0 && has_started {
            self.notices.push(Notice::Warning {
                message: format!("{threads} worker threads did not hand in their last samples: the summary lacks them"),
                fields: Vec::new(),
            });
        }
        self.judge.output_samples_missing(outputs);
        self.judge.samples_lost(self.merged.samples_lost());
        // Whoever stops a test does so while requests are under way.
        if let Some(interrupted) = self.merged.outcomes().interrupted().filter(|_| self.stop.is_none()) {
            // The cast is exact: a count.
            let answered = self.merged.sink(builtin::HTTP_REQS).and_then(Sink::counter).unwrap_or(0.0) as u64;
            self.judge.interrupted(interrupted.count, answered);
        }
        // The clock stands still since `close`.
        let elapsed = self.clock.moment(Time(u64::MAX)).test;
        let mut crossed = Vec::new();
        if self.settings.evaluates_thresholds {
            self.thresholds.finish_windows();
            crossed = self.thresholds.evaluate(&self.merged, nanos(elapsed), Evaluated::End).crossed;
            crossed.sort();
        }
        let outcome = Outcome { stop: self.stop.clone(), crossed, is_marked_failed: self.is_marked_failed };
        self.closed = Some((elapsed, outcome));
        self.enter(RunPhase::Closed, None);
    }

    /// Outputs that are written here lack so many samples.
    pub fn outputs_lack(&mut self, samples: u64, now: Time) {
        self.note(&Input::OutputsLack(samples), now);
        self.judge.output_samples_missing(samples);
    }

    /// Somebody who takes results lacks a part of them: who and how much, as a sentence. Whoever looks at the run there sees other numbers.
    pub fn receiver_lacks(&mut self, sentence: String, now: Time) {
        self.note(&Input::ReceiverLacks(Cow::Borrowed(&sentence)), now);
        self.judge.receiver_lacks(sentence);
    }

    /// How the run ended, once it is closed.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.closed.as_ref().map(|(_, outcome)| outcome)
    }

    /// How long the test took, pauses not counted, once it is closed.
    pub fn duration(&self) -> Option<Duration> {
        self.closed.as_ref().map(|(elapsed, _)| *elapsed)
    }

    /// The verdict on the measurement, over all agents. `is_open` says of each scenario whether its iterations begin
    /// when the plan says.
    pub fn judgement(&self) -> Judgement {
        let progress = self.progress();
        let loads: Vec<ScenarioLoad> = self
            .scenarios
            .iter()
            .zip(&progress.scenarios)
            .zip(self.steering.open_models())
            .map(|((name, progress), (is_open, vus_max, begins_for))| ScenarioLoad {
                scenario: name.clone(),
                is_open,
                done: progress.done,
                interrupted: progress.interrupted,
                thrown: progress.thrown,
                dropped: progress.dropped,
                vus: progress.active_vus_max,
                vus_max,
                ran: progress.started_at.zip(progress.ended_at).map(|(from, until)| until.since(from).min(begins_for)),
            })
            .collect();
        self.judge.judge(&loads)
    }

    /// Writes to built-ins that VUs share, which were refused, and the last property; `None` if there were none.
    pub fn trapped_writes(&self) -> Option<(u64, &str)> {
        let total: u64 = self.agents.all().map(|agent| agent.trapped_writes).sum();
        (total > 0).then(|| (total, self.judge.trapped_property()))
    }

    /// Has one agent run `handleSummary()`; [`Notice::SummaryDone`] follows.
    pub fn summarize(&mut self, data: String, now: Time) -> Orders {
        self.note(&Input::Summarize(Cow::Borrowed(&data)), now);
        self.summarize_on_one(data, now);
        self.take()
    }

    fn summarize_on_one(&mut self, data: String, now: Time) {
        self.run_on_one(Command::Summary(data.clone()));
        self.awaits_summary = Some(data);
        self.deadline = Some(now + self.settings.patience.summary + self.settings.patience.beyond);
        if self.runner.is_none() {
            self.give_up_summary();
        }
    }

    /// The agent that ran `handleSummary()` is gone: another one does, as what it is given is not of that agent. Without one the run
    /// lacks a result.
    pub(super) fn summary_lost(&mut self, why: &str, now: Time) {
        let Some(data) = self.awaits_summary.take() else { return };
        self.summarize_on_one(data, now);
        if let (None, Some((_, outcome))) = (self.runner, &mut self.closed) {
            outcome.stop.get_or_insert_with(|| Stop { code: ExitCode::AgentLost, message: why.to_owned() });
        }
    }

    pub(super) fn summary_done(&mut self, from: AgentId, result: Result<Option<Vec<SummaryFile>>, Failure>) {
        if self.runner == Some(from) && self.awaits_summary.take().is_some() {
            self.runner = None;
            self.deadline = None;
            self.notices.push(Notice::SummaryDone(result));
        }
    }

    pub(super) fn give_up_summary(&mut self) {
        if self.awaits_summary.take().is_some() {
            self.runner = None;
            let message = "no agent is left to run handleSummary()";
            self.notices.push(Notice::SummaryDone(Err(Failure::new(FailureKind::Engine, message))));
        }
    }

    /// The run is over for all agents.
    pub fn stop_agents(&mut self, now: Time) -> Orders {
        self.note(&Input::StopAgents, now);
        self.has_stopped_agents = true;
        // With it go the shares that it took over.
        self.orders.extend(self.agents.hosts().into_iter().map(|id| (id, Command::Stop)));
        self.take()
    }
}
