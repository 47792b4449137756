//! The loop of a run: what the agent reports goes to the coordinator, what that wants goes to the agent; users see and
//! change the run between the two.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel},
    },
    time::Duration,
};

use onrush_cluster::Event;
use onrush_fiber::Clock;
use onrush_output::{Losses, Outputs};
use onrush_plan::steer::TargetRequest;
use onrush_server::Listener;
use onrush_session::{
    Coordinator, ExitCode, Notice, Orders, Outcome, Replay, RunPhase, Steer, Stop,
    protocol::{AgentId, Command, Failure as AgentFailure, FailureKind, Report, SummaryFile, Time},
};

use super::{
    agents::AgentLines,
    begin::{Begin, Begun},
    cluster::{self, Agents},
    ended::Ended,
    journal::{JournalFile, Kept},
    live::LiveSummary,
    local::{AGENT, Input, now},
    outputs::{self, Delivery, Running, Started, otel::traces, raw},
    prepare::Prepared,
    raw_samples::RawSamples,
    rest::{Rest, Run},
    run_folder,
    screen::RunScreen,
    summary::{self, Results},
    view::Follow,
    warnings::{self, Warnings},
};
use crate::{
    args::{RunArgs, Shown},
    context::Context,
    failure::Failure,
    full_screen::Wish,
    labels::ZONE,
    log::Level,
    save::SpareFiles,
    sharing::Bearing,
    signals::Watch,
    tools::http,
};

/// How often signals, thresholds and the terminal's progress are looked after.
const TICK: Duration = Duration::from_millis(100);
/// The same while an answer of the REST API waits for its effect.
const SETTLING_TICK: Duration = Duration::from_millis(5);

/// What a run begins with.
pub(super) struct Beginning {
    /// Changes of an earlier run that are made again.
    pub(super) replay: Replay,
    /// How many agents there are in other processes and what becomes of their samples; else this process is the agent.
    pub(super) agents: Option<(u32, RawSamples)>,
    /// Its journal.
    pub(super) kept: Kept,
    /// Where its REST API will be served.
    pub(super) api: Option<Listener>,
}

