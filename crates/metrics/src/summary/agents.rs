//! The agents of a run, for its reader: what each did, how it fared, and how far apart they began.

use serde_json::{Value, json};

use super::{export::number, footer::Verdict};

/// The agents of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentsInfo {
    /// Each of them, by number.
    pub agents: Vec<AgentInfo>,
    /// How far apart they began, and by how much their clocks may be wrong, milliseconds.
    pub begun_within_ms: Option<(f64, f64)>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentInfo {
    /// Its number.
    pub number: u32,
    /// What it is called.
    pub name: String,
    /// Its share of the test, 0 to 1.
    pub share: f64,
    /// The most VUs it had.
    pub vus: u64,
    /// Iterations that ended.
    pub iterations: u64,
    /// HTTP requests.
    pub requests: u64,
    /// How it was off; `None` for one that had nothing to do, or did not live to say.
    pub load: Option<AgentLoad>,
    /// It was lost.
    pub is_lost: bool,
    /// When it joined, on the test's clock, if it was not there from the start.
    pub joined_at_seconds: Option<f64>,
    /// Whether its numbers can be trusted.
    pub verdict: Verdict,
    /// Why not, a sentence each, worst first.
    pub reasons: Vec<String>,
}

/// How an agent was off while scenarios ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentLoad {
    /// CPU it used on average, in cores.
    pub cores: f64,
    /// Cores it might use.
    pub available_cores: f64,
    /// CPU of the busiest worker thread on average, in cores.
    pub busiest_thread_cores: f64,
    /// Worst delay of a timer, milliseconds.
    pub timer_lag_max_ms: f64,
    /// 99th percentile of the delay of its arrivals, milliseconds, if it had any.
    pub start_lag_p99_ms: Option<f64>,
}

impl AgentInfo {
    /// The word users see.
    pub(super) fn verdict_text(&self) -> &'static str {
        if self.is_lost { "LOST" } else { self.verdict.as_str() }
    }

    /// Something is wrong with it.
    pub(super) fn is_bad(&self) -> bool {
        self.is_lost || self.verdict != Verdict::Valid
    }
}

impl AgentsInfo {
    /// As JSON, for a key that k6's shapes do not have. `null` where something is not known.
    pub fn to_json(&self) -> Value {
        let agents: Vec<Value> = self.agents.iter().map(agent).collect();
        json!({
            "count": self.agents.len(),
            "started_within_ms": self.begun_within_ms.map(|(within, _)| number(within)),
            "clock_error_ms": self.begun_within_ms.map(|(_, error)| number(error)),
            "agents": agents,
        })
    }
}

fn agent(agent: &AgentInfo) -> Value {
    let load = agent.load.as_ref();
    json!({
        "agent": agent.number,
        "name": agent.name,
        "share": number(agent.share),
        "vus": agent.vus,
        "iterations": agent.iterations,
        "requests": agent.requests,
        "cpu_cores": load.map(|load| number(load.cores)),
        "cpu_cores_available": load.map(|load| number(load.available_cores)),
        "busiest_thread_cores": load.map(|load| number(load.busiest_thread_cores)),
        "timer_lag_max_ms": load.map(|load| number(load.timer_lag_max_ms)),
        "start_lag_p99_ms": load.and_then(|load| load.start_lag_p99_ms).map(number),
        "lost": agent.is_lost,
        "joined_at_seconds": agent.joined_at_seconds.map(number),
        "verdict": agent.verdict.as_str(),
        "reasons": agent.reasons,
    })
}
