//! Drivers that execute one scenario's plan on one thread: each is straight-line code on a fiber.

mod arrival;
mod looping;
mod pace;
mod pool;
mod ramping;

use std::{
    rc::Rc,
    sync::{Arc, atomic::Ordering},
};

use onrush_fiber::{Clock, Nanos, Woke};
use onrush_plan::ExecutorPlan;

use crate::{scenario_run::ScenarioRun, shared::ScenarioPhase, worker::Worker};

/// Starts the drivers of all scenarios: the test's clock starts at `at`.
pub(crate) fn start(worker: &Rc<Worker>, at: Nanos, setup_data: Option<Arc<str>>) {
    *worker.setup_data.borrow_mut() = setup_data;
    worker.scenarios_at.set(Some(at));
    let scenarios = worker.common.config.plan.scenarios.len();
    worker.drivers_left.set(scenarios);
    if scenarios == 0 {
        worker.common.thread_over(worker.thread);
    }
    for index in 0..scenarios {
        let run = ScenarioRun::new(worker, index, at);
        worker.runs.borrow_mut().push(run.clone());
        let own = worker.clone();
        let fiber = onrush_fiber::spawn(None, move || {
            drive(&own, &run);
            own.drivers_left.set(own.drivers_left.get() - 1);
            if own.drivers_left.get() == 0 {
                own.common.thread_over(own.thread);
            }
        });
        worker.drivers.borrow_mut().push(fiber);
    }
}

/// Executes a scenario on this thread from its start to its end.
fn drive(worker: &Rc<Worker>, run: &Rc<ScenarioRun>) {
    run.driver.set(onrush_fiber::current());
    if let Some(started_at) = wait_for_start(run) {
        worker.common.begins(Clock::now().saturating_sub(started_at));
        let context = &run.shared.context;
        let _ = context.started_at.compare_exchange(0, started_at.0, Ordering::Relaxed, Ordering::Relaxed);
        run.shared.advance(ScenarioPhase::Running);
        match &run.plan.executor {
            ExecutorPlan::ConstantVus(plan) => {
                let stop = pool::Stop::After(run.plan.scenario.graceful_stop.as_ns());
                pool::Pool::new(worker, run, stop).follow(plan.vus);
            }
            ExecutorPlan::ExternallyControlled(plan) => {
                pool::Pool::new(worker, run, pool::Stop::Cut).follow(plan.vus);
            }
            ExecutorPlan::SharedIterations(plan) => looping::shared_iterations(worker, run, plan.iterations),
            ExecutorPlan::PerVuIterations(plan) => looping::per_vu_iterations(worker, run, plan.iterations),
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
    run.shared.advance(ScenarioPhase::Stopping);
    if run.shared.threads_left.fetch_sub(1, Ordering::AcqRel) == 1 {
        if let ExecutorPlan::SharedIterations(plan) = &run.plan.executor {
            looping::drop_shared_iterations(worker, run, plan.iterations);
        }
        // Who sees the last phase must see when it began.
        run.shared.ended_at.store(Clock::now().0, Ordering::Relaxed);
        run.shared.advance(ScenarioPhase::Over);
    }
}

/// Waits for the scenario's start, which a pause moves, or for the moment to take it up; `None` when the run was
/// interrupted before.
fn wait_for_start(run: &ScenarioRun) -> Option<Nanos> {
    loop {
        let (paused_at, paused_ns) = run.shared.orders.pauses();
        let [start, begin] = [run.start, run.begin()].map(|at| Nanos(at.0.saturating_add(paused_ns)));
        if paused_at.is_none() && Clock::now() >= begin {
            return Some(start);
        }
        if onrush_fiber::park(paused_at.is_none().then_some(begin)) == Woke::Cancelled {
            onrush_fiber::clear_cancel();
            return None;
        }
    }
}
