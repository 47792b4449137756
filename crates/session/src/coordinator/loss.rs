//! Agents that are lost, and what becomes of the run then.

use std::{borrow::Cow, time::Duration};

use onrush_metrics::summary::with_commas;

use super::{Coordinator, Input, Notice, Orders, RunPhase, clock::seconds};
use crate::{
    ExitCode, LossPolicy, Stop,
    protocol::{AgentId, Command, Failure, FailureKind, Time},
};

/// A share that is lost while its scenarios run.
struct LostShare {
    id: AgentId,
    /// Up to when all that it measured has come.
    known_until: Duration,
    vus: u64,
}

impl Coordinator {
    /// An agent is gone, as far as a transport can tell, and makes no load any more.
    pub fn lost(&mut self, agent: AgentId, why: &str, now: Time) -> Orders {
        self.note(&Input::Lost { agent, why: Cow::Borrowed(why), may_run: false }, now);
        self.lose(agent, why, now);
        self.take()
    }

    /// Nothing was heard of an agent for so long that it is given up; it may still make load, until its lease ends.
    pub fn silent(&mut self, agent: AgentId, why: &str, now: Time) -> Orders {
        self.note(&Input::Lost { agent, why: Cow::Borrowed(why), may_run: true }, now);
        self.give_up_agent(agent, why, true, now);
        self.take()
    }

    /// An agent says that it cannot go on.
    pub(super) fn agent_failed(&mut self, from: AgentId, failure: Failure, now: Time) {
        if self.agents.host_of(from).is_some() {
            return self.share_failed(from, &failure, now);
        }
        if self.can_be_spared(from) {
            self.dismiss(from, &failure.message);
            return self.look_at_barrier(now);
        }
        let is_tolerable = failure.kind == FailureKind::Bug && self.agents.len() > 1;
        if is_tolerable {
            return self.lose(from, &failure.message, now);
        }
        if self.awaits_summary.is_some() && self.runner == Some(from) {
            return self.summary_done(from, Err(failure));
        }
        if self.phase >= RunPhase::Done {
            self.notices.push(Notice::Error(failure.message.clone()));
        }
        let vu = failure.vu;
        self.failed(Stop::init(&failure), vu);
    }

    pub(super) fn lose(&mut self, id: AgentId, why: &str, now: Time) {
        self.give_up_agent(id, why, false, now);
    }

    /// From now on the agent is none of the run's: what it says is not heard any more.
    pub(super) fn give_up_agent(&mut self, id: AgentId, why: &str, may_run: bool, now: Time) {
        if self.can_be_spared(id) {
            self.dismiss(id, why);
            return self.look_at_barrier(now);
        }
        let Some(agent) = self.agents.get_mut(id) else { return };
        let has_flushed = agent.flushed.is_some();
        let is_share = agent.host.is_some();
        let running = self.lost_shares(id);
        let missing = self.missing(&running, self.agents.with_shares(id).len(), has_flushed, now);
        let at = seconds(self.clock.moment(now).test);
        let text = if is_share {
            let share = self.agents.get(id).and_then(|agent| agent.host).unwrap_or(id);
            format!("a share that agent {} had taken up was lost at {at}: {why}; {missing}", share.0)
        } else {
            format!("agent {} was lost at {at}: {why}; {missing}", id.0)
        };
        for share in self.agents.with_shares(id) {
            self.watermark.forget(share);
            let Some(agent) = self.agents.get_mut(share) else { continue };
            agent.is_lost = true;
            if let Some(taking) = agent.taking.take() {
                let begun = agent.ended.clone();
                self.close_part(taking.from(), None, &begun);
            }
        }
        // If it is still there, it must not go on making load.
        self.orders.push((id, Command::Stop));
        self.notices.push(Notice::Error(text.clone()));
        self.judge.lost(text.clone());
        let was_runner = self.runner == Some(id);
        if was_runner {
            self.runner = None;
        }
        let is_alone = self.agents.taking_part().next().is_none();
        if self.phase >= RunPhase::Done {
            let lacks_samples = self.phase < RunPhase::Closed && !has_flushed;
            if lacks_samples && self.settings.on_loss == LossPolicy::Fail {
                self.stop.get_or_insert_with(|| Stop { code: ExitCode::AgentLost, message: text.clone() });
            }
            if self.phase == RunPhase::Closing && is_alone {
                self.closed();
            } else if was_runner {
                self.summary_lost(&text, now);
            }
            self.end_progress(id);
            self.look_at_barrier(now);
            return;
        }
        // A life-cycle function cannot be run twice, and before the start nothing is lost by beginning anew.
        let in_function = was_runner && self.call.is_none();
        let goes_on =
            self.settings.on_loss != LossPolicy::Fail && self.phase >= RunPhase::Running && !is_alone && !in_function;
        if !goes_on {
            self.stop.get_or_insert(Stop { code: ExitCode::AgentLost, message: text });
        }
        if was_runner {
            self.call_done(Err(format!("agent {} was lost while it ran the function", id.0)), now);
        }
        if goes_on {
            // Whoever could not serve a part of a share would get it again.
            let hands_over = self.settings.on_loss == LossPolicy::Rebalance && !is_share && self.stop.is_none();
            for share in running.iter().filter(|_| hands_over) {
                self.hand_over(share.id, share.known_until, may_run, now);
            }
            self.end_progress(id);
            return self.look_at_barrier(now);
        }
        self.end_progress(id);
        if self.phase >= RunPhase::Done {
            return;
        }
        // teardown() of another agent is what comes last in any case.
        if self.phase == RunPhase::Teardown && self.runner.is_some() {
            return;
        }
        self.tell_all(&Command::Interrupt);
        self.release_untaken();
        // Whoever runs setup() reports its end: before that it can run nothing else.
        let is_cut = self.phase == RunPhase::Running || (self.phase == RunPhase::Setup && self.runner.is_some());
        if is_cut && !is_alone {
            self.deadline = Some(now + self.settings.patience.beyond);
            self.look_at_barrier(now);
        } else {
            self.end();
        }
    }

