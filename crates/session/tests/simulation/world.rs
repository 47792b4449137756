//! Coordinator, agents and what is between them, in virtual time.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use onrush_metrics::{Merged, MetricKind, Sink, builtin};
use onrush_plan::Share;
use onrush_session::{
    Coordinator, ExitCode, LossPolicy, Notice, Orders, Patience, RunPhase, Settings, Verdict,
    link::{Frame, Link},
    protocol::{AgentId, Command, Limits, Report, Time},
};

use crate::{
    agent::SimAgent,
    script::{Script, mix},
};

/// An agent that says nothing for so long is lost.
pub(crate) const SILENCE: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(10);
/// Whatever happens, a run is over by then: the plan's end and every patience.
const END: Duration = Duration::from_secs(300);

/// What goes wrong.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    delay_ms: u64,
    jitter_ms: u64,
    loss_percent: u64,
    double_percent: u64,
    /// An agent, and when it dies.
    death: Option<(usize, Duration)>,
}

/// What a coordinator or a connection could do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A report is handed on twice.
    DoubleDelivery,
    /// A report that was acknowledged is not handed on.
    LostDelivery,
    /// The start does not wait for all agents.
    EarlyStart,
}

impl Faults {
    pub(crate) fn none() -> Self {
        Self { delay_ms: 1, ..Self::default() }
    }

    /// A network as bad as the seed wants it.
    pub(crate) fn network(seed: u64) -> Self {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(97) ^ kind) % max;
        Self {
            delay_ms: 1 + of(1, 80),
            jitter_ms: of(2, 120),
            loss_percent: of(3, 25),
            double_percent: of(4, 20),
            death: None,
        }
    }

    pub(crate) fn with_death(self, seed: u64, agents: u64) -> Self {
        let agent = (mix(seed ^ 0xdead) % agents) as usize;
        Self { death: Some((agent, Duration::from_millis(mix(seed ^ 0xbeef) % 18_000))), ..self }
    }
}

/// A frame on its way.
enum Packet {
    Down(usize, Frame<Command>),
    Up(usize, Frame<Report>),
}

pub(crate) struct World {
    coordinator: Coordinator,
    agents: Vec<SimAgent>,
    down: Vec<Link<Command, Report>>,
    up: Vec<Link<Report, Command>>,
    /// By time of arrival and the order they were sent in.
    under_way: BTreeMap<(Time, u64), Packet>,
    sent: u64,
    faults: Faults,
    random: u64,
    mistake: Option<Mistake>,
    mistakes_left: u32,
    delivered: BTreeMap<usize, u64>,
    lost: BTreeMap<usize, Time>,
    trace: Vec<String>,
    seed: u64,
}

/// What came of a run.
pub(crate) struct Ended {
    pub(crate) exit: ExitCode,
    pub(crate) stop: Option<String>,
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<String>,
    pub(crate) crossed: Vec<String>,
    series: BTreeMap<(String, String), Sink>,
    judged: Vec<(String, u64)>,
    pub(crate) iterations: u64,
    /// Iterations in the deltas that the coordinator was handed.
    pub(crate) delivered: u64,
    /// Iterations of the agents that were not lost.
    pub(crate) survivors: u64,
    /// Agents that were lost, and when.
    pub(crate) lost: BTreeMap<usize, Time>,
    death: Option<(usize, Duration)>,
    pub(crate) teardowns: u32,
    pub(crate) took: Duration,
    pub(crate) trace: Vec<String>,
    seed: u64,
}

impl World {
    pub(crate) fn new(script: &Script, agents: u64, faults: Faults, on_loss: LossPolicy, seed: u64) -> Self {
        let registry = script.registry();
        let settings = Settings {
            has_setup: true,
            has_teardown: true,
            evaluates_thresholds: true,
            on_loss,
            patience: Patience { silence: Some(SILENCE), ..Patience::default() },
            ..Settings::default()
        };
        let ids = (0..agents).map(|id| AgentId(id as u32));
        let thresholds = script.thresholds(&registry);
        let coordinator = Coordinator::new(settings, ids, &script.plan(&Share::full()), &registry, thresholds);
        let count = 0..agents as usize;
        Self {
            coordinator,
            agents: count.clone().map(|number| SimAgent::new(script.clone(), number)).collect(),
            down: count.clone().map(|_| Link::new(Time(0))).collect(),
            up: count.map(|_| Link::new(Time(0))).collect(),
            under_way: BTreeMap::new(),
            sent: 0,
            faults,
            random: seed,
            mistake: None,
            mistakes_left: 0,
            delivered: BTreeMap::new(),
            lost: BTreeMap::new(),
            trace: Vec::new(),
            seed,
        }
    }

