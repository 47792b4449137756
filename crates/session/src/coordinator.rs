//! Phases, barriers, merged metrics and thresholds of one run over all its agents.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use onrush_metrics::{Delta, Merged, Phase as Evaluated, Registry, Span, Thresholds};
use onrush_plan::Plan;

use crate::{ExitCode, Moment, Outcome, ShareOfTarget, Steer, SteerError, Steering, Stop, watermark::Watermark};

/// An agent of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub u32);

/// What the coordinator is told. Times are since the run's clock started, which is when [`Action::RunSetup`] or, without
/// one, [`Action::Start`] is handed out.
#[derive(Debug)]
pub enum Event {
    /// An agent's planned VUs are initialised.
    Initialized(AgentId),
    /// `setup()` returned its data as JSON text.
    SetupDone(Option<String>),
    /// A life-cycle function, or the initialisation, failed.
    Failed(Stop),
    /// What an agent folded since its last delta, outside the scenarios.
    Delta(AgentId, Delta),
    /// The scenarios have started, at this time of the run's clock.
    ScenariosStarted(Duration),
    /// What a thread of an agent folded while scenarios ran.
    Measured {
        /// The agent.
        agent: AgentId,
        /// The thread, by its number.
        thread: usize,
        /// The time the samples come from.
        span: Span,
        /// The samples.
        delta: Delta,
    },
    /// All scenarios of an agent are over.
    ScenariosDone(AgentId),
    /// `teardown()` ended.
    TeardownDone,
    /// Something ended the run from outside: a signal, the script's abort.
    Abort(Stop),
    /// The script marked the run as failed.
    MarkedFailed,
    /// Time passes.
    Tick {
        /// Since the run's clock started.
        elapsed: Duration,
    },
}

/// What the coordinator wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Run `setup()` on one agent.
    RunSetup,
    /// Start the scenarios of all agents, with this setup data.
    Start(Option<Arc<str>>),
    /// Cut everything that runs on all agents.
    Interrupt,
    /// Run `teardown()` on one agent.
    RunTeardown(Option<Arc<str>>),
    /// Nothing is left to run: collect the last deltas, then call [`Coordinator::finish`].
    Finish,
    /// Tell the user.
    Error(String),
    /// Give a scenario a new target.
    Steer {
        /// Its index in the plan.
        scenario: usize,
        /// This instance's share of the target.
        target: ShareOfTarget,
    },
    /// Have the scenarios and the test's clock stand still, or go on.
    Pause(bool),
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// VUs are being initialised.
    Initializing,
    /// All is ready, and somebody must resume the run for it to start.
    Paused,
    /// `setup()` runs.
    Setup,
    /// Scenarios run.
    Running,
    /// `teardown()` runs.
    Teardown,
    /// Over.
    Done,
}

/// What the coordinator needs to know of the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// The script exports `setup()` and it is not switched off.
    pub has_setup: bool,
    /// The script exports `teardown()` and it is not switched off.
    pub has_teardown: bool,
    /// Thresholds are evaluated (not `--no-thresholds`).
    pub evaluates_thresholds: bool,
    /// The run waits to be resumed before it starts (`--paused`).
    pub starts_paused: bool,
}

/// One run.
pub struct Coordinator {
    settings: Settings,
    phase: Phase,
    /// Whether each agent has passed the barrier of the current phase.
    agents: BTreeMap<AgentId, bool>,
    merged: Merged,
    thresholds: Thresholds,
    watermark: Watermark,
    setup_data: Option<Arc<str>>,
    stop: Option<Stop>,
    is_marked_failed: bool,
    crossed: Vec<String>,
    next_evaluation: Duration,
    elapsed: Duration,
    steering: Steering,
}

impl Coordinator {
    /// Thresholds are evaluated this often while the test runs, as in k6.
    pub const EVALUATION_INTERVAL: Duration = Duration::from_secs(2);

    /// A run over `agents`, waiting for all of them to be initialised.
    pub fn new(
        settings: Settings,
        agents: impl IntoIterator<Item = AgentId>,
        registry: &Registry,
        thresholds: Thresholds,
    ) -> Self {
        let mut merged = Merged::new(registry);
        for submetric in thresholds.submetrics() {
            merged.watch(submetric);
        }
        Self {
            settings,
            phase: Phase::Initializing,
            agents: agents.into_iter().map(|agent| (agent, false)).collect(),
            merged,
            thresholds,
            watermark: Watermark::default(),
            setup_data: None,
            stop: None,
            is_marked_failed: false,
            crossed: Vec::new(),
            next_evaluation: Self::EVALUATION_INTERVAL,
            elapsed: Duration::ZERO,
            steering: Steering::default(),
        }
    }