/// Runs a prepared test to its end, the summary included.
///
/// # Errors
/// When the agent cannot be started.
pub(super) fn drive(
    cx: &Context,
    args: &RunArgs,
    prepared: &Prepared,
    signals: &Arc<Watch>,
    outputs: Running<'_>,
    beginning: Beginning,
) -> Result<Ended, Failure> {
    let Beginning { replay, agents, kept, api } = beginning;
    let (sender, inputs) = channel();
    let wake = sender.clone();
    let keys = sender.clone();
    let wake_for_keys = move || {
        // As below.
        let _ = keys.send(Input::Call);
    };
    let Running { raw: outputs, folded, mut view, traces } = outputs;
    let rest = Rest::start(api, view.as_mut(), move || {
        // The loop only goes away when the process is about to end.
        let _ = wake.send(Input::Call);
    })?;
    if let Some(address) = rest.address {
        run_folder::tell(&cx.flags, run_folder::API, &address.to_string())?;
    }
    signals.set_graceful(true);
    let has_outputs = outputs.is_some() || agents.as_ref().is_some_and(|(_, raw)| *raw != RawSamples::Unwanted);
    let losses = outputs.as_ref().map(Outputs::losses);
    let live = LiveSummary::default();
    let screen = RunScreen::new(cx, args, &prepared.plan, now());
    let subscribe = |coordinator: &mut Coordinator| {
        coordinator.subscribe(live.sink());
        folded.iter().filter_map(|output| output.sink()).for_each(|sink| coordinator.subscribe(sink));
        view.iter().for_each(|view| coordinator.subscribe(view.sink()));
        coordinator.subscribe(screen.sink());
    };
    let queue = (&sender, &inputs);
    let begin = Begin { cx, args, prepared, signals, outputs, subscribe: &subscribe, queue, replay };
    let Begun { agents, mut coordinator, collected, mut journal, before } = match args.cluster.as_ref().zip(agents) {
        None => begin.here(traces.as_ref().map(traces::Running::tracers))?,
        Some((cluster, (count, raw))) => begin.elsewhere(cluster, count, raw, kept)?,
    };
    let notes = folded.iter().filter_map(|output| output.notes());
    let follow = Follow::new(&cx.logger, view.as_ref(), notes.collect());
    let screen = match has_full_screen(cx, args) {
        true => screen.with_view(&args.script.file, &prepared.plan, prepared.time_unit, wake_for_keys)?,
        false => screen,
    };
    let mut told = Vec::new();
    let mut since = None;
    if let Some((own, repeated)) = before {
        let file = JournalFile::go_on(cx, *own, &repeated)?;
        coordinator.keep(Box::new(file.clone()));
        journal = Some(file);
        since = Some(repeated.at);
        told = repeated.notices;
    }
    let mut drive = Drive {
        cx,
        args,
        prepared,
        signals,
        coordinator,
        agents,
        collected,
        folded,
        traces,
        wake: sender,
        inputs,
        rest,
        live,
        screen,
        warnings: Warnings::new(cx.logger.clone()),
        agent_lines: AgentLines::default(),
        follow,
        has_outputs,
        losses,
        last_error: None,
        is_ready: false,
        summary: None,
        spare: Some(SpareFiles::hold()),
        journal,
    };
    let test = match &drive.agents {
        Agents::Local(_) => Vec::new(),
        Agents::Cluster(agents) => agents.test.clone(),
    };
    let orders = match since {
        None => drive.coordinator.start(&test, now()),
        Some(since) => drive.go_on(since, told),
    };
    drive.send(orders);
    drive.step_until(true, |drive| drive.coordinator.phase() >= RunPhase::Done);
    drive.linger();
    let (outcome, export_failed) = drive.conclude();
    let Drive { coordinator, rest, follow, agents, last_error, .. } = drive;
    let now = now();
    if let Some(view) = &mut view {
        let summary = summary::exported(&coordinator, prepared, agents.info(&coordinator), now);
        view.conclude(summary, rest.into_servers());
    }
    if follow.end(&coordinator, &prepared.plan, agents.names(), now) {
        cx.logger.warn("result files lack some of what the generators said of themselves: their disk was too slow");
    }
    Ok(Ended {
        view,
        last_error,
        outcome,
        failed_vu: coordinator.failed_vu(),
        export_failed,
        judgement: summary::judgement(&coordinator),
        standings: coordinator.thresholds().standings(),
        unjudged: warnings::unjudged(coordinator.thresholds()),
        nothing_succeeded: http::nothing_succeeded(coordinator.merged()),
        duration_ns: u64::try_from(coordinator.duration().unwrap_or_default().as_nanos()).unwrap_or(u64::MAX),
        coordinator,
    })
}

/// A run under way.
struct Drive<'a> {
    cx: &'a Context,
    args: &'a RunArgs,
    prepared: &'a Prepared,
    signals: &'a Arc<Watch>,
    coordinator: Coordinator,
    agents: Agents,
    /// Outputs that get the samples of agents in other processes.
    collected: Option<Outputs>,
    /// Outputs of what all agents measured together, until their receivers have the rest.
    folded: &'a mut [Box<dyn Started>],
    /// Traces of this process, until then.
    traces: Option<traces::Running>,
    /// Wakes the loop.
    wake: Sender<Input>,
    inputs: Receiver<Input>,
    rest: Rest,
    live: LiveSummary,
    screen: RunScreen<'a>,
    warnings: Warnings,
    agent_lines: AgentLines,
    follow: Follow,
    has_outputs: bool,
    /// The last error that the coordinator had to tell.
    last_error: Option<String>,
    /// Samples that outputs lost so far, until it was told.
    losses: Option<Losses>,
    /// All planned VUs have run their init code.
    is_ready: bool,
    /// What `handleSummary()` returned.
    summary: Option<Result<Option<Vec<SummaryFile>>, AgentFailure>>,
    /// Until the files at the end are written.
    spare: Option<SpareFiles>,
    journal: Option<JournalFile>,
}

