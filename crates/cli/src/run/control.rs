//! Answers the REST API: what it asks goes to the coordinator, what that decides to the engine.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, channel},
};

use onrush_engine::{Event as Reported, LifecycleError};
use onrush_fiber::{Clock, Nanos};
use onrush_plan::{
    GoDuration,
    steer::{Target, Wanted},
};
use onrush_server::{Address, AddressError, Call, Change, Identity, Listener, Reply, Request, Server, Wish, shape};
use onrush_session::{Action, Event, ExitCode, Phase, ShareOfTarget, Steer, SteerError, Stop};
use serde_json::Value;

use super::{drive::Drive, summary};
use crate::{
    args::{ApiArgs, ApiOrigin},
    failure::Failure,
    log::{Level, Logger},
};

/// The REST API's side of a run.
#[derive(Default)]
pub(super) struct Control {
    calls: Option<Receiver<Call>>,
    /// Changes whose effect is awaited, so that the answer shows it.
    settling: Vec<Settling>,
    /// `setup()` or `teardown()` running for a client.
    lifecycle: Option<Lifecycle>,
    /// What the coordinator wants done after that.
    deferred: Vec<Action>,
    /// Somebody asked for the end.
    is_stop_asked: bool,
    /// Ends the server when the run is over: the last field, so that calls nobody answers any more are dropped before.
    _server: Option<Server>,
}

/// An answer that waits for the engine.
struct Settling {
    call: Call,
    goal: Goal,
    until: Nanos,
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

/// A life-cycle function that a client asked for.
enum Lifecycle {
    Setup(Call),
    Teardown(Call),
}

/// How long an answer waits for its effect: as k6 waits, but not for iterations that take minutes.
const SETTLING_MAX: Nanos = Nanos::from_secs(2);
/// Calls answered before the run is looked after again. The next step, a tick later at most, takes what is left.
const CALLS_PER_STEP: usize = 64;

impl Control {
    /// Serves the REST API, if it is wanted and possible.
    ///
    /// # Errors
    /// 106 when it was asked for with a flag and cannot be had; otherwise a line in the log says so and the run goes on.
    pub(super) fn start(api: Option<&ApiArgs>, logger: &Logger, wake: Sender<Reported>) -> Result<Self, Failure> {
        let Some(api) = api else { return Ok(Self::default()) };
        let (sender, calls) = channel();
        let identity =
            api.identity.as_ref().map(|(certificate, key)| Identity::from_files(certificate, key)).transpose();
        let server = identity
            .map_err(AddressError::from)
            .and_then(|identity| {
                let address = Address::parse(&api.address)?;
                Listener::bind(&address, api.token.clone(), identity)
            })
            .and_then(|listener| {
                if let Some(identity) = &listener.identity {
                    logger.log(
                        Level::Info,
                        format!(
                            "the REST API is at https://{}, its certificate has the SHA-256 fingerprint {}",
                            listener.address, identity.fingerprint
                        ),
                        Vec::new(),
                    );
                }
                let address = listener.address;
                let server = Server::start(listener, move |call| {
                    if sender.send(call).is_ok() {
                        let _ = wake.send(Reported::Wake);
                    }
                })?;
                Ok((server, address))
            });
        match server {
            Ok((server, address)) => {
                let text = format!("the REST API listens on {address}");
                // Nobody can know a port that was picked.
                let is_picked = api.address.ends_with(":0");
                logger.log(if is_picked { Level::Info } else { Level::Debug }, text, Vec::new());
                Ok(Self { calls: Some(calls), _server: Some(server), ..Self::default() })
            }
            Err(error) => {
                let failure = could_not_serve(api, &error);
                if api.origin == ApiOrigin::Flag {
                    return Err(failure);
                }
                let fields = failure.hint.map(|hint| ("hint", hint)).into_iter().collect();
                logger.log(Level::Warn, format!("{}; the test runs without it", failure.message), fields);
                Ok(Self::default())
            }
        }
    }

