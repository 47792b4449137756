//! How a run stands, and how it ended.

use serde::{Deserialize, Serialize};

/// The record `state`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The time of the scenarios.
    pub at_ms: f64,
    /// The time of the test, pauses not counted.
    pub elapsed_ms: f64,
    /// Where the run is.
    pub phase: String,
    /// Whether it stands still.
    pub paused: bool,
    /// VUs a scenario holds.
    pub vus_active: u64,
    /// VUs that have run their init code.
    pub vus_initialized: u64,
    /// Iterations that ended.
    pub iterations: u64,
    /// Iterations that were cut.
    pub interrupted: u64,
    /// Iterations that could not begin.
    pub dropped: u64,
    /// The scenarios, in the order of `head`.
    pub scenarios: Vec<ScenarioState>,
    /// The thresholds.
    pub thresholds: Vec<ThresholdState>,
    /// The verdict on the measurement; `None` before there is one.
    pub verdict: Option<String>,
    /// Why it is that.
    pub reasons: Vec<String>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// The agents.
    pub agents: Vec<AgentState>,
}

/// How a scenario stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScenarioState {
    /// Its name.
    pub name: String,
    /// It has begun.
    pub started: bool,
    /// Nothing of it runs any more.
    pub over: bool,
    /// Only graceful stops remain.
    pub stopping: bool,
    /// VUs it holds.
    pub vus: u64,
    /// VUs inside an iteration.
    pub running_vus: u64,
    /// Its limit of VUs.
    pub max_vus: Option<u64>,
    /// Its target now: VUs, or iterations per second.
    pub target: Option<f64>,
    /// The target in the unit in which it can be changed: VUs, or iterations per `timeUnit`.
    pub wanted: Option<f64>,
    /// The time unit of a rate, as `1s`.
    pub time_unit: Option<String>,
    /// Iterations that ended.
    pub iterations: u64,
    /// Iterations that could not begin.
    pub dropped: u64,
    /// Iterations that ended in an exception.
    pub exceptions: u64,
}

/// How a threshold stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThresholdState {
    /// Its metric or sub-metric.
    pub metric: String,
    /// Its expression.
    pub source: String,
    /// It holds.
    pub ok: bool,
    /// There was something to judge.
    pub judged: bool,
    /// What it was judged by.
    pub value: Option<f64>,
}

/// How an agent stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentState {
    /// Its number.
    pub agent: u32,
    /// What it is called.
    pub name: String,
    /// Its share of the test.
    pub share: f64,
    /// It was lost.
    pub lost: bool,
    /// VUs it has now.
    pub vus: u64,
    /// Iterations that ended.
    pub iterations: u64,
    /// HTTP requests.
    pub requests: u64,
    /// How long after the planned moment it began.
    pub start_late_ms: Option<f64>,
    /// Whether its numbers can be trusted.
    pub verdict: String,
    /// Why not.
    pub reasons: Vec<String>,
}

/// The record `end`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct End {
    /// How long the test took, pauses not counted.
    pub duration_ms: f64,
    /// The exit code; `None` where it is not known.
    pub exit_code: Option<u8>,
    /// What stopped it before its plan did.
    pub stopped: Option<String>,
    /// The verdict on the measurement.
    pub verdict: Option<String>,
    /// Why it is that.
    pub reasons: Vec<String>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// The generator's own delay, as in `--summary-export`.
    pub own_delay: Option<serde_json::Value>,
}
