//! A worker thread's state: its VUs, which of them are free, and what runs here.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use onrush_fiber::{Clock, FiberId, Hold, Nanos, Woke};
use onrush_js::JsThread;
use onrush_metrics::Histogram;

use crate::{LifecycleError, common::Common, scenario_run::ScenarioRun, slot::Slot};

/// One thread's state.
pub(crate) struct Worker {
    pub(crate) thread: usize,
    pub(crate) common: Arc<Common>,
    pub(crate) js: Rc<JsThread>,
    /// VUs no scenario holds, longest idle first.
    pool: RefCell<VecDeque<Rc<Slot>>>,
    /// Drivers that wait for a VU, longest first. While there are any the pool is empty.
    seekers: RefCell<VecDeque<Rc<Seeker>>>,
    /// All VUs of the thread.
    pub(crate) slots: RefCell<Vec<Rc<Slot>>>,
    waiting: Cell<u64>,
    pub(crate) setup_data: RefCell<Option<Arc<str>>>,
    pub(crate) start_lag: RefCell<Histogram>,
    pub(crate) runs: RefCell<Vec<Rc<ScenarioRun>>>,
    pub(crate) drivers: RefCell<Vec<FiberId>>,
    pub(crate) drivers_left: Cell<usize>,
    pub(crate) lifecycle_fiber: Cell<Option<FiberId>>,
    pub(crate) ticker: Cell<Option<FiberId>>,
    pub(crate) tap_ticker: Cell<Option<FiberId>>,
    /// When the scenarios started, once they run.
    pub(crate) scenarios_at: Cell<Option<Nanos>>,
    pub(crate) is_stopping: Cell<bool>,
    pub(crate) is_shut_down: Cell<bool>,
    hold: RefCell<Option<Hold>>,
}

/// A driver that waits for a VU.
struct Seeker {
    fiber: FiberId,
    /// The VU it was given.
    found: RefCell<Option<Rc<Slot>>>,
}

thread_local! {
    static WORKER: RefCell<Option<Rc<Worker>>> = const { RefCell::new(None) };
}

impl Worker {
    /// The worker of this thread, from now on.
    pub(crate) fn install(thread: usize, common: Arc<Common>, js: Rc<JsThread>, hold: Hold) -> Rc<Self> {
        let worker = Rc::new(Self {
            thread,
            common,
            js,
            pool: RefCell::default(),
            seekers: RefCell::default(),
            slots: RefCell::default(),
            waiting: Cell::new(0),
            setup_data: RefCell::new(None),
            start_lag: RefCell::new(Histogram::new()),
            runs: RefCell::default(),
            drivers: RefCell::default(),
            drivers_left: Cell::new(0),
            lifecycle_fiber: Cell::new(None),
            ticker: Cell::new(None),
            tap_ticker: Cell::new(None),
            scenarios_at: Cell::new(None),
            is_stopping: Cell::new(false),
            is_shut_down: Cell::new(false),
            hold: RefCell::new(Some(hold)),
        });
        WORKER.set(Some(worker.clone()));
        worker
    }

    /// There is no worker on this thread any more.
    pub(crate) fn uninstall() {
        WORKER.set(None);
    }

    /// The worker of this thread; posted functions find it here. `None` while it starts or after it ended.
    pub(crate) fn current() -> Option<Rc<Self>> {
        WORKER.with_borrow(Clone::clone)
    }

    /// Makes this thread's planned VUs.
    pub(crate) fn init_vus(self: &Rc<Self>, ids: &[u64]) {
        self.waiting.set(ids.len() as u64);
        if ids.is_empty() {
            self.common.thread_initialized();
        }
        for &id in ids {
            let worker = self.clone();
            let id_in_test = self.common.config.plan.vu_id_in_test(id - 1).unwrap_or(id);
            let slot = Slot::spawn(self, id, id_in_test, move |slot, result| worker.vu_ready(id, slot, result));
            self.slots.borrow_mut().push(slot);
        }
    }

    fn vu_ready(&self, id: u64, slot: &Rc<Slot>, result: Result<(), onrush_js::ScriptFailure>) {
        match result {
            Ok(()) => {
                self.common.config.run.state.vus_initialized.fetch_add(1, Ordering::Relaxed);
                self.pool.borrow_mut().push_back(slot.clone());
            }
            Err(failure) => return self.common.init_failed(LifecycleError::Init { vu: id, failure }),
        }
        self.waiting.set(self.waiting.get() - 1);
        if self.waiting.get() == 0 {
            self.common.thread_initialized();
        }
    }

    /// Cuts everything that runs: iterations, drivers, a life-cycle function.
    pub(crate) fn interrupt(&self) {
        self.is_stopping.set(true);
        for driver in self.drivers.borrow().iter() {
            onrush_fiber::cancel(*driver);
        }
        for slot in self.slots.borrow().iter() {
            slot.cut();
        }
        if let Some(fiber) = self.lifecycle_fiber.get() {
            onrush_fiber::cancel(fiber);
        }
    }

    /// The VU whose turn would be last among those no scenario holds, if there is one.
    pub(crate) fn last_idle_vu(&self) -> Option<Rc<Slot>> {
        self.pool.borrow_mut().pop_back()
    }

    /// Takes a VU no scenario holds. Waits as k6 does for one that is about to be given back; `None` when there is none.
    pub(crate) fn take_vu(&self, run: &ScenarioRun) -> Option<Rc<Slot>> {
        if let Some(slot) = self.pool.borrow_mut().pop_front() {
            return Some(slot);
        }
        let seeker = Rc::new(Seeker { fiber: onrush_fiber::current()?, found: RefCell::default() });
        self.seekers.borrow_mut().push_back(seeker.clone());
        let is_found = self.wait_for_vu(run, &seeker);
        self.seekers.borrow_mut().retain(|other| !Rc::ptr_eq(other, &seeker));
        let slot = seeker.found.take();
        if is_found {
            return slot;
        }
        // It came in the moment the wait was given up.
        if let Some(slot) = slot {
            self.give_back(&slot);
        }
        None
    }

    fn wait_for_vu(&self, run: &ScenarioRun, seeker: &Seeker) -> bool {
        const ATTEMPTS: u32 = 5;
        const WAIT: Duration = Duration::from_millis(400);
        for _ in 0..ATTEMPTS {
            let until = Clock::now() + WAIT;
            while Clock::now() < until {
                let woke = onrush_fiber::park(Some(until));
                if woke == Woke::Cancelled {
                    return false;
                }
                if seeker.found.borrow().is_some() {
                    return true;
                }
            }
            run.warn(self, format!("Could not get a VU from the buffer for {}ms", WAIT.as_millis()));
        }
        run.warn(self, format!("could not get a VU from the buffer in {}s", (WAIT * ATTEMPTS).as_secs()));
        false
    }

    /// Makes a VU free for any scenario: the driver that has waited longest gets it.
    pub(crate) fn give_back(&self, slot: &Rc<Slot>) {
        match self.seekers.borrow_mut().pop_front() {
            Some(seeker) => {
                seeker.found.replace(Some(slot.clone()));
                onrush_fiber::unpark(seeker.fiber);
            }
            None => self.pool.borrow_mut().push_back(slot.clone()),
        }
    }

    pub(crate) fn shut_down(&self) {
        self.is_shut_down.set(true);
        for ticker in [&self.ticker, &self.tap_ticker].into_iter().filter_map(Cell::get) {
            onrush_fiber::cancel(ticker);
        }
        for slot in self.slots.borrow().iter() {
            slot.cut();
            slot.quit();
        }
        self.hold.take();
    }
}
