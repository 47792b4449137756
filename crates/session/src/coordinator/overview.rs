//! What each agent did in the run, and how it fared: for the summary, and for whoever follows a run closely.

use std::time::Duration;

use super::Coordinator;
use crate::{AgentHealth, protocol::AgentId};

/// One agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentOverview {
    /// Its number.
    pub id: AgentId,
    /// Its share of the test, 0 to 1.
    pub share: f64,
    /// It was lost: what it did since is not known.
    pub is_lost: bool,
    /// The most VUs it had.
    pub vus: u64,
    /// VUs a scenario holds now.
    pub vus_active: u64,
    /// Iterations that ended.
    pub iterations: u64,
    /// HTTP requests.
    pub requests: u64,
    /// When it joined, on the test's clock, if it was not there from the start.
    pub joined_at: Option<Duration>,
    /// How long after the planned moment it began, if it has.
    pub late: Option<Duration>,
    /// How it was off, and whether its numbers can be trusted.
    pub health: AgentHealth,
}

/// How far apart the agents began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    /// Between the first and the last.
    pub within: Duration,
    /// By how much each of their clocks may be wrong.
    pub clock_error: Duration,
}

impl Coordinator {
    /// All agents of the run, those that were lost included, by their numbers. What an agent did for shares that it took
    /// over is its own.
    pub fn overview(&self) -> Vec<AgentOverview> {
        let own = |id: AgentId| self.agents.iter().filter(move |(of, agent)| *of == id || agent.host == Some(id));
        let agents = self.agents.iter().filter(|(_, agent)| agent.host.is_none()).map(|(id, agent)| AgentOverview {
            id,
            share: agent.share,
            is_lost: agent.is_lost,
            vus: own(id).map(|(_, agent)| agent.vus_max).sum(),
            vus_active: own(id).map(|(_, agent)| agent.progress.vus_active).sum(),
            iterations: own(id).map(|(_, agent)| agent.progress.complete).sum(),
            // The cast is exact: a count.
            requests: own(id).map(|(_, agent)| agent.requests as u64).sum(),
            joined_at: agent.joined_at,
            late: agent.begun.map(|(late, _)| late),
            health: self.judge.agent(id),
        });
        agents.collect()
    }

    /// Agents that were lost.
    pub fn lost_agents(&self) -> Vec<AgentId> {
        let lost = self.agents.iter().filter(|(_, agent)| agent.host.is_none() && agent.is_lost);
        lost.map(|(id, _)| id).collect()
    }

    /// How far apart the agents began, if there are several that have.
    pub fn begin_of_agents(&self) -> Option<Begin> {
        // Shares that were taken over later began with another agent.
        let begun = || self.agents.all().filter(|agent| agent.host.is_none()).filter_map(|agent| agent.begun);
        let (first, last) = (begun().map(|(late, _)| late).min()?, begun().map(|(late, _)| late).max()?);
        let clock_error = begun().map(|(_, error)| error).max()?;
        (begun().count() > 1).then(|| Begin { within: last.saturating_sub(first), clock_error })
    }
}
