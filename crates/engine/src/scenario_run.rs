//! One scenario on one thread: its times, its VUs here, and what drivers and VUs tell each other.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
};

use onrush_fiber::{Clock, FiberId, Nanos, Woke};
use onrush_js::RunState;
use onrush_plan::ScenarioPlan;

use crate::{Event, shared::SharedScenario, slot::Slot, worker::Worker};

/// One scenario on one thread.
pub(crate) struct ScenarioRun {
    pub(crate) index: usize,
    /// The worker thread's number.
    pub(crate) thread: usize,
    /// What `setup()` returned, as JSON; outer `None` until an iteration needs it.
    setup_data: RefCell<Option<Rc<Option<Arc<str>>>>>,
    pub(crate) plan: ScenarioPlan,
    pub(crate) shared: Arc<SharedScenario>,
    /// Moment the scenario starts.
    pub(crate) start: Nanos,
    /// No iteration begins at or after this. A pause moves it.
    pub(crate) regular_end: Cell<Nanos>,
    /// What still runs is cut at this.
    pub(crate) hard_end: Cell<Nanos>,
    pub(crate) min_iteration_ns: u64,
    /// This scenario's VUs on this thread.
    pub(crate) slots: RefCell<Vec<Rc<Slot>>>,
    /// Arrival rates: VUs waiting for an iteration, longest idle first.
    pub(crate) idle: RefCell<VecDeque<Rc<Slot>>>,
    /// VUs at work here.
    pub(crate) at_work: Cell<u64>,
    pub(crate) driver: Cell<Option<FiberId>>,
    /// Iterations that ended here since samples were handed in last.
    pub(crate) ended: Cell<u64>,
    /// The driver waits for the last VU to end its work.
    pub(crate) wakes_driver: Cell<bool>,
    /// The driver waits for an idle VU: another thread's arrivals are late.
    pub(crate) wants_idle: Cell<bool>,
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
            thread: worker.thread,
            setup_data: RefCell::default(),
            shared: worker.common.scenarios[index].clone(),
            start,
            regular_end: Cell::new(Nanos(start.0.saturating_add(plan.regular_end_ns))),
            hard_end: Cell::new(Nanos(start.0.saturating_add(plan.hard_end_ns))),
            min_iteration_ns: config.min_iteration.as_nanos() as u64,
            slots: RefCell::default(),
            idle: RefCell::default(),
            at_work: Cell::new(0),
            driver: Cell::new(None),
            ended: Cell::new(0),
            wakes_driver: Cell::new(false),
            wants_idle: Cell::new(false),
            state: config.run.state.clone(),
            worker: Rc::downgrade(worker),
            plan,
        })
    }

    /// Calls `body` with what `setup()` returned, as JSON.
    pub(crate) fn with_setup_data<R>(&self, body: impl FnOnce(Option<&str>) -> R) -> R {
        let load = || Rc::new(self.worker.upgrade().and_then(|worker| worker.setup_data.borrow().clone()));
        // Held by `body`, which suspends, and replaced meanwhile if a client wants other data.
        let data = self.setup_data.borrow_mut().get_or_insert_with(load).clone();
        body((*data).as_deref())
    }

    /// The next iteration looks for its setup data anew.
    pub(crate) fn forget_setup_data(&self) {
        self.setup_data.take();
    }

    /// When this instance begins: after the scenario's start where another instance began it.
    pub(crate) fn begin(&self) -> Nanos {
        Nanos(self.start.0.saturating_add(self.shared.taken.get().map_or(0, |taken| taken.from_ns)))
    }

    /// No further iteration may begin on this thread.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        now >= self.regular_end.get() || self.is_cut()
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

    /// Warns of something that goes wrong in this scenario.
    pub(crate) fn warn(&self, worker: &Worker, message: String) {
        let fields =
            vec![("executor", self.shared.context.executor.clone()), ("scenario", self.shared.context.name.clone())];
        worker.common.send(Event::Warning { message, fields });
    }

    /// Takes a VU out of the thread's pool into this scenario.
    pub(crate) fn acquire(&self, worker: &Worker) -> Option<Rc<Slot>> {
        let slot = worker.take_vu(self)?;
        self.adopt(&slot);
        Some(slot)
    }

    /// Makes an initialised VU this scenario's.
    pub(crate) fn adopt(&self, slot: &Rc<Slot>) {
        slot.activate(self);
        let mut slots = self.slots.borrow_mut();
        slot.place.set(slots.len());
        slots.push(slot.clone());
        drop(slots);
        let active = self.shared.active.fetch_add(1, Ordering::Relaxed) + 1;
        self.shared.active_max.fetch_max(active, Ordering::Relaxed);
    }

    /// Gives a VU back to the thread's pool.
    pub(crate) fn release(&self, worker: &Worker, slot: &Rc<Slot>) {
        // All may come back at once: finding one costs the same however many there are. Their order means nothing.
        let mut slots = self.slots.borrow_mut();
        let place = slot.place.get();
        if slots.get(place).is_some_and(|own| Rc::ptr_eq(own, slot)) {
            slots.swap_remove(place);
            if let Some(moved) = slots.get(place) {
                moved.place.set(place);
            }
        }
        drop(slots);
        self.shared.active.fetch_sub(1, Ordering::Relaxed);
        worker.give_back(slot);
    }

    /// Counts a VU that begins to work for the scenario. k6: a VU that waits for an arrival is not active.
    pub(crate) fn enter(&self) {
        self.at_work.set(self.at_work.get() + 1);
        self.state.vus_active.increment(self.thread);
    }

    /// Counts it out, and wakes the driver when it was the last and the driver waits for that.
    pub(crate) fn exit(&self) {
        self.at_work.set(self.at_work.get() - 1);
        self.state.vus_active.decrement(self.thread);
        if self.at_work.get() == 0 && self.wakes_driver.get() {
            self.wake_driver();
        }
    }

    /// Has the driver look at its orders.
    pub(crate) fn wake_driver(&self) {
        if let Some(driver) = self.driver.get() {
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
        self.wait_until_idle_but(|| Nanos::MAX);
    }

    /// The same; `look` is called whenever there may be something to do before, and says when that is next.
    pub(crate) fn wait_until_idle_but(&self, mut look: impl FnMut() -> Nanos) {
        self.wakes_driver.set(true);
        while self.at_work.get() > 0 && Clock::now() < self.hard_end.get() && !self.is_cut() {
            let until = look().min(self.hard_end.get());
            if onrush_fiber::park(Some(until)) == Woke::Cancelled {
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

    /// The most planned VUs of the scenario that this thread has at once.
    pub(crate) fn planned_here(&self, worker: &Worker) -> u64 {
        worker.common.placement(self.index).most_on(worker.thread)
    }
}