impl Drive<'_> {
    /// The run goes on after its coordinator was gone since then. What was told is not told again.
    fn go_on(&mut self, since: Time, told: Vec<Notice>) -> Orders {
        let now = now();
        self.is_ready = self.coordinator.phase() > RunPhase::Initializing;
        for notice in told {
            if let Notice::SummaryDone(result) = notice {
                self.summary = Some(result);
            }
        }
        let away = now.since(since);
        let at = self.coordinator.moment(since).test.as_secs_f64();
        self.cx.logger.warn(format!(
            "the run goes on: its coordinator was gone at {at:.1} s, for {:.1} s; what agents measured meanwhile is still to come",
            away.as_secs_f64()
        ));
        self.coordinator.resume(away, now)
    }

    fn step_until(&mut self, shows_progress: bool, is_reached: impl Fn(&Self) -> bool) {
        while !is_reached(self) {
            self.step(shows_progress);
        }
    }

    /// Waits for what comes next, a tick at most, and handles it.
    fn step(&mut self, shows_progress: bool) {
        let phase = self.coordinator.phase();
        match self.inputs.recv_timeout(self.patience()) {
            Ok(input) => self.take(input),
            // It cannot be: the REST server, if nothing else, holds a sender. A tick does no harm.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        // What else is there already, unless the run got on: the next phase has its own beginning.
        while self.coordinator.phase() == phase
            && let Ok(input) = self.inputs.try_recv()
        {
            self.take(input);
        }
        let now = now();
        let exported = |run: &Coordinator| summary::exported(run, self.prepared, self.agents.info(run), now);
        let mut run = Run {
            coordinator: &mut self.coordinator,
            plan: &self.prepared.plan,
            live: &mut self.live,
            exported: &exported,
            now,
            orders: Orders::new(),
        };
        self.rest.answer_calls(&mut run);
        let orders = run.orders;
        self.send(orders);
        self.look_for_signal(now);
        let orders = self.coordinator.tick(now);
        self.send(orders);
        if let Some(agents) = self.agents.cluster() {
            agents.let_in(self.coordinator.admits().map_err(Cow::into_owned));
        }
        // At the first one, and not at the end of hours.
        if self.losses.take_if(|losses| losses.so_far() > 0).is_some() {
            self.cx.logger.warn(
                "the outputs cannot keep up: samples that find their queue full are dropped and counted (the summary has them). Write a part of them (--out-share 0.1), to a faster disk or to a file without .gz, or make fewer requests a second",
            );
        }
        self.follow.look(&self.coordinator, &self.prepared.plan, self.agents.names(), now);
        if shows_progress {
            let waits = self.prepared.test.settings.paused && self.is_ready;
            let wishes = self.screen.show_view(&self.coordinator, waits, self.agents.names(), now);
            wishes.into_iter().for_each(|wish| self.grant(wish, now));
            self.screen.show(&self.coordinator, waits, now);
            if let Some(names) = self.agents.names() {
                self.agent_lines.show(&self.cx.logger, &self.coordinator, names, now);
            }
        }
    }

    /// Does what the user of the view wants, or says there why not.
    fn grant(&mut self, wish: Wish, now: Time) {
        let source = || "terminal".to_owned();
        let changed = match wish {
            Wish::Pause => {
                let is_paused = !self.coordinator.is_paused();
                self.coordinator.pause(is_paused, source(), now)
            }
            Wish::Target { scenario, to } => {
                let Some((scenario, is_rate)) = self.screen.scenario(scenario) else { return };
                let wanted = if is_rate {
                    TargetRequest { rate: Some(to), ..TargetRequest::default() }
                } else {
                    TargetRequest { vus: Some(to), ..TargetRequest::default() }
                };
                self.coordinator.steer(Steer { scenario: Some(scenario), wanted, source: source() }, now)
            }
            Wish::Abort => {
                let message = "test run was aborted from the terminal's view".to_owned();
                let orders = self.coordinator.abort(Stop { code: ExitCode::ExternalAbort, message }, now);
                self.send(orders);
                return self
                    .screen
                    .say("the test ends: what has begun is waited for as long as the plan says".to_owned());
            }
            // The view's own.
            Wish::Leave | Wish::Suspend => return,
        };
        let said = match changed {
            Ok(orders) => {
                self.send(orders);
                // What the start of a test that was paused is not in.
                let last = self.coordinator.steering().journal().last();
                last.map_or_else(|| "the test starts".to_owned(), onrush_session::Change::text)
            }
            Err(error) => error.to_string(),
        };
        self.screen.say(said);
    }

    /// A tick, but no longer than until the next change that is to be replayed.
    fn patience(&self) -> Duration {
        let tick = if self.rest.is_settling() { SETTLING_TICK } else { TICK };
        self.coordinator.next_change_at().map_or(tick, |at| tick.min(at.since(now())))
    }

    fn take(&mut self, input: Input) {
        let now = now();
        let orders = match input {
            Input::Report(report) => {
                self.note(AGENT, &report);
                self.coordinator.handle(AGENT, report, now)
            }
            Input::Cluster(Event::Report { from, report, ticket: _ticket }) => {
                self.note(from, &report);
                self.coordinator.handle(from, report, now)
            }
            Input::Cluster(Event::Relayed { relayed, tickets: _tickets }) => self.coordinator.relayed(relayed, now),
            Input::Cluster(Event::Lost { agent, why, may_run }) => {
                if may_run {
                    self.coordinator.silent(agent, &why, now)
                } else {
                    self.coordinator.lost(agent, &why, now)
                }
            }
            Input::Cluster(Event::Suspected { agent, silent }) => {
                let at = self.coordinator.moment(now).test.as_secs_f64();
                let silent = silent.as_secs_f64();
                self.cx.logger.warn(format!("agent {} has said nothing for {silent:.1} s at {at:.1} s", agent.0));
                return;
            }
            Input::Cluster(Event::Back { agent, silent }) => {
                let silent = silent.as_secs_f64();
                let message = format!("agent {} is back after {silent:.1} s of silence: nothing is lost", agent.0);
                self.cx.logger.log(Level::Info, message, Vec::new());
                return;
            }
            Input::Cluster(Event::Refused { peer, why }) => return cluster::refused(self.cx, peer, &why),
            Input::Cluster(Event::Joined { agent, name, labels, capacity, .. }) => {
                let Some((agents, cluster)) = self.agents.cluster().zip(self.args.cluster.as_ref()) else { return };
                self.cx.logger.log(Level::Info, format!("agent {} ({name}) joins the run", agent.0), Vec::new());
                let late = Bearing { name, zone: labels.get(ZONE).cloned(), capacity };
                let weight = agents.late(agent, late, &cluster.sharing);
                self.coordinator.join(agent, weight, now)
            }
            // Before the run only.
            Input::Cluster(Event::Left { .. }) => return,
            Input::ChildEnded(agent, how) => {
                if let Agents::Cluster(agents) = &self.agents {
                    agents.child_ended(agent, &how);
                }
                return;
            }
            Input::Order(agent, command) => return self.agents.send(vec![(agent, command)]),
            // What it is for is looked at in any case.
            Input::Call => return,
            Input::Gone => {
                let message = "the agent's thread ended unexpectedly, which is a bug of Onrush: please report it with the lines above";
                let failure = AgentFailure::new(FailureKind::Bug, message);
                let mut orders = self.coordinator.handle(AGENT, Report::Failed(failure), now);
                orders.extend(self.coordinator.lost(AGENT, "its thread ended", now));
                orders
            }
        };
        self.send(orders);
    }

    /// What `--verbose` shows of an agent's way, and how the agent fares.
    fn note(&mut self, from: AgentId, report: &Report) {
        match report {
            Report::Health(health) => {
                if let Some(second) = &health.second {
                    self.follow.health(from, second);
                }
            }
            Report::Ready if !self.is_ready => {
                self.is_ready = true;
                self.cx.logger.debug(format!("{} VUs are initialized", self.prepared.plan.planned_vus));
            }
            Report::ScenariosDone => self.cx.logger.debug("all scenarios are over"),
            _ => {}
        }
    }

    /// Sends what the coordinator wants and says what it has to say.
    fn send(&mut self, orders: Orders) {
        orders.iter().for_each(|(_, command)| self.trace(command));
        self.agents.send(orders);
        for notice in self.coordinator.notices() {
            match notice {
                Notice::Warning { message, fields } => self.warnings.take(message, fields),
                Notice::Log(line) => self.warnings.log(level(&line.level), line.message, line.fields),
                Notice::Info(message) => self.cx.logger.log(Level::Info, message, Vec::new()),
                Notice::Error(message) => {
                    self.cx.logger.error(message.clone());
                    self.last_error = Some(message);
                }
                Notice::NotReplayed { at, error } => {
                    let at = at.as_secs_f64();
                    self.cx.logger.warn(format!("the change at {at:.1}s of the scenarios is not replayed: {error}"));
                }
                Notice::CallDone { call, result } => self.rest.call_done(call, result),
                Notice::SummaryDone(result) => self.summary = Some(result),
            }
        }
        let limit = self.prepared.run.census.limit();
        self.warnings.look_at_tags(self.coordinator.merged().warnings(), limit, self.has_outputs);
    }

    /// What `--verbose` shows of a run's way.
    fn trace(&self, command: &Command) {
        let logger = &self.cx.logger;
        match command {
            Command::Setup => logger.debug("running setup()"),
            Command::Start { .. } => {
                for scenario in self.prepared.plan.scenarios.iter() {
                    let fields = vec![
                        ("executor", scenario.scenario.executor.type_name().to_owned()),
                        ("scenario", scenario.name().to_owned()),
                        ("startTime", scenario.scenario.start_time.to_string()),
                    ];
                    logger.log(Level::Debug, format!("starting {}", scenario.description), fields);
                }
            }
            Command::Interrupt => logger.debug("interrupting what runs"),
            Command::Teardown(_) => logger.debug("running teardown()"),
            Command::Flush => logger.debug("nothing is left to run"),
            _ => {}
        }
    }

    fn look_for_signal(&mut self, now: Time) {
        if let Some(signal) = self.signals.first() {
            let article = if signal.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let message = format!("test run was aborted because Onrush received {article} '{signal}' signal");
            let orders = self.coordinator.abort(Stop { code: ExitCode::ExternalAbort, message }, now);
            self.send(orders);
        }
    }

    /// Stays until a signal comes, if that is wanted; one that has ended the test counts.
    fn linger(&mut self) {
        if !self.args.linger || self.signals.first().is_some() {
            return;
        }
        if !self.args.quiet {
            let text = "The test is done, but --linger was enabled, so Onrush is waiting for Ctrl+C to continue...\n";
            self.cx.terminal.stdout(text);
        }
        self.coordinator.stop_clock(now());
        self.screen.linger(&self.coordinator, now());
        self.step_until(false, |drive| drive.signals.first().is_some());
    }

    /// After the last iteration: the last samples, the result, the summary. Returns also whether an export failed.
    fn conclude(&mut self) -> (Outcome, bool) {
        self.signals.set_ending();
        // Who waits for receivers now sees in the log for whom, and Ctrl+C is a signal.
        self.screen.clear();
        let orders = self.coordinator.close(now());
        self.send(orders);
        self.step_until(false, |drive| drive.coordinator.phase() == RunPhase::Closed);
        // What agents sent came before they said that it was all.
        if let Some(outputs) = self.collected.take() {
            let lacking = raw::finish(outputs, &self.cx.logger, Some(self.signals));
            self.coordinator.outputs_lack(lacking, now());
        }
        self.deliver();
        let at = now();
        let Some(outcome) = self.coordinator.outcome().cloned() else { unreachable!("a closed run has an outcome") };
        self.warnings.unjudged(self.coordinator.thresholds());
        self.warnings.repeat();
        self.warnings.trapped(self.coordinator.trapped_writes());
        if outcome.stop.is_none() && self.coordinator.progress().complete == 0 {
            self.cx.logger.warn("No script iterations fully finished, consider making the test duration longer");
        }
        self.cx.logger.debug("making the end-of-test summary");
        // The progress as it is now, whatever handleSummary() does.
        let block = self.screen.block(&self.coordinator, self.prepared.test.settings.paused && self.is_ready, at);
        // From here on even the first signal ends the process: only handleSummary() may still run.
        self.signals.set_graceful(false);
        let agents = self.agents.info(&self.coordinator);
        let results = Results::new(self.cx, self.args, self.prepared, &self.coordinator, agents, at);
        let mut custom = None;
        if let Some(data) = results.for_script() {
            // A coordinator before this one may have got that far.
            if !self.coordinator.awaits_summary() && self.summary.is_none() {
                let orders = self.coordinator.summarize(data, at);
                self.send(orders);
            }
            self.step_until(false, |drive| drive.summary.is_some());
            custom = self.summary.take().and_then(|result| results.returned_files(result));
        }
        self.spare = None;
        let is_exported = results.show(custom);
        self.screen.last(block);
        let orders = self.coordinator.stop_agents(now());
        self.send(orders);
        self.agents.end();
        if let Some(journal) = &self.journal {
            journal.end();
        }
        // The last agent may have been lost with handleSummary().
        let outcome = self.coordinator.outcome().cloned().unwrap_or(outcome);
        (outcome, !is_exported)
    }

    /// Has receivers take the rest of the samples: what they lack is a part of how the run was, which is told next.
    fn deliver(&mut self) {
        let (folded, traces) = (std::mem::take(&mut self.folded), self.traces.take());
        if traces.is_none() && folded.iter().all(|output| output.receiver().is_none()) {
            return;
        }
        let (logger, wake, patience) = (self.cx.logger.clone(), self.wake.clone(), self.signals.patience());
        let all = outputs::counts(self.coordinator.merged());
        let (since, mut lacking) = (Clock::now(), Vec::new());
        std::thread::scope(|scope| {
            let (done, delivered) = channel();
            scope.spawn(move || {
                let delivery = Delivery { logger: &logger, patience: &patience, all };
                let _ = done.send(outputs::deliver(folded, traces, &delivery));
                let _ = wake.send(Input::Call);
            });
            // Meanwhile whoever asks about the run is answered, and agents are heard.
            loop {
                match delivered.try_recv() {
                    Ok(sentences) => {
                        lacking = sentences;
                        break;
                    }
                    Err(TryRecvError::Empty) => self.step(false),
                    Err(TryRecvError::Disconnected) => break,
                }
            }
        });
        self.signals.has_waited(Clock::now().saturating_sub(since).as_duration());
        lacking.into_iter().for_each(|sentence| self.coordinator.receiver_lacks(sentence, now()));
    }
}

/// Whether a view covers the terminal. Where it was asked for with the flag, there is a terminal.
fn has_full_screen(cx: &Context, args: &RunArgs) -> bool {
    args.view != Shown::Board && !args.quiet && cx.look.stdout_tty && cx.look.stderr_tty
}

fn level(name: &str) -> Level {
    match name {
        "debug" => Level::Debug,
        "warning" => Level::Warn,
        "error" => Level::Error,
        _ => Level::Info,
    }
}
