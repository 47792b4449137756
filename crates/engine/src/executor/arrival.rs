//! constant- and ramping-arrival-rate: iterations begin when the plan says, whoever is free runs them.
//!
//! Each thread dispatches its own events. One that finds no idle VU on its thread is handed to a thread that has one;
//! only when no thread has is it dropped, and a VU added if the scenario may have more.

use std::{rc::Rc, sync::atomic::Ordering, time::Duration};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::{ArrivalEvent, ArrivalVus, first_for};

use super::{ScenarioRun, looping::drop_iterations};
use crate::{slot::Slot, steering::Watch, worker::Worker};

/// Events dispatched before the VUs they started get to run: bounds how late an iteration begins in a burst.
const BURST: u32 = 64;
/// What was due before the regular end may begin this long after it. What a generator is further behind with is
/// counted as dropped: planned iterations either run or are told of.
const CATCH_UP_MAX: Duration = Duration::from_millis(100);

pub(super) fn drive(
    worker: &Rc<Worker>,
    run: &Rc<ScenarioRun>,
    vus: ArrivalVus,
    mut event: impl FnMut(u64) -> Option<ArrivalEvent>,
) {
    prepare(worker, run, vus);
    let common = &worker.common;
    let threads = common.config.threads as u64;
    let mut j = first_for(worker.thread as u64, threads, common.offset(run.index));
    let mut burst = 0;
    let (mut watch, mut course) = (Watch::default(), None);
    while !run.is_cut() {
        if let Some(told) = watch.news(&run.shared.orders) {
            course = told.course.or(course);
        }
        let next = match &course {
            None => event(j),
            Some(course) => course.event(j),
        };
        // An event may be due exactly at the regular end.
        let due = next.map(|next| Nanos(run.start.0.saturating_add(next.at_ns)));
        let Some(due) = due.filter(|due| *due <= run.regular_end.get()) else {
            // Nothing more is due, unless the rate is changed.
            if !run.is_over(Clock::now()) && wait_until(run.regular_end.get()) {
                continue;
            }
            break;
        };
        // Late events are not skipped: they fire at once, so a stalled generator catches up.
        if due > Clock::now() {
            burst = 0;
            if !wait_until(due) {
                break;
            }
            if Clock::now() < due {
                // Woken before the time: there is news.
                continue;
            }
        } else {
            burst += 1;
            if burst >= BURST {
                burst = 0;
                if onrush_fiber::yield_now() == Woke::Cancelled {
                    onrush_fiber::clear_cancel();
                    break;
                }
            }
            let latest = (run.regular_end.get() + CATCH_UP_MAX).min(run.hard_end.get());
            if Clock::now() >= latest {
                let is_due = |k: u64| {
                    let j = j.saturating_add(k.saturating_mul(threads));
                    let next = course.as_ref().map_or_else(|| event(j), |course| course.event(j));
                    next.is_some_and(|next| Nanos(run.start.0.saturating_add(next.at_ns)) <= run.regular_end.get())
                };
                drop_iterations(worker, run, None, count_while(is_due));
                break;
            }
        }
        dispatch(worker, run, vus, due);
        j += threads;
    }
    wait_for_regular_end(run);
    run.wait_until_idle();
    // A thread that is late may still look for an idle VU: these are somebody else's now.
    run.shared.idle[worker.thread].store(0, Ordering::Release);
    run.idle.borrow_mut().clear();
    let slots: Vec<_> = run.slots.borrow().clone();
    for slot in slots {
        run.release(worker, &slot);
    }
}

