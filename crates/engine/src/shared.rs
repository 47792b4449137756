//! What the threads of an engine share: a few counters per scenario.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
};

use onrush_fiber::Nanos;
use onrush_js::{ScenarioContext, ShardedCounter};
use onrush_plan::ScenarioPlan;

use crate::steering::Orders;

/// Counters of one scenario. All relaxed: they are statistics, or handed over by messages that order them.
#[derive(Debug)]
pub(crate) struct SharedScenario {
    pub(crate) context: Arc<ScenarioContext>,
    /// shared-iterations: iterations begun.
    pub(crate) attempts: AtomicU64,
    /// Iterations cut.
    pub(crate) interrupted: ShardedCounter,
    /// VUs inside an iteration.
    pub(crate) running: ShardedCounter,
    /// VUs the scenario holds.
    pub(crate) active: AtomicU64,
    /// Arrival rates: idle VUs by thread.
    pub(crate) idle: Box<[AtomicI64]>,
    /// Arrival rates: VUs made or being made, planned ones included.
    pub(crate) vus: AtomicU64,
    /// Arrival rates: one unplanned VU initialises at a time.
    pub(crate) growing: AtomicBool,
    /// The exhausted pool has been reported.
    pub(crate) warned: AtomicBool,
    /// Iterations dropped.
    pub(crate) dropped: AtomicU64,
    /// Threads whose share is not over.
    pub(crate) threads_left: AtomicU64,
    /// What it is told while it runs.
    pub(crate) orders: Orders,
    /// 0 waiting, 1 running, 2 regular end passed, 3 over.
    pub(crate) phase: AtomicU64,
    /// When it was over.
    pub(crate) ended_at: AtomicU64,
    /// The most VUs it held at once.
    pub(crate) active_max: AtomicU64,
}

impl SharedScenario {
    pub(crate) fn new(context: Arc<ScenarioContext>, threads: usize) -> Self {
        Self {
            context,
            attempts: AtomicU64::new(0),
            interrupted: ShardedCounter::default(),
            running: ShardedCounter::default(),
            active: AtomicU64::new(0),
            idle: (0..threads).map(|_| AtomicI64::new(0)).collect(),
            vus: AtomicU64::new(0),
            growing: AtomicBool::new(false),
            warned: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            threads_left: AtomicU64::new(threads as u64),
            orders: Orders::default(),
            phase: AtomicU64::new(0),
            ended_at: AtomicU64::new(0),
            active_max: AtomicU64::new(0),
        }
    }

    /// Reserves one idle VU of a thread; the reserver must then use it.
    pub(crate) fn claim_idle(&self, thread: usize) -> bool {
        self.idle[thread].fetch_update(Ordering::AcqRel, Ordering::Relaxed, |idle| (idle > 0).then(|| idle - 1)).is_ok()
    }

    pub(crate) fn advance_phase(&self, phase: u64) {
        self.phase.fetch_max(phase, Ordering::AcqRel);
    }
}

/// How a scenario stands, for progress lines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScenarioProgress {
    /// When it started, in the process clock; 0 while it waits.
    pub started_at_ns: u64,
    /// When it was over.
    pub ended_at_ns: u64,
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
    /// Iterations dropped.
    pub dropped: u64,
    /// Past its regular end: only graceful stops remain.
    pub stopping: bool,
    /// Nothing of it runs any more.
    pub over: bool,
    /// What it was steered to, if it was: VUs here, or iterations per second here.
    pub steered: Option<f64>,
    /// Its limit of VUs here, if that was moved.
    pub max_vus: Option<u64>,
}

impl SharedScenario {
    pub(crate) fn progress(&self, plan: &ScenarioPlan, now: Nanos) -> ScenarioProgress {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let phase = self.phase.load(Ordering::Acquire);
        ScenarioProgress {
            started_at_ns: load(&self.context.started_at),
            running_vus: self.running.get(),
            active_vus: load(&self.active),
            done: self.context.done.get(),
            interrupted: self.interrupted.get(),
            dropped: load(&self.dropped),
            ended_at_ns: load(&self.ended_at),
            active_vus_max: load(&self.active_max),
            stopping: phase >= 2,
            over: phase >= 3,
            max_vus: self.orders.moved_max(),
            steered: self.orders.shown(plan, now.0.saturating_sub(load(&self.context.started_at))),
        }
    }
}
