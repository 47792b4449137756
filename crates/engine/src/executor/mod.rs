//! Drivers that execute one scenario's plan on one thread: each is straight-line code on a fiber.

mod arrival;
mod looping;
mod ramping;

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
};

use onrush_fiber::{Clock, FiberId, Nanos, Woke};
use onrush_js::RunState;
use onrush_plan::{ExecutorPlan, ScenarioPlan, count_for};

use crate::{shared::SharedScenario, slot::Slot, worker::Worker};

/// One scenario on one thread.
pub(crate) struct ScenarioRun {
    pub(crate) index: usize,
    pub(crate) plan: ScenarioPlan,
    pub(crate) shared: Arc<SharedScenario>,
    /// Moment the scenario starts.
    pub(crate) start: Nanos,
    /// No iteration begins at or after this.
    pub(crate) regular_end: Nanos,
    /// What still runs is cut at this.
    pub(crate) hard_end: Nanos,
    pub(crate) min_iteration_ns: u64,
    /// This scenario's VUs on this thread.
    pub(crate) slots: RefCell<Vec<Rc<Slot>>>,
    /// Arrival rates: VUs waiting for an iteration, longest idle first.
    pub(crate) idle: RefCell<VecDeque<Rc<Slot>>>,
    /// VUs at work here.
    at_work: Cell<u64>,
    driver: Cell<Option<FiberId>>,
    state: Arc<RunState>,
    worker: std::rc::Weak<Worker>,
}

impl ScenarioRun {
    pub(crate) fn new(worker: &Rc<Worker>, index: usize, test_start: Nanos) -> Rc<Self> {
        let config = &worker.common.config;
        let plan = config.plan.scenarios[index].clone();
        let start = Nanos(test_start.0.saturating_add(plan.start_ns));
        Rc::new(Self {
            index,
            shared: worker.common.scenarios[index].clone(),
            start,
            regular_end: Nanos(start.0.saturating_add(plan.regular_end_ns)),
            hard_end: Nanos(start.0.saturating_add(plan.hard_end_ns)),
            min_iteration_ns: config.min_iteration.as_nanos() as u64,
            slots: RefCell::default(),
            idle: RefCell::default(),
            at_work: Cell::new(0),
            driver: Cell::new(None),
            state: config.run.state.clone(),
            worker: Rc::downgrade(worker),
            plan,
        })
    }

    pub(crate) fn worker_setup_data(&self) -> Option<Arc<str>> {
        self.worker.upgrade().and_then(|worker| worker.setup_data.borrow().clone())
    }

    /// No further iteration may begin on this thread.
    pub(crate) fn is_over(&self) -> bool {
        Clock::now() >= self.regular_end || self.is_cut()
    }

    /// The run was interrupted.
    pub(crate) fn is_cut(&self) -> bool {
        self.worker.upgrade().is_none_or(|worker| worker.is_stopping.get())
    }

    /// After an interrupted iteration: if the script aborted the test, everything on this thread stops at once.
    pub(crate) fn check_abort(&self) {
        if let Some(worker) = self.worker.upgrade()
            && worker.common.config.run.state.aborted().is_some()
            && !worker.is_stopping.get()
        {
            worker.interrupt();
        }
    }

    /// Takes a VU out of the thread's pool into this scenario.
    pub(crate) fn acquire(&self, worker: &Worker) -> Option<Rc<Slot>> {
        let slot = worker.take_vu()?;
        self.adopt(&slot);
        Some(slot)
    }

    /// Makes an initialised VU this scenario's.
    pub(crate) fn adopt(&self, slot: &Rc<Slot>) {
        slot.activate(self);
        self.slots.borrow_mut().push(slot.clone());
        self.shared.active.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives a VU back to the thread's pool.
    pub(crate) fn release(&self, worker: &Worker, slot: &Rc<Slot>) {
        self.slots.borrow_mut().retain(|own| !Rc::ptr_eq(own, slot));
        self.shared.active.fetch_sub(1, Ordering::Relaxed);
        worker.give_back(slot);
    }

    /// Counts a VU that begins to work for the scenario. k6: a VU that waits for an arrival is not active.
    pub(crate) fn enter(&self) {
        self.at_work.set(self.at_work.get() + 1);
        self.state.vus_active.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts it out, and wakes the driver when it was the last.
    pub(crate) fn exit(&self) {
        self.at_work.set(self.at_work.get() - 1);
        self.state.vus_active.fetch_sub(1, Ordering::Relaxed);
        if let (0, Some(driver)) = (self.at_work.get(), self.driver.get()) {
            onrush_fiber::unpark(driver);
        }
    }

    fn cut_all(&self) {
        for slot in self.slots.borrow().iter() {
            slot.cut();
        }
    }

    /// Waits until no VU works here, cutting what still runs at the hard end. Called by the driver.
    pub(crate) fn wait_until_idle(&self) {
        while self.at_work.get() > 0 && Clock::now() < self.hard_end && !self.is_cut() {
            if onrush_fiber::park(Some(self.hard_end)) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
            }
        }
        self.cut_all();
        while self.at_work.get() > 0 {
            // A VU that computes is cut at its next interrupt check; cutting again reaches one that had cleared its mark.
            let again = Clock::now() + std::time::Duration::from_millis(100);
            if onrush_fiber::park(Some(again)) == Woke::Cancelled {
                onrush_fiber::clear_cancel();
            }
            self.cut_all();
        }
    }

    /// How many of `n` local indexes this thread owns.
    pub(crate) fn share(&self, worker: &Worker, n: u64) -> u64 {
        let common = &worker.common;
        count_for(n, worker.thread as u64, common.config.threads as u64, common.offset(self.index))
    }
}

/// Executes a scenario on this thread from its start to its end.
pub(crate) fn drive(worker: &Rc<Worker>, run: &Rc<ScenarioRun>) {
    run.driver.set(onrush_fiber::current());
    let is_cut = onrush_fiber::sleep_until(run.start) == Woke::Cancelled;
    if is_cut {
        onrush_fiber::clear_cancel();
    } else {
        let context = &run.shared.context;
        let _ = context.started_at.compare_exchange(0, run.start.0, Ordering::Relaxed, Ordering::Relaxed);
        run.shared.advance_phase(1);
        match &run.plan.executor {
            ExecutorPlan::ConstantVus(plan) => looping::constant_vus(worker, run, plan.vus),
            ExecutorPlan::SharedIterations(plan) => looping::shared_iterations(worker, run, plan.vus, plan.iterations),
            ExecutorPlan::PerVuIterations(plan) => looping::per_vu_iterations(worker, run, plan.vus, plan.iterations),
            ExecutorPlan::RampingVus(plan) => ramping::drive(worker, run, plan),
            ExecutorPlan::ConstantArrivalRate(plan) => {
                let plan = plan.clone();
                arrival::drive(worker, run, plan.vus, move |j| plan.event(j));
            }
            ExecutorPlan::RampingArrivalRate(plan) => {
                let mut cursor = plan.cursor();
                arrival::drive(worker, run, plan.vus, move |j| cursor.event(j));
            }
        }
    }
    run.shared.advance_phase(2);
    if run.shared.threads_left.fetch_sub(1, Ordering::AcqRel) == 1 {
        run.shared.advance_phase(3);
    }
}
