//! Coordinator, agents and what is between them, in virtual time.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    time::Duration,
};

use onrush_metrics::builtin;
use onrush_plan::Share;
use onrush_session::{
    Coordinator, LossPolicy, Notice, Orders, Patience, RunPhase, Settings,
    link::{Frame, Link},
    protocol::{AgentId, Command, Limits, Report, Time},
};

use crate::{
    ended::Ended,
    faults::Faults,
    host::SimHost,
    journal::SimJournal,
    late::Late,
    relays::{RelayPacket, Relays},
    script::{Script, mix},
};

/// An agent that says nothing for so long is lost.
pub const SILENCE: Duration = Duration::from_secs(3);
/// An agent that hears nothing for so long stops.
pub const LEASE: Duration = Duration::from_secs(5);
/// What an agent's reports, once a second, may be late by in a bad network.
const REPORTS_LATE: Duration = Duration::from_secs(2);
/// How often everybody looks around.
const STEP: Duration = Duration::from_millis(50);
/// Whatever happens, a run is over by then: the plan's end and every patience.
const END: Duration = Duration::from_secs(400);
/// What a command may take to reach all agents.
const START_IN: Duration = Duration::from_millis(200);

/// What a coordinator or a connection could do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// What was acknowledged is not handed on.
    DroppedAck,
    /// A delta is added twice.
    DoubleFold,
    /// A barrier does not wait for all agents.
    EarlyBarrier,
    /// A report is acknowledged before it was noted.
    EarlyAck,
    /// An agent that joins gets numbers that others have.
    SameNumbers,
    /// An agent that joined is not told its share.
    ForgottenShare,
    /// What a relay added up counts although a part of it came another way.
    CountedAgain,
}

/// A frame on its way.
pub(crate) enum Packet {
    Down(usize, Frame<Command>),
    Up(usize, Frame<Report>),
    /// Between agents and relays, and between these and the coordinator.
    Relay(RelayPacket),
}

/// A run.
pub struct World {
    pub(crate) coordinator: Coordinator,
    pub(crate) hosts: Vec<SimHost>,
    pub(crate) down: Vec<Link<Command, Report>>,
    pub(crate) relays: Relays,
    pub(crate) script: Script,
    settings: Settings,
    /// Agents that the run began with.
    pub(crate) began_with: usize,
    /// Who joins later, and what is steered.
    pub(crate) late: Late,
    /// When agents that joined began.
    pub(crate) joined_at: BTreeMap<AgentId, Time>,
    /// What a coordinator that ends leaves behind; without one if it never does.
    journal: Option<SimJournal>,
    /// All orders that left the coordinator, where it may end.
    ordered: Orders,
    /// Until when there is no coordinator, and since when.
    pub(crate) away: Option<(Time, Time)>,
    restarts: VecDeque<Range<u64>>,
    pub(crate) resumed: u32,
    /// By time of arrival and the order they were sent in.
    under_way: BTreeMap<(Time, u64), Packet>,
    sent: u64,
    pub(crate) faults: Faults,
    random: u64,
    pub(crate) mistake: Option<Mistake>,
    /// Deltas with iterations until the mistake is made.
    until_mistake: u64,
    /// What was handed on for the coordinator to count.
    pub(crate) delivered: u64,
    /// The iterations of the deltas that count, and how often each came.
    pub(crate) counted: BTreeMap<(String, u64), u32>,
    pub(crate) lost: BTreeMap<usize, Time>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) trace: Option<Vec<String>>,
    pub(crate) violations: Vec<String>,
    /// Reports travel as bytes.
    is_encoded: bool,
}

impl World {
    /// A run of a script over so many agents.
    pub fn new(script: &Script, agents: u64, faults: Faults, on_loss: LossPolicy, seed: u64) -> Self {
        let settings = Settings {
            has_setup: true,
            has_teardown: true,
            evaluates_thresholds: true,
            on_loss,
            patience: Patience {
                silence: Some(SILENCE),
                lingers: LEASE.saturating_sub(SILENCE) + REPORTS_LATE,
                ..Patience::default()
            },
            start_in: START_IN,
            ..Settings::default()
        };
        let journal = (!faults.restarts.is_empty()).then(SimJournal::default);
        let mut coordinator = coordinator(script, settings, agents);
        if let Some(journal) = &journal {
            coordinator.keep(Box::new(journal.clone()));
        }
        let count = 0..agents as usize;
        Self {
            coordinator,
            hosts: count.clone().map(|number| SimHost::new(script, number, faults.of_agent(number), Time(0))).collect(),
            relays: Relays::new(faults.relays.len(), count.len()),
            down: count.map(|_| Link::new(Time(0)).confirming()).collect(),
            script: script.clone(),
            settings,
            began_with: agents as usize,
            late: Late::default(),
            joined_at: BTreeMap::new(),
            journal,
            ordered: Orders::new(),
            away: None,
            restarts: faults.restarts.iter().cloned().collect(),
            resumed: 0,
            under_way: BTreeMap::new(),
            sent: 0,
            faults,
            random: seed,
            mistake: None,
            until_mistake: 0,
            delivered: 0,
            counted: BTreeMap::new(),
            lost: BTreeMap::new(),
            notices: Vec::new(),
            trace: None,
            violations: Vec::new(),
            is_encoded: seed.is_multiple_of(16),
        }
    }