/// How many of 0, 1, 2, … fulfil a condition that holds up to some number and not from there on.
fn count_while(mut holds: impl FnMut(u64) -> bool) -> u64 {
    let mut above = 1_u64;
    while above < u64::MAX / 2 && holds(above - 1) {
        above *= 2;
    }
    // It holds below `low`, and not from `above - 1` on.
    let (mut low, mut high) = (above / 2, above - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Waits for a moment or for news; `false` when the run is interrupted.
fn wait_until(at: Nanos) -> bool {
    if onrush_fiber::park(Some(at)) == Woke::Cancelled {
        onrush_fiber::clear_cancel();
        return false;
    }
    true
}

/// Takes this thread's share of the pre-allocated VUs.
fn prepare(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: ArrivalVus) {
    for _ in 0..run.share(worker, vus.planned) {
        let Some(slot) = run.acquire(worker) else { return };
        run.shared.vus.fetch_add(1, Ordering::Relaxed);
        becomes_idle(worker, run, slot);
    }
}

fn becomes_idle(worker: &Worker, run: &ScenarioRun, slot: Rc<Slot>) {
    run.idle.borrow_mut().push_back(slot);
    run.shared.idle[worker.thread].fetch_add(1, Ordering::AcqRel);
}

/// Other threads may hand over iterations until the regular end, so VUs stay until then.
fn wait_for_regular_end(run: &ScenarioRun) {
    while !run.is_over(Clock::now()) {
        if onrush_fiber::sleep_until(run.regular_end.get()) == Woke::Cancelled {
            onrush_fiber::clear_cancel();
        }
    }
}

fn dispatch(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: ArrivalVus, due: Nanos) {
    let shared = &run.shared;
    if shared.claim_idle(worker.thread) {
        run_on_idle(worker, run, due);
        return;
    }
    let threads = worker.common.config.threads;
    let other = (1..threads).map(|step| (worker.thread + step) % threads).find(|&thread| shared.claim_idle(thread));
    if let Some(remote) = other.and_then(|thread| worker.common.remote(thread)) {
        let index = run.index;
        remote.post(Box::new(move || {
            let Some(worker) = Worker::current() else { return };
            let run = worker.runs.borrow().iter().find(|run| run.index == index).cloned();
            if let Some(run) = run {
                run_on_idle(&worker, &run, due);
            }
        }));
        return;
    }
    drop_iterations(worker, run, None, 1);
    grow(worker, run, vus);
}

/// Runs one iteration on a VU that was claimed.
fn run_on_idle(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, due: Nanos) {
    // The claim was counted when the VU was queued, so one is there, unless the scenario ended here meanwhile.
    let slot = run.idle.borrow_mut().pop_front();
    if run.is_cut() {
        return;
    }
    let Some(slot) = slot else { return drop_iterations(worker, run, None, 1) };
    run.enter();
    let (worker, run) = (worker.clone(), run.clone());
    slot.give(Box::new(move |slot| {
        let mut now = Clock::now();
        worker.start_lag.borrow_mut().record((now - due).as_millis_f64());
        if slot.iterate(&run, &mut now) {
            worker.js.add_intended(run.index, (now - due).as_millis_f64());
        }
        becomes_idle(&worker, &run, slot.clone());
        run.exit();
    }));
}

/// Adds a VU if the scenario may have more and none is on its way.
fn grow(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, vus: ArrivalVus) {
    let shared = &run.shared;
    if shared.growing.swap(true, Ordering::AcqRel) {
        return;
    }
    let max = shared.orders.max_vus(vus.max);
    let grown =
        shared.vus.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |existing| (existing < max).then(|| existing + 1));
    if grown.is_err() {
        shared.growing.store(false, Ordering::Release);
        if !shared.warned.swap(true, Ordering::Relaxed) {
            run.warn(worker, format!("Insufficient VUs, reached {max} active VUs and cannot initialize more"));
        }
        return;
    }
    let (id, id_in_test) = worker.common.next_vu();
    let (own, run) = (worker.clone(), run.clone());
    let slot = Slot::spawn(worker, id, id_in_test, move |slot, result| {
        run.shared.growing.store(false, Ordering::Release);
        match result {
            Ok(()) => {
                own.common.config.run.state.vus_initialized.fetch_add(1, Ordering::Relaxed);
                run.adopt(slot);
                becomes_idle(&own, &run, slot.clone());
            }
            Err(failure) => {
                run.warn(&own, format!("failed to initialise an additional VU: {failure}"));
            }
        }
    });
    worker.slots.borrow_mut().push(slot);
}

#[cfg(test)]
mod tests {
    use super::count_while;

    #[test]
    fn counts() {
        for count in (0..70).chain([1_000_000_007, 1 << 40]) {
            assert_eq!(count_while(|k| k < count), count);
        }
        assert_eq!(count_while(|k| k < u64::MAX / 2), u64::MAX / 2);
        assert!(count_while(|_| true) >= u64::MAX / 2);
    }
}