    /// Lets the scenarios of this plan be steered.
    #[must_use]
    pub fn steering_plan(mut self, plan: &Plan) -> Self {
        self.steering = Steering::new(plan);
        self
    }

    /// The scenarios' targets and the journal of their changes.
    pub fn steering(&self) -> &Steering {
        &self.steering
    }

    /// Changes the target of a scenario, also before it runs.
    ///
    /// # Errors
    /// Why not; then nothing is changed.
    pub fn steer(&mut self, steer: Steer, now: Moment) -> Result<Vec<Action>, SteerError> {
        if self.phase > Phase::Running || self.stop.is_some() {
            return Err(SteerError::AllOver);
        }
        self.steering.steer(steer, now)
    }

    /// Pauses or resumes the run: before its start always, later only what can stand still.
    ///
    /// # Errors
    /// In k6's words.
    pub fn pause(&mut self, is_paused: bool, source: String, now: Moment) -> Result<Vec<Action>, SteerError> {
        if self.phase > Phase::Paused {
            return self.steering.pause(is_paused, source, now);
        }
        match (self.settings.starts_paused, is_paused) {
            (true, true) => Err(SteerError::PausedBeforeStart),
            (false, false) => Err(SteerError::NotPaused),
            _ => {
                self.steering.note_pause(is_paused, source, now)?;
                self.settings.starts_paused = is_paused;
                Ok(if self.phase == Phase::Paused { self.begin() } else { Vec::new() })
            }
        }
    }

    /// Whether the run stands still, before its start or later.
    pub fn is_paused(&self) -> bool {
        self.steering.is_paused() || (self.settings.starts_paused && self.phase <= Phase::Paused)
    }

    /// Whether something stopped the run before its plan did.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Replaces what `setup()` returned.
    pub fn set_setup_data(&mut self, data: Option<Arc<str>>) {
        self.setup_data = data;
    }

    /// Where the run is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// All samples so far.
    pub fn merged(&self) -> &Merged {
        &self.merged
    }

    /// The thresholds as last evaluated.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// What `setup()` returned.
    pub fn setup_data(&self) -> Option<&str> {
        self.setup_data.as_deref()
    }

