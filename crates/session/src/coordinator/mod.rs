//! Phases, barriers, loss, merged metrics, thresholds and verdict of one run over all its agents.
//!
//! [`Coordinator::handle`] takes what an agent reports and says what agents are to do next. The other inputs are time
//! ([`Coordinator::tick`]), a lost agent ([`Coordinator::lost`]) and what users want. What it has to tell them is in
//! [`Coordinator::notices`]; everything else it knows can be asked for.

mod agents;
mod calls;
mod clock;
mod closing;
mod function;
mod input;
mod joining;
mod live;
mod loss;
mod notice;
mod overview;
mod relayed;
mod repeat;
mod settings;
mod shared_gauges;
mod shares;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, sync::Arc, time::Duration};

use onrush_metrics::{Merged, Registry, Thresholds};
use onrush_plan::{Cut, FOREVER_NS, Plan, Scenario, Segment, SegmentSequence};

use self::{
    agents::{Agents, Late, Table},
    calls::ClientCall,
    clock::RunClock,
    joining::Told,
    shared_gauges::SharedGauges,
    shares::HandOver,
};
use crate::{
    ExitCode, Judge, Moment, Outcome, Replay, Steering, Stop,
    protocol::{
        Accepted, AgentId, Command, Failure, FailureKind, Init, Progress, Report, ScenarioProgress, ThreadDelta, Time,
        VERSION,
    },
    watermark::Watermark,
};

pub use function::Function;
pub use input::{Input, Journal};
pub use notice::Notice;
pub use overview::{AgentOverview, Begin};
pub use settings::{LossPolicy, Patience, Settings};

/// Commands and whom they are for.
pub type Orders = Vec<(AgentId, Command)>;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPhase {
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
    /// Nothing is left to run: [`Coordinator::close`] comes next.
    Done,
    /// Agents hand in their last samples.
    Closing,
    /// All samples are in and everything is judged.
    Closed,
}

/// Gets every delta once it is added to the run's metrics: for outputs and views that follow a run.
pub trait DeltaSink: Send {
    /// Takes what an agent measured. The metric ids are the run's.
    fn delta(&mut self, from: AgentId, part: &ThreadDelta);
}

/// One run.
pub struct Coordinator {
    settings: Settings,
    phase: RunPhase,
    agents: Agents,
    /// The names of the plan's scenarios.
    scenarios: Vec<String>,
    /// The same scenarios.
    definitions: Vec<Scenario>,
    /// The plan's end on the scenarios' clock, if it has one.
    plan_end: Option<Duration>,
    merged: Merged,
    thresholds: Thresholds,
    watermark: Watermark,
    judge: Judge,
    clock: RunClock,
    /// When the agents that hold back the phase are given up.
    deadline: Option<Time>,
    setup_data: Option<Arc<str>>,
    stop: Option<Stop>,
    failed_vu: Option<u64>,
    is_marked_failed: bool,
    next_evaluation: Duration,
    steering: Steering,
    /// Targets that agents were told, in order.
    told: Vec<Told>,
    /// The weights of agents that joined, in their order, also of those that are gone.
    joined: Vec<u64>,
    /// Shares on their way from lost agents to others.
    hand_overs: Vec<HandOver>,
    replay: Replay,
    /// Of the agents, in their order; empty: all the same.
    weights: Vec<u64>,
    /// The part of the test that the run is, where it is not the whole.
    segment: Option<(Segment, SegmentSequence)>,
    shared_gauges: SharedGauges,
    /// The agent that runs a life-cycle function now.
    runner: Option<AgentId>,
    call: Option<ClientCall>,
    /// What comes after the client's call.
    deferred: Option<Step>,
    /// How long the test took, and how it ended, once it is closed.
    closed: Option<(Duration, Outcome)>,
    /// What `handleSummary()` is given, while it is waited for.
    awaits_summary: Option<String>,
    /// An agent has said when its scenarios began.
    has_begun: bool,
    /// The agents were told that the run is over.
    has_stopped_agents: bool,
    sinks: Vec<Box<dyn DeltaSink>>,
    journal: Option<Box<dyn Journal>>,
    orders: Orders,
    notices: Vec<Notice>,
}

/// A step that a client's call holds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Setup,
    Start,
    Teardown,
}

impl Coordinator {
    /// Thresholds are evaluated this often while the test runs, as in k6.
    pub const EVALUATION_INTERVAL: Duration = Duration::from_secs(2);

