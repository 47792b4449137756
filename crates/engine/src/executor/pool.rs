//! Looping VUs whose number follows a target: constant-vus, externally-controlled, and ramping-vus once it is steered.
//!
//! VUs have handles, numbered over the instance and split over the threads like everything else. A target of `n` wants
//! the handles below `n`; this thread starts and stops its own.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::atomic::Ordering,
    time::Duration,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::{first_for, steer::VuCourse};

use super::ScenarioRun;
use crate::{
    slot::Slot,
    steering::{Told, Watch},
    worker::Worker,
};

/// One VU handle.
pub(super) struct Handle {
    pub(super) slot: Rc<Slot>,
    /// It may begin iterations.
    pub(super) is_wanted: Cell<bool>,
    /// Its loop has not ended.
    pub(super) is_looping: Cell<bool>,
}

/// What happens to the iteration of a VU that is no longer wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It is cut. k6: so externally-controlled does.
    Cut,
    /// It may go on for so long.
    After(u64),
}

/// A scenario's handles on this thread.
pub(super) struct Pool {
    worker: Rc<Worker>,
    run: Rc<ScenarioRun>,
    stop: Stop,
    pub(super) handles: BTreeMap<u64, Rc<Handle>>,
    /// Handles that must have ended by a moment.
    stopping: Vec<(Nanos, Rc<Handle>)>,
    /// Initialised VUs that a lower `maxVUs` took away: they come back when it rises again.
    retired: RefCell<Vec<Rc<Slot>>>,
    /// The scenario's VUs on this thread, at work or idle: the planned ones and those made since.
    owned: u64,
    pub(super) watch: Watch,
}

impl Pool {
    pub(super) fn new(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, stop: Stop) -> Self {
        let owned = run.share(worker, run.plan.executor.planned_vus());
        Self {
            worker: worker.clone(),
            run: run.clone(),
            stop,
            handles: BTreeMap::new(),
            stopping: Vec::new(),
            retired: RefCell::default(),
            owned,
            watch: Watch::default(),
        }
    }

    /// Starts and stops handles until as many loop as wanted, something else is wanted by now, or the scenario is over.
    fn reach(&mut self, vus: u64) {
        let common = &self.worker.common;
        let (threads, offset) = (common.config.threads as u64, common.offset(self.run.index));
        let stopped: Vec<Rc<Handle>> = self
            .handles
            .range(vus..)
            .map(|(_, handle)| handle)
            .filter(|handle| handle.is_wanted.get())
            .cloned()
            .collect();
        for handle in stopped {
            self.stop(&handle);
        }
        let first = first_for(self.worker.thread as u64, threads, offset);
        let mut started = 0;
        for number in (first..vus).step_by(self.worker.common.config.threads) {
            if self.handles.get(&number).is_some_and(|handle| handle.is_wanted.get()) {
                continue;
            }
            if self.run.is_over(Clock::now()) || (started > 0 && self.watch.is_stale(&self.run.shared.orders)) {
                return;
            }
            if started % STARTED_PER_STEP == STARTED_PER_STEP - 1
                && onrush_fiber::sleep_until(Clock::now() + START_STEP) == Woke::Cancelled
            {
                onrush_fiber::clear_cancel();
                return;
            }
            started += 1;
            if !self.start(number) {
                return;
            }
        }
    }

    fn start(&mut self, number: u64) -> bool {
        if let Some(handle) = self.handles.get(&number).filter(|handle| handle.is_looping.get()) {
            // Still finishing its last iteration: the same VU goes on without a restart.
            handle.is_wanted.set(true);
            return true;
        }
        let Some(slot) = self.acquire() else { return false };
        let handle = start(&self.worker, &self.run, slot);
        self.handles.insert(number, handle);
        true
    }

    /// One of the VUs planned or made for this scenario, or a new one: the idle VUs of a thread may be meant for other
    /// scenarios, so nobody takes more of them than are its own.
    fn acquire(&mut self) -> Option<Rc<Slot>> {
        let held = self.run.slots.borrow().len() as u64;
        let slot = if held < self.owned {
            self.worker.take_vu(&self.run)?
        } else {
            let slot = self.make_vu()?;
            self.owned += 1;
            slot
        };
        self.run.adopt(&slot);
        Some(slot)
    }

