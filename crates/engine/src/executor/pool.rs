//! Looping VUs whose number follows a target: constant-vus, externally-controlled, and ramping-vus once it is steered.
//!
//! VUs have handles, numbered over the instance and split over the threads like everything else. A target of `n` wants
//! the handles below `n`; this thread starts and stops its own.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::atomic::Ordering,
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::steer::VuCourse;

use super::pace::Pace;
use crate::{
    scenario_run::ScenarioRun,
    slot::Slot,
    steering::{Ordered, Watch},
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
    /// The numbers of this thread's planned handles.
    own: Vec<u64>,
    /// Initialised VUs that a lower `maxVUs` took away: they come back when it rises again.
    retired: RefCell<Vec<Rc<Slot>>>,
    /// The scenario's VUs on this thread, at work or idle: the planned ones and those made since.
    owned: u64,
    pub(super) watch: Watch,
}

impl Pool {
    pub(super) fn new(worker: &Rc<Worker>, run: &Rc<ScenarioRun>, stop: Stop) -> Self {
        let placement = worker.common.placement(run.index);
        Self {
            worker: worker.clone(),
            run: run.clone(),
            stop,
            handles: BTreeMap::new(),
            stopping: Vec::new(),
            retired: RefCell::default(),
            own: placement.planned_of(worker.thread, 0),
            owned: placement.most_on(worker.thread),
            watch: Watch::default(),
        }
    }

    /// Starts and stops handles until as many loop as wanted, something else is wanted by now, or the scenario is over.
    fn reach(&mut self, vus: u64) {
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
        let mut pace = Pace::default();
        for number in self.own_below(vus) {
            if self.handles.get(&number).is_some_and(|handle| handle.is_wanted.get()) {
                continue;
            }
            if self.run.is_over(Clock::now()) || (!pace.is_at_start() && self.watch.is_stale(&self.run.shared.orders)) {
                return;
            }
            if !pace.next() || !self.start(number) {
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
                // The fiber stays cancelled, so that the driver's next wait ends as well.
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
        let share = self.own_below(max).len() as u64;
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
            Stop::After(ns) => self.limit(Nanos(Clock::now().0.saturating_add(ns)), handle.clone()),
        }
    }

    /// Notes that a handle that was told to stop must have ended by a moment.
    pub(super) fn limit(&mut self, until: Nanos, handle: Rc<Handle>) {
        self.stopping.push((until, handle));
    }

    /// From here on targets say how many VUs loop: the handles are those of the plan at a moment after its start.
    pub(super) fn own_as_of(&mut self, at_ns: u64) {
        self.own = self.worker.common.placement(self.run.index).planned_of(self.run.thread, at_ns);
        for (number, handle) in &self.handles {
            // This thread learned of the change late, and another one goes on with the handle.
            if self.own.binary_search(number).is_err() {
                handle.is_wanted.set(false);
            }
        }
    }

    /// This thread's handles below a number.
    fn own_below(&self, end: u64) -> Vec<u64> {
        let planned = self.own.iter().copied().take_while(|number| *number < end);
        planned.chain(self.worker.common.placement(self.run.index).unplanned_of(self.run.thread, end)).collect()
    }

    /// Cuts what had its time to end; when the next one has.
    fn cut_overdue(&mut self) -> Nanos {
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
        self.stopping.iter().map(|(until, _)| *until).min().unwrap_or(Nanos::MAX)
    }

    /// Follows orders from `vus` VUs on until the regular end, then waits for what still runs.
    pub(super) fn follow(mut self, vus: u64) {
        let run = self.run.clone();
        let max = run.plan.executor.planned_vus();
        let mut goal = Goal { vus, max, course: None, is_paused: false, paused_ns: 0, is_reached: false };
        while let Some(until) = self.step(&mut goal) {
            if onrush_fiber::park(Some(until)) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
            }
        }
        for handle in self.handles.values() {
            handle.is_wanted.set(false);
        }
        run.wait_until_idle_but(|| self.cut_overdue());
    }

    /// Does what is wanted now; when to look again, or `None` when the scenario is over.
    fn step(&mut self, goal: &mut Goal) -> Option<Nanos> {
        let run = self.run.clone();
        loop {
            if let Some(ordered) = self.watch.news(&run.shared.orders) {
                goal.is_paused = self.pause(&ordered);
                goal.learn(ordered);
            }
            let now = Clock::now();
            if run.is_over(now) {
                return None;
            }
            let turn = goal.turn(run.start, now);
            if !goal.is_reached {
                // A VU that cannot be had now is not asked for again until the target changes.
                goal.is_reached = true;
                let is_ready = self.stop != Stop::Cut || self.reach_max(goal.max);
                if is_ready && !goal.is_paused {
                    self.reach(goal.vus);
                }
                // Starting may have taken long.
                if self.watch.is_stale(&run.shared.orders) {
                    continue;
                }
            }
            return Some(self.cut_overdue().min(turn).min(run.regular_end.get()));
        }
    }

    /// Paused VUs finish their iteration; the scenario's end moves by as long as it stood still.
    fn pause(&mut self, ordered: &Ordered) -> bool {
        let run = &self.run;
        let moved = |end: u64| Nanos(run.start.0.saturating_add(end).saturating_add(ordered.paused_ns));
        match ordered.paused_at {
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

/// What a pool is to reach.
struct Goal {
    vus: u64,
    max: u64,
    /// How `vus` changes.
    course: Option<VuCourse>,
    is_paused: bool,
    /// How long the scenario stood still.
    paused_ns: u64,
    /// It was tried, and nothing changed since.
    is_reached: bool,
}

impl Goal {
    fn learn(&mut self, ordered: Ordered) {
        self.is_reached = false;
        self.course = ordered.vus.or_else(|| self.course.take());
        self.paused_ns = ordered.paused_ns;
        self.max = ordered.max_vus.unwrap_or(self.max);
    }

    /// Takes the number of VUs that the course has now; when that changes next.
    fn turn(&mut self, start: Nanos, now: Nanos) -> Nanos {
        let Some(course) = self.course.as_ref().filter(|_| !self.is_paused) else { return Nanos::MAX };
        // The scenario's own clock, which pauses stop.
        let origin_ns = start.0.saturating_add(self.paused_ns);
        let at_ns = now.0.saturating_sub(origin_ns);
        let vus = course.vus_at(at_ns);
        self.is_reached &= vus == self.vus;
        self.vus = vus;
        course.next_after(at_ns).map_or(Nanos::MAX, |at_ns| Nanos(origin_ns.saturating_add(at_ns)))
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