    /// A run of `plan` over `agents`.
    pub fn new(
        settings: Settings,
        agents: impl IntoIterator<Item = AgentId>,
        plan: &Plan,
        registry: &Registry,
        thresholds: Thresholds,
    ) -> Self {
        let mut merged = Merged::new(registry);
        for submetric in thresholds.submetrics() {
            merged.watch(submetric);
        }
        let ends = plan.scenarios.iter().map(|scenario| scenario.start_ns.saturating_add(scenario.hard_end_ns));
        let end = ends.max().unwrap_or(0);
        let agents = Agents::new(agents);
        Self {
            settings,
            phase: RunPhase::Initializing,
            judge: Judge::new(agents.len()),
            agents,
            scenarios: plan.scenarios.iter().map(|scenario| scenario.name().to_owned()).collect(),
            definitions: plan.scenarios.iter().map(|scenario| Scenario::clone(&scenario.scenario)).collect(),
            plan_end: (end < FOREVER_NS).then(|| Duration::from_nanos(end)),
            merged,
            thresholds,
            watermark: Watermark::default(),
            clock: RunClock::default(),
            deadline: None,
            setup_data: None,
            stop: None,
            failed_vu: None,
            is_marked_failed: false,
            next_evaluation: Self::EVALUATION_INTERVAL,
            steering: Steering::new(plan),
            told: Vec::new(),
            joined: Vec::new(),
            hand_overs: Vec::new(),
            replay: Replay::default(),
            weights: Vec::new(),
            segment: None,
            shared_gauges: SharedGauges::default(),
            runner: None,
            call: None,
            deferred: None,
            closed: None,
            awaits_summary: None,
            has_begun: false,
            has_stopped_agents: false,
            sinks: Vec::new(),
            journal: None,
            orders: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// Makes these changes while the scenarios run, as of the moments they have.
    #[must_use]
    pub fn replaying(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// Gives the agents shares by these weights, one for each; else they are even.
    #[must_use]
    pub fn weighted(mut self, weights: Vec<u64>) -> Self {
        self.weights = weights;
        self
    }

    /// The run is this segment of a test whose other segments run elsewhere. Its agents have equal parts of it, whatever
    /// they weigh: a segment can only be divided evenly without changing the numbers of the others.
    #[must_use]
    pub fn within(mut self, segment: Segment, sequence: SegmentSequence) -> Self {
        self.segment = Some((segment, sequence));
        self
    }

    /// Gives every delta to `sink` from now on.
    pub fn subscribe(&mut self, sink: Box<dyn DeltaSink>) {
        self.sinks.push(sink);
    }

    /// Gives every agent its share of the test.
    pub fn start(&mut self, test: &[u8], now: Time) -> Orders {
        self.note(&Input::Start(test.into()), now);
        let ids = self.agents.ids();
        let count = ids.len() as u64;
        // An even split cannot fail for one agent or more; without any there is nobody to tell.
        let weights: Vec<u64> = match &self.weights {
            weights if weights.len() == ids.len() && self.segment.is_none() => weights.clone(),
            _ => vec![1; ids.len()],
        };
        let sequence = SegmentSequence::weighted(&weights)
            .or_else(|_| SegmentSequence::even(count.max(1)))
            .unwrap_or_else(|_| SegmentSequence::around(Segment::FULL));
        for (index, (id, part_of_run)) in ids.into_iter().zip(sequence.segments()).enumerate() {
            let share = |whole: u64| part(whole, &weights, index);
            let index = index as u64;
            let (segment, sequence, cuts) = match &self.segment {
                None => (part_of_run, &sequence, Vec::new()),
                Some((segment, sequence)) if count == 1 => (segment, sequence, Vec::new()),
                Some((segment, sequence)) => (segment, sequence, vec![Cut { index, of: count }]),
            };
            let init = Init {
                version: VERSION,
                agent: u32::try_from(index).unwrap_or(u32::MAX),
                agents: u32::try_from(count).unwrap_or(u32::MAX),
                joined: None,
                segment: segment.to_string(),
                sequence: sequence.to_string(),
                cuts,
                series_max: (count > 1).then(|| share(self.settings.series_max).max(1)),
                // 0 would mean no limit.
                rps: self.settings.rps.map(|rps| share(rps).max(1)),
                test: test.to_vec(),
            };
            if let Some(agent) = self.agents.get_mut(id) {
                agent.heard_at = now;
                agent.share = part_of_run.length().map_or(0.0, |length| length.as_f64());
                agent.ended = vec![0; self.scenarios.len()];
                agent.init = init.clone();
            }
            self.orders.push((id, Command::Init(Box::new(init))));
        }
        self.weights = weights;
        self.take()
    }

    /// Takes an agent's report and says what is to be done.
    pub fn handle(&mut self, from: AgentId, report: Report, now: Time) -> Orders {
        self.note(&Input::Report { from, report: Cow::Borrowed(&report) }, now);
        // Who was lost has nothing more to say: what it measured since is missing, and the user was told so.
        let Some(agent) = self.agents.get_mut(from) else { return Vec::new() };
        agent.heard_at = now;
        match report {
            Report::OfShare { share, report } => {
                let id = shares::of_share(share);
                // Of a share only the agent that has it can say something.
                if self.agents.get_mut(id).is_some_and(|agent| agent.host == Some(from)) {
                    self.hear(id, *report, now);
                }
            }
            report => self.hear(from, report, now),
        }
        self.take()
    }

    fn hear(&mut self, from: AgentId, report: Report, now: Time) {
        let Some(agent) = self.agents.get_mut(from) else { return };
        match report {
            // Shares have none of their own.
            Report::OfShare { .. } => {}
            Report::Accepted(accepted) => self.accepted(from, &accepted, now),
            Report::Ready if agent.taking.is_some() => self.take_up(from, now),
            Report::Ready if agent.late == Some(Late::Initializing) => self.is_ready_late(from, now),
            Report::Ready => self.pass(from, RunPhase::Initializing, now),
            Report::Started { at } => self.started(at),
            // Who joined began when it could.
            Report::Begun { .. } if agent.late.is_some() => {}
            Report::Begun { late, clock_error } => agent.begun = Some((late, clock_error)),
            Report::Delta(part) => self.measured(from, *part),
            // Outputs and secrets are whoever's that runs the coordinator.
            Report::Samples(_) | Report::SecretWanted(_) => {}
            Report::Health(health) => {
                agent.threads_given_up = health.threads_given_up;
                if health.trapped_writes > agent.trapped_writes {
                    agent.trapped_writes = health.trapped_writes;
                    self.judge.trapped(&health.trapped_property);
                }
                self.judge.report(from, &health);
            }
            Report::Warning { message, fields } => self.notices.push(Notice::Warning { message, fields }),
            Report::Log(line) => self.notices.push(Notice::Log(line)),
            Report::Progress(progress) => agent.stands(*progress),
            Report::Aborted { message } => self.aborted(Stop { code: ExitCode::ScriptAborted, message }, now),
            Report::MarkedFailed => self.is_marked_failed = true,
            Report::ScenariosDone => self.pass(from, RunPhase::Running, now),
            Report::SetupDone(result) => self.setup_done(from, result, now),
            Report::TeardownDone(result) => self.teardown_done(from, result, now),
            Report::Flushed(flushed) => {
                agent.flushed = Some(flushed);
                self.pass(from, RunPhase::Closing, now);
            }
            Report::SummaryDone(result) => self.summary_done(from, result),
            Report::Failed(failure) => self.agent_failed(from, failure, now),
        }
    }

    /// Something ends the run from outside, such as a signal.
    pub fn abort(&mut self, stop: Stop, now: Time) -> Orders {
        self.note(&Input::Abort(Cow::Borrowed(&stop)), now);
        self.aborted(stop, now);
        self.take()
    }

    /// What there is to say since the last time.
    pub fn notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Where the run is.
    pub fn phase(&self) -> RunPhase {
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

    /// The scenarios' targets and the journal of their changes.
    pub fn steering(&self) -> &Steering {
        &self.steering
    }

    /// What `setup()` returned.
    pub fn setup_data(&self) -> Option<&Arc<str>> {
        self.setup_data.as_ref()
    }

    /// Whether the run stands still, before its start or later.
    pub fn is_paused(&self) -> bool {
        self.steering.is_paused() || (self.settings.starts_paused && self.phase <= RunPhase::Paused)
    }

    /// Whether something stopped the run before its plan did.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The VU whose init code failed, if that is why the run ended.
    pub fn failed_vu(&self) -> Option<u64> {
        self.failed_vu
    }

    /// The time on the run's clocks.
    pub fn moment(&self, now: Time) -> Moment {
        self.clock.moment(now)
    }

    /// `now`, or since when the run's clocks stand still.
    pub fn unpaused(&self, now: Time) -> Time {
        self.clock.unpaused(now)
    }

    /// When the test's clock started.
    pub fn started_at(&self) -> Option<Time> {
        self.clock.started()
    }

    /// When the scenarios started.
    pub fn scenarios_at(&self) -> Option<Time> {
        self.clock.scenarios()
    }

    /// How all agents stand together, scenarios in the plan's order.
    pub fn progress(&self) -> Progress {
        let mut sum = Progress { scenarios: vec![ScenarioProgress::NONE; self.scenarios.len()], ..Progress::default() };
        let mut has_progress = false;
        for agent in self.agents.all() {
            let Some(table) = &agent.table else { continue };
            has_progress |= !agent.progress.scenarios.is_empty();
            sum.add(&agent.progress, |index| table.scenarios.get(index).copied().flatten());
        }
        if !has_progress {
            sum.scenarios.fill(ScenarioProgress::default());
        }
        sum
    }

    /// The orders so far, each for the agent that gets it.
    fn take(&mut self) -> Orders {
        let orders = std::mem::take(&mut self.orders).into_iter();
        let addressed = orders.map(|(id, command)| match self.agents.host_of(id) {
            Some((host, share)) => (host, Command::OfShare { share, command: Box::new(command) }),
            None => (id, command),
        });
        addressed.collect()
    }

    fn tell_all(&mut self, command: &Command) {
        self.orders.extend(self.agents.taking_part().map(|(id, _)| (id, command.clone())));
    }

    fn accepted(&mut self, from: AgentId, accepted: &Accepted, now: Time) {
        let table = Table::new(accepted, self.merged.registry(), &self.scenarios);
        match (table, self.agents.get_mut(from)) {
            (Ok(table), Some(agent)) => agent.table = Some(table),
            (Err(reason), _) => {
                let message = format!("agent {} cannot take part: {reason}", from.0);
                self.agent_failed(from, Failure::new(FailureKind::Engine, message), now);
            }
            (Ok(_), None) => {}
        }
    }

    fn measured(&mut self, from: AgentId, mut part: ThreadDelta) {
        let Some(agent) = self.agents.get_mut(from) else { return };
        let Some(table) = &agent.table else { return };
        table.translate(&mut part.delta);
        agent.end(&part.ended);
        let who = agent.host.unwrap_or(from);
        agent.count(&part.delta);
        if self.agents.len() > 1 {
            self.shared_gauges.sum(from, &mut part.delta, &self.agents);
        }
        if let Some(span) = part.span {
            self.watermark.note(from, part.thread, Duration::from_nanos(span.until_ns));
        }
        self.fold(who, &part);
    }

    /// Notes that an agent reached the end of a phase; the last one moves the run on.
    fn pass(&mut self, from: AgentId, phase: RunPhase, now: Time) {
        if self.phase != phase {
            return;
        }
        if let Some(agent) = self.agents.get_mut(from) {
            agent.has_passed = true;
        }
        self.look_at_barrier(now);
    }

    /// Goes on if nobody holds back the phase any more.
    fn look_at_barrier(&mut self, now: Time) {
        if !self.agents.have_passed() {
            return;
        }
        match self.phase {
            RunPhase::Initializing if self.settings.starts_paused => self.enter(RunPhase::Paused, None),
            RunPhase::Initializing => self.begin(now),
            RunPhase::Running => self.after_scenarios(now),
            RunPhase::Closing => self.closed(),
            _ => {}
        }
    }

    fn enter(&mut self, phase: RunPhase, deadline: Option<Time>) {
        self.phase = phase;
        self.deadline = deadline;
        self.agents.begin_phase();
        if phase > RunPhase::Running {
            self.dismiss_late();
        }
    }

    fn begin(&mut self, now: Time) {
        if self.settings.has_setup {
            self.enter(RunPhase::Setup, None);
            self.step(Step::Setup, now);
        } else {
            self.enter(RunPhase::Running, None);
            self.step(Step::Start, now);
        }
    }

    /// Does what is next, unless a function that runs for a client comes first.
    fn step(&mut self, step: Step, now: Time) {
        if self.call.is_some() {
            self.deferred = Some(step);
            return;
        }
        let patience = self.settings.patience;
        match step {
            // Something stopped the run while the client's function ran.
            Step::Setup | Step::Start if self.stop.is_some() => self.end(),
            Step::Setup => {
                self.clock.start(now);
                self.tell_all(&Command::StartClock { at: now });
                self.run_on_one(Command::Setup);
                self.deadline = Some(now + patience.setup + patience.beyond);
            }
            Step::Start => {
                let at = now + self.settings.start_in;
                self.clock.start_scenarios(at);
                let threads =
                    self.agents.taking_part().filter_map(|(id, agent)| Some((id, agent.table.as_ref()?.threads)));
                threads.for_each(|(id, threads)| self.watermark.expect(id, threads));
                self.tell_all(&Command::Start { at, data: self.setup_data.clone() });
                self.deadline = self.plan_end.map(|end| at + end + patience.beyond);
                self.begin_late(now);
            }
            Step::Teardown => {
                self.run_on_one(Command::Teardown(self.setup_data.clone()));
                self.deadline = Some(now + patience.teardown + patience.beyond);
            }
        }
    }

    /// Has one agent run a life-cycle function.
    fn run_on_one(&mut self, command: Command) {
        self.runner = self.agents.taking_part().map(|(id, _)| id).next();
        self.orders.extend(self.runner.map(|id| (id, command)));
    }

    /// An agent's scenarios began; the first says when the run's did.
    fn started(&mut self, at: Time) {
        if self.phase != RunPhase::Running || std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        self.clock.start_scenarios(at);
        let moment = self.clock.moment(at);
        self.thresholds.start_scenarios(nanos(moment.test));
    }

    fn setup_done(&mut self, from: AgentId, result: Result<Option<Arc<str>>, Failure>, now: Time) {
        if self.runner != Some(from) {
            return;
        }
        self.runner = None;
        if self.call.is_some() {
            return self.call_done(result.map_err(|failure| failure.message), now);
        }
        match result {
            // An agent was lost, or somebody has stopped the run meanwhile.
            Ok(_) if self.phase == RunPhase::Setup && self.stop.is_some() => self.end(),
            Ok(data) if self.phase == RunPhase::Setup => {
                self.setup_data = data;
                self.enter(RunPhase::Running, None);
                self.step(Step::Start, now);
            }
            Ok(_) => {}
            Err(failure) => self.failed(Stop::setup(&failure), failure.vu),
        }
    }

    fn teardown_done(&mut self, from: AgentId, result: Result<(), Failure>, now: Time) {
        if self.runner != Some(from) {
            return;
        }
        self.runner = None;
        if self.call.is_some() {
            return self.call_done(result.map(|()| None).map_err(|failure| failure.message), now);
        }
        match result {
            Ok(()) if self.phase == RunPhase::Teardown => self.end(),
            Ok(()) => {}
            Err(failure) => self.failed(Stop::teardown(&failure), failure.vu),
        }
    }

    fn after_scenarios(&mut self, now: Time) {
        if !self.settings.has_teardown {
            return self.end();
        }
        self.enter(RunPhase::Teardown, None);
        self.step(Step::Teardown, now);
    }

    fn end(&mut self) {
        if self.phase < RunPhase::Done {
            self.enter(RunPhase::Done, None);
        }
    }

    /// A failed initialisation or setup ends the run without scenarios and without teardown; a failed teardown just ends it.
    fn failed(&mut self, stop: Stop, vu: Option<u64>) {
        self.stop.get_or_insert(stop);
        if self.failed_vu.is_none() {
            self.failed_vu = vu;
        }
        if self.phase < RunPhase::Done {
            self.tell_all(&Command::Interrupt);
            self.release_untaken();
            self.end();
        }
    }

    /// An abort cuts what runs. Teardown still runs once scenarios have begun, as in k6; before that the run just ends.
    fn aborted(&mut self, stop: Stop, now: Time) {
        if self.phase >= RunPhase::Done || self.stop.is_some() {
            return;
        }
        self.stop = Some(stop);
        match self.phase {
            RunPhase::Initializing | RunPhase::Paused => {
                self.tell_all(&Command::Interrupt);
                self.end();
            }
            // A cut setup() or teardown() reports its end itself, the agents report the end of their scenarios.
            RunPhase::Setup | RunPhase::Running => {
                self.tell_all(&Command::Interrupt);
                self.deadline = Some(now + self.settings.patience.beyond);
                self.release_untaken();
                if self.phase == RunPhase::Running {
                    self.look_at_barrier(now);
                }
            }
            _ => {}
        }
    }
}

/// What of a limit is the part of the agent with this index. All parts together are the whole.
fn part(whole: u64, weights: &[u64], index: usize) -> u64 {
    let sum = |weights: &[u64]| weights.iter().map(|weight| u128::from(*weight)).sum::<u128>();
    let until = |end: usize| u128::from(whole) * sum(&weights[..end]) / sum(weights).max(1);
    u64::try_from(until(index + 1) - until(index)).unwrap_or(u64::MAX)
}

/// Nanoseconds fit for 584 years.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