    /// Makes a mistake once, at a moment of the seed's choice.
    #[must_use]
    pub fn with_mistake(mut self, mistake: Mistake, seed: u64) -> Self {
        self.mistake = Some(mistake);
        self.until_mistake = mix(seed ^ 0xbad) % 30;
        self
    }

    /// Notes all that happens.
    #[must_use]
    pub fn traced(mut self) -> Self {
        self.trace = Some(Vec::new());
        self
    }

    /// Runs to the end.
    pub fn run(mut self) -> Ended {
        let mut now = Time(0);
        let mut tick_at = Time(0);
        let orders = self.coordinator.start(b"test", now);
        self.send(orders, now);
        while (self.coordinator.phase() < RunPhase::Closed || self.away.is_some()) && self.violations.is_empty() {
            if now.since(Time(0)) > END {
                self.violations.push(format!("it is stuck in {:?}", self.coordinator.phase()));
                break;
            }
            if now >= tick_at {
                self.tick(now);
                tick_at = tick_at + STEP;
            }
            let next = self.under_way.first_key_value().map_or(tick_at, |((at, _), _)| (*at).min(tick_at));
            now = next.max(now);
            self.deliver(now);
        }
        Ended::of(self, now)
    }

    fn tick(&mut self, now: Time) {
        for number in 0..self.hosts.len() {
            self.hosts[number].tick(now);
        }
        self.choose_ways(now);
        self.end_or_go_on(now);
        if self.away.is_some() {
            return (0..self.hosts.len()).for_each(|number| self.travel(number, now));
        }
        self.make_late(now);
        let mut orders = self.coordinator.tick(now);
        if self.coordinator.phase() == RunPhase::Done {
            orders.extend(self.coordinator.close(now));
        }
        self.send(orders, now);
        self.look_at_relays(now);
        for number in 0..self.hosts.len() {
            self.travel(number, now);
        }
    }

    /// There is one more agent.
    pub(crate) fn add_host(&mut self, host: SimHost, now: Time) {
        self.hosts.push(host);
        self.down.push(Link::new(now).confirming());
        self.relays.add_agent();
    }

    /// The coordinator ends when nothing comes that could be half done, or another goes on.
    fn end_or_go_on(&mut self, now: Time) {
        if self.away.is_some_and(|(_, until)| now >= until) {
            return self.resume(now);
        }
        // What comes before that ends it in the middle.
        let is_due = |window: &Range<u64>| now >= at(window.start) + STEP * 4;
        if self.away.is_none() && self.restarts.front().is_some_and(is_due) {
            self.crash(now);
        }
    }

    /// The coordinator's process ends.
    pub(crate) fn crash(&mut self, now: Time) {
        let Some(window) = self.restarts.pop_front() else { return };
        self.break_relays();
        let is_planted = self.mistake.take_if(|mistake| *mistake == Mistake::EarlyAck).is_some();
        if let Some(journal) = self.journal.as_ref().filter(|_| is_planted) {
            journal.lose_last_report();
        }
        self.away = Some((now, now + Duration::from_millis(window.end - window.start)));
    }

    /// Another coordinator goes on from the journal.
    fn resume(&mut self, now: Time) {
        let (Some((since, _)), Some(journal)) = (self.away.take(), self.journal.clone()) else { return };
        self.resumed += 1;
        let agents = self.hosts.len();
        let mut coordinator = coordinator(&self.script, self.settings, self.began_with as u64);
        let (orders, reports) = journal.repeat(&mut coordinator, agents);
        // They were told already. What follows from the last input may be told now for the first time.
        let told = coordinator.notices();
        self.lost.extend(
            told.iter()
                .filter_map(lost_in)
                .map(|number| (number, now))
                .filter(|(number, _)| !self.lost.contains_key(number))
                .collect::<Vec<_>>(),
        );
        self.notices = told;
        if !orders.starts_with(&self.ordered) {
            self.violations.push("a coordinator that goes on does not give the orders it gave".to_owned());
        }
        for ((number, down), reports) in self.down.iter_mut().enumerate().zip(reports) {
            let own = orders.iter().filter(|(id, _)| id.0 as usize == number).map(|(_, command)| command.clone());
            *down = Link::new(now).resumed(reports, own).confirming();
        }
        self.ordered = orders;
        self.coordinator = coordinator;
        self.coordinator.keep(Box::new(journal));
        let orders = self.coordinator.resume(now.since(since), now);
        self.send(orders, now);
        self.wait_for_step(now);
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.random = mix(self.random);
        self.random % sides.max(1)
    }

