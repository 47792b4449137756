//! The handle that drives all worker threads.

use std::{
    cell::Cell,
    io,
    rc::Rc,
    sync::{Arc, atomic::Ordering, mpsc::channel},
    thread::JoinHandle,
};

use onrush_fiber::{Clock, Nanos, Remote};
use onrush_plan::TakenUp;

use crate::{
    EngineConfig, Event, NewTarget, ScenarioProgress,
    common::Common,
    executor,
    lifecycle::{self, Call},
    thread, ticker,
    worker::Worker,
};

/// The worker threads of one agent.
pub struct Engine {
    common: Arc<Common>,
    threads: Vec<JoinHandle<()>>,
    /// Threads nobody waits for any more.
    given_up: Vec<bool>,
    flushes: Cell<u64>,
}

impl Engine {
    /// Starts the threads and, on them, the initialisation of all planned VUs. Events go to `events`, on the thread they
    /// come from.
    ///
    /// # Errors
    /// When a thread cannot be created. Failures on the threads come as [`Event::InitFailed`].
    pub fn start(config: EngineConfig, events: impl Fn(Event) + Send + Sync + 'static) -> io::Result<Self> {
        let count = config.threads.max(1);
        let common = Arc::new(Common::new(config, count, events));
        let (ready, started) = channel();
        let mut threads = Vec::with_capacity(count);
        for thread in 0..count {
            let (common, ready) = (common.clone(), ready.clone());
            let body = move || thread::run(thread, &common, ready);
            threads.push(std::thread::Builder::new().name(format!("onrush-{thread}")).spawn(body)?);
        }
        drop(ready);
        let mut remotes: Vec<(usize, Remote)> = started.iter().collect();
        remotes.sort_by_key(|(thread, _)| *thread);
        common.set_remotes(remotes.into_iter().map(|(_, remote)| remote).collect());
        Ok(Self { common, threads, given_up: vec![false; count], flushes: Cell::new(0) })
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

    /// Has a life-cycle function run on the first thread that serves; `None` if there is none.
    fn call(&self, call: Call) -> Option<usize> {
        let thread = self.given_up.iter().position(|given_up| !given_up)?;
        self.post(thread, |worker| lifecycle::call(worker, call));
        Some(thread)
    }

    /// Runs `setup()` in a transient VU; [`Event::SetupDone`] follows. Returns the thread that runs it, if one can.
    pub fn setup(&self) -> Option<usize> {
        self.call(Call::Setup)
    }

    /// Starts all scenarios, with the test's clock at `at`; [`Event::ScenariosDone`] follows.
    pub fn start_scenarios(&self, at: Nanos, setup_data: Option<Arc<str>>) {
        self.post_all(move |worker| executor::start(worker, at, setup_data));
    }

    /// Starts all scenarios in the middle, where another instance left them, with the test's clock at `at`, which is past:
    /// `taken` says of each what is known of it. [`Event::ScenariosDone`] follows.
    pub fn take_up(&self, at: Nanos, setup_data: Option<Arc<str>>, taken: &[TakenUp]) {
        let plans = self.common.config.plan.scenarios.iter();
        for (index, ((shared, plan), taken)) in self.common.scenarios.iter().zip(plans).zip(taken).enumerate() {
            shared.take_up(plan, self.common.placement(index), *taken);
        }
        self.start_scenarios(at, setup_data);
    }

    /// Cuts every iteration and every life-cycle function, and lets nothing new begin.
    pub fn interrupt(&self) {
        self.post_all(|worker| worker.interrupt());
    }

    /// Runs `teardown(data)`; [`Event::TeardownDone`] follows. Returns the thread that runs it, if one can.
    pub fn teardown(&self, setup_data: Option<Arc<str>>) -> Option<usize> {
        self.call(Call::Teardown(setup_data))
    }

    /// Runs `handleSummary(data)`; [`Event::HandleSummaryDone`] follows. Returns the thread that runs it, if one can.
    pub fn handle_summary(&self, data: String) -> Option<usize> {
        self.call(Call::HandleSummary(data))
    }

    /// Asks every thread for what it has folded, now rather than at its next tick. Returns the number that the answers
    /// have: [`crate::ThreadSample::flush`].
    pub fn flush(&self) -> u64 {
        let number = self.flushes.get() + 1;
        self.flushes.set(number);
        self.post_all(move |worker| ticker::send_sample(worker, Some(number)));
        number
    }

    /// Waits no longer for a thread: script code holds it, or it has ended. Its share of the scenarios counts as over.
    pub fn give_up(&mut self, thread: usize) {
        if let Some(given_up) = self.given_up.get_mut(thread) {
            *given_up = true;
            self.common.thread_over(thread);
        }
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
        let mut stood_most_ns = 0;
        for scenario in &self.common.scenarios {
            let stood_ns = scenario.orders.pause(is_paused, at);
            stood_most_ns = stood_ns.max(stood_most_ns);
            let started_at = &scenario.context.started_at;
            // A scenario's own clock stands still as well: so its progress does not jump.
            if started_at.load(Ordering::Relaxed) != 0 {
                started_at.fetch_add(stood_ns, Ordering::Relaxed);
            }
        }
        // Deltas are sent at whole seconds of the scenarios, whose clock stood still.
        self.post_all(move |worker| {
            let start = worker.scenarios_at.get();
            worker.scenarios_at.set(start.map(|at| Nanos(at.0.saturating_add(stood_most_ns))));
        });
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
