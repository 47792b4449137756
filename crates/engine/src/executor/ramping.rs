//! ramping-vus: handles started and stopped along the plan's staircase, until somebody steers it.

use std::{collections::BTreeMap, rc::Rc};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::{Executor, HandleChange, RampingVusPlan};

use super::{
    pace::Pace,
    pool::{Handle, Pool, Stop, start},
};
use crate::{scenario_run::ScenarioRun, worker::Worker};

pub(super) fn drive(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, plan: &RampingVusPlan) {
    let placement = worker.common.placement(run.index);
    let ramp_down_ns = match &run.plan.scenario.executor {
        Executor::RampingVus(executor) => executor.graceful_ramp_down.as_ns(),
        _ => 0,
    };
    let mut pool = Pool::new(worker, run, Stop::After(ramp_down_ns));
    let begun_ns = run.begin().saturating_sub(run.start).0;
    let mut pace = Pace::default();
    for (handle, at_ns) in looping_at(plan, begun_ns) {
        if placement.thread_of(handle, at_ns) != worker.thread || pool.watch.is_stale(&run.shared.orders) {
            continue;
        }
        if !pace.next() {
            break;
        }
        if let Some(slot) = run.acquire(worker) {
            pool.handles.insert(handle, start(worker, run, slot));
        }
    }
    let last_start = Nanos(run.start.0.saturating_add(plan.last_step_ns())).min(run.regular_end.get());
    for action in plan.handle_actions().skip_while(|action| action.at_ns < begun_ns) {
        let is_own = match action.change {
            HandleChange::Start => placement.thread_of(action.handle, action.at_ns) == worker.thread,
            // Whoever has it stops it: it may be another thread's when it starts again.
            HandleChange::GracefulStop | HandleChange::HardStop => pool.handles.contains_key(&action.handle),
        };
        if !is_own {
            continue;
        }
        let at = Nanos(run.start.0.saturating_add(action.at_ns));
        match wait_for(run, &pool, at, last_start) {
            Next::Due => {}
            Next::End => break,
            Next::Steered => {
                // From here on somebody else says how many; ramps are not taken up again.
                pool.own_as_of(run.shared.orders.steered_ns());
                let vus = plan.planned_at(Clock::now().saturating_sub(run.start).0);
                return pool.follow(vus);
            }
        }
        match action.change {
            HandleChange::Start => {
                if let Some(handle) = looping(&pool.handles, action.handle) {
                    // Still finishing its last iteration: the same VU goes on without a restart.
                    handle.is_wanted.set(true);
                } else if let Some(slot) = run.acquire(worker) {
                    pool.handles.insert(action.handle, start(worker, run, slot));
                }
            }
            HandleChange::GracefulStop => {
                if let Some(handle) = pool.handles.get(&action.handle).cloned() {
                    handle.is_wanted.set(false);
                    // The plan has its own hard stops, unless it is left.
                    pool.limit(Nanos(at.0.saturating_add(ramp_down_ns)), handle);
                }
            }
            HandleChange::HardStop => {
                if let Some(handle) = looping(&pool.handles, action.handle).filter(|handle| !handle.is_wanted.get()) {
                    handle.slot.cut();
                }
            }
        }
    }
    for handle in pool.handles.values() {
        handle.is_wanted.set(false);
    }
    run.wait_until_idle();
}

/// The handles that loop when another instance's scenario is taken up, each with when it started last.
fn looping_at(plan: &RampingVusPlan, at_ns: u64) -> BTreeMap<u64, u64> {
    let mut looping = BTreeMap::new();
    for action in plan.handle_actions().take_while(|action| action.at_ns < at_ns) {
        match action.change {
            HandleChange::Start => _ = looping.insert(action.handle, action.at_ns),
            HandleChange::GracefulStop => _ = looping.remove(&action.handle),
            HandleChange::HardStop => {}
        }
    }
    looping
}

fn looping(handles: &BTreeMap<u64, Rc<Handle>>, number: u64) -> Option<&Rc<Handle>> {
    handles.get(&number).filter(|handle| handle.is_looping.get())
}

/// Why a wait ended.
#[derive(PartialEq, Eq)]
enum Next {
    /// The change is due.
    Due,
    /// It need not come.
    End,
    /// The plan does not hold any more.
    Steered,
}

/// Waits for the moment of a change. From `last` on only hard stops are left, and nobody has to be stopped once all VUs
/// are idle.
fn wait_for(run: &ScenarioRun, pool: &Pool, at: Nanos, last: Nanos) -> Next {
    let regular_end = run.regular_end.get();
    loop {
        let now = Clock::now();
        if run.at_work.get() == 0 && at >= last && now >= last {
            return Next::End;
        }
        if now < regular_end && pool.watch.is_stale(&run.shared.orders) {
            return Next::Steered;
        }
        if now >= at {
            return Next::Due;
        }
        // The last VU to become idle wakes the driver; before the last change it sleeps on.
        let until = if now < last { at.min(last) } else { at };
        run.wakes_driver.set(true);
        let woke = onrush_fiber::park(Some(until));
        run.wakes_driver.set(false);
        if woke == Woke::Cancelled {
            onrush_fiber::clear_cancel();
            return Next::End;
        }
    }
}
