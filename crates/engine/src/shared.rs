//! What the threads of an engine share: a few counters per scenario.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering},
};

use onrush_fiber::Nanos;
use onrush_js::{ScenarioContext, ShardedCounter};
use onrush_plan::{ExecutorPlan, ScenarioPlacement, ScenarioPlan, TakenUp};

use crate::steering::Orders;

/// Counters of one scenario. All relaxed: they are statistics, or handed over by messages that order them.
#[derive(Debug)]
pub(crate) struct SharedScenario {
    pub(crate) context: Arc<ScenarioContext>,
    /// shared-iterations: iterations begun.
    pub(crate) attempts: AtomicU64,
    /// Iterations cut.
    pub(crate) interrupted: ShardedCounter,
    /// Iterations that ended in an exception; they are done as well.
    pub(crate) thrown: ShardedCounter,
    /// VUs inside an iteration.
    pub(crate) running: ShardedCounter,
    /// VUs the scenario holds.
    pub(crate) active: AtomicU64,
    /// Arrival rates: idle VUs by thread.
    pub(crate) idle: Box<[AtomicI64]>,
    /// Arrival rates: what is due next, by thread.
    pub(crate) arrivals: Box<[Arrivals]>,
    /// Arrival rates: VUs made or being made, and all planned ones from the start.
    pub(crate) vus: AtomicU64,
    /// Arrival rates: one unplanned VU initialises at a time.
    pub(crate) growing: AtomicBool,
    /// Arrival rates: threads that wait for a VU to begin what is due.
    pub(crate) stalled: AtomicU64,
    /// Arrival rates: unplanned VUs whose init code threw.
    pub(crate) failed: AtomicU64,
    /// The exhausted pool has been reported.
    pub(crate) warned: AtomicBool,
    /// Iterations dropped.
    pub(crate) dropped: AtomicU64,
    /// Threads whose share is not over.
    pub(crate) threads_left: AtomicU64,
    /// What it is told while it runs.
    pub(crate) orders: Orders,
    /// How it goes on, where another instance began it.
    pub(crate) taken: OnceLock<TakenUp>,
    /// A [`ScenarioPhase`].
    phase: AtomicU8,
    /// When it was over.
    pub(crate) ended_at: AtomicU64,
    /// The most VUs it held at once.
    pub(crate) active_max: AtomicU64,
}

impl SharedScenario {
    pub(crate) fn new(
        context: Arc<ScenarioContext>,
        plan: &ScenarioPlan,
        placement: &ScenarioPlacement,
        threads: usize,
    ) -> Self {
        let vus = match &plan.executor {
            ExecutorPlan::ConstantArrivalRate(plan) => plan.vus.planned,
            ExecutorPlan::RampingArrivalRate(plan) => plan.vus.planned,
            _ => 0,
        };
        Self {
            context,
            attempts: AtomicU64::new(0),
            interrupted: ShardedCounter::default(),
            thrown: ShardedCounter::default(),
            running: ShardedCounter::default(),
            active: AtomicU64::new(0),
            idle: (0..threads).map(|_| AtomicI64::new(0)).collect(),
            arrivals: (0..threads).map(|thread| Arrivals::new(placement.first_event(thread))).collect(),
            vus: AtomicU64::new(vus),
            growing: AtomicBool::new(false),
            stalled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            warned: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            threads_left: AtomicU64::new(threads as u64),
            orders: Orders::default(),
            taken: OnceLock::new(),
            phase: AtomicU8::new(ScenarioPhase::Waiting as u8),
            ended_at: AtomicU64::new(0),
            active_max: AtomicU64::new(0),
        }
    }

    /// Another instance began the scenario: its iterations go on from what is known of them. To be called once, before any
    /// thread starts it.
    pub(crate) fn take_up(&self, plan: &ScenarioPlan, placement: &ScenarioPlacement, taken: TakenUp) {
        let first = plan.first_iteration(taken, self.orders.course().as_deref());
        self.context.iterations.store(first, Ordering::Relaxed);
        self.attempts.store(first, Ordering::Relaxed);
        let step = self.arrivals.len() as u64;
        for (thread, arrivals) in self.arrivals.iter().enumerate() {
            let own = placement.first_event(thread);
            let skipped = first.saturating_sub(own).div_ceil(step.max(1));
            arrivals.next.store(own.saturating_add(skipped.saturating_mul(step)), Ordering::Release);
        }
        let _ = self.taken.set(taken);
    }

    /// Reserves one idle VU of a thread; the reserver must then use it, or return it.
    pub(crate) fn claim_idle(&self, thread: usize) -> bool {
        self.idle[thread].fetch_update(Ordering::AcqRel, Ordering::Relaxed, |idle| (idle > 0).then(|| idle - 1)).is_ok()
    }

    /// Gives a reserved VU up again.
    pub(crate) fn return_idle(&self, thread: usize) {
        self.idle[thread].fetch_add(1, Ordering::AcqRel);
    }

    /// Phases only follow each other: threads report them in any order.
    pub(crate) fn advance(&self, phase: ScenarioPhase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    fn has_reached(&self, phase: ScenarioPhase) -> bool {
        self.phase.load(Ordering::Acquire) >= phase as u8
    }
}

/// How far a scenario has come, on the thread that has come furthest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ScenarioPhase {
    /// Its start is still to come.
    Waiting,
    /// Iterations begin.
    Running,
    /// Past its regular end: only graceful stops remain.
    Stopping,
    /// Nothing of it runs any more, on any thread.
    Over,
}

/// The arrivals a thread has still to dispatch. Whoever moves `next` on dispatches the event it stood at: the thread
/// itself or, when that is busy computing, another one.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// The number of its next event.
    next: AtomicU64,
    /// When that is due, as far as is known: 0 for not yet, [`Arrivals::NONE`] for no more.
    pub(crate) due_ns: AtomicU64,
}

impl Arrivals {
    /// No event is due any more.
    pub(crate) const NONE: u64 = u64::MAX;

    fn new(first: u64) -> Self {
        Self { next: AtomicU64::new(first), due_ns: AtomicU64::new(0) }
    }

    /// The number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Acquire)
    }

    /// Takes event `j`, if nobody else did; the one after it is `step` on.
    pub(crate) fn take(&self, j: u64, step: u64) -> bool {
        self.next.compare_exchange(j, j.saturating_add(step), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes all that are left: the number of the first of them.
    pub(crate) fn take_rest(&self) -> u64 {
        self.due_ns.store(Self::NONE, Ordering::Relaxed);
        self.next.swap(u64::MAX, Ordering::AcqRel)
    }
}

/// How a scenario stands on this engine, in this process's clock.
///
/// `session::protocol` has the type that travels, in the coordinator's clock: the engine knows no session, and what
/// others receive must not change with what the engine counts. `agent` translates.
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
    /// Iterations that ended in an exception, among those that ended.
    pub thrown: u64,
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
        // First: who sees the last phase must see when it began.
        let is_over = self.has_reached(ScenarioPhase::Over);
        ScenarioProgress {
            started_at_ns: load(&self.context.started_at),
            running_vus: self.running.get(),
            active_vus: load(&self.active),
            done: self.context.done.get(),
            interrupted: self.interrupted.get(),
            thrown: self.thrown.get(),
            dropped: load(&self.dropped),
            ended_at_ns: load(&self.ended_at),
            active_vus_max: load(&self.active_max),
            stopping: self.has_reached(ScenarioPhase::Stopping),
            over: is_over,
            max_vus: self.orders.moved_max(),
            steered: self.orders.shown(plan, now.0.saturating_sub(load(&self.context.started_at))),
        }
    }
}
