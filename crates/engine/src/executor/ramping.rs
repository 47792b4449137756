//! ramping-vus: handles started and stopped along the plan's staircase.

use std::{cell::Cell, collections::BTreeMap, rc::Rc};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::{HandleChange, RampingVusPlan, thread_of};

use super::ScenarioRun;
use crate::{slot::Slot, worker::Worker};

/// One VU handle of the staircase.
struct Handle {
    slot: Rc<Slot>,
    /// It may begin iterations.
    is_wanted: Cell<bool>,
    /// Its loop has not ended.
    is_looping: Cell<bool>,
}

pub(super) fn drive(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, plan: &RampingVusPlan) {
    let common = &worker.common;
    let (threads, offset) = (common.config.threads as u64, common.offset(run.index));
    let mut handles: BTreeMap<u64, Rc<Handle>> = BTreeMap::new();
    for action in plan.handle_actions() {
        if thread_of(action.handle, threads, offset) != worker.thread as u64 {
            continue;
        }
        let at = Nanos(run.start.0.saturating_add(action.at_ns));
        if !is_due(run, at) {
            break;
        }
        match action.change {
            HandleChange::Start => {
                if let Some(handle) = handles.get(&action.handle).filter(|handle| handle.is_looping.get()) {
                    // Still finishing its last iteration: the same VU goes on without a restart.
                    handle.is_wanted.set(true);
                } else if let Some(slot) = run.acquire(worker) {
                    handles.insert(action.handle, start(worker, run, slot));
                }
            }
            HandleChange::GracefulStop => {
                if let Some(handle) = handles.get(&action.handle) {
                    handle.is_wanted.set(false);
                }
            }
            HandleChange::HardStop => {
                if let Some(handle) =
                    handles.get(&action.handle).filter(|handle| !handle.is_wanted.get() && handle.is_looping.get())
                {
                    handle.slot.cut();
                }
            }
        }
    }
    for handle in handles.values() {
        handle.is_wanted.set(false);
    }
    run.wait_until_idle();
}

/// Waits for the moment of a change; `false` when it need not come. Past the regular end only hard stops are left, and
/// nobody has to be stopped once all VUs are idle.
fn is_due(run: &ScenarioRun, at: Nanos) -> bool {
    loop {
        if run.at_work.get() == 0 && at >= run.regular_end && Clock::now() >= run.regular_end {
            return false;
        }
        let now = Clock::now();
        if now >= at {
            return true;
        }
        // The last VU to become idle wakes the driver; before the regular end it sleeps on.
        let until = if now < run.regular_end { at.min(run.regular_end) } else { at };
        if onrush_fiber::park(Some(until)) == Woke::Cancelled {
            onrush_fiber::clear_cancel();
            return false;
        }
    }
}

fn start(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, slot: Rc<Slot>) -> Rc<Handle> {
    let handle = Rc::new(Handle { slot: slot.clone(), is_wanted: Cell::new(true), is_looping: Cell::new(true) });
    run.enter();
    let (worker, run, own) = (worker.clone(), run.clone(), handle.clone());
    slot.give(Box::new(move |slot| {
        let mut now = Clock::now();
        while own.is_wanted.get() && !run.is_over(now) {
            // An iteration cut by a hard stop ends the loop unless the ramp wants the handle again.
            if !slot.iterate(&run, &mut now) && run.is_cut() {
                break;
            }
        }
        own.is_looping.set(false);
        run.release(&worker, slot);
        run.exit();
    }));
    handle
}
