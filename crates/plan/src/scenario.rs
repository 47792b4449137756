//! A validated scenario: the common fields and its executor, for the whole test.

use std::collections::BTreeMap;

use crate::{
    duration::GoDuration,
    error::PlanError,
    executor::{Executor, FOREVER_NS},
    stripe::Share,
};

/// A scenario whose values were all checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// The exported function that is run; not empty.
    pub exec: String,
    /// When it starts, from the start of the test; not negative.
    pub start_time: GoDuration,
    /// How long iterations may go on after the regular end; not negative.
    pub graceful_stop: GoDuration,
    /// Laid over `__ENV` while a VU runs this scenario.
    pub env: BTreeMap<String, String>,
    /// Added to all samples of the scenario.
    pub tags: BTreeMap<String, String>,
    /// The raw `options` object (`{browser: …}`), if there is one.
    pub options: Option<serde_json::Value>,
    /// What it does.
    pub executor: Executor,
}

impl Scenario {
    /// Nanoseconds from its own start to its regular end: no iteration begins after it.
    #[must_use]
    pub fn regular_end_ns(&self) -> u64 {
        self.executor.regular_end_ns()
    }

    /// Nanoseconds from its own start to its hard end: iterations still running are cut there.
    #[must_use]
    pub fn hard_end_ns(&self) -> u64 {
        self.regular_end_ns().saturating_add(self.graceful_stop.as_ns()).min(FOREVER_NS)
    }

    /// k6's one-line description for the share `share`:
    /// `20 looping VUs for 1m0s (exec: contacts, gracefulStop: 30s)`.
    ///
    /// # Errors
    /// When the share cannot be computed because its pattern is too fine.
    pub fn describe(&self, share: &Share) -> Result<String, PlanError> {
        let (what, mut facts) = self.executor.describe(share)?;
        if matches!(self.executor, Executor::ExternallyControlled(_)) {
            // k6: says nothing more about these.
            return Ok(what);
        }
        if self.exec != DEFAULT_EXEC {
            facts.push(format!("exec: {}", self.exec));
        }
        if self.start_time > GoDuration::ZERO {
            facts.push(format!("startTime: {}", self.start_time));
        }
        if self.graceful_stop > GoDuration::ZERO {
            facts.push(format!("gracefulStop: {}", self.graceful_stop));
        }
        Ok(if facts.is_empty() { what } else { format!("{what} ({})", facts.join(", ")) })
    }
}

/// The name of the scenario that the shortcuts make.
pub const DEFAULT_SCENARIO: &str = "default";
/// `exec` when it is not given.
pub const DEFAULT_EXEC: &str = "default";
/// `gracefulStop` when it is not given.
pub const DEFAULT_GRACEFUL_STOP: GoDuration = GoDuration::from_secs(30);