    pub(crate) fn send(&mut self, orders: Orders, now: Time) {
        // Who is lost first: that is why the orders are what they are.
        for notice in self.coordinator.notices() {
            if let Some(number) = lost_in(&notice) {
                self.lost.insert(number, now);
            }
            if let Some(trace) = &mut self.trace {
                trace.push(format!("{} {notice:?}", now.0));
            }
            self.notices.push(notice);
        }
        for (id, mut command) in orders {
            if let Some(trace) = &mut self.trace {
                trace.push(format!("{} to {}: {command:?}", now.0, id.0));
            }
            match &command {
                Command::Start { .. } if self.mistake != Some(Mistake::EarlyBarrier) => self.look_at_start(),
                Command::Teardown(_) => self.look_at_end(),
                _ => {}
            }
            if self.journal.is_some() {
                self.ordered.push((id, command.clone()));
            }
            let is_late = id.0 as usize >= self.began_with;
            match (&mut command, self.mistake) {
                (Command::TakeUp(_), _) if is_late => _ = self.joined_at.entry(id).or_insert(now),
                (Command::Init(init), Some(Mistake::SameNumbers)) => init.joined = None,
                (Command::Steer { .. }, Some(Mistake::ForgottenShare)) if self.joined_at.contains_key(&id) => continue,
                _ => {}
            }
            self.down[id.0 as usize].send(command);
        }
    }

    /// Scenarios start when the VUs of all are there.
    fn look_at_start(&mut self) {
        let late = self
            .hosts
            .iter()
            .enumerate()
            .take(self.began_with)
            .filter(|(number, host)| !self.lost.contains_key(number) && host.own.is_initializing());
        let late: Vec<usize> = late.map(|(number, _)| number).collect();
        if !late.is_empty() {
            self.violations.push(format!("scenarios start without {late:?}"));
        }
    }

    /// teardown() comes when the scenarios of all are over that are not lost.
    fn look_at_end(&mut self) {
        let lost: BTreeSet<usize> = self.lost.keys().copied().collect();
        let runs = |host: &SimHost| {
            !host.is_gone && (host.own.is_running() || host.shares.values().any(|share| share.is_running()))
        };
        let running = self.hosts.iter().enumerate().filter(|(number, host)| !lost.contains(number) && runs(host));
        let running: Vec<usize> = running.map(|(number, _)| number).collect();
        if !running.is_empty() {
            self.violations.push(format!("teardown() runs although scenarios of {running:?} do"));
        }
    }

    /// Hands what both sides of an agent's connection have to say to the network.
    pub(crate) fn travel(&mut self, number: usize, now: Time) {
        let frames = if self.away.is_none() { self.down[number].frames(now) } else { Vec::new() };
        let relay = self.relays.of(number);
        for frame in frames {
            match relay {
                None => self.launch(false, number, || Packet::Down(number, frame.clone()), now),
                Some(relay) => self.send_down(relay, number, frame, now),
            }
        }
        if !self.hosts[number].is_away(now) {
            for frame in self.hosts[number].link.frames(now) {
                let packet = || match relay {
                    None => Packet::Up(number, frame.clone()),
                    Some(relay) => Packet::Relay(RelayPacket::In(relay, number, frame.clone())),
                };
                self.launch(true, number, packet, now);
            }
        }
    }

    /// Over a way that keeps order and loses nothing.
    pub(crate) fn stream(&mut self, packet: RelayPacket, now: Time) {
        self.sent += 1;
        let arrives = now + Duration::from_millis(self.faults.delay_ms);
        self.under_way.insert((arrives, self.sent), Packet::Relay(packet));
    }

