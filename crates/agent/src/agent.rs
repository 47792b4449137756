//! A running agent: commands in, the engine's events in, reports out.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use onrush_engine::{Engine, Event, LifecycleError, ThreadSample};
use onrush_fiber::{Clock, Nanos};
use onrush_plan::{FOREVER_NS, TakenUp};
use onrush_session::protocol::{
    Command, Failure, FailureKind, Flushed, Progress, Report, TakeUp, TargetChange, ThreadDelta, Time,
};

use crate::{
    channel::{Inbox, Input},
    convert::{self, Offset},
    health::HealthWatch,
    serve::{CoordinatorClock, Running, Tell},
    shares::Shares,
    spans::Spans,
    targets::Targets,
    watchdog::{Finding, Watchdog},
};

/// How often marks, health and progress are looked at.
const TICK: Duration = Duration::from_millis(100);
/// The same while somebody waits to see what a command leads to.
const ATTENTIVE_TICK: Duration = Duration::from_millis(5);
/// How long that is.
const ATTENTION: Duration = Duration::from_secs(2);
/// Progress is reported this often even where nothing has changed: it shows that the agent is there.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// A thread hands in its last samples within its time slice, unless something is badly wrong.
const FLUSH_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Agent {
    engine: Engine,
    test: Running,
    /// What the coordinator's clock is ahead now.
    clock: CoordinatorClock,
    /// How late its start was already when it was told to.
    told_late: Nanos,
    report: Tell,
    spans: Spans,
    health: HealthWatch,
    targets: Targets,
    watchdog: Watchdog,
    /// Threads that were given up or have ended.
    gone: BTreeSet<usize>,
    /// The life-cycle function that runs, and where.
    function: Option<(Function, usize)>,
    /// The scenarios run.
    is_running: bool,
    paused_at: Option<Nanos>,
    /// Threads whose samples of the scenarios' end are still to come.
    ending: Option<Collection>,
    /// Threads whose last samples are still to come.
    flushing: Option<Collection>,
    was_aborted: bool,
    was_marked_failed: bool,
    /// Shares that this process has beside this one.
    shares: Shares,
    /// It ends without having been told to.
    leaving: Option<Leaving>,
    progress: Progress,
    progress_at: Nanos,
    attentive_until: Nanos,
}

/// The end of an agent that lost its coordinator.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    until: Nanos,
    has_flushed: bool,
}

/// Samples that were asked for.
struct Collection {
    flush: u64,
    missing: BTreeSet<usize>,
    until: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Setup,
    Teardown,
    Summary,
}

impl Agent {
    pub(crate) fn new(engine: Engine, test: Running, clock: CoordinatorClock, report: Tell) -> Self {
        Self {
            targets: Targets::new(&test.plan),
            engine,
            test,
            clock,
            told_late: Nanos::ZERO,
            report,
            spans: Spans::default(),
            health: HealthWatch::default(),
            watchdog: Watchdog::default(),
            gone: BTreeSet::new(),
            function: None,
            is_running: false,
            paused_at: None,
            ending: None,
            flushing: None,
            was_aborted: false,
            was_marked_failed: false,
            shares: Shares::default(),
            leaving: None,
            progress: Progress::default(),
            progress_at: Nanos::ZERO,
            attentive_until: Nanos::ZERO,
        }
    }

    /// Clocks drift apart, so it is asked for each time.
    fn offset(&self) -> Offset {
        Offset((self.clock)().ahead_ns)
    }

    /// Serves until the run is over for this agent.
    pub(crate) fn serve(mut self, inbox: &Inbox) -> Engine {
        loop {
            let is_attentive = Clock::now() < self.attentive_until;
            let mut next = inbox.next(if is_attentive { ATTENTIVE_TICK } else { TICK });
            while let Some(input) = next {
                match input {
                    Input::Command(Command::Stop) => return self.engine,
                    Input::Gone => self.leave(Clock::now()),
                    Input::Command(command) => self.command(command),
                    Input::Engine(event) => self.event(event),
                }
                next = inbox.more();
            }
            let now = Clock::now();
            self.tick(now);
            if self.has_left(now) {
                return self.engine;
            }
        }
    }

    /// Nobody says what is to be done any more, so nothing may go on making load. What was measured is handed in: whoever has
    /// the other end may keep it. Nothing else is, as the scenarios do not end like those of others.
    fn leave(&mut self, now: Nanos) {
        self.engine.interrupt();
        let tell = self.report.clone();
        self.report = Arc::new(move |report| {
            if matches!(report, Report::Delta(_)) {
                tell(report);
            }
        });
        self.shares.leave();
        self.leaving = Some(Leaving { until: now + FLUSH_PATIENCE, has_flushed: false });
    }