    /// Takes an event and says what is to be done.
    pub fn handle(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Delta(_, delta) => {
                self.merged.add(&delta);
                Vec::new()
            }
            Event::ScenariosStarted(elapsed) => {
                self.thresholds.start_scenarios(nanos(elapsed));
                Vec::new()
            }
            Event::Measured { agent, thread, span, delta } => {
                self.merged.add(&delta);
                if self.settings.evaluates_thresholds {
                    self.thresholds.add(&delta, span);
                    self.watermark.note(agent, thread, Duration::from_nanos(span.until_ns));
                }
                Vec::new()
            }
            Event::MarkedFailed => {
                self.is_marked_failed = true;
                Vec::new()
            }
            Event::Tick { elapsed } => self.tick(elapsed),
            Event::Initialized(agent) => self.pass(agent, Phase::Initializing, Self::after_init),
            Event::ScenariosDone(agent) => self.pass(agent, Phase::Running, Self::after_scenarios),
            Event::SetupDone(data) if self.phase == Phase::Setup => {
                self.setup_data = data.map(Arc::from);
                self.start()
            }
            Event::TeardownDone if self.phase == Phase::Teardown => self.end(),
            Event::SetupDone(_) | Event::TeardownDone => Vec::new(),
            Event::Failed(stop) => self.failed(stop),
            Event::Abort(stop) => self.aborted(stop),
        }
    }

    /// Notes that an agent reached the end of a phase; the last one moves the run on.
    fn pass(&mut self, agent: AgentId, phase: Phase, then: impl FnOnce(&mut Self) -> Vec<Action>) -> Vec<Action> {
        if self.phase != phase {
            return Vec::new();
        }
        if let Some(passed) = self.agents.get_mut(&agent) {
            *passed = true;
        }
        if self.agents.values().all(|passed| *passed) { then(self) } else { Vec::new() }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.agents.values_mut().for_each(|passed| *passed = false);
    }

    fn after_init(&mut self) -> Vec<Action> {
        if self.settings.starts_paused {
            self.enter(Phase::Paused);
            return Vec::new();
        }
        self.begin()
    }

    fn begin(&mut self) -> Vec<Action> {
        if !self.settings.has_setup {
            return self.start();
        }
        self.enter(Phase::Setup);
        vec![Action::RunSetup]
    }

    fn start(&mut self) -> Vec<Action> {
        self.enter(Phase::Running);
        vec![Action::Start(self.setup_data.clone())]
    }

    fn after_scenarios(&mut self) -> Vec<Action> {
        if !self.settings.has_teardown {
            return self.end();
        }
        self.enter(Phase::Teardown);
        vec![Action::RunTeardown(self.setup_data.clone())]
    }

    fn end(&mut self) -> Vec<Action> {
        if self.phase == Phase::Done {
            return Vec::new();
        }
        self.enter(Phase::Done);
        vec![Action::Finish]
    }

    /// A failed initialisation or setup ends the run without scenarios and without teardown; a failed teardown just ends it.
    fn failed(&mut self, stop: Stop) -> Vec<Action> {
        self.stop.get_or_insert(stop);
        let mut actions = if self.phase == Phase::Done { Vec::new() } else { vec![Action::Interrupt] };
        actions.extend(self.end());
        actions
    }

    /// An abort cuts what runs. Teardown still runs once scenarios have begun, as in k6; before that the run just ends.
    fn aborted(&mut self, stop: Stop) -> Vec<Action> {
        if self.phase == Phase::Done || self.stop.is_some() {
            return Vec::new();
        }
        self.stop = Some(stop);
        match self.phase {
            Phase::Initializing | Phase::Paused => {
                let mut actions = vec![Action::Interrupt];
                actions.extend(self.end());
                actions
            }
            // A cut setup() or teardown() reports its end itself, the agents report the end of their scenarios.
            Phase::Setup | Phase::Running => vec![Action::Interrupt],
            Phase::Teardown | Phase::Done => Vec::new(),
        }
    }

    fn tick(&mut self, elapsed: Duration) -> Vec<Action> {
        self.elapsed = elapsed;
        if !self.settings.evaluates_thresholds
            || elapsed < self.next_evaluation
            || self.phase < Phase::Setup
            || self.phase == Phase::Done
        {
            return Vec::new();
        }
        self.next_evaluation = elapsed + Self::EVALUATION_INTERVAL;
        self.thresholds.close_windows(nanos(self.watermark.reached()));
        let evaluation = self.thresholds.evaluate(&self.merged, nanos(elapsed), Evaluated::Running);
        if !evaluation.abort || self.phase != Phase::Running {
            return Vec::new();
        }
        let metrics = evaluation.crossed.join(", ");
        let message = format!(
            "thresholds on metrics '{metrics}' were crossed; at least one has abortOnFail enabled, stopping test prematurely"
        );
        self.aborted(Stop { code: ExitCode::ThresholdsHaveFailed, message })
    }

    /// The last evaluation, over everything; call it once all deltas have been handled. `elapsed` is the test's duration.
    pub fn finish(&mut self, elapsed: Duration) -> Outcome {
        if self.settings.evaluates_thresholds {
            self.thresholds.finish_windows();
            self.crossed = self.thresholds.evaluate(&self.merged, nanos(elapsed), Evaluated::End).crossed;
            self.crossed.sort();
        }
        Outcome { stop: self.stop.clone(), crossed: self.crossed.clone(), is_marked_failed: self.is_marked_failed }
    }
}

