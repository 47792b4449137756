//! An agent's life: take a share of a test, serve until the coordinator says stop.

use std::{sync::Arc, time::Duration};

use onrush_engine::{Engine, EngineConfig, Timeouts, Tracers};
use onrush_js::RunConfig;
use onrush_plan::{Plan, Scenario};
use onrush_session::protocol::{
    Accepted, ClockOffset, Command, Failure, FailureKind, Flushed, Init, MetricName, Report, VERSION,
};

use crate::{
    agent::Agent,
    channel::{Inbox, Input},
};

/// A test that an agent can run.
pub struct Test {
    /// What the engine is started with.
    pub engine: EngineConfig,
    /// All scenarios of the test, also those without work here: the agent may take up other shares.
    pub scenarios: Arc<[Scenario]>,
    /// Ends the outputs of raw samples once the last have been handed to them; returns how many they lack.
    pub finish_outputs: Option<Box<dyn FnOnce() -> u64 + Send>>,
    /// How often this process was stopped from outside and went on so far, where somebody counts it.
    pub stops: Option<Box<dyn Fn() -> u64 + Send>>,
}

/// Says what the coordinator's clock is ahead of this process's now.
pub(crate) type CoordinatorClock = Arc<dyn Fn() -> ClockOffset + Send + Sync>;
/// What an agent reports with.
pub(crate) type Tell = Arc<dyn Fn(Report) + Send + Sync>;

/// Serves commands on this thread until [`Command::Stop`], or until nobody can send any more.
///
/// `prepare` makes the test of what the first command says. `clock` says what the coordinator's clock is ahead of this
/// process's now. Returns the engine, which goes on until it is shut down or the process ends.
pub fn serve(
    inbox: &Inbox,
    clock: impl Fn() -> ClockOffset + Send + Sync + 'static,
    prepare: impl FnOnce(&Init) -> Result<Test, Failure>,
    report: impl Fn(Report) + Send + Sync + 'static,
) -> Option<Engine> {
    serve_as(inbox, Arc::new(clock), prepare, Arc::new(report))
}

/// The same, for a share that may be one of several in this process.
pub(crate) fn serve_as(
    inbox: &Inbox,
    clock: CoordinatorClock,
    prepare: impl FnOnce(&Init) -> Result<Test, Failure>,
    report: Tell,
) -> Option<Engine> {
    /// An agent without a test has nothing to do but wait for one.
    const IDLE: Duration = Duration::from_secs(60);
    let init = loop {
        match inbox.next(IDLE) {
            Some(Input::Command(Command::Init(init))) => break init,
            Some(Input::Command(Command::Stop) | Input::Gone) => return None,
            _ => {}
        }
    };
    match start(inbox, &init, prepare) {
        Ok((engine, test)) => {
            report(Report::Accepted(Box::new(accepted(&test))));
            Some(Agent::new(engine, test, clock, report).serve(inbox))
        }
        Err(failure) => {
            report(Report::Failed(failure.clone()));
            idle(inbox, &failure, &report);
            None
        }
    }
}

/// What the agent keeps of a test once its engine runs.
pub(crate) struct Running {
    pub(crate) run: Arc<RunConfig>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) scenarios: Arc<[Scenario]>,
    pub(crate) threads: usize,
    pub(crate) min_iteration: Duration,
    /// Makes tracers, if the run is traced.
    pub(crate) tracers: Option<Tracers>,
    pub(crate) timeouts: Timeouts,
    pub(crate) finish_outputs: Option<Box<dyn FnOnce() -> u64 + Send>>,
    pub(crate) stops: Option<Box<dyn Fn() -> u64 + Send>>,
}

fn start(
    inbox: &Inbox,
    init: &Init,
    prepare: impl FnOnce(&Init) -> Result<Test, Failure>,
) -> Result<(Engine, Running), Failure> {
    if init.version != VERSION {
        let message = format!(
            "the coordinator speaks version {} of the protocol, this agent version {VERSION}: use the same version of Onrush everywhere",
            init.version
        );
        return Err(Failure::new(FailureKind::Engine, message));
    }
    let Test { engine: config, scenarios, finish_outputs, stops } = prepare(init)?;
    take_shares(&config.run, init);
    let running = Running {
        run: config.run.clone(),
        plan: config.plan.clone(),
        scenarios,
        min_iteration: config.min_iteration,
        tracers: config.tracers.clone(),
        threads: config.threads.max(1),
        timeouts: config.timeouts,
        finish_outputs,
        stops,
    };
    let engine = Engine::start(config, inbox.events())
        .map_err(|error| Failure::new(FailureKind::Engine, format!("failed to start worker threads: {error}")))?;
    Ok((engine, running))
}

/// The limits of the whole test, as far as this agent may use them up.
fn take_shares(run: &RunConfig, init: &Init) {
    if let Some(series) = init.series_max {
        run.census.set_limit(usize::try_from(series).unwrap_or(usize::MAX));
    }
    if let Some(rps) = init.rps {
        run.state.set_rps_share(rps);
    }
}

fn accepted(test: &Running) -> Accepted {
    let metric = |metric: &onrush_metrics::Metric| MetricName {
        name: metric.name.to_string(),
        kind: metric.kind,
        contains: metric.contains,
    };
    Accepted {
        version: VERSION,
        metrics: test.run.registry.iter().map(metric).collect(),
        scenarios: test.plan.scenarios.iter().map(|scenario| scenario.name().to_owned()).collect(),
        threads: u32::try_from(test.threads).unwrap_or(u32::MAX),
    }
}

/// Nothing runs; what is asked for is answered all the same, so that nobody waits.
fn idle(inbox: &Inbox, failure: &Failure, report: &Tell) {
    const PATIENCE: Duration = Duration::from_secs(60);
    loop {
        match inbox.next(PATIENCE) {
            Some(Input::Command(Command::Stop) | Input::Gone) => return,
            Some(Input::Command(Command::Flush)) => report(Report::Flushed(Flushed::default())),
            Some(Input::Command(Command::Setup)) => report(Report::SetupDone(Err(failure.clone()))),
            Some(Input::Command(Command::Start { .. } | Command::TakeUp(_))) => report(Report::ScenariosDone),
            Some(Input::Command(Command::Teardown(_))) => report(Report::TeardownDone(Err(failure.clone()))),
            Some(Input::Command(Command::Summary(_))) => report(Report::SummaryDone(Err(failure.clone()))),
            _ => {}
        }
    }
}
