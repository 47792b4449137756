//! The event loop: what the engine reports goes to the coordinator, what the coordinator decides goes to the engine.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::Duration,
};

use onrush_engine::{Engine, Event as Reported, LifecycleError, NewTarget, ThreadSample};
use onrush_fiber::{Clock, Nanos};
use onrush_metrics::CardinalityWarning;
use onrush_output::Outputs;
use onrush_session::{
    Action, AgentId, Coordinator, Event, ExitCode, Moment, Outcome, Phase, Replay, Settings, ShareOfTarget, Stop,
};

use super::{Surroundings, control::Control, health::HealthWatch, prepare::Prepared, spans::Spans};
use crate::{
    args::RunArgs,
    failure::Failure,
    log::Level,
    progress::{Board, Pulse, Screen, Stage, Totals},
    signals::Watch,
    terminal::{Look, Message},
};

/// Fields of a log line.
type LogFields = Vec<(&'static str, String)>;

/// How a run ended.
pub(super) struct Ended {
    /// Its result.
    pub(super) outcome: Outcome,
    /// The VU whose init code failed, if that is why.
    pub(super) failed_vu: Option<u64>,
    /// `--summary-export` could not be written.
    pub(super) export_failed: bool,
}

/// The one agent of a run on this machine.
const AGENT: AgentId = AgentId(0);
/// How often signals, aborts, thresholds and the terminal's progress are looked after.
const TICK: Duration = Duration::from_millis(100);
/// The same while an answer of the REST API waits for its effect.
const SETTLING_TICK: Duration = Duration::from_millis(5);
/// Progress without a terminal.
const BLOCK_INTERVAL: Nanos = Nanos::from_secs(1);

/// Runs a prepared test to its end, the summary included.
///
/// # Errors
/// When the engine cannot be started.
pub(super) fn drive(
    around: &Surroundings,
    args: &RunArgs,
    prepared: &Prepared,
    signals: &Arc<Watch>,
    outputs: Option<Outputs>,
    replay: Replay,
) -> Result<Ended, Failure> {
    let settings = Settings {
        has_setup: prepared.lifecycle.setup,
        has_teardown: prepared.lifecycle.teardown,
        evaluates_thresholds: !args.no_thresholds,
        starts_paused: prepared.test.settings.paused,
    };
    let coordinator = Coordinator::new(settings, [AGENT], &prepared.run.registry, prepared.thresholds.clone())
        .steering_plan(&prepared.plan);
    let (sender, events) = channel();
    let control = Control::start(args.api.as_ref(), &around.logger, sender.clone())?;
    signals.set_graceful(true);
    let engine = Engine::start(prepared.engine(outputs.as_ref()), sender)
        .map_err(|error| Failure::other(format!("failed to start worker threads: {error}")))?;
    let now = Clock::now();
    let mut drive = Drive {
        around,
        args,
        prepared,
        signals,
        coordinator,
        engine,
        events,
        board: Board::new(&prepared.plan),
        pulse: Pulse::default(),
        health: HealthWatch::default(),
        warnings: BTreeMap::new(),
        cardinality_warned: 0,
        started_at: None,
        scenarios_at: None,
        spans: Spans::default(),
        block_at: now,
        frame_at: Nanos::ZERO,
        control,
        replay,
        paused_at: None,
        failed_vu: None,
        is_initialized: false,
        is_finished: false,
        is_thread_gone: false,
        handle_summary: None,
        outputs,
        output_samples_missing: 0,
        export_failed: false,
    };
    drive.run();
    drive.linger();
    let outcome = drive.conclude();
    let (failed_vu, export_failed) = (drive.failed_vu, drive.export_failed);
    // Ending the process ends the threads. Their VUs are not torn down one by one: there may be 100,000 of them.
    std::mem::forget(drive.engine);
    Ok(Ended { outcome, failed_vu, export_failed })
}

/// A run under way.
pub(super) struct Drive<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) args: &'a RunArgs,
    pub(super) prepared: &'a Prepared,
    pub(super) signals: &'a Arc<Watch>,
    pub(super) coordinator: Coordinator,
    pub(super) engine: Engine,
    pub(super) events: Receiver<Reported>,
    board: Board,
    pulse: Pulse,
    pub(super) health: HealthWatch,
    /// How often each warning of the engine came.
    pub(super) warnings: BTreeMap<(String, LogFields), u64>,
    /// Warnings about tags with too many values that were passed on.
    cardinality_warned: usize,
    /// When the test's clock started.
    pub(super) started_at: Option<Nanos>,
    /// When the scenarios started.
    scenarios_at: Option<Nanos>,
    spans: Spans,
    /// When the last plain block was printed.
    block_at: Nanos,
    /// When the last frame was drawn.
    frame_at: Nanos,
    /// What the REST API asked for.
    pub(super) control: Control,
    /// Changes to be made as in another run.
    replay: Replay,
    /// Since when the run stands still.
    paused_at: Option<Nanos>,
    failed_vu: Option<u64>,
    /// All planned VUs have run their init code.
    is_initialized: bool,
    is_finished: bool,
    /// What waits for a thread's answer waits in vain.
    pub(super) is_thread_gone: bool,
    pub(super) handle_summary: Option<Result<Option<Vec<onrush_js::HandleSummaryFile>>, LifecycleError>>,
    pub(super) outputs: Option<Outputs>,
    /// Samples that outputs lack.
    pub(super) output_samples_missing: u64,
    pub(super) export_failed: bool,
}

