//! A VU and its fiber: initialised once, then given one job after the other.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    sync::atomic::Ordering,
};

use onrush_fiber::{Clock, FiberId, Nanos, Woke};
use onrush_js::{CallEnd, IterationIds, Vu};

use crate::{scenario_run::ScenarioRun, worker::Worker};

/// What a VU's fiber is to do next.
pub(crate) type Job = Box<dyn FnOnce(&Rc<Slot>)>;

/// A VU on this thread.
pub(crate) struct Slot {
    pub(crate) vu: Rc<Vu>,
    pub(crate) fiber: Cell<Option<FiberId>>,
    job: RefCell<Option<Job>>,
    quit: Cell<bool>,
    /// Iterations in the scenario that has the VU now, or had it last.
    iterations: Cell<u64>,
    /// That scenario.
    scenario: Cell<Option<usize>>,
    /// Iterations in those before it. k6: a VU that comes back to a scenario counts on.
    earlier: RefCell<BTreeMap<usize, u64>>,
    /// The VU is inside an iteration.
    pub(crate) is_running: Cell<bool>,
    /// Where it is among the VUs of the scenario that has it now.
    pub(crate) place: Cell<usize>,
}

impl Slot {
    /// Makes a VU and starts its fiber. `ready` is called on the fiber once init code has run (or failed).
    pub(crate) fn spawn(
        worker: &Rc<Worker>,
        id: u64,
        id_in_test: u64,
        ready: impl FnOnce(&Rc<Self>, Result<(), onrush_js::ScriptFailure>) + 'static,
    ) -> Rc<Self> {
        let vu = worker.js.new_vu(id, id_in_test);
        let hooks = vu.hooks();
        let slot = Rc::new(Self {
            vu,
            fiber: Cell::new(None),
            job: RefCell::new(None),
            quit: Cell::new(false),
            iterations: Cell::new(0),
            place: Cell::new(0),
            scenario: Cell::new(None),
            earlier: RefCell::default(),
            is_running: Cell::new(false),
        });
        let own = slot.clone();
        let fiber = onrush_fiber::spawn(Some(hooks), move || {
            let result = own.vu.init();
            let usable = result.is_ok();
            ready(&own, result);
            if usable {
                own.serve();
            }
        });
        slot.fiber.set(Some(fiber));
        slot
    }

    fn serve(self: &Rc<Self>) {
        loop {
            let job = self.job.borrow_mut().take();
            if let Some(job) = job {
                job(self);
                continue;
            }
            if self.quit.get() {
                return;
            }
            if onrush_fiber::park(None) == Woke::Cancelled {
                // Cancelled between jobs: there is nothing to cut.
                onrush_fiber::clear_cancel();
            }
        }
    }

    /// Gives an idle VU its next job.
    pub(crate) fn give(&self, job: Job) {
        let previous = self.job.borrow_mut().replace(job);
        debug_assert!(previous.is_none(), "a VU has one job at a time");
        self.wake();
    }

    /// Lets the fiber end once it is idle.
    pub(crate) fn quit(&self) {
        self.quit.set(true);
        self.wake();
    }

    fn wake(&self) {
        if let Some(fiber) = self.fiber.get() {
            onrush_fiber::unpark(fiber);
        }
    }

    /// Cuts the iteration that runs, if one does.
    pub(crate) fn cut(&self) {
        if let (true, Some(fiber)) = (self.is_running.get(), self.fiber.get()) {
            onrush_fiber::cancel(fiber);
        }
    }

    /// Hands the VU to a scenario.
    pub(crate) fn activate(&self, run: &ScenarioRun) {
        if self.scenario.get() != Some(run.index) {
            let mut earlier = self.earlier.borrow_mut();
            let iterations = self.iterations.replace(earlier.remove(&run.index).unwrap_or(0));
            if let Some(scenario) = self.scenario.replace(Some(run.index)) {
                earlier.insert(scenario, iterations);
            }
        }
        self.vu.activate(Some((run.index, run.shared.context.clone())));
    }

    /// Another instance ran iterations of this VU: it goes on counting.
    pub(crate) fn count_on(&self, iterations: u64) {
        self.iterations.set(self.iterations.get().max(iterations));
    }

    /// Runs one iteration, which begins at `now`, and keeps the scenario's books. Returns whether the VU may go on:
    /// false when it was cut. `now` is when it ended, then: the clock is read once for this end and the next start.
    pub(crate) fn iterate(&self, run: &ScenarioRun, now: &mut Nanos) -> bool {
        let (shared, thread) = (&run.shared, run.thread);
        // k6 numbers iterations as they start, so dropped ones leave no gap.
        let in_instance = shared.context.iterations.fetch_add(1, Ordering::Relaxed);
        let in_test = run.plan.iteration_in_test(in_instance).unwrap_or(in_instance);
        let in_scenario = self.iterations.replace(self.iterations.get() + 1);
        let ids = IterationIds { in_scenario, scenario_in_instance: in_instance, scenario_in_test: in_test };
        let until = (run.min_iteration_ns > 0).then(|| Nanos(now.0 + run.min_iteration_ns));
        self.is_running.set(true);
        shared.running.increment(thread);
        let end = run.with_setup_data(|data| self.vu.run_iteration(ids, data, now));
        shared.running.decrement(thread);
        self.is_running.set(false);
        run.ended.set(run.ended.get() + 1);
        let is_cut = matches!(end, CallEnd::Aborted | CallEnd::Interrupted);
        // k6: the iteration lasts as long as it has to, so one that is cut while it waits is interrupted.
        let is_whole = !is_cut && until.is_none_or(|until| self.pad(until, now));
        self.vu.count_iteration(is_whole);
        if matches!(end, CallEnd::Threw(_)) {
            shared.thrown.increment(thread);
        }
        // k6: one that aborts the test is done, too.
        if end.is_complete() && (is_whole || is_cut) {
            shared.context.done.increment(thread);
        }
        if !is_whole {
            shared.interrupted.increment(thread);
            onrush_fiber::clear_cancel();
            run.check_abort();
        }
        is_whole
    }

    /// `minIterationDuration`: waits out what is left, outside the iteration's own duration.
    fn pad(&self, until: Nanos, now: &mut Nanos) -> bool {
        if *now >= until {
            return true;
        }
        self.is_running.set(true);
        let woke = onrush_fiber::sleep_until(until);
        self.is_running.set(false);
        *now = Clock::now();
        woke != Woke::Cancelled
    }
}
