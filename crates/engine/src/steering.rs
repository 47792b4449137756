//! What scenarios are ordered while they run: targets and pauses. Whoever decides writes here and wakes the drivers; a
//! driver looks at one counter to see whether there is something new.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use onrush_fiber::Nanos;
use onrush_plan::{
    ExecutorPlan, ScenarioPlan,
    steer::{ArrivalCourse, VuCourse},
};

/// A new target, as this instance's share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewTarget {
    /// VUs that loop here from now on.
    Vus(VuCourse),
    /// VUs that may be used here.
    MaxVus(u64),
    /// When iterations are due.
    Arrivals(ArrivalCourse),
}

/// What a scenario was ordered last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ordered {
    pub(crate) vus: Option<VuCourse>,
    /// When `vus` was changed first, after the scenario's start.
    pub(crate) steered_ns: Option<u64>,
    pub(crate) max_vus: Option<u64>,
    pub(crate) course: Option<Arc<ArrivalCourse>>,
    /// Since when it stands still.
    pub(crate) paused_at: Option<Nanos>,
    /// How long it stood still before.
    pub(crate) paused_ns: u64,
}

/// One scenario's orders, shared by its drivers on all threads.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    ordered: Mutex<Ordered>,
    version: AtomicU64,
    /// A moved `maxVUs`; 0 for none.
    raised: AtomicU64,
}

impl Orders {
    pub(crate) fn steer(&self, target: NewTarget) {
        if let NewTarget::MaxVus(max) = target {
            self.raised.store(max, Ordering::Relaxed);
        }
        self.change(|ordered| match target {
            NewTarget::Vus(vus) => {
                ordered.steered_ns.get_or_insert_with(|| vus.at_ns());
                ordered.vus = Some(vus);
            }
            NewTarget::MaxVus(max) => ordered.max_vus = Some(max),
            NewTarget::Arrivals(course) => ordered.course = Some(Arc::new(course)),
        });
    }

    /// Stands still from `at` on, or goes on at `at`: how long it stood still then.
    pub(crate) fn pause(&self, is_paused: bool, at: Nanos) -> u64 {
        self.change(|ordered| match (is_paused, ordered.paused_at) {
            (true, None) => {
                ordered.paused_at = Some(at);
                0
            }
            (false, Some(since)) => {
                ordered.paused_at = None;
                let ns = at.saturating_sub(since).0;
                ordered.paused_ns += ns;
                ns
            }
            _ => 0,
        })
    }

    fn change<T>(&self, body: impl FnOnce(&mut Ordered) -> T) -> T {
        let result = body(&mut self.ordered.lock().unwrap_or_else(PoisonError::into_inner));
        self.version.fetch_add(1, Ordering::Release);
        result
    }

    /// Since when the scenario stands still, and how long it did before.
    pub(crate) fn pauses(&self) -> (Option<Nanos>, u64) {
        let ordered = self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
        (ordered.paused_at, ordered.paused_ns)
    }

    /// When its VUs were steered first, after its start; 0 if they were not.
    pub(crate) fn steered_ns(&self) -> u64 {
        self.ordered.lock().unwrap_or_else(PoisonError::into_inner).steered_ns.unwrap_or(0)
    }

    /// The schedule of arrivals, if it was changed.
    pub(crate) fn course(&self) -> Option<Arc<ArrivalCourse>> {
        self.ordered.lock().unwrap_or_else(PoisonError::into_inner).course.clone()
    }

    /// The most VUs an arrival rate may use, if it was raised above `planned`.
    pub(crate) fn max_vus(&self, planned: u64) -> u64 {
        planned.max(self.raised.load(Ordering::Relaxed))
    }

    /// A limit of VUs that was moved.
    pub(crate) fn moved_max(&self) -> Option<u64> {
        Some(self.raised.load(Ordering::Relaxed)).filter(|max| *max > 0)
    }

    /// What it was steered to, for progress: VUs, or iterations per second at a moment after its start.
    pub(crate) fn shown(&self, plan: &ScenarioPlan, elapsed_ns: u64) -> Option<f64> {
        if self.version.load(Ordering::Acquire) == 0 {
            return None;
        }
        let ordered = self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
        match &plan.executor {
            ExecutorPlan::ConstantArrivalRate(_) | ExecutorPlan::RampingArrivalRate(_) => {
                ordered.course.as_ref().map(|course| course.rate_at(elapsed_ns))
            }
            _ => ordered.vus.as_ref().map(|course| course.vus_at(elapsed_ns) as f64),
        }
    }
}

/// A driver's view of its orders.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    version: u64,
}

impl Watch {
    /// What is ordered, if that is more than this driver knew.
    pub(crate) fn news(&mut self, orders: &Orders) -> Option<Ordered> {
        let version = orders.version.load(Ordering::Acquire);
        if version == self.version {
            return None;
        }
        self.version = version;
        Some(orders.ordered.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// There is something this driver does not know.
    pub(crate) fn is_stale(&self, orders: &Orders) -> bool {
        orders.version.load(Ordering::Acquire) != self.version
    }
}
