//! constant- and ramping-arrival-rate: iterations begin when the plan says, whoever is free runs them.
//!
//! Each thread dispatches its own events. One that finds no idle VU on its thread is handed to a thread that has one;
//! only when no thread has is it dropped, or waits ([`WhenBusy`]), and a VU added if the scenario may have more. The events
//! of a thread that is late, since a script computes there, are begun by the others.

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{Ordering, fence},
    },
    time::Duration,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::{ArrivalEvent, ArrivalVus, WhenBusy, steer::ArrivalCourse};

use super::looping::drop_iterations;
use crate::{scenario_run::ScenarioRun, shared::Arrivals, slot::Slot, steering::Watch, worker::Worker};

/// Events dispatched before the VUs they started get to run: bounds how late an iteration begins in a burst.
const BURST: u32 = 64;
/// What was due before the regular end may begin this long after it. What a generator is further behind with is
/// counted as dropped: planned iterations either run or are told of.
const CATCH_UP_MAX: Duration = Duration::from_millis(100);
/// Other threads begin what a thread is so late with: later than its timers ever are when no script computes (about a
/// millisecond), earlier than anybody would call late.
const HELP_AFTER: Duration = Duration::from_millis(5);
/// Additional VUs whose init code may throw before no more are made: it runs again for each.
const FAILED_VUS_MAX: u64 = 10;

pub(super) fn drive(
    worker: &Rc<Worker>,
    run: &Rc<ScenarioRun>,
    vus: ArrivalVus,
    event: impl FnMut(u64) -> Option<ArrivalEvent>,
) {
    prepare(worker, run);
    let dispatcher = Dispatcher {
        worker,
        run,
        vus,
        event,
        course: None,
        watch: Watch::default(),
        burst: 0,
        stalled_until: Nanos::ZERO,
    };
    dispatcher.run();
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

/// Begins a thread's events when they are due, and those of threads that are late.
struct Dispatcher<'a, E> {
    worker: &'a Rc<Worker>,
    run: &'a Rc<ScenarioRun>,
    vus: ArrivalVus,
    /// The plan's `j`-th event.
    event: E,
    /// What holds instead of the plan once the rate was changed.
    course: Option<Arc<ArrivalCourse>>,
    watch: Watch,
    /// Events dispatched since VUs got to run.
    burst: u32,
    /// Events up to here were not begun in time because all VUs were busy ([`WhenBusy::Wait`]).
    stalled_until: Nanos,
}