    pub(crate) fn with_mistake(mut self, mistake: Mistake) -> Self {
        self.mistake = Some(mistake);
        self.mistakes_left = 1;
        self
    }

    pub(crate) fn run(mut self) -> Ended {
        let mut now = Time(0);
        let orders = self.coordinator.start(b"test", now);
        self.send(orders, now);
        while self.coordinator.phase() < RunPhase::Closed {
            now = now + STEP;
            assert!(now.since(Time(0)) < END, "seed {}: stuck in {:?}", self.seed, self.coordinator.phase());
            self.deliver(now);
            for number in 0..self.agents.len() {
                if !self.is_dead(number, now) {
                    let reports = self.agents[number].tick(now);
                    reports.into_iter().for_each(|report| self.up[number].send(report));
                }
            }
            let mut orders = self.coordinator.tick(now);
            if self.coordinator.phase() == RunPhase::Done {
                orders.extend(self.coordinator.close(now));
            }
            self.send(orders, now);
            self.travel(now);
        }
        self.ended(now)
    }

    fn is_dead(&self, number: usize, now: Time) -> bool {
        self.faults.death.is_some_and(|(agent, at)| agent == number && now.since(Time(0)) >= at)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.random = mix(self.random);
        self.random % sides.max(1)
    }

    fn send(&mut self, orders: Orders, now: Time) {
        for (id, command) in orders {
            self.trace.push(format!("{} to {}: {command:?}", now.0, id.0));
            self.down[id.0 as usize].send(command);
        }
        for notice in self.coordinator.notices() {
            if let Notice::Error(text) = &notice
                && let Some(number) = text.strip_prefix("agent ").and_then(|rest| rest.split(' ').next()?.parse().ok())
            {
                self.lost.insert(number, now);
            }
            self.trace.push(format!("{} {notice:?}", now.0));
        }
    }

    /// Hands what each side has to say to the network.
    fn travel(&mut self, now: Time) {
        for number in 0..self.agents.len() {
            for frame in self.down[number].frames(now) {
                self.launch(|| Packet::Down(number, frame.clone()), now);
            }
            if !self.is_dead(number, now) {
                for frame in self.up[number].frames(now) {
                    self.launch(|| Packet::Up(number, frame.clone()), now);
                }
            }
        }
    }

    fn launch(&mut self, packet: impl Fn() -> Packet, now: Time) {
        if self.roll(100) < self.faults.loss_percent {
            return;
        }
        let copies = 1 + u64::from(self.roll(100) < self.faults.double_percent);
        for _ in 0..copies {
            let delay = self.faults.delay_ms + self.roll(self.faults.jitter_ms + 1);
            self.sent += 1;
            self.under_way.insert((now + Duration::from_millis(delay), self.sent), packet());
        }
    }

