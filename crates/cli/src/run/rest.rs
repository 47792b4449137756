//! Answers the REST API: what it asks goes to the coordinator, whose orders go to the agents.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use onrush_plan::{
    GoDuration, Plan,
    steer::{Target, TargetRequest},
};
use onrush_server::{
    Address, AddressError, Call, Change, ChangeRequest, Identity, Listener, Reply, Request, Server, shape,
};
use onrush_session::{
    Coordinator, ExitCode, Function, Orders, RunPhase, Steer, SteerError, Stop,
    protocol::{Command, TargetChange, Time},
};

use super::{live::LiveSummary, view::View};
use crate::{
    args::{ApiArgs, ApiOrigin},
    failure::Failure,
    log::{Level, Logger},
};

/// The REST API's side of a run.
#[derive(Default)]
pub(super) struct Rest {
    calls: Option<Receiver<Call>>,
    /// Changes whose effect is awaited, so that the answer shows it.
    settling: Vec<Settling>,
    /// `setup()` and `teardown()` running for clients, by the number the coordinator knows them by.
    running: BTreeMap<u64, (Call, Function)>,
    last_number: u64,
    /// Somebody asked for the end.
    is_stop_asked: bool,
    /// Where it is.
    pub(super) address: Option<SocketAddr>,
    /// End when the run is over: the last field, so that calls nobody answers any more are dropped before.
    servers: Vec<Server>,
}

/// An answer that waits for the engine.
struct Settling {
    call: Call,
    goal: Goal,
    until: Time,
    /// The scenario to answer with; the run's status if none.
    scenario: Option<String>,
}

/// What a change leads to.
#[derive(Clone, Copy)]
struct Goal {
    scenario: usize,
    /// VUs the scenario holds.
    active: Option<u64>,
    /// VUs of the run that are initialised.
    initialized: Option<u64>,
}

/// How long an answer waits for its effect: as k6 waits, but not for iterations that take minutes.
const SETTLING_MAX: Duration = Duration::from_secs(2);
/// Calls answered before the run is looked after again. The next step, a tick later at most, takes what is left.
const CALLS_PER_STEP: usize = 64;

/// What an answer is made from.
pub(super) struct Run<'a> {
    pub(super) coordinator: &'a mut Coordinator,
    pub(super) plan: &'a Plan,
    pub(super) live: &'a mut LiveSummary,
    /// The summary as `--summary-export` writes it.
    pub(super) exported: &'a dyn Fn(&Coordinator) -> serde_json::Value,
    pub(super) now: Time,
    /// What the coordinator wants done on account of what was asked.
    pub(super) orders: Orders,
}

/// Where the REST API will be served, if it is wanted and possible. Whoever it is for is told where it is, or reaches it in another way
/// (`is_passed_on`). It is done before a run opens the files it writes: one that cannot begin leaves them as they are.
///
/// # Errors
/// 106 when it was asked for with a flag and cannot be had; otherwise a line in the log says so and the run goes on.
pub(super) fn bind(api: Option<&ApiArgs>, logger: &Logger, is_passed_on: bool) -> Result<Option<Listener>, Failure> {
    let Some(api) = api else { return Ok(None) };
    let identity = api.identity.as_ref().map(|(certificate, key)| Identity::from_files(certificate, key)).transpose();
    let listener = identity.map_err(AddressError::from).and_then(|identity| {
        let address = Address::parse(&api.address)?;
        Listener::bind(&address, api.token.clone(), identity)
    });
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) => {
            let failure = could_not_serve(api, &error);
            if api.origin == ApiOrigin::Flag {
                return Err(failure);
            }
            let fields = failure.hint.map(|hint| ("hint", hint)).into_iter().collect();
            logger.log(
                Level::Warn,
                format!(
                    "{}; the test runs without it: onrush status, scale and stop reach whoever has that address",
                    failure.message
                ),
                fields,
            );
            return Ok(None);
        }
    };
    let address = listener.address;
    if let Some(identity) = &listener.identity {
        let fingerprint = &identity.fingerprint;
        logger.info(format!(
            "the REST API is at https://{address}, its certificate has the SHA-256 fingerprint {fingerprint}"
        ));
    }
    // Nobody can know a port that was picked.
    let is_picked = api.address.ends_with(":0") && !is_passed_on;
    let text = format!("the REST API listens on {address}");
    logger.log(if is_picked { Level::Info } else { Level::Debug }, text, Vec::new());
    Ok(Some(listener))
}

