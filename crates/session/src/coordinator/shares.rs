//! Shares of lost agents that the others take up: who gets which part, where it goes on, and what is told of the gap.

use std::time::Duration;

use onrush_plan::{Cut, Executor, Plan, ScenarioPlan, TakenUp, steer::ArrivalCourse};

use super::{
    Coordinator, Notice, RunPhase,
    agents::{Agent, Agents},
    clock::seconds,
    joining::Told,
    nanos,
};
use crate::protocol::{AgentId, Command, Failure, Init, Known, ScenarioProgress, TakeUp, TargetChange, Time};

/// A share that somebody has, and whose scenarios do not run yet.
#[derive(Debug)]
pub(super) struct Taking {
    /// Whose it was.
    from: AgentId,
    plan: Plan,
    /// Not before this: until then whoever had it may still make load.
    not_before: Time,
    /// What is known of the divided share, by the run's scenarios.
    known: Vec<TakenUp>,
    /// Up to when, on the scenarios' clock.
    pub(super) known_until: Duration,
}

/// The share of a lost agent on its way to others.
#[derive(Debug)]
pub(super) struct HandOver {
    from: AgentId,
    /// Parts whose scenarios do not run yet.
    open: usize,
    takers: Vec<AgentId>,
    known_until: Duration,
    /// The last moment at which a part went on; `None` if none has.
    went_on: Option<Duration>,
    /// By scenario: arrivals due before they went on, in all parts.
    due: Vec<u64>,
    /// By scenario: iterations of the lost agent that ended or were dropped.
    accounted: Vec<u64>,
    /// By scenario: iterations that were counted by nobody and run again.
    again: Vec<u64>,
}

impl Taking {
    /// Whose share it was.
    pub(super) fn from(&self) -> AgentId {
        self.from
    }
}

impl Coordinator {
    /// Divides the share of a lost agent among those that are left.
    pub(super) fn hand_over(&mut self, from: AgentId, known_until: Duration, may_run: bool, now: Time) {
        let Some(agent) = self.agents.get(from) else { return };
        let gap = self.clock.moment(now).scenarios.saturating_sub(known_until);
        let init = agent.init.clone();
        let in_flight = self.in_flight(agent, known_until, gap);
        let mut accounted = agent.ended.clone();
        for (index, progress) in placed(agent) {
            accounted[index] = accounted[index].saturating_add(progress.dropped);
        }
        let known: Vec<TakenUp> = agent
            .ended
            .iter()
            .zip(&in_flight)
            .map(|(ended, in_flight)| TakenUp { from_ns: 0, ended: *ended, begun: ended.saturating_add(*in_flight) })
            .collect();
        let hosts = self.agents.hosts();
        let of = hosts.len() as u64;
        let not_before = if may_run { now + self.settings.patience.lingers } else { now };
        let mut takers = Vec::new();
        for (index, host) in hosts.into_iter().enumerate() {
            let cuts = init.cuts.iter().copied().chain([Cut { index: index as u64, of }]).collect();
            let part = Init {
                cuts,
                series_max: init.series_max.map(|max| (max / of).max(1)),
                // 0 would mean no limit.
                rps: init.rps.map(|rps| (rps / of).max(1)),
                ..init.clone()
            };
            let share = part.share().map_err(|error| error.to_string());
            let plan = share.and_then(|share| Plan::new(&self.definitions, &share).map_err(|error| error.to_string()));
            match plan {
                Ok(plan) if plan.scenarios.is_empty() => {}
                Ok(plan) => {
                    // Until it goes on, all that is due by now counts as over: samples of one thread may have come up to a
                    // later moment than those of another.
                    let ended = self.begun_before(&plan, &known, nanos(known_until + gap), init.joined);
                    let taking = Taking { from, plan, not_before, known: known.clone(), known_until };
                    let own = Agent {
                        host: Some(host),
                        init: part.clone(),
                        taking: Some(taking),
                        ended,
                        heard_at: now,
                        ..Agent::default()
                    };
                    let id = self.agents.add_share(own);
                    self.orders.push((id, Command::Init(Box::new(part))));
                    self.is_busy(host);
                    takers.push(host);
                }
                Err(error) => {
                    let text = format!("a part of {} cannot be taken up: {error}", self.share_of(from));
                    self.notices.push(Notice::Error(text.clone()));
                    self.judge.lost(text);
                }
            }
        }
        if takers.is_empty() {
            return;
        }
        self.hand_overs.push(HandOver {
            from,
            open: takers.len(),
            takers,
            known_until,
            went_on: None,
            due: vec![0; known.len()],
            again: in_flight,
            accounted,
        });
    }

