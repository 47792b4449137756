//! What every thread of an engine can reach.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use onrush_fiber::{Nanos, Remote};
use onrush_plan::{Placement, ScenarioPlacement};

use crate::{EngineConfig, Event, LifecycleError, shared::SharedScenario};

/// What every thread of an engine can reach.
pub(crate) struct Common {
    pub(crate) config: EngineConfig,
    pub(crate) scenarios: Vec<Arc<SharedScenario>>,
    placement: Placement,
    events: Box<dyn Fn(Event) + Send + Sync>,
    remotes: OnceLock<Vec<Remote>>,
    /// Threads whose planned VUs are not all initialised.
    initializing: AtomicU64,
    /// Threads with scenarios that are not over.
    running: AtomicU64,
    /// Of each thread: its scenarios are over, or it was given up.
    over: Box<[AtomicBool]>,
    next_vu: AtomicU64,
    init_failed: AtomicBool,
    has_begun: AtomicBool,
}

impl Common {
    pub(crate) fn new(config: EngineConfig, threads: usize, events: impl Fn(Event) + Send + Sync + 'static) -> Self {
        let placement = Placement::new(&config.plan, threads);
        let plans = config.plan.scenarios.iter().enumerate();
        let scenarios = config.run.scenarios.iter().zip(plans).map(|(context, (index, plan))| {
            Arc::new(SharedScenario::new(context.clone(), plan, placement.scenario(index), threads))
        });
        Self {
            scenarios: scenarios.collect(),
            events: Box::new(events),
            over: (0..threads).map(|_| AtomicBool::new(false)).collect(),
            remotes: OnceLock::new(),
            initializing: AtomicU64::new(threads as u64),
            running: AtomicU64::new(threads as u64),
            next_vu: AtomicU64::new(config.plan.planned_vus),
            init_failed: AtomicBool::new(false),
            has_begun: AtomicBool::new(false),
            placement,
            config,
        }
    }

    /// The threads, once all have started.
    pub(crate) fn set_remotes(&self, remotes: Vec<Remote>) {
        let _ = self.remotes.set(remotes);
    }

    /// The ids of a thread's planned VUs. The first VUs of all threads get the first ids.
    pub(crate) fn planned_ids(&self, thread: usize) -> Vec<u64> {
        self.placement.vus_of(thread).map(|vu| vu + 1).collect()
    }

    /// Init code threw. One report is enough: every VU runs the same.
    pub(crate) fn init_failed(&self, error: LifecycleError) {
        if !self.init_failed.swap(true, Ordering::Relaxed) {
            self.send(Event::InitFailed(error));
        }
    }

    /// All planned VUs of a thread are initialised.
    pub(crate) fn thread_initialized(&self) {
        if self.initializing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.send(Event::Initialized);
        }
    }

    /// A scenario begins on a thread, so long after its planned moment. The first time is worth knowing.
    pub(crate) fn begins(&self, late: Nanos) {
        if !self.has_begun.swap(true, Ordering::Relaxed) {
            self.send(Event::Begun { late });
        }
    }

    /// A thread's scenarios are over, or are no longer waited for.
    pub(crate) fn thread_over(&self, thread: usize) {
        if !self.over[thread].swap(true, Ordering::AcqRel) && self.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.send(Event::ScenariosDone);
        }
    }

    pub(crate) fn send(&self, event: Event) {
        (self.events)(event);
    }

    pub(crate) fn remote(&self, thread: usize) -> Option<&Remote> {
        self.remotes.get()?.get(thread)
    }

    /// The id of the next unplanned VU, and its id in the whole test.
    pub(crate) fn next_vu(&self) -> (u64, u64) {
        let k = self.next_vu.fetch_add(1, Ordering::Relaxed);
        (k + 1, self.config.plan.vu_id_in_test(k).unwrap_or(k + 1))
    }

    /// Which threads a scenario's VUs are on.
    pub(crate) fn placement(&self, scenario: usize) -> &ScenarioPlacement {
        self.placement.scenario(scenario)
    }
}