impl Rest {
    /// Serves the REST API at a place that [`bind`] found, and the view.
    ///
    /// # Errors
    /// When a server's thread cannot be started.
    pub(super) fn start(
        listener: Option<Listener>,
        view: Option<&mut View>,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let (sender, calls) = channel();
        let deliver = Arc::new(move |call| {
            if sender.send(call).is_ok() {
                wake();
            }
        });
        let mut rest = Self { calls: Some(calls), ..Self::default() };
        let mut stream = None;
        if let Some(view) = view {
            stream = Some(view.stream());
            if let Some(listener) = view.take_listener() {
                let deliver = deliver.clone();
                let server = Server::with_site(listener, Some(view.site()), move |call| deliver(call));
                let failed = |error| Failure::other(format!("failed to start the thread of the dashboard: {error}"));
                rest.servers.push(server.map_err(failed)?);
            }
        }
        if let Some(listener) = listener {
            rest.address = Some(listener.address);
            let server = Server::with_site(listener, stream, move |call| deliver(call));
            let failed = |error| Failure::other(format!("failed to start the thread of the REST API: {error}"));
            rest.servers.push(server.map_err(failed)?);
        }
        Ok(rest)
    }

    /// The servers, for records that follow. Nobody answers calls any more.
    pub(super) fn into_servers(self) -> Vec<Server> {
        self.servers
    }

    /// Somebody waits for an effect, so time matters.
    pub(super) fn is_settling(&self) -> bool {
        !self.settling.is_empty()
    }

    /// Answers what was asked since the last time.
    pub(super) fn answer_calls(&mut self, run: &mut Run<'_>) {
        // Who never stops asking must not keep the run from what else there is to do.
        for _ in 0..CALLS_PER_STEP {
            let Some(call) = self.calls.as_ref().and_then(|calls| calls.try_recv().ok()) else { break };
            self.answer(call, run);
        }
        self.settle(run);
    }

    fn answer(&mut self, call: Call, run: &mut Run<'_>) {
        let not_found = |what: &str| Reply::error(404, "Not Found", &format!("No {what} with that ID was found"));
        let reply = match &call.request {
            Request::Status => self.status(run),
            Request::Change(change) => {
                let change = change.clone();
                return self.change(call, &change, run);
            }
            Request::Metrics => Reply::ok(shape::metrics(run.summary())),
            Request::Metric(id) => shape::metric(run.summary(), id).map_or_else(|| not_found("metric"), Reply::ok),
            Request::Groups => Reply::ok(shape::groups(run.summary())),
            Request::Group(id) => shape::group(run.summary(), id).map_or_else(|| not_found("group"), Reply::ok),
            Request::Summary => Reply::ok((run.exported)(run.coordinator)),
            Request::Setup => run.setup_data(),
            Request::SetSetup(data) => {
                let data: Option<Arc<str>> = data.as_deref().map(|data| data.get().into());
                let orders = run.coordinator.set_setup_data(data, run.now);
                run.orders.extend(orders);
                run.setup_data()
            }
            Request::RunSetup => return self.call(call, Function::Setup, run),
            Request::RunTeardown => return self.call(call, Function::Teardown, run),
            Request::Scenarios => Reply::ok(shape::scenarios(&run.scenarios())),
            Request::Scenario(name) => run.scenario(name),
            Request::Steer(name, wish) => {
                let (name, wish) = (name.clone(), *wish);
                return self.steer(call, Some(name), wish, run);
            }
            Request::Steering => {
                let journal = run.coordinator.steering().to_json(run.coordinator.moment(run.now));
                let empty =
                    || serde_json::json!({"version": shape::VERSION, "changes": [], "options": {"scenarios": {}}});
                Reply::ok(shape::steering(journal.unwrap_or_else(empty)))
            }
        };
        call.answer(reply);
    }

    fn status(&self, run: &Run<'_>) -> Reply {
        let coordinator = &run.coordinator;
        let (phase, progress, is_stopped) = (coordinator.phase(), coordinator.progress(), coordinator.is_stopped());
        let status = match phase {
            RunPhase::Initializing => 1,
            RunPhase::Paused => 4,
            RunPhase::Setup => 6,
            RunPhase::Running => 7,
            RunPhase::Teardown => 8,
            RunPhase::Done | RunPhase::Closing | RunPhase::Closed if is_stopped => 10,
            RunPhase::Done | RunPhase::Closing | RunPhase::Closed => 9,
        };
        Reply::ok(shape::status(&shape::Status {
            status,
            paused: coordinator.is_paused(),
            vus: progress.vus_active,
            vus_max: progress.vus_initialized,
            stopped: is_stopped || self.is_stop_asked,
            running: phase >= RunPhase::Setup && phase < RunPhase::Done,
            tainted: coordinator.thresholds().results().iter().any(onrush_metrics::MetricResult::is_tainted),
        }))
    }

