//! Agents that are lost, and what becomes of the run then.

use super::{Coordinator, Notice, Orders, RunPhase, live::seconds};
use crate::{
    ExitCode, LossPolicy, Stop,
    protocol::{AgentId, Command, Failure, FailureKind, Time},
};

impl Coordinator {
    /// An agent is gone, as far as a transport can tell.
    pub fn lost(&mut self, agent: AgentId, why: &str, now: Time) -> Orders {
        self.lose(agent, why, now);
        self.take()
    }

    /// An agent says that it cannot go on.
    pub(super) fn agent_failed(&mut self, from: AgentId, failure: Failure, now: Time) {
        let is_tolerable = failure.kind == FailureKind::Bug && self.agents.len() > 1;
        if is_tolerable {
            return self.lose(from, &failure.message, now);
        }
        if self.phase >= RunPhase::Done {
            self.notices.push(Notice::Error(failure.message.clone()));
        }
        let vu = failure.vu;
        self.failed(Stop::init(&failure), vu);
    }

    /// From now on the agent is none of the run's: what it says is not heard any more.
    pub(super) fn lose(&mut self, id: AgentId, why: &str, now: Time) {
        let Some(agent) = self.agents.get_mut(id) else { return };
        agent.is_lost = true;
        let has_flushed = agent.flushed.is_some();
        self.watermark.forget(id);
        // If it is still there, it must not go on making load.
        self.orders.push((id, Command::Stop));
        let at = seconds(self.clock.moment(now).test);
        let text = format!("agent {} was lost at {at}: {why}; what it measured since its last report is missing", id.0);
        self.notices.push(Notice::Error(text.clone()));
        self.judge.lost(text.clone());
        let was_runner = self.runner == Some(id);
        if was_runner {
            self.runner = None;
        }
        let is_alone = self.agents.live().next().is_none();
        if self.phase >= RunPhase::Done {
            let lacks_samples = self.phase < RunPhase::Closed && !has_flushed;
            if lacks_samples && self.settings.on_loss == LossPolicy::Fail {
                self.stop.get_or_insert(Stop { code: ExitCode::AgentLost, message: text });
            }
            if self.phase == RunPhase::Closing && is_alone {
                self.closed();
            } else if self.awaits_summary && was_runner {
                self.give_up_summary();
            }
            self.look_at_barrier(now);
            return;
        }
        // A life-cycle function cannot be run twice, and before the start nothing is lost by beginning anew.
        let in_function = was_runner && self.call.is_none();
        let goes_on = self.settings.on_loss == LossPolicy::Tolerate
            && self.phase >= RunPhase::Running
            && !is_alone
            && !in_function;
        if !goes_on {
            self.stop.get_or_insert(Stop { code: ExitCode::AgentLost, message: text });
        }
        if was_runner {
            self.call_done(Err(format!("agent {} was lost while it ran the function", id.0)), now);
        }
        if goes_on {
            return self.look_at_barrier(now);
        }
        if self.phase >= RunPhase::Done {
            return;
        }
        self.tell_all(&Command::Interrupt);
        if self.phase == RunPhase::Running && !is_alone {
            self.deadline = Some(now + self.settings.patience.beyond);
            self.look_at_barrier(now);
        } else {
            self.end();
        }
    }
}