    /// Whether all that was measured has been handed in, as far as it will ever be.
    fn has_left(&mut self, now: Nanos) -> bool {
        let Some(Leaving { until, has_flushed }) = self.leaving else { return false };
        if now < until && (self.is_running || self.flushing.is_some() || !self.shares.have_left()) {
            return false;
        }
        if !has_flushed && now < until {
            self.leaving = Some(Leaving { until, has_flushed: true });
            self.flush(now);
            return self.flushing.is_none();
        }
        true
    }

    fn command(&mut self, command: Command) {
        let now = Clock::now();
        match command {
            // Secrets are for whoever asked.
            Command::Init(_) | Command::Secret(_) | Command::Stop => {}
            Command::OfShare { share, command } => {
                self.shares.take(share, *command, &self.test, &self.clock, &self.report);
            }
            Command::TakeUp(take_up) => self.take_up(*take_up),
            Command::StartClock { at } => self.test.run.state.start_clock(self.offset().nanos(at)),
            Command::Setup => {
                let thread = self.engine.setup();
                self.began(Function::Setup, thread, self.test.timeouts.setup, now);
            }
            Command::SetupData(data) => self.engine.set_setup_data(data),
            Command::Start { at, data } => self.start(at, data, now),
            Command::Steer { scenario, change } => self.steer(&scenario, change, now),
            Command::Pause { is_paused, at } => self.pause(is_paused, self.offset().nanos(at), now),
            Command::Interrupt => {
                self.engine.interrupt();
                if self.is_running {
                    self.watchdog.scenarios_due = Some(now);
                }
                if self.function.is_some() {
                    self.watchdog.function_due = Some(now);
                }
            }
            Command::Teardown(data) => {
                let thread = self.engine.teardown(data);
                self.began(Function::Teardown, thread, self.test.timeouts.teardown, now);
            }
            Command::Flush => self.flush(now),
            Command::Summary(data) => {
                let thread = self.engine.handle_summary(data);
                self.began(Function::Summary, thread, self.test.timeouts.handle_summary, now);
            }
        }
    }

    fn start(&mut self, at: Time, data: Option<Arc<str>>, now: Nanos) {
        let planned = self.offset().nanos(at);
        let at = planned.max(now);
        self.told_late = at.saturating_sub(planned);
        self.begin(at);
        self.engine.start_scenarios(at, data);
    }

    /// Another agent began the scenarios of this share.
    fn take_up(&mut self, take_up: TakeUp) {
        let at = self.offset().nanos(take_up.at);
        let taken = self.test.plan.scenarios.iter().map(|plan| {
            let known = take_up.scenarios.iter().find(|known| known.scenario == plan.name());
            let (ended, begun) = known.map_or((0, 0), |known| (known.ended, known.begun));
            TakenUp { from_ns: take_up.from_ns.saturating_sub(plan.start_ns), ended, begun }
        });
        let taken: Vec<TakenUp> = taken.collect();
        self.begin(at);
        self.engine.take_up(at, take_up.data, &taken);
    }

    /// The scenarios' clock starts, or has started.
    fn begin(&mut self, at: Nanos) {
        // What came before is not the scenarios'.
        self.engine.flush();
        self.test.run.state.start_clock(at);
        self.health.begin(at.max(Clock::now()));
        self.spans.start(at);
        self.is_running = true;
        let plans = self.test.plan.scenarios.iter();
        let end = plans.map(|plan| plan.start_ns.saturating_add(plan.hard_end_ns)).max().unwrap_or(0);
        self.watchdog.scenarios_due = (end < FOREVER_NS).then(|| Nanos(at.0.saturating_add(end)));
        (self.report)(Report::Started { at: self.offset().time(at) });
    }

    fn steer(&mut self, scenario: &str, change: TargetChange, now: Nanos) {
        self.attentive_until = now + ATTENTION;
        if let Some((index, target)) = self.targets.share(scenario, change) {
            self.engine.steer(index, target);
        }
    }

    fn pause(&mut self, is_paused: bool, at: Nanos, now: Nanos) {
        self.attentive_until = now + ATTENTION;
        let state = &self.test.run.state;
        if is_paused {
            self.paused_at = Some(at);
            state.pause_clock(at);
        } else if let Some(since) = self.paused_at.take() {
            state.resume_clock(at);
            let stood = at.saturating_sub(since).as_duration();
            self.watchdog.scenarios_due = self.watchdog.scenarios_due.map(|due| due + stood);
        }
        self.spans.pause(is_paused, at);
        self.engine.pause(is_paused, at);
    }

    /// A life-cycle function was begun, or could not be.
    fn began(&mut self, function: Function, thread: Option<usize>, limit: Duration, now: Nanos) {
        match thread {
            Some(thread) => {
                self.function = Some((function, thread));
                self.watchdog.function_due = Some(now + limit);
            }
            None => {
                let message = format!("{}() cannot run: no worker thread can be had", function.name());
                self.function_failed(function, Failure::new(FailureKind::Engine, message));
            }
        }
    }

