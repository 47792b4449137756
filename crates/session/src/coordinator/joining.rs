//! Agents that join a run under way: they get ready beside it, begin with nothing to do, and take their share of a scenario
//! when its target changes next.
//!
//! The segments of the agents that began with the run stay what they are, as VUs and iterations have their numbers from
//! them. So a target is divided first: a part for all of those together, and one for each agent that joined, wholly its own.

use std::borrow::Cow;

use onrush_plan::{Executor, JOINED_MAX, SegmentSequence, steer::Ramp};

use super::{
    Coordinator, Input, Notice, Orders, RunPhase,
    agents::{Agent, Late},
    clock::seconds,
    nanos, part,
};
use crate::{
    Moment, Steer,
    protocol::{AgentId, Command, Init, TakeUp, TargetChange, Time, VERSION},
};

/// A target that agents were told: those that began with the run, or one that joined.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) scenario: String,
    pub(super) change: TargetChange,
    /// Which of those that joined; `None` for those that began with the run.
    pub(super) joined: Option<u32>,
}

impl Coordinator {
    /// What an agent weighs for [`Coordinator::join`] that can bear as much as those on average that began with the run.
    pub const AVERAGE_WEIGHT: u64 = 1_000;

    /// Whether agents may join the run now.
    ///
    /// # Errors
    /// Why not.
    pub fn admits(&self) -> Result<(), Cow<'static, str>> {
        let is_steerable =
            |executor: &Executor| !matches!(executor, Executor::SharedIterations(_) | Executor::PerVuIterations(_));
        if self.phase > RunPhase::Running || self.stop.is_some() {
            return Err("the scenarios of the run are over".into());
        }
        if self.segment.is_some() {
            return Err("the run is a segment of a test: its agents were there from the start".into());
        }
        if self.settings.rps.is_some() {
            return Err("the test limits its requests per second, and its agents have shared them out already".into());
        }
        if !self.definitions.iter().any(|scenario| is_steerable(&scenario.executor)) {
            return Err(
                "all scenarios of the test have a given number of iterations, and agents that were there from the \
                        start have shared them out"
                    .into(),
            );
        }
        if self.joined.len() >= JOINED_MAX as usize {
            return Err(format!("{JOINED_MAX} agents have joined the run already").into());
        }
        Ok(())
    }

    /// An agent joins the run under way. It is to bear as much as `weight` says, of [`Coordinator::AVERAGE_WEIGHT`].
    pub fn join(&mut self, id: AgentId, weight: u64, now: Time) -> Orders {
        self.note(&Input::Join { agent: id, weight }, now);
        match self.admits() {
            Ok(()) => self.admit(id, weight.max(1), now),
            Err(why) => self.turn_away(id, &why),
        }
        self.take()
    }

    fn admit(&mut self, id: AgentId, weight: u64, now: Time) {
        let others = self.joined.iter().copied().fold(self.weight_of_first(), u64::saturating_add);
        let Ok(sequence) = SegmentSequence::weighted(&[others, weight]) else {
            return self.turn_away(id, "its share cannot be told from that of the others");
        };
        self.joined.push(weight);
        let count = u64::try_from(self.agents.hosts().len()).unwrap_or(u64::MAX).saturating_add(1);
        let init = Init {
            version: VERSION,
            agent: id.0,
            agents: u32::try_from(count).unwrap_or(u32::MAX),
            joined: Some(u32::try_from(self.joined.len()).unwrap_or(u32::MAX)),
            segment: sequence.segments()[1].to_string(),
            sequence: sequence.to_string(),
            cuts: Vec::new(),
            // The others have their parts already.
            series_max: Some(part(self.settings.series_max, &[others, weight], 1).max(1)),
            rps: None,
            test: self.agents.all().next().map(|agent| agent.init.test.clone()).unwrap_or_default(),
        };
        let own = Agent {
            init: init.clone(),
            late: Some(Late::Initializing),
            ended: vec![0; self.scenarios.len()],
            heard_at: now,
            ..Agent::default()
        };
        self.agents.insert(id, own);
        self.orders.push((id, Command::Init(Box::new(init))));
    }

    /// Weighs all agents that began with the run.
    fn weight_of_first(&self) -> u64 {
        Self::AVERAGE_WEIGHT.saturating_mul(self.weights.len().max(1) as u64)
    }

    fn turn_away(&mut self, id: AgentId, why: &str) {
        self.orders.push((id, Command::Stop));
        let message = format!("agent {} cannot join: {why}", id.0);
        self.notices.push(Notice::Warning { message, fields: Vec::new() });
    }

    /// The VUs of an agent that joins are there.
    pub(super) fn is_ready_late(&mut self, id: AgentId, now: Time) {
        if let Some(agent) = self.agents.get_mut(id) {
            agent.late = Some(Late::Ready);
        }
        self.begin_late(now);
    }

    /// Agents that joined and are ready begin, if scenarios run: without anything to do at first.
    pub(super) fn begin_late(&mut self, now: Time) {
        let (Some(started), Some(at)) = (self.clock.started(), self.clock.scenarios()) else { return };
        if self.phase != RunPhase::Running || self.stop.is_some() {
            return;
        }
        let from = self.clock.moment(now + self.settings.start_in);
        for id in self.agents.late(Late::Ready) {
            let Some(agent) = self.agents.get_mut(id) else { continue };
            agent.late = Some(Late::Idle);
            agent.joined_at = Some(from.test);
            let (joined, threads) = (agent.init.joined, agent.table.as_ref().map_or(0, |table| table.threads));
            self.orders.push((id, Command::StartClock { at: started }));
            for definition in &self.definitions {
                let nothing = match definition.executor {
                    Executor::ConstantArrivalRate(_) | Executor::RampingArrivalRate(_) => TargetChange::Rate,
                    _ => TargetChange::Vus,
                };
                let (scenario, change) = (definition.name.clone(), nothing(Ramp::jump(0, 0)));
                self.orders.push((id, Command::Steer { scenario: scenario.clone(), change }));
                self.told.push(Told { scenario, change, joined });
            }
            let take_up =
                TakeUp { at, from_ns: nanos(from.scenarios), data: self.setup_data.clone(), scenarios: Vec::new() };
            self.orders.push((id, Command::TakeUp(Box::new(take_up))));
            if let Some(at) = self.clock.stopped() {
                self.orders.push((id, Command::Pause { is_paused: true, at }));
            }
            self.watermark.expect_from(id, threads, from.scenarios);
            self.notices.push(Notice::Info(format!(
                "agent {} has joined at {} and has nothing to do yet: it takes its share of a scenario when the target \
                 changes next (onrush scale)",
                id.0,
                seconds(from.test)
            )));
        }
    }

    /// An agent that joined and had nothing to do so far can go, and nothing is missing.
    pub(super) fn can_be_spared(&self, id: AgentId) -> bool {
        let is_new = self.agents.get(id).is_some_and(Agent::is_new);
        is_new && self.runner != Some(id) && self.agents.taking_part().any(|(other, _)| other != id)
    }

    /// An agent that joined is gone before it had anything to do: nothing is missing.
    pub(super) fn dismiss(&mut self, id: AgentId, why: &str) {
        self.agents.remove(id);
        self.watermark.forget(id);
        self.orders.push((id, Command::Stop));
        let message = format!("agent {}, which was to join, is gone before it had anything to do: {why}", id.0);
        self.notices.push(Notice::Warning { message, fields: Vec::new() });
    }

    /// Who is not ready by the end of the scenarios does not begin any more.
    pub(super) fn dismiss_late(&mut self) {
        let waiting = [Late::Initializing, Late::Ready].map(|late| self.agents.late(late));
        for id in waiting.into_iter().flatten() {
            self.dismiss(id, "the scenarios are over");
        }
    }

    /// Nobody wants another target, and an agent that joined has not its share of this one yet: it gets that now.
    pub(super) fn divide_anew(&mut self, steer: &Steer, moment: Moment) {
        if let Some((scenario, change)) = self.steering.stands(steer.scenario.as_deref(), moment)
            && self.groups(&scenario).iter().any(|group| !self.has_share(*group, &scenario))
        {
            self.tell_target(scenario, change);
        }
    }

    /// Whether a group has been told what its share of a scenario is.
    fn has_share(&self, (joined, _): (Option<u32>, u64), scenario: &str) -> bool {
        let own = self.told.iter().filter(|told| told.joined == joined && told.scenario == scenario);
        // The first it is told is that it has none.
        joined.is_none() || own.filter(|told| !matches!(told.change, TargetChange::MaxVus(_))).count() > 1
    }

    /// Tells agents a new target of a scenario: all that began with the run one part of it, each that joined another.
    pub(super) fn tell_target(&mut self, scenario: String, change: TargetChange) {
        let groups = self.groups(&scenario);
        let weights: Vec<u64> = groups.iter().map(|(_, weight)| *weight).collect();
        for (index, (joined, _)) in groups.iter().enumerate() {
            let own = |whole: u64| rounded_part(whole, &weights, index);
            let change = match change {
                whole if self.joined.is_empty() => whole,
                TargetChange::MaxVus(max) => TargetChange::MaxVus(own(max)),
                TargetChange::Vus(ramp) => TargetChange::Vus(self.ramp_of(*joined, &scenario, ramp, own(ramp.to))),
                TargetChange::Rate(ramp) => TargetChange::Rate(self.ramp_of(*joined, &scenario, ramp, own(ramp.to))),
            };
            for id in self.agents.of_group(*joined) {
                self.orders.push((id, Command::Steer { scenario: scenario.clone(), change }));
                self.is_busy(id);
            }
            self.told.push(Told { scenario: scenario.clone(), change, joined: *joined });
        }
        self.note_shares(&groups);
    }

    /// Who has something of a scenario: all that began with the run, and each that joined and is there, with their weights.
    fn groups(&self, scenario: &str) -> Vec<(Option<u32>, u64)> {
        let place = self.scenarios.iter().position(|name| name == scenario);
        let has_it = |agent: &Agent| agent.table.as_ref().is_none_or(|table| table.scenarios.contains(&place));
        let joined = (1_u32..).zip(&self.joined).map(|(number, weight)| (Some(number), *weight));
        let there = joined.filter(|(number, _)| {
            let mut own = self.agents.taking_part().filter(|(_, agent)| agent.init.joined == *number);
            own.any(|(_, agent)| has_it(agent))
        });
        std::iter::once((None, self.weight_of_first())).chain(there).collect()
    }

    /// The part of a target that changes, for one of the groups: from what it has.
    fn ramp_of(&self, joined: Option<u32>, scenario: &str, whole: Ramp, to: u64) -> Ramp {
        if whole.over_ns == 0 {
            return Ramp::jump(whole.at_ns, to);
        }
        let told = self.told.iter().rev().find_map(|told| match told.change {
            TargetChange::Vus(ramp) | TargetChange::Rate(ramp)
                if told.joined == joined && told.scenario == scenario =>
            {
                Some(ramp.value_at(whole.at_ns))
            }
            _ => None,
        });
        Ramp { from: told.unwrap_or(whole.from), to, ..whole }
    }

    /// An agent has something to do from now on.
    pub(super) fn is_busy(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get_mut(id).filter(|agent| agent.late == Some(Late::Idle)) else { return };
        agent.late = Some(Late::Busy);
        self.judge.joined();
        self.notices.push(Notice::Info(format!("agent {} takes its share from now on", id.0)));
    }

    /// Notes the shares that agents have from now on.
    fn note_shares(&mut self, groups: &[(Option<u32>, u64)]) {
        if self.joined.is_empty() {
            return;
        }
        let all = groups.iter().map(|(_, weight)| *weight as f64).sum::<f64>().max(1.0);
        let sum = self.weights.iter().map(|weight| *weight as f64).sum::<f64>().max(1.0);
        let first = self.weight_of_first() as f64 / all;
        let first = (0..).map(AgentId).zip(self.weights.iter().map(|weight| first * *weight as f64 / sum));
        let joined =
            groups.iter().filter_map(|(joined, weight)| Some((self.agents.joined((*joined)?)?, *weight as f64 / all)));
        for (id, share) in first.chain(joined).collect::<Vec<_>>() {
            if let Some(agent) = self.agents.get_mut(id) {
                agent.share = share;
            }
        }
    }
}

/// What of a target is the part of the group with this index, as even as whole numbers can be. All parts together are the whole.
fn rounded_part(whole: u64, weights: &[u64], index: usize) -> u64 {
    let sum = |weights: &[u64]| weights.iter().map(|weight| u128::from(*weight)).sum::<u128>();
    let all = sum(weights).max(1);
    let until = |end: usize| (u128::from(whole) * sum(&weights[..end]) + all / 2) / all;
    u64::try_from(until(index + 1) - until(index)).unwrap_or(u64::MAX)
}