impl<E: FnMut(u64) -> Option<ArrivalEvent>> Dispatcher<'_, E> {
    fn run(mut self) {
        let run = self.run.clone();
        let (own, step) = (&run.shared.arrivals[run.thread], run.shared.arrivals.len() as u64);
        while !run.is_cut() {
            if let Some(told) = self.watch.news(&run.shared.orders) {
                self.course = told.course.or(self.course);
            }
            let j = own.next();
            let due = self.due(j);
            own.due_ns.store(due.map_or(Arrivals::NONE, |due| due.0), Ordering::Relaxed);
            let now = Clock::now();
            match due {
                // Nothing more is due, unless the rate is changed.
                None if run.is_over(now) => return,
                // Late events are not skipped: they fire at once, so a stalled generator catches up.
                Some(due) if due <= now => {
                    if !self.pace() {
                        return;
                    }
                    if Clock::now() >= (run.regular_end.get() + CATCH_UP_MAX).min(run.hard_end.get()) {
                        return self.drop_rest();
                    }
                    match self.vus.when_busy {
                        WhenBusy::Drop => {
                            if own.take(j, step) {
                                self.dispatch(due);
                            }
                        }
                        WhenBusy::Wait => {
                            if !self.dispatch_or_wait(j, step, due) {
                                return;
                            }
                        }
                    }
                }
                _ => {
                    self.burst = 0;
                    let until = due.unwrap_or_else(|| run.regular_end.get()).min(self.help());
                    if !wait_until(until) {
                        return;
                    }
                }
            }
        }
    }

    /// Begins an iteration, or drops it.
    fn dispatch(&self, due: Nanos) {
        match claim(self.worker, self.run) {
            Some(thread) => begin(self.worker, self.run, thread, due, Lateness::Ours),
            None => {
                drop_iterations(self.worker, self.run, None, 1);
                grow(self.worker, self.run, self.vus);
            }
        }
    }

    /// Begins event `j`, or waits for a VU and leaves it where it is; `false` when the run is interrupted.
    fn dispatch_or_wait(&mut self, j: u64, step: u64, due: Nanos) -> bool {
        let run = self.run.clone();
        let shared = &run.shared;
        let thread = match claim(self.worker, &run) {
            Some(thread) => thread,
            None => {
                // Whoever becomes idle from now on wakes the driver of its thread, so one more look is needed.
                shared.stalled.fetch_add(1, Ordering::SeqCst);
                let claimed = claim(self.worker, &run);
                let is_cut = claimed.is_none() && !self.wait_for_vu();
                shared.stalled.fetch_sub(1, Ordering::SeqCst);
                let Some(thread) = claimed else { return !is_cut };
                thread
            }
        };
        if shared.arrivals[run.thread].take(j, step) {
            let lateness = if due <= self.stalled_until { Lateness::Waited } else { Lateness::Ours };
            begin(self.worker, &run, thread, due, lateness);
        } else {
            shared.return_idle(thread);
        }
        true
    }

    /// Waits until there may be an idle VU, or the end; `false` when the run is interrupted.
    fn wait_for_vu(&mut self) -> bool {
        let run = self.run;
        grow(self.worker, run, self.vus);
        let goes_on = wait_until((run.regular_end.get() + CATCH_UP_MAX).min(run.hard_end.get()));
        self.stalled_until = Clock::now();
        goes_on
    }

    /// When event `j` is due, if it is before the regular end or exactly at it.
    fn due(&mut self, j: u64) -> Option<Nanos> {
        let next = match &self.course {
            None => (self.event)(j),
            Some(course) => course.event(j),
        };
        let due = next.map(|next| Nanos(self.run.start.0.saturating_add(next.at_ns)));
        due.filter(|due| *due <= self.run.regular_end.get())
    }

    /// Lets VUs run after a number of events; `false` when the run is interrupted.
    fn pace(&mut self) -> bool {
        self.burst += 1;
        if self.burst < BURST {
            return true;
        }
        self.burst = 0;
        let woke = onrush_fiber::yield_now();
        if woke == Woke::Cancelled {
            onrush_fiber::clear_cancel();
        }
        woke != Woke::Cancelled
    }

    /// Begins what is overdue on threads that do not get to it, as far as there are idle VUs here: the script may
    /// compute for long. Returns when to look again.
    fn help(&mut self) -> Nanos {
        let run = self.run.clone();
        run.wants_idle.set(false);
        let step = run.shared.arrivals.len() as u64;
        // A thread that waits for a VU has nothing against another one's.
        let is_stalled = run.shared.stalled.load(Ordering::SeqCst) > 0;
        let (after, lateness) = match is_stalled {
            true => (Duration::ZERO, Lateness::Waited),
            false => (HELP_AFTER, Lateness::Ours),
        };
        let others = run.shared.arrivals.iter().enumerate().filter(|(thread, _)| *thread != run.thread);
        let mut next = Nanos::MAX;
        for (_, other) in others {
            loop {
                let known = Nanos(other.due_ns.load(Ordering::Relaxed));
                if known.0 == Arrivals::NONE {
                    break;
                }
                let now = Clock::now();
                if known + after > now {
                    next = next.min(known + after);
                    break;
                }
                // It may be an earlier one's time, or the thread has not come here yet.
                let j = other.next();
                let Some(due) = self.due(j) else { break };
                if due + after > now {
                    next = next.min(due + after);
                    break;
                }
                if self.burst >= BURST {
                    return now;
                }
                if !run.shared.claim_idle(run.thread) {
                    // The next VU that becomes idle wakes this driver.
                    run.wants_idle.set(true);
                    return next;
                }
                if other.take(j, step) {
                    self.burst += 1;
                    run_on_idle(self.worker, &run, due, lateness);
                } else {
                    run.shared.return_idle(run.thread);
                }
            }
        }
        next
    }

    /// What can no longer begin is counted as dropped.
    fn drop_rest(&mut self) {
        let (arrivals, first) = (&self.run.shared.arrivals, self.run.shared.arrivals[self.run.thread].take_rest());
        let step = arrivals.len() as u64;
        let count = count_while(|k| self.due(first.saturating_add(k.saturating_mul(step))).is_some());
        drop_iterations(self.worker, self.run, None, count);
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
fn prepare(worker: &Rc<Worker>, run: &Rc<ScenarioRun>) {
    let planned = run.planned_here(worker);
    for taken in 0..planned {
        let Some(slot) = run.acquire(worker) else {
            run.shared.vus.fetch_sub(planned - taken, Ordering::AcqRel);
            return;
        };
        becomes_idle(worker, run, slot);
    }
}

fn becomes_idle(worker: &Worker, run: &ScenarioRun, slot: Rc<Slot>) {
    run.idle.borrow_mut().push_back(slot);
    run.shared.return_idle(worker.thread);
    // Either the thread that waits sees the VU, or this one sees that it waits.
    fence(Ordering::SeqCst);
    if run.wants_idle.get() || run.shared.stalled.load(Ordering::SeqCst) > 0 {
        run.wake_driver();
    }
}

/// Other threads may hand over iterations until the regular end, so VUs stay until then.
fn wait_for_regular_end(run: &ScenarioRun) {
    while !run.is_over(Clock::now()) {
        if onrush_fiber::sleep_until(run.regular_end.get()) == Woke::Cancelled {
            onrush_fiber::clear_cancel();
        }
    }
}

/// Reserves an idle VU, of this thread if it has one: the thread that has it.
fn claim(worker: &Worker, run: &ScenarioRun) -> Option<usize> {
    let shared = &run.shared;
    if shared.claim_idle(worker.thread) {
        return Some(worker.thread);
    }
    let threads = shared.arrivals.len();
    let others = || (1..threads).map(|step| (worker.thread + step) % threads);
    // A thread that is late with its own arrivals would be with this one.
    let now = Clock::now();
    let is_late = |thread: &usize| Nanos(shared.arrivals[*thread].due_ns.load(Ordering::Relaxed)) + HELP_AFTER < now;
    others().filter(|thread| !is_late(thread)).chain(others()).find(|&thread| shared.claim_idle(thread))
}

/// Runs one iteration on a VU that was claimed on a thread.
fn begin(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, thread: usize, due: Nanos, lateness: Lateness) {
    if thread == worker.thread {
        return run_on_idle(worker, run, due, lateness);
    }
    let Some(remote) = worker.common.remote(thread) else {
        return drop_iterations(worker, run, None, 1);
    };
    let index = run.index;
    remote.post(Box::new(move || {
        let Some(worker) = Worker::current() else { return };
        let run = worker.runs.borrow().iter().find(|run| run.index == index).cloned();
        if let Some(run) = run {
            run_on_idle(&worker, &run, due, lateness);
        }
    }));
}

/// Whose fault it is that an iteration begins late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lateness {
    /// The generator's.
    Ours,
    /// That of iterations which take longer than the schedule has VUs for.
    Waited,
}

/// Runs one iteration on a VU that was claimed.
fn run_on_idle(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, due: Nanos, lateness: Lateness) {
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
        let late_ms = (now - due).as_millis_f64();
        if lateness == Lateness::Ours {
            worker.start_lag.borrow_mut().record(late_ms);
        }
        slot.vu.set_late(Some(late_ms));
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
    if shared.failed.load(Ordering::Relaxed) >= FAILED_VUS_MAX || shared.growing.swap(true, Ordering::AcqRel) {
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
        match result {
            Ok(()) => {
                own.common.config.run.state.vus_initialized.fetch_add(1, Ordering::Relaxed);
                run.adopt(slot);
                becomes_idle(&own, &run, slot.clone());
            }
            Err(failure) => {
                run.shared.vus.fetch_sub(1, Ordering::AcqRel);
                run.warn(&own, format!("failed to initialise an additional VU: {failure}"));
                if run.shared.failed.fetch_add(1, Ordering::Relaxed) + 1 == FAILED_VUS_MAX {
                    run.warn(&own, format!("{FAILED_VUS_MAX} additional VUs failed to initialise, no more are made"));
                }
            }
        }
        run.shared.growing.store(false, Ordering::Release);
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