    fn ended(&mut self) {
        self.function = None;
        self.watchdog.function_due = None;
    }

    fn function_failed(&mut self, function: Function, failure: Failure) {
        self.ended();
        (self.report)(match function {
            Function::Setup => Report::SetupDone(Err(failure)),
            Function::Teardown => Report::TeardownDone(Err(failure)),
            Function::Summary => Report::SummaryDone(Err(failure)),
        });
    }

    fn event(&mut self, event: Event) {
        // An abort comes before what it causes, such as the end of the scenarios.
        self.look_at_marks();
        let failure = |error: LifecycleError| convert::failure(&error);
        match event {
            Event::Initialized => {
                self.report_progress(Clock::now());
                (self.report)(Report::Ready);
            }
            Event::InitFailed(error) => (self.report)(Report::Failed(failure(error))),
            Event::SetupDone(result) => {
                self.ended();
                (self.report)(Report::SetupDone(result.map(|data| data.map(Arc::from)).map_err(failure)));
            }
            Event::Begun { late } => {
                let late = (self.told_late + late.as_duration()).as_duration();
                (self.report)(Report::Begun { late, clock_error: (self.clock)().error });
            }
            Event::ScenariosDone => self.scenarios_done(Clock::now()),
            Event::TeardownDone(result) => {
                self.ended();
                (self.report)(Report::TeardownDone(result.map_err(failure)));
            }
            Event::HandleSummaryDone(result) => {
                self.ended();
                let files = |files: Vec<_>| files.into_iter().map(convert::summary_file).collect();
                (self.report)(Report::SummaryDone(result.map(|own| own.map(files)).map_err(failure)));
            }
            Event::Sample(sample) => self.sample(*sample),
            Event::Warning { message, fields } => {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                (self.report)(Report::Warning { message, fields });
            }
            Event::ThreadEnded { thread } => self.thread_ended(thread),
        }
    }

    fn scenarios_done(&mut self, now: Nanos) {
        if !std::mem::take(&mut self.is_running) {
            return;
        }
        self.watchdog.scenarios_due = None;
        self.health.end(now);
        // What comes later, such as teardown(), is not the scenarios'.
        self.spans.end(now);
        self.ending = Some(self.ask(now));
        self.report_progress(now);
        (self.report)(Report::ScenariosDone);
    }

    fn ask(&self, now: Nanos) -> Collection {
        Collection { flush: self.engine.flush(), missing: self.threads(), until: now + FLUSH_PATIENCE }
    }

    fn threads(&self) -> BTreeSet<usize> {
        (0..self.test.threads).filter(|thread| !self.gone.contains(thread)).collect()
    }

    fn sample(&mut self, sample: ThreadSample) {
        self.health.thread(&sample, &self.test.run.scenarios);
        self.watchdog.heard(sample.thread, sample.flush);
        let ThreadSample { thread, delta, ended, at, flush, in_scenarios, .. } = sample;
        let span = self.spans.next(thread, at, in_scenarios);
        if span.is_some() || !delta.is_empty() || ended.iter().any(|ended| *ended > 0) {
            let thread = u32::try_from(thread).unwrap_or(u32::MAX);
            (self.report)(Report::Delta(Box::new(ThreadDelta { thread, span, delta, ended })));
        }
        for collection in [&mut self.ending, &mut self.flushing].into_iter().flatten() {
            if flush.is_some_and(|number| number >= collection.flush) {
                collection.missing.remove(&thread);
            }
        }
        self.look_at_collections(Clock::now());
    }

    fn flush(&mut self, now: Nanos) {
        self.health.end(now);
        self.flushing = Some(self.ask(now));
        self.look_at_collections(now);
    }

    /// Whatever was asked for has come, or does not come any more.
    fn look_at_collections(&mut self, now: Nanos) {
        let is_over = |collection: &mut Collection| collection.missing.is_empty() || now >= collection.until;
        let has_ended = self.ending.take_if(is_over).is_some();
        let flushed = self.flushing.take_if(is_over);
        if has_ended || flushed.is_some() {
            let report = self.health.settle();
            self.report_health(report);
        }
        if let Some(collection) = flushed {
            self.look_at_marks();
            self.report_progress(now);
            let missing = collection.missing.len() + self.gone.len();
            // They wait for the coordinator, and would wait in vain.
            let finish = self.test.finish_outputs.take_if(|_| self.leaving.is_none());
            let lacking = finish.map_or(0, |finish| finish());
            (self.report)(Report::Flushed(Flushed {
                threads_missing: u32::try_from(missing).unwrap_or(u32::MAX),
                output_samples_missing: lacking,
            }));
        }
    }

