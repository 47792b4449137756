//! A worker thread and the handle that drives all of them.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    io,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use onrush_fiber::{Clock, FiberId, Hold, Nanos, Reactor, ReactorConfig, Remote, Woke};
use onrush_js::JsThread;
use onrush_metrics::Histogram;
use onrush_plan::{Placement, ScenarioPlacement};

use crate::{
    EngineConfig, Event, LifecycleError, NewTarget, ScenarioProgress,
    executor::{self, ScenarioRun},
    lifecycle::{self, Call},
    shared::SharedScenario,
    slot::Slot,
    ticker,
};

/// What every thread of an engine can reach.
pub(crate) struct Common {
    pub(crate) config: EngineConfig,
    pub(crate) scenarios: Vec<Arc<SharedScenario>>,
    placement: Placement,
    pub(crate) events: Sender<Event>,
    remotes: std::sync::OnceLock<Vec<Remote>>,
    /// Threads whose planned VUs are not all initialised.
    initializing: AtomicU64,
    /// Threads with scenarios that are not over.
    running: AtomicU64,
    next_vu: AtomicU64,
    init_failed: std::sync::atomic::AtomicBool,
}

impl Common {
    pub(crate) fn send(&self, event: Event) {
        // The receiver only goes away when the process is about to end.
        let _ = self.events.send(event);
    }

    pub(crate) fn remote(&self, thread: usize) -> Option<&Remote> {
        self.remotes.get()?.get(thread)
    }

    /// The id of the next unplanned VU, and its id in the whole test.
    pub(crate) fn next_vu(&self) -> (u64, u64) {
        let k = self.next_vu.fetch_add(1, Ordering::Relaxed);
        (k + 1, self.config.plan.vu_id_in_test(k).unwrap_or(k + 1))
    }

