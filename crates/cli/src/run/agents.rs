//! The agents of a run, for its reader: a line of each now and then, and the table at the end.

use std::{collections::BTreeMap, time::Duration};

use onrush_metrics::summary::{AgentInfo, AgentLoad, AgentsInfo};
use onrush_session::{
    AgentOverview, Coordinator, RunPhase,
    protocol::{AgentId, Time},
};

use crate::log::{Level, Logger};

/// What the summary says of the agents.
pub(super) fn info(coordinator: &Coordinator, names: &BTreeMap<AgentId, String>) -> AgentsInfo {
    let ms = |span: Duration| span.as_secs_f64() * 1e3;
    AgentsInfo {
        agents: coordinator.overview().into_iter().map(|agent| one(agent, names)).collect(),
        begun_within_ms: coordinator.begin_of_agents().map(|begin| (ms(begin.within), ms(begin.clock_error))),
    }
}

fn one(agent: AgentOverview, names: &BTreeMap<AgentId, String>) -> AgentInfo {
    let AgentOverview { id, share, is_lost, vus, iterations, requests, health, joined_at, .. } = agent;
    let load = AgentLoad {
        cores: health.cores,
        available_cores: health.available_cores,
        busiest_thread_cores: health.busiest_thread_cores,
        timer_lag_max_ms: health.timer_lag_max_ms,
        start_lag_p99_ms: health.start_lag.map(|lag| lag.p99_ms),
    };
    AgentInfo {
        number: id.0,
        name: names.get(&id).cloned().unwrap_or_default(),
        share,
        vus,
        iterations,
        requests,
        load: (health.seconds > 0).then_some(load),
        is_lost,
        joined_at_seconds: joined_at.map(|at| at.as_secs_f64()),
        verdict: health.verdict,
        reasons: health.reasons,
    }
}

/// How often each agent has a line in the log, with `--verbose`.
const INTERVAL: Duration = Duration::from_secs(10);

/// The lines of the agents while scenarios run.
#[derive(Debug, Default)]
pub(super) struct AgentLines {
    shown_at: Option<Time>,
}

impl AgentLines {
    /// Logs how each agent stands, if it is time to and anybody reads it.
    pub(super) fn show(
        &mut self,
        logger: &Logger,
        coordinator: &Coordinator,
        names: &BTreeMap<AgentId, String>,
        now: Time,
    ) {
        if logger.level() != Level::Debug || coordinator.phase() != RunPhase::Running {
            return;
        }
        // The first ones come a second after the start.
        let first = || coordinator.scenarios_at().map(|at| at + Duration::from_secs(1));
        let due = self.shown_at.map(|at| at + INTERVAL).or_else(first);
        if due.is_none_or(|due| now < due) {
            return;
        }
        self.shown_at = Some(now);
        for agent in coordinator.overview() {
            logger.debug(line(&agent, names.get(&agent.id).map_or("", String::as_str)));
        }
    }
}

/// `agent 1 (host-b): 250 of 250 VUs, 1200 iterations, 1200 requests, CPU 25 % of 2 cores, busiest thread 31 %`
fn line(agent: &AgentOverview, name: &str) -> String {
    let AgentOverview { id, vus, vus_active, iterations, requests, health, .. } = agent;
    if agent.is_lost {
        return format!("agent {} ({name}): lost", id.0);
    }
    let mut text =
        format!("agent {} ({name}): {vus_active} of {vus} VUs, {iterations} iterations, {requests} requests", id.0);
    if health.seconds > 0 {
        text.push_str(&format!(
            ", CPU {:.0} % of {:.0} cores, busiest thread {:.0} %, worst timer lag {:.2} ms, {}",
            health.cores / health.available_cores.max(0.01) * 100.0,
            health.available_cores,
            health.busiest_thread_cores * 100.0,
            health.timer_lag_max_ms,
            health.verdict.as_str()
        ));
    }
    text
}
