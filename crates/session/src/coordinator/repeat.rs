//! A coordinator becomes what one before it was: every input is noted before it is taken, and can be taken again.

use std::{sync::Arc, time::Duration};

use super::{Coordinator, Input, Journal, Orders, RunPhase};
use crate::protocol::Time;

impl Coordinator {
    /// Has every input noted from now on.
    pub fn keep(&mut self, journal: Box<dyn Journal>) {
        self.journal = Some(journal);
    }

    pub(super) fn note(&mut self, input: &Input<'_>, now: Time) {
        if let Some(journal) = &mut self.journal {
            journal.note(input, now);
        }
    }

    /// Takes an input that was noted: what came of it the first time comes of it again.
    pub fn repeat(&mut self, input: Input<'_>, now: Time) -> Orders {
        match input {
            Input::Start(test) => self.start(&test, now),
            Input::Report { from, report } => self.handle(from, report.into_owned(), now),
            Input::Tick => self.tick(now),
            Input::Lost { agent, why, may_run: false } => self.lost(agent, &why, now),
            Input::Lost { agent, why, may_run: true } => self.silent(agent, &why, now),
            Input::Abort(stop) => self.abort(stop.into_owned(), now),
            // What was refused the first time is refused again, and changes nothing.
            Input::Call(function, number) => self.call(function, number, now).unwrap_or_default(),
            Input::SetupData(data) => self.set_setup_data(data.map(Arc::from), now),
            Input::Steer(steer) => self.steer(steer.into_owned(), now).unwrap_or_default(),
            Input::Pause { is_paused, source } => self.pause(is_paused, source.into_owned(), now).unwrap_or_default(),
            Input::StopClock => {
                self.stop_clock(now);
                Orders::new()
            }
            Input::Close => self.close(now),
            Input::OutputsLack(samples) => {
                self.outputs_lack(samples, now);
                Orders::new()
            }
            Input::ReceiverLacks(sentence) => {
                self.receiver_lacks(sentence.into_owned(), now);
                Orders::new()
            }
            Input::Summarize(data) => self.summarize(data.into_owned(), now),
            Input::StopAgents => self.stop_agents(now),
            Input::Resume { away } => self.resume(away, now),
            Input::Join { agent, weight } => self.join(agent, weight, now),
            Input::Relayed(relayed) => self.relayed(relayed.into_owned(), now),
        }
    }

    /// The coordinator goes on in another process, after nobody was there for a while: that was no agent's silence, and agents
    /// could not report the end of anything.
    pub fn resume(&mut self, away: Duration, now: Time) -> Orders {
        self.note(&Input::Resume { away }, now);
        self.agents.live_mut().for_each(|agent| agent.heard_at = now);
        self.deadline = self.deadline.map(|deadline| deadline + away);
        self.take()
    }

    /// Whether `handleSummary()` runs for the end of this run.
    pub fn awaits_summary(&self) -> bool {
        self.awaits_summary.is_some()
    }

    /// Whether the agents were told that the run is over: nothing is left to go on with.
    pub fn is_over(&self) -> bool {
        self.phase == RunPhase::Closed && self.has_stopped_agents
    }
}