    /// k6's order: an end ends it, then pauses, then VUs.
    fn change(&mut self, call: Call, change: &Change, run: &mut Run<'_>) {
        if change.stopped {
            self.is_stop_asked = true;
            let message = "test run stopped from REST API".to_owned();
            let orders = run.coordinator.abort(Stop { code: ExitCode::ScriptStoppedFromRestApi, message }, run.now);
            run.orders.extend(orders);
            return call.answer(self.status(run));
        }
        let mut goal = None;
        if let Some(is_paused) = change.paused {
            match run.coordinator.pause(is_paused, call.source.clone(), run.now) {
                Ok(orders) => {
                    if orders.iter().any(|(_, command)| matches!(command, Command::Pause { .. })) {
                        goal = run.first_scenario_at(if is_paused { Some(0) } else { None });
                    }
                    run.orders.extend(orders);
                }
                Err(error) => return call.answer(Reply::error(500, "Pause error", &error.to_string())),
            }
        }
        if change.wish != ChangeRequest::default() {
            return self.steer(call, None, change.wish, run);
        }
        match goal {
            Some(goal) => self.await_effect(call, goal, None, run),
            None => call.answer(self.status(run)),
        }
    }

    fn steer(&mut self, call: Call, scenario: Option<String>, wish: ChangeRequest, run: &mut Run<'_>) {
        let over_ns = wish.over.map(|over| u64::try_from(over.as_nanos()).unwrap_or(u64::MAX));
        let wanted = TargetRequest { vus: wish.vus, max_vus: wish.max_vus, rate: wish.rate, over_ns };
        let steer = Steer { scenario: scenario.clone(), wanted, source: call.source.clone() };
        let orders = match run.coordinator.steer(steer, run.now) {
            Ok(orders) => orders,
            Err(error) => return call.answer(refused(&error)),
        };
        let mut goal = None;
        for (_, command) in &orders {
            if let Command::Steer { scenario, change } = command
                && let Some(index) = run.plan.scenarios.iter().position(|plan| plan.name() == scenario)
            {
                let goal = goal.get_or_insert(Goal { scenario: index, active: None, initialized: None });
                run.aim(goal, change);
            }
        }
        run.orders.extend(orders);
        match goal {
            Some(goal) => self.await_effect(call, goal, scenario, run),
            None => self.settled(call, scenario.as_deref(), run),
        }
    }

    fn await_effect(&mut self, call: Call, goal: Goal, scenario: Option<String>, run: &Run<'_>) {
        self.settling.push(Settling { call, goal, until: run.now + SETTLING_MAX, scenario });
    }

    /// Answers what has come into effect.
    fn settle(&mut self, run: &Run<'_>) {
        if self.settling.is_empty() {
            return;
        }
        let progress = run.coordinator.progress();
        let is_running = run.coordinator.phase() == RunPhase::Running;
        let all = std::mem::take(&mut self.settling);
        let (settled, open): (Vec<Settling>, Vec<Settling>) = all.into_iter().partition(|settling| {
            let goal = settling.goal;
            let active = progress.scenarios.get(goal.scenario).map_or(0, |progress| progress.active_vus);
            let is_there = goal.active.is_none_or(|vus| vus == active)
                && goal.initialized.is_none_or(|vus| vus == progress.vus_initialized);
            is_there || !is_running || run.now >= settling.until
        });
        self.settling = open;
        for settling in settled {
            self.settled(settling.call, settling.scenario.as_deref(), run);
        }
    }

    fn settled(&self, call: Call, scenario: Option<&str>, run: &Run<'_>) {
        let reply = scenario.map_or_else(|| self.status(run), |name| run.scenario(name));
        call.answer(reply);
    }

    /// Runs a life-cycle function for a client, if nothing else of the kind runs.
    fn call(&mut self, call: Call, function: Function, run: &mut Run<'_>) {
        self.last_number += 1;
        match run.coordinator.call(function, self.last_number, run.now) {
            Ok(orders) => {
                run.orders.extend(orders);
                self.running.insert(self.last_number, (call, function));
            }
            Err(detail) => call.answer(Reply::error(500, failed(function), detail)),
        }
    }

    /// Answers who asked for a function that has ended.
    pub(super) fn call_done(&mut self, number: u64, result: Result<Option<Arc<str>>, String>) {
        let Some((call, function)) = self.running.remove(&number) else { return };
        call.answer(match (result, function) {
            (Ok(data), Function::Setup) => Reply::text(shape::setup(data.as_deref())),
            (Ok(_), Function::Teardown) => Reply::empty(),
            (Err(error), function) => Reply::error(500, failed(function), &error),
        });
    }
}

fn failed(function: Function) -> &'static str {
    match function {
        Function::Setup => "Error executing setup",
        Function::Teardown => "Error executing teardown",
    }
}

