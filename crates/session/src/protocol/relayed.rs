//! What a relay makes of the deltas of its agents.

use onrush_metrics::{Delta, DeltaSeries, Span};
use serde::{Deserialize, Serialize};

use super::AgentId;

/// Reports of several agents, of which the samples are added up. It counts as a whole or not at all: a sum cannot be taken
/// apart again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Relayed {
    /// The reports that are in it, those of one agent by rising numbers.
    pub parts: Vec<RelayedPart>,
    /// Their samples.
    pub sums: Vec<RelayedSum>,
}

/// A delta without the samples that were added to others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayedPart {
    /// Whose it is.
    pub agent: AgentId,
    /// Number of the report on the agent's link.
    pub number: u64,
    /// What the agent acknowledged with it.
    pub acknowledged: u64,
    /// The agent's thread.
    pub thread: u32,
    /// The time of the scenarios it covers.
    pub span: Span,
    /// Iterations, as in [`super::ThreadDelta::ended`].
    pub ended: Vec<u64>,
    /// HTTP requests.
    pub requests: f64,
    /// Gauges of which each agent has its own part.
    pub gauges: Vec<DeltaSeries>,
}

/// The samples of reports whose agents number their metrics alike, of the same second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelayedSum {
    /// Whose metric ids these are.
    pub metrics_of: AgentId,
    /// From the first of them to the last. Its middle lies in the same whole second as the middle of each.
    pub span: Span,
    /// All of them.
    pub delta: Delta,
}