    fn deliver(&mut self, now: Time) {
        while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Packet::Down(number, frame) if !self.is_dead(number, now) => {
                    for command in self.up[number].receive(frame, now) {
                        if matches!(command, Command::Start { .. }) && self.mistake != Some(Mistake::EarlyStart) {
                            let late: Vec<bool> = self.agents.iter().map(SimAgent::is_initializing).collect();
                            assert!(!late.contains(&true), "seed {}: started too early: {late:?}", self.seed);
                        }
                        let reports = self.agents[number].handle(command, now);
                        reports.into_iter().for_each(|report| self.up[number].send(report));
                    }
                }
                Packet::Down(..) => {}
                Packet::Up(number, frame) => {
                    for report in self.down[number].receive(frame, now) {
                        self.report(number, report, now);
                    }
                }
            }
        }
    }

    fn report(&mut self, number: usize, report: Report, now: Time) {
        Limits::default().check(&report).expect("agents keep the limits");
        // As it would be on a wire.
        let bytes = postcard::to_allocvec(&report).expect("plain data");
        let report: Report = postcard::from_bytes(&bytes).expect("as sent");
        let count = iterations(&report);
        let is_mistaken = count > 0 && self.mistakes_left > 0;
        match self.mistake.filter(|_| is_mistaken) {
            Some(Mistake::LostDelivery) => {
                self.mistakes_left -= 1;
                return;
            }
            Some(Mistake::DoubleDelivery) => {
                self.mistakes_left -= 1;
                let orders = self.coordinator.handle(AgentId(number as u32), report.clone(), now);
                self.send(orders, now);
            }
            _ => {}
        }
        if self.mistake == Some(Mistake::EarlyStart) && report == Report::ScenariosDone && self.mistakes_left > 0 {
            // The end of one agent's scenarios passes for that of all.
            self.mistakes_left = 0;
            for other in 0..self.agents.len() {
                let orders = self.coordinator.handle(AgentId(other as u32), Report::ScenariosDone, now);
                self.send(orders, now);
            }
        }
        if !self.lost.contains_key(&number) {
            *self.delivered.entry(number).or_default() += count;
        }
        let orders = self.coordinator.handle(AgentId(number as u32), report, now);
        self.send(orders, now);
    }

    fn ended(self, now: Time) -> Ended {
        let outcome = self.coordinator.outcome().expect("it is closed").clone();
        let judgement = self.coordinator.judgement();
        let setups: u32 = self.agents.iter().map(|agent| agent.setups).sum();
        let teardowns = self.agents.iter().map(|agent| agent.teardowns).sum();
        assert!(setups <= 1 && teardowns <= 1, "seed {}: {setups} setups, {teardowns} teardowns", self.seed);
        let has_started = self.agents.iter().any(SimAgent::has_started);
        assert!(setups == 1 || !has_started, "seed {}: scenarios without setup()", self.seed);
        let kept: BTreeSet<usize> = (0..self.agents.len()).filter(|number| !self.lost.contains_key(number)).collect();
        let merged = self.coordinator.merged();
        let thresholds = self.coordinator.thresholds().results();
        let judged = thresholds
            .iter()
            .flat_map(|metric| {
                // Others are judged every two seconds of the run, which teardown() and the network make longer.
                let windowed = |result: &&onrush_metrics::ExpressionResult| result.source.contains(" over ");
                metric
                    .expressions
                    .iter()
                    .filter(windowed)
                    .map(|result| (format!("{} {}", metric.name, result.source), result.history.judged))
            })
            .collect();
        Ended {
            exit: outcome.exit_code(),
            stop: outcome.message(),
            crossed: outcome.crossed,
            verdict: judgement.verdict,
            reasons: judgement.reasons,
            series: series(merged),
            judged,
            iterations: merged.sink(builtin::ITERATIONS).and_then(Sink::counter).unwrap_or(0.0) as u64,
            delivered: self.delivered.values().sum(),
            survivors: kept.iter().map(|number| self.agents[*number].reported).sum(),
            lost: self.lost,
            death: self.faults.death,
            teardowns,
            took: now.since(Time(0)),
            trace: self.trace,
            seed: self.seed,
        }
    }
}

/// Iterations in a report.
fn iterations(report: &Report) -> u64 {
    let Report::Delta(part) = report else { return 0 };
    let own = part.delta.series.iter().filter(|series| series.metric == builtin::ITERATIONS);
    own.filter_map(|series| series.sink.counter()).sum::<f64>() as u64
}

/// All series by name. Gauges are left out: their last value depends on who is last.
fn series(merged: &Merged) -> BTreeMap<(String, String), Sink> {
    let registry = merged.registry();
    let named = merged.series().filter_map(|series| {
        let metric = registry.find(series.metric)?;
        let is_kept = metric.kind != MetricKind::Gauge;
        is_kept.then(|| ((metric.name.to_string(), format!("{:?}", series.tags)), series.sink.clone()))
    });
    named.collect()
}

impl Ended {
    pub(crate) fn is_same_as(&self, one: &Self) -> bool {
        self.series == one.series && self.crossed == one.crossed && self.exit == one.exit
    }

    #[track_caller]
    pub(crate) fn assert_same_as(&self, one: &Self) {
        assert_eq!(self.iterations, one.iterations, "seed {}", self.seed);
        for (name, sink) in &one.series {
            assert_eq!(self.series.get(name), Some(sink), "seed {}: {name:?}", self.seed);
        }
        assert!(self.is_same_as(one), "seed {}: {:?} {:?}", self.seed, self.crossed, self.stop);
        assert_eq!(self.verdict, one.verdict, "seed {}: {:?}", self.seed, self.reasons);
        // Windows end on the scenarios' clock, so there are as many of them.
        assert_eq!(self.judged, one.judged, "seed {}", self.seed);
    }

    #[track_caller]
    pub(crate) fn assert_says_why(&self) {
        assert!(!self.lost.is_empty());
        let is_named =
            |number: &usize| self.reasons.iter().any(|reason| reason.contains(&format!("agent {number} was lost")));
        assert!(self.lost.keys().all(is_named), "seed {}: {:?} {:?}", self.seed, self.lost, self.reasons);
    }

    /// An agent that died was missed in time.
    #[track_caller]
    pub(crate) fn assert_loss_was_seen_within(&self, patience: Duration) {
        if let Some((agent, at)) = self.death
            && let Some(seen) = self.lost.get(&agent)
        {
            assert!(seen.since(Time(0) + at) <= patience, "seed {}: {:?} {:?}", self.seed, at, seen);
        }
    }
}