    /// Which threads a scenario's VUs are on.
    pub(crate) fn placement(&self, scenario: usize) -> &ScenarioPlacement {
        self.placement.scenario(scenario)
    }
}

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
    drivers: RefCell<Vec<FiberId>>,
    drivers_left: Cell<usize>,
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
    /// The worker of this thread; posted functions find it here. `None` while it starts or after it ended.
    pub(crate) fn current() -> Option<Rc<Self>> {
        WORKER.with_borrow(Clone::clone)
    }

    fn init_vus(self: &Rc<Self>, ids: &[u64]) {
        self.waiting.set(ids.len() as u64);
        if ids.is_empty() {
            self.all_initialized();
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
            // One report is enough: every VU runs the same init code.
            Err(failure) => {
                if !self.common.init_failed.swap(true, Ordering::Relaxed) {
                    self.common.send(Event::InitFailed(LifecycleError::Init { vu: id, failure }));
                }
                return;
            }
        }
        self.waiting.set(self.waiting.get() - 1);
        if self.waiting.get() == 0 {
            self.all_initialized();
        }
    }

    fn all_initialized(&self) {
        if self.common.initializing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.common.send(Event::Initialized);
        }
    }

    /// Starts the drivers of all scenarios: the test's clock starts at `at`.
    fn start(self: &Rc<Self>, at: Nanos, setup_data: Option<Arc<str>>) {
        *self.setup_data.borrow_mut() = setup_data;
        self.scenarios_at.set(Some(at));
        let plan = self.common.config.plan.clone();
        self.drivers_left.set(plan.scenarios.len());
        if plan.scenarios.is_empty() {
            self.scenarios_over();
        }
        for index in 0..plan.scenarios.len() {
            let run = ScenarioRun::new(self, index, at);
            self.runs.borrow_mut().push(run.clone());
            let worker = self.clone();
            let fiber = onrush_fiber::spawn(None, move || {
                executor::drive(&worker, &run);
                worker.driver_over();
            });
            self.drivers.borrow_mut().push(fiber);
        }
    }

    fn driver_over(&self) {
        self.drivers_left.set(self.drivers_left.get() - 1);
        if self.drivers_left.get() == 0 {
            self.scenarios_over();
        }
    }

    fn scenarios_over(&self) {
        if self.common.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.common.send(Event::ScenariosDone);
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

    fn shut_down(&self) {
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

/// The worker threads of one agent.
pub struct Engine {
    common: Arc<Common>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Starts the threads and, on them, the initialisation of all planned VUs. Events go to `events`.
    ///
    /// # Errors
    /// When a thread cannot be created. Failures on the threads come as [`Event::InitFailed`].
    pub fn start(config: EngineConfig, events: Sender<Event>) -> io::Result<Self> {
        let count = config.threads.max(1);
        let placement = Placement::new(&config.plan, count);
        let plans = config.plan.scenarios.iter().enumerate();
        let scenarios = config.run.scenarios.iter().zip(plans).map(|(context, (index, plan))| {
            Arc::new(SharedScenario::new(context.clone(), plan, placement.scenario(index), count))
        });
        let common = Arc::new(Common {
            scenarios: scenarios.collect(),
            placement,
            events,
            remotes: std::sync::OnceLock::new(),
            initializing: AtomicU64::new(count as u64),
            running: AtomicU64::new(count as u64),
            next_vu: AtomicU64::new(config.plan.planned_vus),
            init_failed: std::sync::atomic::AtomicBool::new(false),
            config,
        });
        let (ready, started) = channel();
        let mut threads = Vec::with_capacity(count);
        for thread in 0..count {
            let (common, ready) = (common.clone(), ready.clone());
            // The first VUs of all threads get the first ids.
            let ids: Vec<u64> = common.placement.vus_of(thread).map(|vu| vu + 1).collect();
            let body = move || run_thread(thread, &common, &ids, ready);
            threads.push(std::thread::Builder::new().name(format!("onrush-{thread}")).spawn(body)?);
        }
        drop(ready);
        let mut remotes: Vec<(usize, Remote)> = started.iter().collect();
        remotes.sort_by_key(|(thread, _)| *thread);
        let _ = common.remotes.set(remotes.into_iter().map(|(_, remote)| remote).collect());
        Ok(Self { common, threads })
    }

    fn post(&self, thread: usize, body: impl FnOnce(&Rc<Worker>) + Send + 'static) {
        if let Some(remote) = self.common.remote(thread) {
            remote.post(Box::new(move || {
                if let Some(worker) = Worker::current() {
                    body(&worker);
                }
            }));
        }
    }

    fn post_all(&self, body: impl FnOnce(&Rc<Worker>) + Clone + Send + 'static) {
        for thread in 0..self.threads.len() {
            self.post(thread, body.clone());
        }
    }

    /// Runs `setup()` in a transient VU; [`Event::SetupDone`] follows.
    pub fn setup(&self) {
        self.post(0, |worker| lifecycle::call(worker, Call::Setup));
    }

    /// Starts all scenarios, with the test's clock at `at`; [`Event::ScenariosDone`] follows.
    pub fn start_scenarios(&self, at: Nanos, setup_data: Option<Arc<str>>) {
        self.post_all(move |worker| worker.start(at, setup_data));
    }

    /// Cuts every iteration and every life-cycle function, and lets nothing new begin.
    pub fn interrupt(&self) {
        self.post_all(|worker| worker.interrupt());
    }

    /// Runs `teardown(data)`; [`Event::TeardownDone`] follows.
    pub fn teardown(&self, setup_data: Option<Arc<str>>) {
        self.post(0, move |worker| lifecycle::call(worker, Call::Teardown(setup_data)));
    }

    /// Runs `handleSummary(data)`; [`Event::HandleSummaryDone`] follows.
    pub fn handle_summary(&self, data: String) {
        self.post(0, move |worker| lifecycle::call(worker, Call::HandleSummary(data)));
    }

    /// Asks every thread for what it has folded, now rather than at its next tick.
    pub fn flush(&self) {
        self.post_all(ticker::send_sample);
    }

    /// How each scenario stands, in plan order.
    pub fn progress(&self) -> Vec<ScenarioProgress> {
        let (plans, now) = (&self.common.config.plan.scenarios, Clock::now());
        self.common.scenarios.iter().zip(plans.iter()).map(|(scenario, plan)| scenario.progress(plan, now)).collect()
    }

    /// Gives a scenario a new target, now or before it starts. It takes effect at once; VUs that have to be made for it
    /// follow one by one.
    pub fn steer(&self, scenario: usize, target: NewTarget) {
        let Some(shared) = self.common.scenarios.get(scenario) else { return };
        if matches!(target, NewTarget::MaxVus(_)) {
            // The pool may be exhausted again, at another size.
            shared.warned.store(false, Ordering::Relaxed);
        }
        shared.orders.steer(target);
        self.wake_drivers();
    }

    /// Has all scenarios stand still from `at` on, or go on. Only externally-controlled ones can.
    pub fn pause(&self, is_paused: bool, at: Nanos) {
        for scenario in &self.common.scenarios {
            let stood_ns = scenario.orders.pause(is_paused, at);
            let started_at = &scenario.context.started_at;
            // A scenario's own clock stands still as well: so its progress does not jump.
            if started_at.load(Ordering::Relaxed) != 0 {
                started_at.fetch_add(stood_ns, Ordering::Relaxed);
            }
        }
        self.wake_drivers();
    }

    fn wake_drivers(&self) {
        self.post_all(|worker| worker.runs.borrow().iter().for_each(|run| run.wake_driver()));
    }

    /// Replaces the setup data for VUs that have not used it yet: each decodes it once.
    pub fn set_setup_data(&self, data: Option<Arc<str>>) {
        self.post_all(move |worker| {
            *worker.setup_data.borrow_mut() = data;
            worker.runs.borrow().iter().for_each(|run| run.forget_setup_data());
        });
    }

    /// Ends all threads; each sends its last sample, then [`Event::ThreadEnded`].
    pub fn shutdown(self) {
        self.post_all(|worker| worker.shut_down());
        for thread in self.threads {
            // A thread that panicked has said so on stderr; the others' results still stand.
            let _ = thread.join();
        }
    }
}

/// Says that a thread has ended, however it did: whoever waits for its events must learn of a panic.
struct Ended(Arc<Common>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send(Event::ThreadEnded);
    }
}

/// Up to so many VUs of a thread have a stack of their own, so that waiting for a response copies nothing. With
/// more, what counts is memory: sharing one stack, a sleeping VU costs 3 KB of stack, else two pages at least.
const OWN_STACKS_VUS_MAX: usize = 256;
/// Fibers of a thread beside its VUs: executors' drivers, the ticker, parts of batches.
const OWN_STACKS_BESIDE_VUS: usize = 16;

fn own_stacks(vus: usize) -> usize {
    if vus <= OWN_STACKS_VUS_MAX { vus + OWN_STACKS_BESIDE_VUS } else { 0 }
}

fn run_thread(thread: usize, common: &Arc<Common>, ids: &[u64], ready: Sender<(usize, Remote)>) {
    let _ended = Ended(common.clone());
    let failed = |message: String| common.send(Event::InitFailed(LifecycleError::Engine(message)));
    let reactor = match Reactor::new(ReactorConfig { own_stacks: own_stacks(ids.len()), ..ReactorConfig::default() }) {
        Ok(reactor) => reactor,
        Err(error) => return failed(format!("failed to start worker thread {thread}: {error}")),
    };
    let _ = ready.send((thread, reactor.remote()));
    drop(ready);
    let hold = reactor.remote().hold();
    let js = match JsThread::new(common.config.run.clone()) {
        Ok(js) => js,
        Err(error) => return failed(error.to_string()),
    };
    if let Some(taps) = &common.config.taps {
        js.tap(taps(thread));
    }
    let worker = Rc::new(Worker {
        thread,
        common: common.clone(),
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
    worker.init_vus(ids);
    ticker::start(&worker);
    reactor.run();
    ticker::send_sample(&worker);
    WORKER.set(None);
    // VUs are not torn down one by one: the process is about to end, and 100,000 heaps take seconds to walk.
    std::mem::forget(worker);
}