    fn thread_ended(&mut self, thread: usize) {
        let message =
            "a worker thread ended unexpectedly, which is a bug of Onrush: please report it with the lines above";
        let failure = Failure::new(FailureKind::Bug, message);
        (self.report)(Report::Failed(failure.clone()));
        self.is_gone(thread, &failure);
    }

    /// A thread takes part no more.
    fn is_gone(&mut self, thread: usize, failure: &Failure) {
        if !self.gone.insert(thread) {
            return;
        }
        for collection in [&mut self.ending, &mut self.flushing].into_iter().flatten() {
            collection.missing.remove(&thread);
        }
        // This may be what the end of the scenarios waits for; then an event says so.
        self.engine.give_up(thread);
        if let Some((function, _)) = self.function.filter(|(_, on)| *on == thread) {
            self.function_failed(function, failure.clone());
        }
        self.look_at_collections(Clock::now());
    }

    fn tick(&mut self, now: Nanos) {
        self.look_at_marks();
        let report = self.health.tick(now, self.test.stops.as_ref().map_or(0, |stops| stops()));
        self.report_health(report);
        self.look_at_collections(now);
        match self.watchdog.look(now).filter(|_| self.paused_at.is_none()) {
            None => {}
            Some(Finding::Ask) => {
                let number = self.engine.flush();
                self.watchdog.asked(number, now, self.threads());
            }
            Some(Finding::GiveUp(threads)) => threads.into_iter().for_each(|thread| self.give_up(thread)),
            Some(Finding::Endless) => self.endless(now),
        }
        if now.saturating_sub(self.progress_at).as_duration() >= TICK || now < self.attentive_until {
            self.report_progress(now);
        }
    }

    fn give_up(&mut self, thread: usize) {
        let message = format!(
            "worker thread {thread} was given up: script code held it past the end of its time; what it measured last is missing"
        );
        let fields = Vec::new();
        (self.report)(Report::Warning { message, fields });
        self.health.gave_up();
        let function = self.function.map_or("it", |(function, _)| function.name());
        let message = format!("{function}() did not end in its time and could not be cut");
        self.is_gone(thread, &Failure::new(FailureKind::Timeout, message));
    }

    /// All threads answer, and yet something does not end.
    fn endless(&mut self, now: Nanos) {
        self.engine.interrupt();
        if let Some((function, _)) = self.function {
            let message = format!("{}() did not end in its time and could not be cut", function.name());
            self.function_failed(function, Failure::new(FailureKind::Timeout, message));
        }
        if self.is_running {
            let message = "some VUs did not end although they were cut: the summary comes without them".to_owned();
            (self.report)(Report::Warning { message, fields: Vec::new() });
            self.scenarios_done(now);
        }
    }

    fn look_at_marks(&mut self) {
        let state = &self.test.run.state;
        if !self.was_marked_failed && state.is_marked_failed() {
            self.was_marked_failed = true;
            (self.report)(Report::MarkedFailed);
        }
        if !self.was_aborted
            && let Some(abort) = state.aborted()
        {
            self.was_aborted = true;
            (self.report)(Report::Aborted { message: abort.message });
        }
    }

    fn report_health(&mut self, report: Option<onrush_session::protocol::HealthReport>) {
        if let Some(mut report) = report {
            report.computing = self.computing();
            (self.report)(Report::Health(Box::new(report)));
        }
    }

    /// The scenario whose code most often computed for a whole time slice, and how often it did.
    fn computing(&self) -> Option<(String, u64)> {
        let slices = |scenario: &onrush_js::ScenarioContext| scenario.slices.load(Ordering::Relaxed);
        let most = self.test.run.scenarios.iter().max_by_key(|scenario| slices(scenario))?;
        Some((most.name.clone(), slices(most))).filter(|(_, slices)| *slices > 0)
    }

    /// Says how the scenarios stand, if that has changed or nothing was said for a while.
    fn report_progress(&mut self, now: Nanos) {
        let state = &self.test.run.state;
        let offset = self.offset();
        let scenarios = self.engine.progress().iter().map(|own| convert::progress(own, offset)).collect();
        let progress = Progress {
            scenarios,
            vus_active: state.vus_active.get(),
            vus_initialized: state.vus_initialized.load(Ordering::Relaxed),
            complete: state.iterations_completed.get(),
            interrupted: state.iterations_interrupted.get(),
        };
        if progress != self.progress || now.saturating_sub(self.progress_at).as_duration() >= HEARTBEAT {
            self.progress_at = now;
            self.progress = progress.clone();
            (self.report)(Report::Progress(Box::new(progress)));
        }
    }
}

impl Function {
    fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
            Self::Summary => "handleSummary",
        }
    }
}