/// Nanoseconds fit for 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Sink, ThresholdSource, builtin};

    use super::*;

    fn coordinator(settings: Settings, agents: u32, thresholds: &[(&str, &str, bool)]) -> Coordinator {
        let registry = Registry::new();
        let mut sources: BTreeMap<String, Vec<ThresholdSource>> = BTreeMap::new();
        for (metric, expression, abort_on_fail) in thresholds {
            let source = ThresholdSource {
                expression: (*expression).to_owned(),
                abort_on_fail: *abort_on_fail,
                ..ThresholdSource::default()
            };
            sources.entry((*metric).to_owned()).or_default().push(source);
        }
        let thresholds = Thresholds::parse(&sources, &registry).expect("valid thresholds");
        Coordinator::new(settings, (0..agents).map(AgentId), &registry, thresholds)
    }

    fn all() -> Settings {
        Settings { has_setup: true, has_teardown: true, evaluates_thresholds: true, starts_paused: false }
    }

    fn count(value: f64) -> Delta {
        let mut shard = onrush_metrics::Shard::new(
            &Registry::new(),
            Arc::new(onrush_metrics::Subscriptions::builder().build()),
            onrush_metrics::Limits::default(),
        );
        let series = shard.series(builtin::ITERATIONS, onrush_metrics::TagNode::ROOT);
        shard.add(series, value);
        shard.drain()
    }

    #[test]
    fn a_run_waits_for_all_agents_at_every_barrier() {
        let mut run = coordinator(all(), 2, &[]);
        assert_eq!(run.handle(Event::Initialized(AgentId(0))), []);
        assert_eq!(run.handle(Event::Initialized(AgentId(1))), [Action::RunSetup]);
        assert_eq!(run.handle(Event::SetupDone(Some("{}".to_owned()))), [Action::Start(Some("{}".into()))]);
        assert_eq!(run.handle(Event::ScenariosDone(AgentId(1))), []);
        assert_eq!(run.handle(Event::ScenariosDone(AgentId(0))), [Action::RunTeardown(Some("{}".into()))]);
        assert_eq!(run.handle(Event::TeardownDone), [Action::Finish]);
        assert_eq!(run.finish(Duration::from_secs(1)).exit_code(), ExitCode::Success);
    }

    #[test]
    fn the_same_agent_twice_does_not_pass_a_barrier_of_two() {
        let mut run = coordinator(Settings::default(), 2, &[]);
        assert_eq!(run.handle(Event::Initialized(AgentId(0))), []);
        assert_eq!(run.handle(Event::Initialized(AgentId(0))), []);
    }

    #[test]
    fn an_abort_still_runs_teardown_and_the_first_reason_stays() {
        let mut run = coordinator(Settings { has_setup: false, ..all() }, 1, &[]);
        run.handle(Event::Initialized(AgentId(0)));
        let stop = |code| Stop { code, message: String::new() };
        assert_eq!(run.handle(Event::Abort(stop(ExitCode::ExternalAbort))), [Action::Interrupt]);
        assert_eq!(run.handle(Event::Abort(stop(ExitCode::ScriptAborted))), []);
        assert_eq!(run.handle(Event::ScenariosDone(AgentId(0))), [Action::RunTeardown(None)]);
        assert_eq!(run.handle(Event::TeardownDone), [Action::Finish]);
        assert_eq!(run.finish(Duration::ZERO).exit_code(), ExitCode::ExternalAbort);
    }

    #[test]
    fn a_failed_setup_skips_scenarios_and_teardown() {
        let mut run = coordinator(all(), 1, &[]);
        run.handle(Event::Initialized(AgentId(0)));
        let stop = Stop { code: ExitCode::ScriptException, message: "boom".to_owned() };
        assert_eq!(run.handle(Event::Failed(stop)), [Action::Interrupt, Action::Finish]);
        assert_eq!(run.handle(Event::SetupDone(None)), []);
        assert_eq!(run.finish(Duration::ZERO).exit_code(), ExitCode::ScriptException);
    }

    #[test]
    fn a_crossed_threshold_that_aborts_ends_the_run_with_99() {
        let mut run = coordinator(Settings { has_teardown: false, ..all() }, 1, &[("iterations", "count<5", true)]);
        run.handle(Event::Initialized(AgentId(0)));
        run.handle(Event::SetupDone(None));
        run.handle(Event::Delta(AgentId(0), count(9.0)));
        assert_eq!(run.handle(Event::Tick { elapsed: Duration::from_secs(1) }), [], "not evaluated before two seconds");
        assert_eq!(run.handle(Event::Tick { elapsed: Duration::from_secs(2) }), [Action::Interrupt]);
        run.handle(Event::ScenariosDone(AgentId(0)));
        assert_eq!(run.finish(Duration::from_secs(2)).exit_code(), ExitCode::ThresholdsHaveFailed);
    }

    #[test]
    fn deltas_of_all_agents_add_up() {
        let mut run = coordinator(Settings::default(), 2, &[]);
        run.handle(Event::Delta(AgentId(0), count(2.0)));
        run.handle(Event::Delta(AgentId(1), count(3.0)));
        assert_eq!(run.merged().sink(builtin::ITERATIONS).and_then(Sink::counter), Some(5.0));
    }

    #[test]
    fn a_paused_run_waits_to_be_resumed() {
        let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, &[]);
        let pause = |run: &mut Coordinator, on| run.pause(on, "test".to_owned(), Moment::default());
        assert_eq!(run.handle(Event::Initialized(AgentId(0))), []);
        assert!(run.is_paused() && run.phase() == Phase::Paused);
        assert_eq!(pause(&mut run, true), Err(SteerError::PausedBeforeStart));
        assert_eq!(pause(&mut run, false), Ok(vec![Action::RunSetup]));
        assert!(!run.is_paused());
        assert_eq!(run.steering().journal().len(), 1);
    }

    #[test]
    fn a_run_resumed_while_it_initialises_does_not_wait() {
        let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, &[]);
        assert_eq!(run.pause(false, String::new(), Moment::default()), Ok(vec![]));
        assert_eq!(run.handle(Event::Initialized(AgentId(0))), [Action::RunSetup]);
    }

    #[test]
    fn an_abort_ends_a_paused_run_and_steers_nothing_more() {
        let mut run = coordinator(Settings { starts_paused: true, ..all() }, 1, &[]);
        run.handle(Event::Initialized(AgentId(0)));
        let stop = Stop { code: ExitCode::ScriptStoppedFromRestApi, message: String::new() };
        assert_eq!(run.handle(Event::Abort(stop)), [Action::Interrupt, Action::Finish]);
        let steer = Steer { scenario: None, wanted: Default::default(), source: String::new() };
        assert_eq!(run.steer(steer, Moment::default()), Err(SteerError::AllOver));
    }
}