    /// The shares that are lost with an agent and are not at their end.
    fn lost_shares(&self, id: AgentId) -> Vec<LostShare> {
        if self.phase != RunPhase::Running {
            return Vec::new();
        }
        let shares = self.agents.with_shares(id).into_iter().filter_map(|share| {
            let agent = self.agents.get(share).filter(|agent| !agent.has_passed)?;
            let known_until = match &agent.taking {
                Some(taking) => taking.known_until,
                None => self.watermark.of(share).unwrap_or_default(),
            };
            Some(LostShare { id: share, known_until, vus: agent.progress.vus_active })
        });
        shares.collect()
    }

    /// What a loss costs, in words: of an agent with so many shares some still ran.
    fn missing(&self, running: &[LostShare], shares: usize, has_flushed: bool, now: Time) -> String {
        let Some(known_until) = running.iter().map(|share| share.known_until).min() else {
            return match has_flushed {
                true => "all that it measured has come",
                false => "what it measured since its last report is missing",
            }
            .to_owned();
        };
        let gap = self.clock.moment(now).scenarios.saturating_sub(known_until);
        let vus = match running.iter().map(|share| share.vus).sum::<u64>() {
            0 => String::new(),
            1 => ", and its VU since".to_owned(),
            vus => format!(", and its {} VUs since", with_commas(vus)),
        };
        let also = if running.len() < shares {
            "; of scenarios that were over, what it measured since its last report"
        } else {
            ""
        };
        format!("{} of its samples are missing{vus}{also}", seconds(gap))
    }

    /// Nothing of an agent runs any more.
    fn end_progress(&mut self, id: AgentId) {
        let hands_over = self.settings.on_loss == LossPolicy::Rebalance;
        for (_, agent) in self.agents.lost_with(id) {
            agent.progress.end();
            if !hands_over {
                continue;
            }
            let places: Vec<Option<usize>> = agent.table.iter().flat_map(|table| table.scenarios.clone()).collect();
            for (place, scenario) in places.into_iter().zip(&mut agent.progress.scenarios) {
                // Whoever takes up its share has as many.
                scenario.active_vus_max = 0;
                // What it said it had done and did not report is done again, or missing.
                let of = |counts: &[u64]| place.and_then(|place| counts.get(place)).copied().unwrap_or(0);
                let known = of(&agent.ended).saturating_sub(of(&agent.before));
                let unknown = scenario.done.saturating_sub(known);
                scenario.done -= unknown;
                agent.progress.complete = agent.progress.complete.saturating_sub(unknown);
            }
        }
    }
}