impl Drive<'_> {
    /// Until the coordinator says that nothing is left to run.
    fn run(&mut self) {
        while !self.is_finished {
            self.step(true);
        }
    }

    /// Waits for the next event, a tick at most, and handles it.
    pub(super) fn step(&mut self, shows_progress: bool) {
        let patience = if self.control.is_settling() { SETTLING_TICK } else { TICK };
        match self.events.recv_timeout(self.until_replay(patience)) {
            Ok(event) => self.take(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.thread_is_gone(),
        }
        // What else is there already.
        while !self.is_finished
            && let Ok(event) = self.events.try_recv()
        {
            self.take(event);
        }
        self.answer_calls();
        self.replay();
        if shows_progress {
            self.tick();
        }
    }

    /// No longer than until the next change that is to be replayed.
    fn until_replay(&self, patience: Duration) -> Duration {
        let Some(at) = self.replay.next_at().filter(|_| self.is_replaying()) else { return patience };
        patience.min(at.saturating_sub(self.moment(Clock::now()).scenarios))
    }

    fn is_replaying(&self) -> bool {
        self.scenarios_at.is_some() && self.coordinator.phase() == Phase::Running && !self.coordinator.is_paused()
    }

    /// Makes the changes that are due as of the moment they were made at in the run that is replayed.
    fn replay(&mut self) {
        if !self.is_replaying() {
            return;
        }
        let now = self.moment(Clock::now());
        while let Some(step) = self.replay.due(now.scenarios) {
            let late = now.scenarios.saturating_sub(step.at);
            let at = Moment { test: now.test.saturating_sub(late), scenarios: step.at };
            match self.coordinator.steer(step.steer, at) {
                Ok(actions) => actions.into_iter().for_each(|action| self.act(action)),
                Err(error) => {
                    let at = step.at.as_secs_f64();
                    self.around
                        .logger
                        .warn(format!("the change at {at:.1}s of the scenarios is not replayed: {error}"));
                }
            }
        }
    }

    fn thread_is_gone(&mut self) {
        let message =
            "a worker thread ended unexpectedly, which is a bug of Onrush: please report it with the lines above"
                .to_owned();
        self.tell(Event::Failed(Stop { code: ExitCode::Panic, message }));
        self.is_thread_gone = true;
        self.is_finished = true;
    }

    pub(super) fn take(&mut self, event: Reported) {
        // An abort comes before what it causes, such as the end of the scenarios.
        self.look_for_abort();
        let Some(event) = self.lifecycle_ended(event) else { return };
        match event {
            Reported::Initialized => {
                self.is_initialized = true;
                self.around.logger.debug(format!("{} VUs are initialized", self.prepared.plan.planned_vus));
                self.tell(Event::Initialized(AGENT));
            }
            Reported::InitFailed(error) => {
                if let LifecycleError::Init { vu, .. } = error {
                    self.failed_vu.get_or_insert(vu);
                }
                self.tell(Event::Failed(stop(&error)));
            }
            Reported::SetupDone(Ok(data)) => self.tell(Event::SetupDone(data)),
            Reported::SetupDone(Err(error)) => self.tell(Event::Failed(stop(&error))),
            Reported::ScenariosDone => {
                let now = Clock::now();
                self.health.end(now);
                // What comes later, such as teardown(), is not the scenarios'.
                self.spans.end(now);
                self.around.logger.debug("all scenarios are over");
                self.engine.flush();
                self.tell(Event::ScenariosDone(AGENT));
            }
            Reported::TeardownDone(Ok(())) => self.tell(Event::TeardownDone),
            Reported::TeardownDone(Err(error)) => self.tell(Event::Failed(stop(&error))),
            Reported::HandleSummaryDone(result) => self.handle_summary = Some(result),
            Reported::Sample(sample) => self.sample(*sample),
            Reported::Warning { message, fields } => self.warning(message, fields),
            // What it is for is looked at in any case.
            Reported::Wake => {}
            Reported::ThreadEnded => self.thread_is_gone(),
        }
    }

    pub(super) fn sample(&mut self, sample: ThreadSample) {
        self.health.thread(&sample);
        let (thread, delta) = (sample.thread, sample.delta);
        match self.spans.next(thread, sample.at, sample.in_scenarios) {
            Some(span) => self.tell(Event::Measured { agent: AGENT, thread, span, delta }),
            None => self.tell(Event::Delta(AGENT, delta)),
        }
        let warnings = self.coordinator.merged().warnings();
        if let Some(new) = warnings.get(self.cardinality_warned..).filter(|new| !new.is_empty()) {
            let limit = self.prepared.run.census.limit();
            self.around.logger.warn(cardinality_warning(new, limit, self.outputs.is_some()));
        }
        self.cardinality_warned = warnings.len();
    }

    /// Says it the first time; `conclude` says how often it came.
    fn warning(&mut self, message: String, fields: LogFields) {
        let count = self.warnings.entry((message.clone(), fields.clone())).or_default();
        *count += 1;
        if *count == 1 {
            self.around.logger.log(Level::Warn, message, fields);
        }
    }

    fn look_for_abort(&mut self) {
        if let Some(signal) = self.signals.first() {
            let message = format!("test run was aborted because Onrush received a '{signal}' signal");
            self.tell(Event::Abort(Stop { code: ExitCode::ExternalAbort, message }));
        }
        if let Some(abort) = self.prepared.run.state.aborted() {
            self.tell(Event::Abort(Stop { code: ExitCode::ScriptAborted, message: abort.message }));
        }
    }

    fn tick(&mut self) {
        self.look_for_abort();
        let now = Clock::now();
        let elapsed = self.elapsed(now);
        self.health.tick(now, self.signals.resumed());
        self.tell(Event::Tick { elapsed: elapsed.as_duration() });
        self.show_progress(now);
    }

    /// Hands an event to the coordinator and does what it wants.
    pub(super) fn tell(&mut self, event: Event) {
        for action in self.coordinator.handle(event) {
            self.act(action);
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        if self.defers(&action) {
            return;
        }
        self.trace(&action);
        match action {
            Action::RunSetup => {
                self.start_clock();
                self.engine.setup();
            }
            Action::Start(data) => {
                self.start_clock();
                self.engine.flush();
                let now = Clock::now();
                self.health.begin(now, self.prepared.threads());
                self.scenarios_at = Some(now);
                self.spans.start(now);
                self.tell(Event::ScenariosStarted(self.elapsed(now).as_duration()));
                self.engine.start_scenarios(now, data);
            }
            Action::Interrupt => self.engine.interrupt(),
            Action::RunTeardown(data) => self.engine.teardown(data),
            Action::Finish => self.is_finished = true,
            Action::Error(message) => self.around.logger.error(message),
            Action::Steer { scenario, target } => {
                let target = match target {
                    ShareOfTarget::Vus(course) => NewTarget::Vus(course),
                    ShareOfTarget::MaxVus(max) => NewTarget::MaxVus(max),
                    ShareOfTarget::Arrivals(course) => NewTarget::Arrivals(course),
                };
                self.engine.steer(scenario, target);
            }
            Action::Pause(is_paused) => self.pause(is_paused),
        }
    }

    /// What `--verbose` shows of a run's way.
    fn trace(&self, action: &Action) {
        let logger = &self.around.logger;
        match action {
            Action::RunSetup => logger.debug("running setup()"),
            Action::Start(_) => {
                for scenario in self.prepared.plan.scenarios.iter() {
                    let fields = vec![
                        ("executor", scenario.scenario.executor.type_name().to_owned()),
                        ("scenario", scenario.name().to_owned()),
                        ("startTime", scenario.scenario.start_time.to_string()),
                    ];
                    logger.log(Level::Debug, format!("starting {}", scenario.description), fields);
                }
            }
            Action::Interrupt => logger.debug("interrupting what runs"),
            Action::RunTeardown(_) => logger.debug("running teardown()"),
            Action::Finish => logger.debug("nothing is left to run"),
            Action::Error(_) | Action::Steer { .. } | Action::Pause(_) => {}
        }
    }

    fn start_clock(&mut self) {
        if self.started_at.is_none() {
            let now = Clock::now();
            self.started_at = Some(now);
            // Blocks come at whole seconds of the test.
            self.block_at = now;
            self.prepared.run.state.start_clock(now);
        }
    }

    /// The test's clock and the scenarios' stand still, or go on.
    fn pause(&mut self, is_paused: bool) {
        let now = Clock::now();
        let state = &self.prepared.run.state;
        if is_paused {
            self.paused_at = Some(now);
            state.pause_clock(now);
        } else if let Some(at) = self.paused_at.take() {
            state.resume_clock(now);
            let stood = now.saturating_sub(at).as_duration();
            self.scenarios_at = self.scenarios_at.map(|at| at + stood);
        }
        self.engine.pause(is_paused, now);
    }

    /// The time on the test's clock.
    pub(super) fn elapsed(&self, now: Nanos) -> Nanos {
        self.prepared.run.state.elapsed(now)
    }

    /// Now, or when the run was paused.
    fn unpaused(&self, now: Nanos) -> Nanos {
        self.paused_at.unwrap_or(now)
    }

    /// The time on the run's clocks.
    pub(super) fn moment(&self, now: Nanos) -> Moment {
        let scenarios = self.scenarios_at.map_or(Nanos::ZERO, |at| self.unpaused(now).saturating_sub(at));
        Moment { test: self.elapsed(now).as_duration(), scenarios: scenarios.as_duration() }
    }

    /// Stays until a signal comes, if that is wanted; one that has ended the test counts.
    fn linger(&mut self) {
        if !self.args.linger || self.signals.first().is_some() || self.is_thread_gone {
            return;
        }
        if !self.args.quiet {
            let text = "The test is done, but --linger was enabled, so Onrush is waiting for Ctrl+C to continue...\n";
            self.around.terminal.stdout(text);
        }
        let now = Clock::now();
        self.health.end(now);
        // The test's clock shows how long it ran, not how long it is looked at.
        self.prepared.run.state.pause_clock(now);
        self.paused_at.get_or_insert(now);
        self.is_finished = false;
        while self.signals.first().is_none() && !self.is_thread_gone {
            self.step(false);
        }
        self.is_finished = true;
    }

    fn show_progress(&mut self, now: Nanos) {
        if self.args.quiet {
            return;
        }
        if self.around.look.stdout_tty {
            if now.saturating_sub(self.frame_at).as_duration() < TICK {
                return;
            }
            self.frame_at = now;
            let (columns, rows) = Look::size();
            let screen = Screen { columns, rows, color: self.around.look.stdout_color() };
            let (stage, totals) = (self.stage(), self.totals(now));
            let pulse = self.pulse.line(self.coordinator.merged(), now, columns);
            let frame = self.board.frame(stage, &totals, self.unpaused(now), &self.engine.progress(), pulse, screen);
            self.around.terminal.send(Message::Frame(frame));
        } else if now.saturating_sub(self.block_at) >= BLOCK_INTERVAL {
            // From one block to the next it is a second on average, whenever the ticks come.
            self.block_at = self.block_at + BLOCK_INTERVAL;
            let block = self.block(now);
            self.around.terminal.stdout(block);
        }
    }

    pub(super) fn block(&mut self, now: Nanos) -> String {
        let (stage, totals) = (self.stage(), self.totals(now));
        self.board.block(stage, &totals, self.unpaused(now), &self.engine.progress())
    }

    fn stage(&self) -> Stage {
        match (self.started_at, self.scenarios_at) {
            (_, Some(_)) => Stage::Running,
            (Some(_), None) => Stage::Setup,
            // It stays paused if it is ended then.
            (None, None) if self.prepared.test.settings.paused && self.is_initialized => Stage::Paused,
            (None, None) => Stage::Initializing,
        }
    }

    fn totals(&self, now: Nanos) -> Totals {
        let state = &self.prepared.run.state;
        Totals {
            elapsed: self.elapsed(now),
            is_paused: self.coordinator.is_paused(),
            scenarios_at: self.scenarios_at,
            vus_active: state.vus_active.get(),
            vus_initialized: state.vus_initialized.load(Ordering::Relaxed),
            complete: state.iterations_completed.get(),
            interrupted: state.iterations_interrupted.get(),
        }
    }
}

/// What happened, to which tags, and what to do about it.
fn cardinality_warning(warnings: &[CardinalityWarning], limit: usize, has_outputs: bool) -> String {
    let tags: Vec<String> = warnings.iter().map(|warning| format!("'{}'", warning.tag)).collect();
    let noun = if tags.len() == 1 { "tag" } else { "tags" };
    let examples = warnings.first().map(|warning| warning.examples.join(", ")).unwrap_or_default();
    let is_url = warnings.iter().any(|warning| matches!(&*warning.tag, "url" | "name"));
    let fix = if is_url {
        "Give requests whose URLs differ one name: http.get(http.url`https://host/items/${id}`), or { tags: { name: 'item' } } among the parameters"
    } else {
        "Use fewer different values for it, or raise --cardinality-limit"
    };
    let outputs = if has_outputs {
        ". Outputs keep some four times as many values apart on each thread; then they have the same in their place"
    } else {
        ""
    };
    format!(
        "the test has too many time series (limit {limit}) because of the {noun} {}: to bound memory, further values are counted together as '{}', such as {examples}. {fix}{outputs}",
        tags.join(" and "),
        onrush_metrics::OTHER,
    )
}

/// What a failed life-cycle function, or a failed initialisation, means for the run.
fn stop(error: &LifecycleError) -> Stop {
    let code = match error {
        LifecycleError::Script(failure) | LifecycleError::Init { failure, .. } if failure.aborted => {
            ExitCode::ScriptAborted
        }
        LifecycleError::Script(_) | LifecycleError::Init { .. } => ExitCode::ScriptException,
        LifecycleError::Timeout { function: "setup", .. } => ExitCode::SetupTimeout,
        LifecycleError::Timeout { function: "teardown", .. } => ExitCode::TeardownTimeout,
        LifecycleError::Timeout { .. } => ExitCode::GenericTimeout,
        LifecycleError::Engine(_) => ExitCode::Other,
    };
    Stop { code, message: error.to_string() }
}
