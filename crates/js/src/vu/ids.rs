//! The counters a script sees of the iteration that runs.

/// The counters scripts see for the iteration about to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IterationIds {
    /// `exec.vu.iterationInScenario`.
    pub in_scenario: u64,
    /// `exec.scenario.iterationInInstance`.
    pub scenario_in_instance: u64,
    /// `exec.scenario.iterationInTest`.
    pub scenario_in_test: u64,
}