impl Run<'_> {
    fn summary(&mut self) -> &serde_json::Value {
        self.live.data(self.coordinator, self.now)
    }

    fn setup_data(&self) -> Reply {
        Reply::text(shape::setup(self.coordinator.setup_data().map(|data| &**data)))
    }

    /// The first scenario holds so many VUs, or as many as it was told to.
    fn first_scenario_at(&self, vus: Option<u64>) -> Option<Goal> {
        let targets = self.coordinator.steering().scenarios(self.coordinator.moment(self.now));
        let told = targets.first()?.targets.vus;
        let plan = self.plan.scenarios.first()?;
        let active = vus.or_else(|| told.map(|vus| plan.share_of(vus)));
        Some(Goal { scenario: 0, active, initialized: None })
    }

    /// What a change will lead to, where that can be seen.
    fn aim(&self, goal: &mut Goal, change: &TargetChange) {
        let is_running = self.coordinator.phase() == RunPhase::Running;
        let plan = &self.plan.scenarios[goal.scenario];
        match change {
            // What takes its time is not waited for.
            TargetChange::Vus(ramp) if ramp.over_ns == 0 && !self.coordinator.is_paused() && is_running => {
                goal.active = Some(plan.share_of(ramp.to));
            }
            TargetChange::MaxVus(max) if is_running => {
                if let onrush_plan::ExecutorPlan::ExternallyControlled(own) = &plan.executor {
                    let before = self.max_vus_before(goal.scenario).unwrap_or(own.max_vus);
                    let initialized = self.coordinator.progress().vus_initialized;
                    goal.initialized = Some((initialized + plan.share_of(*max)).saturating_sub(before));
                }
            }
            _ => {}
        }
    }

    /// The limit that held before the change that was just made, as this instance's share.
    fn max_vus_before(&self, scenario: usize) -> Option<u64> {
        let plan = &self.plan.scenarios[scenario];
        let own = |change: &&onrush_session::Change| {
            change.scenario.as_deref() == Some(plan.name()) && change.what == Target::MaxVus(0).name()
        };
        self.coordinator.steering().journal().iter().rfind(own).map(|change| plan.share_of(change.from))
    }

    fn scenarios(&self) -> Vec<shape::Scenario> {
        let progress = self.coordinator.progress().scenarios;
        let all = self.coordinator.steering().scenarios(self.coordinator.moment(self.now));
        let time_unit = |ns: u64| GoDuration::from_ns(i64::try_from(ns).unwrap_or(i64::MAX)).to_string();
        let scenario = |(index, scenario): (usize, onrush_session::ScenarioTargets)| {
            let progress = progress.get(index).copied().unwrap_or_default();
            shape::Scenario {
                name: scenario.name,
                executor: scenario.executor,
                vus: scenario.targets.vus,
                max_vus: scenario.targets.max_vus,
                rate: scenario.targets.rate,
                time_unit: scenario.time_unit_ns.map(time_unit),
                ramp: scenario
                    .ramp
                    .map(|ramp| (ramp.to, Duration::from_nanos(ramp.end_ns().saturating_sub(scenario.at_ns)))),
                running_vus: progress.running_vus,
                over: progress.over || scenario.is_over || self.coordinator.phase() > RunPhase::Running,
            }
        };
        all.into_iter().enumerate().map(scenario).collect()
    }

    fn scenario(&self, name: &str) -> Reply {
        match self.scenarios().iter().find(|scenario| scenario.name == name) {
            Some(scenario) => Reply::ok(shape::scenario(scenario)),
            None => Reply::error(404, "Not Found", "No scenario with that name was found"),
        }
    }
}

fn could_not_serve(api: &ApiArgs, error: &AddressError) -> Failure {
    let message = match error {
        AddressError::Listen(error) => format!("the REST API cannot listen on {}: {error}", api.address),
        other => format!("the REST API cannot be served: {other}"),
    };
    let failure = Failure::new(ExitCode::CannotStartRestApi, message);
    match error {
        AddressError::WeakToken(_) => failure.hint("openssl rand -hex 16 makes one"),
        AddressError::NeedsToken(_) => {
            failure.hint("set ONRUSH_API_TOKEN here and for whoever steers the run, or listen on localhost")
        }
        AddressError::Listen(error) if error.kind() == std::io::ErrorKind::AddrInUse => failure
            .hint("another test may be running; choose another place with --address, or none with --address \"\""),
        _ => failure,
    }
}

fn refused(error: &SteerError) -> Reply {
    let (status, title) = match error {
        SteerError::NoneExternal => (500, "Execution config error"),
        SteerError::Unknown { .. } => (404, "Not Found"),
        SteerError::Over(_) | SteerError::AllOver => (409, "Config update error"),
        SteerError::TooMany => (429, "Config update error"),
        _ => (400, "Config update error"),
    };
    Reply::error(status, title, &error.to_string())
}
