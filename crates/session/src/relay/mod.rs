//! A relay between agents and their coordinator, as a pure state machine: deltas of many agents go on as one, everything
//! else goes on as it came.
//!
//! A relay acknowledges nothing. The links are those of agents and coordinator ([`crate::link`]); a delta that is held here is
//! acknowledged when the coordinator has the sum it is in, and lives at its agent until then. So a relay that is gone loses
//! nothing, and a [`Relayed`] names the reports it stands for, so that nothing counts twice: where one of them came another
//! way meanwhile, the coordinator's end takes none of it and breaks the way to the relay, which forgets all it holds
//! ([`Relay::restart`]); the agents send it again.
//!
//! The way from the relay to the coordinator keeps order and loses nothing while it lasts.

mod batch;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use self::batch::Batch;
use crate::{
    link::Link,
    protocol::{Accepted, AgentId, MetricName, Relayed, Report, Time},
};

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It goes on as it came.
    Passes,
    /// It is in what goes on later.
    Held,
}

/// The agents behind a relay, and what it holds of them.
#[derive(Debug, Default)]
pub struct Relay {
    agents: BTreeMap<AgentId, Behind>,
    /// Names of metrics by their ids, each list once.
    tables: Vec<Vec<MetricName>>,
    batch: Batch,
    /// When the batch got its first delta.
    since: Option<Time>,
}

/// An agent behind the relay.
#[derive(Debug, Default)]
struct Behind {
    /// Which table its metrics are numbered by, and how many threads it has, once it has said so.
    numbering: Option<(usize, usize)>,
    /// All its reports up to this number have come by.
    seen: u64,
    /// Later ones that have.
    early: BTreeSet<u64>,
    /// Those that are held or in a sum, and not acknowledged.
    merged: BTreeSet<u64>,
}

impl Relay {
    /// How long a delta waits for those of other agents. All agents report at the whole seconds of their scenarios.
    pub const HOLD: Duration = Duration::from_millis(200);
    /// Series of a sum; more go on at once.
    const SERIES_MAX: usize = 100_000;

    /// An agent comes this way. One whose metrics the coordinator knows already brings their names along.
    pub fn joined(&mut self, agent: AgentId, accepted: Option<&Accepted>) {
        self.agents.entry(agent).or_default();
        accepted.into_iter().for_each(|accepted| self.learn(agent, accepted));
    }

    /// An agent takes another way from now on. What is held of it goes on, and is not taken a second time if it comes back.
    pub fn left(&mut self, agent: AgentId) {
        if let Some(behind) = self.agents.get_mut(&agent) {
            behind.numbering = None;
        }
    }

    /// Takes a frame of an agent. `report` is what it carries, if anything.
    pub fn take(
        &mut self,
        agent: AgentId,
        (number, acknowledged): (u64, u64),
        report: Option<&Report>,
        now: Time,
    ) -> Taken {
        let Some(report) = report else { return Taken::Passes };
        if let Report::Accepted(accepted) = report {
            self.learn(agent, accepted);
        }
        let Some(behind) = self.agents.get_mut(&agent) else { return Taken::Passes };
        if behind.merged.contains(&number) {
            return Taken::Held;
        }
        // What comes before an earlier one must not be counted before it either.
        let is_next = number == behind.seen + 1;
        behind.note(number);
        let (true, Report::Delta(part), Some((table, _))) = (is_next, report, behind.numbering) else {
            return Taken::Passes;
        };
        let is_small = part.delta.series.len() <= Self::SERIES_MAX;
        if part.span.is_none() || !is_small || !self.batch.is_continued_by(agent, number) {
            return Taken::Passes;
        }
        behind.merged.insert(number);
        self.batch.add(agent, (number, acknowledged), table, part);
        self.since.get_or_insert(now);
        Taken::Held
    }

    /// The coordinator has all reports of an agent up to this number.
    pub fn acknowledged(&mut self, agent: AgentId, number: u64) {
        let Some(behind) = self.agents.get_mut(&agent) else { return };
        behind.merged.retain(|merged| *merged > number);
        behind.early.retain(|early| *early > number);
        behind.seen = behind.seen.max(number);
        behind.catch_up();
    }

    /// What goes on now: when all threads of all agents have reported, or the first has waited long enough.
    pub fn due(&mut self, now: Time) -> Option<Relayed> {
        let since = self.since?;
        let threads: usize =
            self.agents.values().filter_map(|behind| behind.numbering).map(|(_, threads)| threads).sum();
        let is_due = now.since(since) >= Self::HOLD
            || self.batch.parts.len() >= threads
            || self.batch.series >= Self::SERIES_MAX;
        if !is_due {
            return None;
        }
        self.since = None;
        Some(std::mem::take(&mut self.batch).into_relayed())
    }

    /// When [`Relay::due`] is to be asked at the latest.
    pub fn due_at(&self) -> Option<Time> {
        self.since.map(|since| since + Self::HOLD)
    }

    /// The way to the coordinator broke: what is held and what was under way is forgotten, and all agents are to join again.
    pub fn restart(&mut self) {
        *self = Self::default();
    }

    fn learn(&mut self, agent: AgentId, accepted: &Accepted) {
        let Some(behind) = self.agents.get_mut(&agent) else { return };
        let known = self.tables.iter().position(|table| *table == accepted.metrics);
        let table = known.unwrap_or_else(|| {
            self.tables.push(accepted.metrics.clone());
            self.tables.len() - 1
        });
        behind.numbering = Some((table, accepted.threads as usize));
    }
}

impl Behind {
    /// A report has come by.
    fn note(&mut self, number: u64) {
        // A sender has no more under way at once.
        let window = Link::<(), ()>::WINDOW as u64;
        if number > self.seen && number <= self.seen + window {
            self.early.insert(number);
            self.catch_up();
        }
    }

    fn catch_up(&mut self) {
        while self.early.remove(&(self.seen + 1)) {
            self.seen += 1;
        }
    }
}