    /// By scenario: iterations that a lost agent may have begun, and of which nobody knows how they ended. Those that ran
    /// when it was last heard of are counted; at its pace, twice as many as it would have begun since are added, so that
    /// nobody gets their numbers.
    fn in_flight(&self, agent: &Agent, known_until: Duration, gap: Duration) -> Vec<u64> {
        let mut in_flight = vec![0_u64; self.scenarios.len()];
        for (index, progress) in placed(agent) {
            let pace = agent.ended[index] as f64 / known_until.as_secs_f64().max(1.0);
            let since = (2.0 * pace * gap.as_secs_f64()).ceil();
            in_flight[index] = progress.active_vus.saturating_add(since as u64);
        }
        in_flight
    }

    /// By scenario: iterations of a part (first numbers here) that need not run any more when it goes on at a moment.
    fn begun_before(&self, plan: &Plan, known: &[TakenUp], from_ns: u64, joined: Option<u32>) -> Vec<u64> {
        let mut begun = vec![0; self.scenarios.len()];
        for scenario in plan.scenarios.iter() {
            let Some(index) = self.scenarios.iter().position(|name| name == scenario.name()) else { continue };
            let taken = TakenUp { from_ns: from_ns.saturating_sub(scenario.start_ns), ..known[index] };
            begun[index] = scenario.first_iteration(taken, self.course(scenario, joined).as_ref());
        }
        begun
    }

    /// A scenario's arrivals as steered so far, where it has any: here, or at an agent that joined.
    fn course(&self, plan: &ScenarioPlan, joined: Option<u32>) -> Option<ArrivalCourse> {
        let course = ArrivalCourse::of(plan)?;
        let own = self.told.iter().filter(|told| told.joined == joined && told.scenario == plan.name());
        Some(own.fold(course, |course, told| match &told.change {
            TargetChange::Rate(ramp) => course.bent(*ramp),
            TargetChange::Vus(_) | TargetChange::MaxVus(_) => course,
        }))
    }

    /// The VUs of a share that was taken over are there: its scenarios go on.
    pub(super) fn take_up(&mut self, id: AgentId, now: Time) {
        let Some(agent) = self.agents.get_mut(id) else { return };
        let joined = agent.init.joined;
        let Some(taking) = agent.taking.take() else { return };
        if self.stop.is_some() || self.phase != RunPhase::Running {
            // There is nothing left to run.
            if let Some(agent) = self.agents.get_mut(id) {
                agent.has_passed = true;
            }
            return self.look_at_barrier(now);
        }
        let from = self.clock.moment((now + self.settings.start_in).max(taking.not_before)).scenarios;
        let begun = self.begun_before(&taking.plan, &taking.known, nanos(from), joined);
        let known = self.scenarios.iter().zip(&taking.known);
        let scenarios = known
            .map(|(name, known)| Known { scenario: name.clone(), ended: known.ended, begun: known.begun })
            .collect();
        let (started, at) = (self.clock.started().unwrap_or(now), self.clock.scenarios().unwrap_or(now));
        self.orders.push((id, Command::StartClock { at: started }));
        for Told { scenario, change, .. } in self.told.iter().filter(|told| told.joined == joined) {
            self.orders.push((id, Command::Steer { scenario: scenario.clone(), change: *change }));
        }
        let take_up = TakeUp { at, from_ns: nanos(from), data: self.setup_data.clone(), scenarios };
        self.orders.push((id, Command::TakeUp(Box::new(take_up))));
        if let Some(at) = self.clock.stopped() {
            self.orders.push((id, Command::Pause { is_paused: true, at }));
        }
        if let Some(agent) = self.agents.get_mut(id) {
            agent.ended.clone_from(&begun);
            agent.before.clone_from(&begun);
            let threads = agent.table.as_ref().map_or(0, |table| table.threads);
            self.watermark.expect_from(id, threads, from);
        }
        self.close_part(taking.from, Some(from), &begun);
    }