    /// Somebody waits for an effect, so time matters.
    pub(super) fn is_settling(&self) -> bool {
        !self.settling.is_empty()
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

impl Drive<'_> {
    /// Answers what was asked since the last time.
    pub(super) fn answer_calls(&mut self) {
        // Who never stops asking must not keep the run from what else there is to do.
        for _ in 0..CALLS_PER_STEP {
            let Some(call) = self.control.calls.as_ref().and_then(|calls| calls.try_recv().ok()) else { break };
            self.answer(call);
        }
        self.settle();
    }

    fn answer(&mut self, call: Call) {
        let not_found = |what: &str| Reply::error(404, "Not Found", &format!("No {what} with that ID was found"));
        let reply = match &call.request {
            Request::Status => self.status(),
            Request::Change(change) => {
                let change = change.clone();
                return self.change(call, &change);
            }
            Request::Metrics => Reply::ok(shape::metrics(&self.summary_data())),
            Request::Metric(id) => {
                shape::metric(&self.summary_data(), id).map_or_else(|| not_found("metric"), Reply::ok)
            }
            Request::Groups => Reply::ok(shape::groups(&self.summary_data())),
            Request::Group(id) => shape::group(&self.summary_data(), id).map_or_else(|| not_found("group"), Reply::ok),
            Request::Setup => self.setup_data(),
            Request::SetSetup(data) => {
                let data: Option<Arc<str>> = data.as_deref().map(|data| data.get().into());
                self.set_setup_data(data);
                self.setup_data()
            }
            Request::RunSetup => return self.run_lifecycle(call, true),
            Request::RunTeardown => return self.run_lifecycle(call, false),
            Request::Scenarios => Reply::ok(shape::scenarios(&self.scenarios())),
            Request::Scenario(name) => self.scenario(name),
            Request::Steer(name, wish) => {
                let (name, wish) = (name.clone(), *wish);
                return self.steer(call, Some(name), wish);
            }
            Request::Steering => {
                let journal = self.coordinator.steering().to_json(self.moment(Clock::now()));
                let empty =
                    || serde_json::json!({"version": shape::VERSION, "changes": [], "options": {"scenarios": {}}});
                Reply::ok(shape::steering(journal.unwrap_or_else(empty)))
            }
        };
        call.answer(reply);
    }

    fn status(&self) -> Reply {
        use std::sync::atomic::Ordering::Relaxed;
        let state = &self.prepared.run.state;
        let phase = self.coordinator.phase();
        let is_stopped = self.coordinator.is_stopped();
        let status = match phase {
            Phase::Initializing => 1,
            Phase::Paused => 4,
            Phase::Setup => 6,
            Phase::Running => 7,
            Phase::Teardown => 8,
            Phase::Done if is_stopped => 10,
            Phase::Done => 9,
        };
        Reply::ok(shape::status(&shape::Status {
            status,
            paused: self.coordinator.is_paused(),
            vus: state.vus_active.get(),
            vus_max: state.vus_initialized.load(Relaxed),
            stopped: is_stopped || self.control.is_stop_asked,
            running: phase >= Phase::Setup && phase < Phase::Done,
            tainted: self.coordinator.thresholds().results().iter().any(onrush_metrics::MetricResult::is_tainted),
        }))
    }

    /// k6's order: an end ends it, then pauses, then VUs.
    fn change(&mut self, call: Call, change: &Change) {
        if change.stopped {
            self.control.is_stop_asked = true;
            let message = "test run stopped from REST API".to_owned();
            self.tell(Event::Abort(Stop { code: ExitCode::ScriptStoppedFromRestApi, message }));
            return call.answer(self.status());
        }
        let mut goal = None;
        if let Some(is_paused) = change.paused {
            let now = self.moment(Clock::now());
            match self.coordinator.pause(is_paused, call.source.clone(), now) {
                Ok(actions) => {
                    if actions.iter().any(|action| matches!(action, Action::Pause(_))) {
                        goal = self.first_scenario_at(if is_paused { Some(0) } else { None });
                    }
                    actions.into_iter().for_each(|action| self.act(action));
                }
                Err(error) => return call.answer(Reply::error(500, "Pause error", &error.to_string())),
            }
        }
        if change.wish != Wish::default() {
            return self.steer(call, None, change.wish);
        }
        match goal {
            Some(goal) => self.await_effect(call, goal, None),
            None => call.answer(self.status()),
        }
    }

    /// The first scenario holds so many VUs, or as many as it was told to.
    fn first_scenario_at(&self, vus: Option<u64>) -> Option<Goal> {
        let targets = self.coordinator.steering().scenarios(self.moment(Clock::now()));
        let told = targets.first()?.targets.vus;
        let plan = self.prepared.plan.scenarios.first()?;
        let active = vus.or_else(|| told.map(|vus| plan.share_of(vus)));
        Some(Goal { scenario: 0, active, initialized: None })
    }

    fn steer(&mut self, call: Call, scenario: Option<String>, wish: Wish) {
        let over_ns = wish.over.map(|over| u64::try_from(over.as_nanos()).unwrap_or(u64::MAX));
        let wanted = Wanted { vus: wish.vus, max_vus: wish.max_vus, rate: wish.rate, over_ns };
        let steer = Steer { scenario: scenario.clone(), wanted, source: call.source.clone() };
        let actions = match self.coordinator.steer(steer, self.moment(Clock::now())) {
            Ok(actions) => actions,
            Err(error) => return call.answer(refused(&error)),
        };
        let mut goal = None;
        for action in actions {
            if let Action::Steer { scenario, target } = &action {
                let goal = goal.get_or_insert(Goal { scenario: *scenario, active: None, initialized: None });
                self.aim(goal, target);
            }
            self.act(action);
        }
        match goal {
            Some(goal) => self.await_effect(call, goal, scenario),
            None => self.settled(call, scenario.as_deref()),
        }
    }

    /// What a change will lead to, where that can be seen.
    fn aim(&self, goal: &mut Goal, target: &ShareOfTarget) {
        use std::sync::atomic::Ordering::Relaxed;
        match target {
            // What takes its time is not waited for.
            ShareOfTarget::Vus(course)
                if course.is_jump() && !self.coordinator.is_paused() && self.coordinator.phase() == Phase::Running =>
            {
                goal.active = Some(course.last());
            }
            ShareOfTarget::MaxVus(max) if self.coordinator.phase() == Phase::Running => {
                let plan = &self.prepared.plan.scenarios[goal.scenario];
                if let onrush_plan::ExecutorPlan::ExternallyControlled(own) = &plan.executor {
                    let before = self.max_vus_before(goal.scenario).unwrap_or(own.max_vus);
                    let initialized = self.prepared.run.state.vus_initialized.load(Relaxed);
                    goal.initialized = Some((initialized + max).saturating_sub(before));
                }
            }
            _ => {}
        }
    }

    /// The limit that held before the change that was just made, as this instance's share.
    fn max_vus_before(&self, scenario: usize) -> Option<u64> {
        let plan = &self.prepared.plan.scenarios[scenario];
        let own = |change: &&onrush_session::Change| {
            change.scenario.as_deref() == Some(plan.name()) && change.what == Target::MaxVus(0).name()
        };
        self.coordinator.steering().journal().iter().rfind(own).map(|change| plan.share_of(change.from))
    }

    fn await_effect(&mut self, call: Call, goal: Goal, scenario: Option<String>) {
        let until = Clock::now() + SETTLING_MAX.as_duration();
        self.control.settling.push(Settling { call, goal, until, scenario });
    }

    /// Answers what has come into effect.
    fn settle(&mut self) {
        use std::sync::atomic::Ordering::Relaxed;
        if self.control.settling.is_empty() {
            return;
        }
        let (now, progress) = (Clock::now(), self.engine.progress());
        let initialized = self.prepared.run.state.vus_initialized.load(Relaxed);
        let is_running = self.coordinator.phase() == Phase::Running;
        let all = std::mem::take(&mut self.control.settling);
        let (settled, open): (Vec<Settling>, Vec<Settling>) = all.into_iter().partition(|settling| {
            let goal = settling.goal;
            let active = progress.get(goal.scenario).map_or(0, |progress| progress.active_vus);
            let is_there =
                goal.active.is_none_or(|vus| vus == active) && goal.initialized.is_none_or(|vus| vus == initialized);
            is_there || !is_running || now >= settling.until
        });
        self.control.settling = open;
        for settling in settled {
            self.settled(settling.call, settling.scenario.as_deref());
        }
    }

    fn settled(&self, call: Call, scenario: Option<&str>) {
        let reply = scenario.map_or_else(|| self.status(), |name| self.scenario(name));
        call.answer(reply);
    }

    fn scenarios(&self) -> Vec<shape::Scenario> {
        let progress = self.engine.progress();
        let all = self.coordinator.steering().scenarios(self.moment(Clock::now()));
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
                ramp: scenario.ramp.map(|ramp| {
                    (ramp.to, std::time::Duration::from_nanos(ramp.end_ns().saturating_sub(scenario.at_ns)))
                }),
                running_vus: progress.running_vus,
                over: progress.over || scenario.is_over || self.coordinator.phase() > Phase::Running,
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

    fn summary_data(&self) -> Value {
        summary::live(self, self.elapsed(Clock::now()))
    }

    fn setup_data(&self) -> Reply {
        Reply::text(shape::setup(self.coordinator.setup_data()))
    }

    fn set_setup_data(&mut self, data: Option<Arc<str>>) {
        self.coordinator.set_setup_data(data.clone());
        self.engine.set_setup_data(data);
    }

    /// Runs a life-cycle function for a client, if nothing else of the kind runs.
    fn run_lifecycle(&mut self, call: Call, is_setup: bool) {
        let title = if is_setup { "Error executing setup" } else { "Error executing teardown" };
        let phase = self.coordinator.phase();
        let detail = match phase {
            Phase::Initializing => "the VUs are still being initialised",
            Phase::Setup => "setup() is running",
            Phase::Teardown => "teardown() is running",
            Phase::Done => "the test is over",
            Phase::Paused | Phase::Running if self.control.lifecycle.is_some() => {
                "setup() or teardown() is running for another client"
            }
            Phase::Paused | Phase::Running => {
                if is_setup {
                    self.engine.setup();
                    self.control.lifecycle = Some(Lifecycle::Setup(call));
                } else {
                    self.engine.teardown(self.coordinator.setup_data().map(Arc::from));
                    self.control.lifecycle = Some(Lifecycle::Teardown(call));
                }
                return;
            }
        };
        call.answer(Reply::error(500, title, detail));
    }

    /// A life-cycle function that runs for a client comes first.
    pub(super) fn defers(&mut self, action: &Action) -> bool {
        let waits = self.control.lifecycle.is_some()
            && matches!(action, Action::RunSetup | Action::RunTeardown(_) | Action::Start(_));
        if waits {
            self.control.deferred.push(action.clone());
        }
        waits
    }

    /// Takes the end of a function that runs for a client; gives back what is none of its business.
    pub(super) fn lifecycle_ended(&mut self, event: Reported) -> Option<Reported> {
        let failed = |title: &str, error: &LifecycleError| Reply::error(500, title, &error.to_string());
        match (self.control.lifecycle.take(), event) {
            (Some(Lifecycle::Setup(call)), Reported::SetupDone(result)) => match result {
                Ok(data) => {
                    self.set_setup_data(data.map(Arc::from));
                    call.answer(self.setup_data());
                }
                Err(error) => call.answer(failed("Error executing setup", &error)),
            },
            (Some(Lifecycle::Teardown(call)), Reported::TeardownDone(result)) => match result {
                Ok(()) => call.answer(Reply::empty()),
                Err(error) => call.answer(failed("Error executing teardown", &error)),
            },
            (lifecycle, event) => {
                self.control.lifecycle = lifecycle;
                return Some(event);
            }
        }
        for action in std::mem::take(&mut self.control.deferred) {
            let action = match action {
                // What a client set in the meantime counts.
                Action::Start(_) => Action::Start(self.coordinator.setup_data().map(Arc::from)),
                Action::RunTeardown(_) => Action::RunTeardown(self.coordinator.setup_data().map(Arc::from)),
                other => other,
            };
            self.act(action);
        }
        None
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
