//! Executors whose VUs loop without pause: constant-vus, shared-iterations, per-vu-iterations.

use std::{rc::Rc, sync::atomic::Ordering, time::Duration};

use onrush_fiber::{Clock, Woke};
use onrush_metrics::builtin;

use super::ScenarioRun;
use crate::{slot::Slot, worker::Worker};

/// Every VU iterates until the regular end.
pub(super) fn constant_vus(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: u64) {
    start(worker, run, vus, |run, slot| while !run.is_over() && slot.iterate(run) {});
    run.wait_until_idle();
}

/// VUs race for `iterations` in all.
pub(super) fn shared_iterations(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: u64, iterations: u64) {
    start(worker, run, vus, move |run, slot| {
        while !run.is_over() {
            let claimed = run
                .shared
                .attempts
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |begun| (begun < iterations).then(|| begun + 1));
            if claimed.is_err() || !slot.iterate(run) {
                break;
            }
        }
    });
    run.wait_until_idle();
    // k6: what nobody began is dropped, in one sample, unless the test was ended; the last thread to finish knows.
    if run.shared.threads_left.load(Ordering::Acquire) == 1 && !run.is_cut() {
        let dropped = iterations.saturating_sub(run.shared.attempts.load(Ordering::Acquire));
        drop_iterations(worker, run, dropped);
    }
}

/// Every VU does `iterations` of its own.
pub(super) fn per_vu_iterations(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: u64, iterations: u64) {
    let own = worker.clone();
    start(worker, run, vus, move |run, slot| {
        let mut done = 0;
        while done < iterations && !run.is_over() && slot.iterate(run) {
            done += 1;
        }
        if done < iterations && !run.is_cut() {
            drop_iterations(&own, run, iterations - done);
        }
    });
    run.wait_until_idle();
}

/// Gives this thread's share of the VUs the same loop.
fn start(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: u64, body: impl Fn(&Rc<ScenarioRun>, &Rc<Slot>) + 'static) {
    let body = Rc::new(body);
    for started in 0..run.share(worker, vus) {
        if started % STARTED_PER_STEP == STARTED_PER_STEP - 1
            && onrush_fiber::sleep_until(Clock::now() + START_STEP) == Woke::Cancelled
        {
            onrush_fiber::clear_cancel();
            return;
        }
        let Some(slot) = run.acquire(worker) else { return };
        run.enter();
        let (worker, run, body) = (worker.clone(), run.clone(), body.clone());
        slot.give(Box::new(move |slot| {
            body(&run, slot);
            run.release(&worker, slot);
            run.exit();
        }));
    }
}

/// VUs started at once. Thousands of VUs that connect in the same instant overflow the accept queue of the system under
/// test (4,096 by Linux's default), which then answers some of them seconds later; and each would hold the stack of its
/// first request at the same time. 32 a millisecond and thread is 15,000 VUs in a quarter of a second on two threads.
const STARTED_PER_STEP: u64 = 32;
/// The pause between them.
const START_STEP: Duration = Duration::from_millis(1);

/// Counts iterations that will never run.
pub(super) fn drop_iterations(worker: &Worker, run: &ScenarioRun, count: u64) {
    if count > 0 {
        run.shared.dropped.fetch_add(count, Ordering::Relaxed);
        worker.js.add_sample(builtin::DROPPED_ITERATIONS, Some(run.index), count as f64);
    }
}
