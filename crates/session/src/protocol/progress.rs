//! How an agent's scenarios stand.

use serde::{Deserialize, Serialize};

use super::Time;

/// All that is shown of a run while it lasts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// In the order of [`super::Accepted::scenarios`].
    pub scenarios: Vec<ScenarioProgress>,
    /// VUs a scenario holds.
    pub vus_active: u64,
    /// VUs whose init code has run.
    pub vus_initialized: u64,
    /// Iterations that ended.
    pub complete: u64,
    /// Iterations that were cut.
    pub interrupted: u64,
}

/// One scenario of an agent, or of all, in the coordinator's clock. The engine has its own type, in its process's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ScenarioProgress {
    /// When it started; `None` while it waits.
    pub started_at: Option<Time>,
    /// When it was over.
    pub ended_at: Option<Time>,
    /// VUs inside an iteration.
    pub running_vus: u64,
    /// VUs it holds.
    pub active_vus: u64,
    /// The most it held at once.
    pub active_vus_max: u64,
    /// Iterations that ended.
    pub done: u64,
    /// Iterations cut.
    pub interrupted: u64,
    /// Iterations that ended in an exception, among those that ended.
    #[serde(default)]
    pub thrown: u64,
    /// Iterations dropped.
    pub dropped: u64,
    /// Past its regular end: only graceful stops remain.
    pub stopping: bool,
    /// Nothing of it runs any more.
    pub over: bool,
    /// What it was steered to, if it was: VUs, or iterations per second.
    pub steered: Option<f64>,
    /// Its limit of VUs, if that was moved.
    pub max_vus: Option<u64>,
}

impl Progress {
    /// Adds up what another agent has. The scenario `index` there is `place(index)` here.
    pub(crate) fn add(&mut self, other: &Self, place: impl Fn(usize) -> Option<usize>) {
        self.vus_active = self.vus_active.saturating_add(other.vus_active);
        self.vus_initialized = self.vus_initialized.saturating_add(other.vus_initialized);
        self.complete = self.complete.saturating_add(other.complete);
        self.interrupted = self.interrupted.saturating_add(other.interrupted);
        for (index, scenario) in other.scenarios.iter().enumerate() {
            if let Some(own) = place(index).and_then(|index| self.scenarios.get_mut(index)) {
                own.add(scenario);
            }
        }
    }
}

impl Progress {
    /// Nothing runs there any more. What was counted stays.
    pub(crate) fn end(&mut self) {
        (self.vus_active, self.vus_initialized) = (0, 0);
        for scenario in &mut self.scenarios {
            (scenario.running_vus, scenario.active_vus) = (0, 0);
            (scenario.stopping, scenario.over) = (true, true);
            (scenario.steered, scenario.max_vus) = (None, None);
        }
    }
}

impl ScenarioProgress {
    /// What adding starts from: nothing runs, so it is over until an agent says otherwise.
    pub(crate) const NONE: Self = Self {
        started_at: None,
        ended_at: None,
        running_vus: 0,
        active_vus: 0,
        active_vus_max: 0,
        done: 0,
        interrupted: 0,
        thrown: 0,
        dropped: 0,
        stopping: false,
        over: true,
        steered: None,
        max_vus: None,
    };

    fn add(&mut self, other: &Self) {
        self.started_at = self.started_at.into_iter().chain(other.started_at).min();
        self.ended_at = self.ended_at.max(other.ended_at);
        for (own, more) in [
            (&mut self.running_vus, other.running_vus),
            (&mut self.active_vus, other.active_vus),
            (&mut self.active_vus_max, other.active_vus_max),
            (&mut self.done, other.done),
            (&mut self.interrupted, other.interrupted),
            (&mut self.thrown, other.thrown),
            (&mut self.dropped, other.dropped),
        ] {
            *own = own.saturating_add(more);
        }
        self.stopping |= other.stopping;
        self.over &= other.over;
        self.steered = sum(self.steered, other.steered, |a, b| a + b);
        self.max_vus = sum(self.max_vus, other.max_vus, u64::saturating_add);
    }
}

fn sum<T: Copy>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (a, b) => a.or(b),
    }
}
