//! What time brings: changes to be replayed, thresholds, agents that are late.

use onrush_metrics::Phase as Evaluated;

use super::{Coordinator, Input, Notice, Orders, RunPhase, agents::Agent, nanos};
use crate::{ExitCode, Moment, Stop, protocol::Time};

impl Coordinator {
    /// Time passes; call it ten times a second or so.
    pub fn tick(&mut self, now: Time) -> Orders {
        self.note(&Input::Tick, now);
        self.look_for_late(now);
        self.make_changes(now);
        self.evaluate(now);
        self.take()
    }

    /// When the next change is due that is replayed, if one is.
    pub fn next_change_at(&self) -> Option<Time> {
        self.clock.when(self.replay.next_at().filter(|_| self.is_replaying())?)
    }

    fn is_replaying(&self) -> bool {
        self.phase == RunPhase::Running && !self.is_paused() && self.has_begun
    }

    /// Makes the changes that are due as of the moment they were made at in the run that is replayed.
    fn make_changes(&mut self, now: Time) {
        if !self.is_replaying() {
            return;
        }
        let moment = self.clock.moment(now);
        while let Some(step) = self.replay.due(moment.scenarios) {
            let late = moment.scenarios.saturating_sub(step.at);
            let at = Moment { test: moment.test.saturating_sub(late), scenarios: step.at };
            if let Err(error) = self.steer_at(step.steer, at) {
                self.notices.push(Notice::NotReplayed { at: step.at, error: error.to_string() });
            }
        }
    }

    fn evaluate(&mut self, now: Time) {
        let elapsed = self.clock.moment(now).test;
        let is_running = self.phase >= RunPhase::Setup && self.phase < RunPhase::Done;
        if !self.settings.evaluates_thresholds || elapsed < self.next_evaluation || !is_running {
            return;
        }
        self.next_evaluation = elapsed + Self::EVALUATION_INTERVAL;
        self.thresholds.close_windows(nanos(self.watermark.reached()));
        let evaluation = self.thresholds.evaluate(&self.merged, nanos(elapsed), Evaluated::Running);
        if !evaluation.abort || self.phase != RunPhase::Running {
            return;
        }
        let metrics = evaluation.crossed.join(", ");
        let message = format!(
            "thresholds on metrics '{metrics}' were crossed; at least one has abortOnFail enabled, stopping test prematurely"
        );
        self.aborted(Stop { code: ExitCode::ThresholdsHaveFailed, message }, now);
    }

    /// Gives up agents that say nothing, and those that hold back a phase past every limit.
    fn look_for_late(&mut self, now: Time) {
        if let Some(silence) = self.settings.patience.silence.filter(|_| self.phase < RunPhase::Closed) {
            let is_silent = |agent: &Agent| agent.host.is_none() && now.since(agent.heard_at) > silence;
            let silent = self.agents.live().filter(|(_, agent)| is_silent(agent));
            for id in silent.map(|(id, _)| id).collect::<Vec<_>>() {
                self.give_up_agent(id, &format!("it said nothing for {} s", silence.as_secs_f64()), true, now);
            }
        }
        let stands_still = self.phase == RunPhase::Running && self.is_paused();
        if !stands_still && self.deadline.is_some_and(|deadline| now > deadline) {
            self.deadline = None;
            self.give_up(now);
        }
    }

    /// What holds back the run after its deadline.
    fn give_up(&mut self, now: Time) {
        match self.phase {
            RunPhase::Setup | RunPhase::Teardown => {
                if let Some(id) = self.runner {
                    self.lose(id, "it did not report the end of its function", now);
                }
            }
            RunPhase::Running => {
                for id in self.agents.waited_for() {
                    self.lose(id, "it did not report the end of its scenarios", now);
                }
            }
            RunPhase::Closing => self.closed(),
            RunPhase::Closed => self.give_up_summary(),
            RunPhase::Initializing | RunPhase::Paused | RunPhase::Done => {}
        }
    }
}