    pub(crate) fn launch(&mut self, from_agent: bool, number: usize, packet: impl Fn() -> Packet, now: Time) {
        let is_lost = self.roll(100) < self.faults.loss_percent;
        if is_lost || self.hosts[number].faults.is_cut_off(from_agent, now) {
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
        let mut waiting = Vec::new();
        while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Packet::Down(number, frame) => {
                    let host = &mut self.hosts[number];
                    if host.is_gone {
                        continue;
                    }
                    if host.faults.is_frozen(now) {
                        waiting.push(Packet::Down(number, frame));
                        continue;
                    }
                    host.heard(now);
                    for command in host.link.receive(frame, now) {
                        host.handle(command, now);
                    }
                    self.travel(number, now);
                }
                Packet::Up(number, frame) => self.arrive(number, frame, now),
                Packet::Relay(packet) => self.relay_packet(packet, now),
            }
        }
        // It is in the socket of a process that stands still.
        for packet in waiting {
            self.sent += 1;
            self.under_way.insert((now + STEP, self.sent), packet);
        }
    }

    /// A frame of an agent reaches the coordinator.
    pub(crate) fn arrive(&mut self, number: usize, frame: Frame<Report>, now: Time) {
        // Nobody listens.
        if self.away.is_some() {
            return;
        }
        let before = self.down[number].received();
        let reports = self.down[number].receive(frame, now);
        self.take(number, reports.into_iter().zip(before + 1..).collect(), now);
        self.travel(number, now);
    }

    /// Reports of an agent whose turn it is, with their numbers.
    pub(crate) fn take(&mut self, number: usize, reports: Vec<(Report, u64)>, now: Time) {
        for (report, number_of_report) in reports {
            self.report(number, report, now);
            if self.away.is_some() {
                return;
            }
            self.down[number].confirm(number_of_report);
        }
    }

    /// Whether the coordinator ends now: before it has noted what comes, or before anything comes of it.
    pub(crate) fn ends(&mut self, now: Time) -> Option<HasNoted> {
        let ends = self.restarts.front().is_some_and(|window| now >= at(window.start));
        ends.then(|| HasNoted(self.roll(2) == 0))
    }

    fn report(&mut self, number: usize, report: Report, now: Time) {
        let ends = self.ends(now);
        if ends == Some(HasNoted(false)) {
            return self.crash(now);
        }
        let has_noted = ends.is_some();
        self.relays.note(number, &report);
        let report = if self.is_encoded { self.encoded(report) } else { report };
        let numbers = match &report {
            Report::Delta(part) => self.hosts[number].arrived(None, part.thread),
            Report::OfShare { share, report } => match &**report {
                Report::Delta(part) => self.hosts[number].arrived(Some(*share), part.thread),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let count = iterations(&report);
        if count != numbers.len() as u64 {
            self.violations.push(format!("a delta of {count} iterations has {}", numbers.len()));
        }
        if !self.lost.contains_key(&number) {
            self.delivered += count;
            numbers.into_iter().for_each(|number| *self.counted.entry(number).or_default() += 1);
        }
        let from = AgentId(number as u32);
        if count > 0 && self.mistake.is_some() {
            self.until_mistake = self.until_mistake.wrapping_sub(1);
        }
        if self.until_mistake == u64::MAX {
            self.until_mistake = u64::MAX - 1;
            match self.mistake.take() {
                Some(Mistake::DroppedAck) => return,
                Some(Mistake::DoubleFold) => {
                    let orders = self.coordinator.handle(from, report.clone(), now);
                    self.send(orders, now);
                }
                Some(Mistake::EarlyBarrier) => {
                    // The end of nobody's scenarios passes for that of all.
                    for other in 0..self.hosts.len() {
                        let orders = self.coordinator.handle(AgentId(other as u32), Report::ScenariosDone, now);
                        self.send(orders, now);
                    }
                }
                // These are made elsewhere.
                Some(other) => self.mistake = Some(other),
                None => {}
            }
        }
        let orders = self.coordinator.handle(from, report, now);
        if has_noted {
            return self.crash(now);
        }
        self.send(orders, now);
    }

    /// As it would be on a wire.
    fn encoded(&mut self, report: Report) -> Report {
        if let Err(error) = Limits::default().check(&report) {
            self.violations.push(error.to_string());
        }
        let bytes = postcard::to_allocvec(&report).expect("plain data");
        postcard::from_bytes(&bytes).expect("as sent")
    }
}

/// A coordinator that ends has noted what came last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HasNoted(pub(crate) bool);

/// A coordinator that knows of nothing yet.
fn coordinator(script: &Script, settings: Settings, agents: u64) -> Coordinator {
    let registry = script.registry();
    let thresholds = script.thresholds(&registry);
    let ids = (0..agents).map(|id| AgentId(id as u32));
    Coordinator::new(settings, ids, &script.plan(&Share::full()), &registry, thresholds)
}

pub(crate) fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn lost_in(notice: &Notice) -> Option<usize> {
    let Notice::Error(text) = notice else { return None };
    lost_agent(text)
}

/// The agent that a message says is lost.
fn lost_agent(text: &str) -> Option<usize> {
    let (number, rest) = text.strip_prefix("agent ")?.split_once(' ')?;
    rest.starts_with("was lost").then(|| number.parse().ok()).flatten()
}

/// Iterations in a report.
fn iterations(report: &Report) -> u64 {
    let part = match report {
        Report::Delta(part) => part,
        Report::OfShare { report, .. } => return iterations(report),
        _ => return 0,
    };
    let own = part.delta.series.iter().filter(|series| series.metric == builtin::ITERATIONS);
    own.filter_map(|series| series.sink.counter()).sum::<f64>() as u64
}