    /// One part less of a share is on its way: it goes on at a moment, or was lost again. `begun` are the iterations that were
    /// over before. When it was the last, the gap is told.
    pub(super) fn close_part(&mut self, from: AgentId, went_on: Option<Duration>, begun: &[u64]) {
        let Some(at) = self.hand_overs.iter().position(|hand_over| hand_over.from == from) else { return };
        let hand_over = &mut self.hand_overs[at];
        hand_over.went_on = hand_over.went_on.max(went_on);
        for (due, before) in hand_over.due.iter_mut().zip(begun) {
            *due = due.saturating_add(*before);
        }
        hand_over.open -= 1;
        if hand_over.open > 0 {
            return;
        }
        let hand_over = self.hand_overs.swap_remove(at);
        let text = self.told(&hand_over);
        self.notices.push(Notice::Warning { message: text.clone(), fields: Vec::new() });
        self.judge.lost(text);
    }

    fn told(&self, hand_over: &HandOver) -> String {
        let HandOver { from, takers, known_until, went_on, .. } = hand_over;
        let mut names: Vec<u32> = takers.iter().map(|id| id.0).collect();
        names.sort_unstable();
        names.dedup();
        let names = match &names[..] {
            [one] => format!("agent {one} has"),
            [first @ .., last] => {
                let first: Vec<String> = first.iter().map(u32::to_string).collect();
                format!("agents {} and {last} have", first.join(", "))
            }
            [] => String::new(),
        };
        let share = self.share_of(*from);
        let mut text = match went_on {
            Some(went_on) => format!(
                "{names} taken up {share} at {} of the scenarios, {} after the last it measured",
                seconds(*went_on),
                seconds(went_on.saturating_sub(*known_until)),
            ),
            None => format!("{share} was lost again before it was taken up"),
        };
        for (index, (name, definition)) in self.scenarios.iter().zip(&self.definitions).enumerate() {
            match definition.executor {
                Executor::ConstantArrivalRate(_) | Executor::RampingArrivalRate(_) => {
                    let missing = hand_over.due[index].saturating_sub(hand_over.accounted[index]);
                    if missing > 0 {
                        let are = if missing == 1 { "iteration is" } else { "iterations are" };
                        text.push_str(&format!(
                            "; of scenario '{name}' {missing} due {are} missing (not run, or not reported)"
                        ));
                    }
                }
                Executor::SharedIterations(_) | Executor::PerVuIterations(_) => {
                    let again = hand_over.again[index];
                    if again > 0 {
                        text.push_str(&format!("; of scenario '{name}' up to {again} iterations may have run twice"));
                    }
                }
                _ => {}
            }
        }
        text
    }

    /// An agent of a share that was taken over cannot go on.
    pub(super) fn share_failed(&mut self, id: AgentId, failure: &Failure, now: Time) {
        let is_over = self.stop.is_some() || self.phase > RunPhase::Running;
        match self.agents.get_mut(id) {
            Some(agent) if is_over => {
                agent.taking = None;
                agent.has_passed = true;
                self.look_at_barrier(now);
            }
            Some(_) => self.lose(id, &failure.message, now),
            None => {}
        }
    }

    /// Nothing new begins: what does not run yet is not waited for.
    pub(super) fn release_untaken(&mut self) {
        for agent in self.agents.live_mut() {
            if agent.taking.take().is_some() {
                agent.has_passed = true;
            }
        }
        self.hand_overs.clear();
    }

    /// What the share of a lost agent is called in messages.
    fn share_of(&self, id: AgentId) -> String {
        match self.agents.host_of(id) {
            None => format!("the share of agent {}", id.0),
            Some((host, _)) => format!("a share that agent {} had taken up", host.0),
        }
    }
}

/// How the scenarios of an agent stand, with their indices in the run.
fn placed(agent: &Agent) -> impl Iterator<Item = (usize, &ScenarioProgress)> {
    let places = agent.table.iter().flat_map(|table| table.scenarios.iter().copied());
    places.zip(&agent.progress.scenarios).filter_map(|(place, progress)| Some((place?, progress)))
}

/// A share that a report is about.
pub(super) fn of_share(share: u32) -> AgentId {
    Agents::id_of_share(share)
}
