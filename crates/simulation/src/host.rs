//! An agent's process: its own share, those it takes up, its clock, and its lease.

use std::collections::BTreeMap;

use onrush_session::{
    link::Link,
    protocol::{Command, Report, Time},
};

use crate::{
    agent::{Number, SimAgent},
    faults::AgentFaults,
    script::Script,
    world::LEASE,
};

pub(crate) struct SimHost {
    script: Script,
    number: usize,
    pub(crate) faults: AgentFaults,
    pub(crate) link: Link<Report, Command>,
    pub(crate) own: SimAgent,
    pub(crate) shares: BTreeMap<u32, SimAgent>,
    heard_at: Time,
    ticked_at: Time,
    was_frozen: bool,
    /// It has stopped by itself, or died.
    pub(crate) is_gone: bool,
}

impl SimHost {
    pub(crate) fn new(script: &Script, number: usize, faults: AgentFaults, now: Time) -> Self {
        Self {
            script: script.clone(),
            number,
            faults,
            link: Link::new(now),
            own: SimAgent::new(script.clone(), number, now),
            shares: BTreeMap::new(),
            heard_at: now,
            ticked_at: now,
            was_frozen: false,
            is_gone: false,
        }
    }

    /// It does nothing now: it is dead, frozen, or has ended.
    pub(crate) fn is_away(&self, now: Time) -> bool {
        self.is_gone || self.faults.is_frozen(now)
    }

    fn agents(&mut self) -> impl Iterator<Item = (Option<u32>, &mut SimAgent)> {
        std::iter::once((None, &mut self.own)).chain(self.shares.iter_mut().map(|(share, agent)| (Some(*share), agent)))
    }

    /// Nothing of it goes on. What it had not begun when it was last awake it never did.
    fn end(&mut self) {
        let shown = self.faults.clock.apply(self.ticked_at);
        self.is_gone = true;
        self.agents().for_each(|(_, agent)| agent.cease(shown));
    }

    /// Something came from the coordinator.
    pub(crate) fn heard(&mut self, now: Time) {
        self.heard_at = now;
    }

    pub(crate) fn handle(&mut self, command: Command, now: Time) {
        let shown = self.faults.clock.apply(now);
        let (share, command) = match command {
            Command::OfShare { share, command } => (Some(share), *command),
            command => (None, command),
        };
        let is_end = share.is_none() && command == Command::Stop;
        let agent = match share {
            None => &mut self.own,
            Some(share) => {
                let new = || SimAgent::new(self.script.clone(), self.number, shown);
                self.shares.entry(share).or_insert_with(new)
            }
        };
        for report in agent.handle(command, shown) {
            self.link.send(about(share, report));
        }
        if is_end {
            self.end();
        }
    }

    pub(crate) fn tick(&mut self, now: Time) {
        if self.is_gone {
            return;
        }
        if self.faults.is_dead(now) {
            return self.end();
        }
        if self.faults.is_frozen(now) {
            self.was_frozen = true;
            return;
        }
        if std::mem::take(&mut self.was_frozen) {
            // What came meanwhile is still to be read.
            self.heard_at = now;
        }
        if now.since(self.heard_at) > LEASE {
            return self.end();
        }
        self.ticked_at = now;
        let shown = self.faults.clock.apply(now);
        let mut said = Vec::new();
        for (share, agent) in self.agents() {
            said.extend(agent.tick(shown).into_iter().map(|report| about(share, report)));
        }
        said.into_iter().for_each(|report| self.link.send(report));
    }

    /// VUs that loop in a scenario here, and the rate at which its iterations arrive.
    pub(crate) fn load(&self, name: &str, now: Time) -> (u64, f64) {
        let shown = self.faults.clock.apply(now);
        let agents = std::iter::once(&self.own).chain(self.shares.values());
        agents.map(|agent| agent.load(name, shown)).fold((0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1))
    }

    /// The iterations of the delta that arrives next, with the names of their scenarios.
    pub(crate) fn arrived(&mut self, share: Option<u32>, thread: u32) -> Vec<(String, u64)> {
        let agent = match share {
            None => &mut self.own,
            Some(share) => match self.shares.get_mut(&share) {
                Some(agent) => agent,
                None => return Vec::new(),
            },
        };
        let numbers = agent.arrived(thread);
        named(agent, numbers.into_iter()).collect()
    }

    /// All iterations that ever began here.
    pub(crate) fn begun(&self) -> Vec<(String, u64)> {
        let agents = std::iter::once(&self.own).chain(self.shares.values());
        agents.flat_map(|agent| named(agent, agent.begun()).collect::<Vec<_>>()).collect()
    }
}

fn named(agent: &SimAgent, numbers: impl Iterator<Item = Number>) -> impl Iterator<Item = (String, u64)> {
    numbers.map(|(place, number)| (agent.scenario(place).to_owned(), number))
}

fn about(share: Option<u32>, report: Report) -> Report {
    match share {
        None => report,
        Some(share) => Report::OfShare { share, report: Box::new(report) },
    }
}
