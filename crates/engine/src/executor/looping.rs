//! Executors whose VUs do a given number of iterations: shared-iterations, per-vu-iterations.

use std::{rc::Rc, sync::atomic::Ordering};

use onrush_fiber::Clock;

use super::pace::Pace;
use crate::{scenario_run::ScenarioRun, slot::Slot, worker::Worker};

/// VUs race for `iterations` in all.
pub(super) fn shared_iterations(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, iterations: u64) {
    start(worker, run, move |run, slot, _| {
        let mut now = Clock::now();
        while !run.is_over(now) {
            let claimed = run
                .shared
                .attempts
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |begun| (begun < iterations).then(|| begun + 1));
            if claimed.is_err() || !slot.iterate(run, &mut now) {
                break;
            }
        }
    });
    run.wait_until_idle();
}

/// After the last thread's share is over. k6: what nobody began is dropped, in one sample, unless the test was ended.
pub(super) fn drop_shared_iterations(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, iterations: u64) {
    if !run.is_cut() {
        let dropped = iterations.saturating_sub(run.shared.attempts.load(Ordering::Acquire));
        drop_iterations(worker, run, None, dropped);
    }
}

/// Every VU does `iterations` of its own.
pub(super) fn per_vu_iterations(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, iterations: u64) {
    let own = worker.clone();
    start(worker, run, move |run, slot, begun_before| {
        slot.count_on(begun_before);
        let (mut begun, mut now) = (begun_before, Clock::now());
        while begun < iterations && !run.is_over(now) {
            begun += 1;
            if !slot.iterate(run, &mut now) {
                break;
            }
        }
        // An iteration that was cut had begun: it is interrupted, not dropped.
        if !run.is_cut() {
            drop_iterations(&own, run, Some(slot.vu.id_in_test()), iterations - begun);
        }
    });
    run.wait_until_idle();
}

/// Gives this thread's share of the VUs the same loop. It learns how many iterations its VU need not run.
fn start(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, body: impl Fn(&Rc<ScenarioRun>, &Rc<Slot>, u64) + 'static) {
    let body = Rc::new(body);
    let mut pace = Pace::default();
    for handle in worker.common.placement(run.index).planned_of(worker.thread, 0) {
        let before = run.shared.taken.get().map_or(0, |taken| run.plan.iterations_of_vu_before(handle, *taken));
        if !pace.next() {
            return;
        }
        let Some(slot) = run.acquire(worker) else { return };
        run.enter();
        let (worker, run, body) = (worker.clone(), run.clone(), body.clone());
        slot.give(Box::new(move |slot| {
            body(&run, slot, before);
            run.release(&worker, slot);
            run.exit();
        }));
    }
}

/// Counts iterations that will never run; `vu` is who would have run them, by its number in the test.
pub(super) fn drop_iterations(worker: &Worker, run: &ScenarioRun, vu: Option<u64>, count: u64) {
    if count > 0 {
        run.shared.dropped.fetch_add(count, Ordering::Relaxed);
        worker.js.add_dropped(run.index, vu, count as f64);
    }
}