    /// Makes a VU while others run: one at a time, so that they have the thread in between.
    fn make_vu(&self) -> Option<Rc<Slot>> {
        let (id, id_in_test) = self.worker.common.next_vu();
        let (result, driver) = (Rc::new(RefCell::new(None)), onrush_fiber::current()?);
        let sent = result.clone();
        let slot = Slot::spawn(&self.worker, id, id_in_test, move |_, ready| {
            *sent.borrow_mut() = Some(ready);
            onrush_fiber::unpark(driver);
        });
        self.worker.slots.borrow_mut().push(slot.clone());
        while result.borrow().is_none() {
            if onrush_fiber::park(None) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
                return None;
            }
        }
        match result.take() {
            Some(Err(failure)) => {
                self.run.warn(&self.worker, format!("failed to initialise an additional VU: {failure}"));
                None
            }
            _ => {
                self.worker.common.config.run.state.vus_initialized.fetch_add(1, Ordering::Relaxed);
                Some(slot)
            }
        }
    }

    /// Makes, or puts aside, VUs until this thread has its share of `max`; `false` when something else is wanted by now.
    fn reach_max(&mut self, max: u64) -> bool {
        let share = self.run.share(&self.worker, max);
        let state = self.worker.common.config.run.state.clone();
        while self.owned > share {
            let Some(slot) = self.worker.last_idle_vu() else { break };
            self.retired.borrow_mut().push(slot);
            state.vus_initialized.fetch_sub(1, Ordering::Relaxed);
            self.owned -= 1;
        }
        while self.owned < share {
            if self.run.is_over(Clock::now()) || self.watch.is_stale(&self.run.shared.orders) {
                return false;
            }
            let back = self.retired.borrow_mut().pop();
            if back.is_some() {
                state.vus_initialized.fetch_add(1, Ordering::Relaxed);
            }
            let Some(slot) = back.or_else(|| self.make_vu()) else { return false };
            self.worker.give_back(&slot);
            self.owned += 1;
        }
        true
    }

    fn stop(&mut self, handle: &Rc<Handle>) {
        handle.is_wanted.set(false);
        if !handle.is_looping.get() {
            return;
        }
        match self.stop {
            Stop::Cut => handle.slot.cut(),
            Stop::After(ns) => self.stopping.push((Nanos(Clock::now().0.saturating_add(ns)), handle.clone())),
        }
    }

    /// Cuts what had its time to end.
    fn cut_overdue(&mut self) {
        let now = Clock::now();
        self.stopping.retain(|(until, handle)| {
            if handle.is_wanted.get() || !handle.is_looping.get() {
                return false;
            }
            if now < *until {
                return true;
            }
            handle.slot.cut();
            false
        });
    }

    /// Follows orders from `vus` VUs on until the regular end, then waits for what still runs.
    pub(super) fn follow(mut self, mut vus: u64) {
        let run = self.run.clone();
        let is_external = self.stop == Stop::Cut;
        let mut max = run.plan.executor.planned_vus();
        let mut is_reached = false;
        let mut is_paused = false;
        let (mut course, mut paused_ns): (Option<VuCourse>, u64) = (None, 0);
        loop {
            if let Some(told) = self.watch.news(&run.shared.orders) {
                is_reached = false;
                course = told.vus.clone().or(course);
                paused_ns = told.paused_ns;
                max = told.max_vus.unwrap_or(max);
                is_paused = self.pause(&told);
            }
            if run.is_over(Clock::now()) {
                break;
            }
            // The scenario's own clock, which pauses stop.
            let origin_ns = run.start.0.saturating_add(paused_ns);
            let at_ns = Clock::now().0.saturating_sub(origin_ns);
            let mut turn = None;
            if let Some(course) = course.as_ref().filter(|_| !is_paused) {
                let wanted = course.vus_at(at_ns);
                is_reached &= wanted == vus;
                vus = wanted;
                turn = course.next_after(at_ns);
            }
            if !is_reached {
                // A VU that cannot be had now is not asked for again until the target changes.
                is_reached = true;
                let is_ready = !is_external || self.reach_max(max);
                if is_ready && !is_paused {
                    self.reach(vus);
                }
                if self.watch.is_stale(&run.shared.orders) {
                    continue;
                }
            }
            self.cut_overdue();
            let turn = turn.map(|at_ns| Nanos(origin_ns.saturating_add(at_ns)));
            let next = self.stopping.iter().map(|(until, _)| *until).chain(turn).min().unwrap_or(Nanos::MAX);
            if onrush_fiber::park(Some(run.regular_end.get().min(next))) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
            }
        }
        for handle in self.handles.values() {
            handle.is_wanted.set(false);
        }
        run.wait_until_idle();
    }

    /// Paused VUs finish their iteration; the scenario's end moves by as long as it stood still.
    fn pause(&mut self, told: &Told) -> bool {
        let run = &self.run;
        let moved = |end: u64| Nanos(run.start.0.saturating_add(end).saturating_add(told.paused_ns));
        match told.paused_at {
            Some(_) => {
                run.regular_end.set(Nanos::MAX);
                run.hard_end.set(Nanos::MAX);
                self.handles.values().for_each(|handle| handle.is_wanted.set(false));
                true
            }
            None => {
                run.regular_end.set(moved(run.plan.regular_end_ns));
                run.hard_end.set(moved(run.plan.hard_end_ns));
                false
            }
        }
    }
}

/// Has a VU loop until its handle is not wanted or the scenario ends.
pub(super) fn start(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, slot: Rc<Slot>) -> Rc<Handle> {
    let handle = Rc::new(Handle { slot: slot.clone(), is_wanted: Cell::new(true), is_looping: Cell::new(true) });
    run.enter();
    let (worker, run, own) = (worker.clone(), run.clone(), handle.clone());
    slot.give(Box::new(move |slot| {
        let mut now = Clock::now();
        while own.is_wanted.get() && !run.is_over(now) {
            // An iteration cut by a stop ends the loop unless the handle is wanted again.
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

/// VUs started at once. Thousands of VUs that connect in the same instant overflow the accept queue of the system under
/// test (4,096 by Linux's default), which then answers some of them seconds later; and each would hold the stack of its
/// first request at the same time. 32 a millisecond and thread is 15,000 VUs in a quarter of a second on two threads.
pub(super) const STARTED_PER_STEP: u64 = 32;
/// The pause between them.
pub(super) const START_STEP: Duration = Duration::from_millis(1);
