//! A coordinator with real connections, and what it costs while all agents report.

use std::{
    collections::BTreeMap,
    error::Error,
    io::{BufRead as _, BufReader},
    process::{Child, Command as Program, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use onrush_cluster::{Access, Event, Hub, HubConfig, Identity, Patience, Token};
use onrush_fiber::Clock;
use onrush_metrics::Registry;
use onrush_session::{
    Coordinator, Orders, RunPhase, Settings,
    protocol::{AgentId, Report, Time},
};

use crate::{PROGRAM, process, website};

/// As the loop of `onrush run`.
const TICK: Duration = Duration::from_millis(100);
const JOIN_MAX: Duration = Duration::from_secs(120);
/// Until all agents report once a second.
const WARM_UP: Duration = Duration::from_secs(5);

/// Another process, which ends with this one.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // Our own child, not yet waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Run {
    hub: Hub,
    events: Receiver<Event>,
    coordinator: Coordinator,
    relays: Vec<Other>,
    deltas: u64,
    /// Those deltas came in so many.
    messages: u64,
    lost: u64,
    tick_late: Duration,
}

/// What can be compared before and after.
struct Sample {
    at: Instant,
    cpu_secs: BTreeMap<String, f64>,
    relays_cpu_secs: f64,
    loopback_bytes: u64,
    judged: u64,
    deltas: u64,
    messages: u64,
}

/// A relay in a process of its own: address and token.
fn relay(coordinator: &str, token: &str) -> Result<(Other, String), Box<dyn Error>> {
    let mut child = Program::new(std::env::current_exe()?)
        .args(["relay", coordinator, token])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().ok_or("its output is piped")?;
    let relay = Other(child);
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    Ok((relay, line))
}

pub(crate) fn run(agents: u32, threads: u32, seconds: u64, relays: usize) -> Result<(), Box<dyn Error>> {
    let load = process::load();
    let (sender, events) = channel();
    let config = HubConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        access: Access::encrypted(Token::random(), None, Identity::made_now()?),
        agents,
        patience: Patience::default(),
        program: PROGRAM.to_owned(),
        has_journal: false,
    };
    let hub = Hub::listen(config, move |event| drop(sender.send(event)))?;
    let token = hub.token().map(ToString::to_string).unwrap_or_default();
    let coordinator = hub.address.to_string();
    let (relays, ways): (Vec<Other>, Vec<String>) =
        (0..relays).map(|_| relay(&coordinator, &token)).collect::<Result<_, _>>()?;
    // Address and token stand in a line of each relay.
    let ways = if ways.is_empty() { vec![format!("{coordinator} {token}")] } else { ways };
    let child = Program::new(std::env::current_exe()?)
        .args(["agents", &agents.to_string(), &threads.to_string()])
        .args(ways.iter().flat_map(|way| way.split_whitespace()))
        .stdin(Stdio::piped())
        .spawn()?;
    let _agents = Other(child);
    let registry = Registry::new();
    let settings = Settings { evaluates_thresholds: true, ..Settings::default() };
    let ids = (0..agents).map(AgentId);
    let thresholds = website::thresholds(&registry);
    let coordinator = Coordinator::new(settings, ids, &website::plan(agents), &registry, thresholds);
    let mut run = Run { hub, events, coordinator, relays, deltas: 0, messages: 0, lost: 0, tick_late: Duration::ZERO };
    run.wait_for_all(agents)?;
    let idle_rss = process::rss_bytes();
    let orders = run.coordinator.start(b"test", now());
    run.send(orders);
    run.go_on(JOIN_MAX, |coordinator| coordinator.phase() == RunPhase::Running);
    run.go_on(WARM_UP, |_| false);
    let before = run.sample();
    run.tick_late = Duration::ZERO;
    run.go_on(Duration::from_secs(seconds), |_| false);
    let after = run.sample();
    print(&run, &before, &after, agents, threads, idle_rss, load);
    Ok(())
}

impl Run {
    fn wait_for_all(&self, agents: u32) -> Result<(), Box<dyn Error>> {
        let mut joined = 0;
        while joined < agents {
            match self.events.recv_timeout(JOIN_MAX)? {
                Event::Joined { .. } => joined += 1,
                other => return Err(format!("instead of an agent that joins: {other:?}").into()),
            }
        }
        self.hub.begin();
        Ok(())
    }

    fn go_on(&mut self, span: Duration, is_over: impl Fn(&Coordinator) -> bool) {
        let until = Instant::now() + span;
        let mut tick_at = Instant::now();
        while Instant::now() < until && !is_over(&self.coordinator) {
            match self.events.recv_timeout(tick_at.saturating_duration_since(Instant::now())) {
                Ok(Event::Report { from, report, ticket: _ticket }) => {
                    let is_delta = u64::from(matches!(report, Report::Delta(_)));
                    self.deltas += is_delta;
                    self.messages += is_delta;
                    let orders = self.coordinator.handle(from, report, now());
                    self.send(orders);
                }
                Ok(Event::Relayed { relayed, tickets: _tickets }) => {
                    self.deltas += relayed.parts.len() as u64;
                    self.messages += 1;
                    let orders = self.coordinator.relayed(relayed, now());
                    self.send(orders);
                }
                Ok(Event::Lost { agent, why, .. }) => {
                    self.lost += 1;
                    let orders = self.coordinator.lost(agent, &why, now());
                    self.send(orders);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if Instant::now() >= tick_at {
                self.tick_late = self.tick_late.max(tick_at.elapsed());
                tick_at = Instant::now() + TICK;
                let orders = self.coordinator.tick(now());
                self.send(orders);
            }
        }
    }

    fn send(&self, orders: Orders) {
        orders.into_iter().for_each(|(agent, command)| self.hub.send(agent, &command));
    }

    fn sample(&self) -> Sample {
        let results = self.coordinator.thresholds().results();
        // The only one of its metric that is judged every two seconds.
        let judged = results.iter().find(|metric| metric.name == "http_req_failed");
        let judged = judged.and_then(|metric| metric.expressions.first()).map_or(0, |one| one.history.judged);
        Sample {
            at: Instant::now(),
            cpu_secs: process::cpu_secs(),
            relays_cpu_secs: self.relays.iter().map(|relay| process::cpu_secs_of(relay.0.id())).sum(),
            messages: self.messages,
            loopback_bytes: process::loopback_bytes(),
            judged,
            deltas: self.deltas,
        }
    }
}

fn print(run: &Run, before: &Sample, after: &Sample, agents: u32, threads: u32, idle_rss: u64, load: f64) {
    let seconds = (after.at - before.at).as_secs_f64();
    let cpu = |name: &str| {
        let of = |sample: &Sample| sample.cpu_secs.get(name).copied().unwrap_or(0.0);
        of(after) - of(before)
    };
    let all: f64 = after.cpu_secs.values().sum::<f64>() - before.cpu_secs.values().sum::<f64>();
    let per_agent = |value: f64| value / seconds / f64::from(agents);
    let merged = run.coordinator.merged();
    println!(
        concat!(
            r#"{{"agents": {}, "threads": {}, "relays": {}, "seconds": {:.1}, "load_before": {:.2}, "deltas_per_s": {:.1}, "#,
            r#""delta_messages_per_s": {:.1}, "relays_us_per_agent_s": {:.0}, "#,
            r#""cores": {:.3}, "cpu_us_per_agent_s": {:.0}, "connections_us_per_agent_s": {:.0}, "#,
            r#""bytes_per_agent_s": {:.0}, "rss_mb": {:.1}, "rss_mb_before_start": {:.1}, "series": {}, "#,
            r#""evaluations": {}, "evaluations_due": {:.1}, "tick_late_ms_max": {:.1}, "lost": {}}}"#
        ),
        agents,
        threads,
        run.relays.len(),
        seconds,
        load,
        (after.deltas - before.deltas) as f64 / seconds,
        (after.messages - before.messages) as f64 / seconds,
        per_agent(after.relays_cpu_secs - before.relays_cpu_secs) * 1e6,
        all / seconds,
        per_agent(all) * 1e6,
        per_agent(cpu("cluster")) * 1e6,
        per_agent((after.loopback_bytes - before.loopback_bytes) as f64),
        process::rss_bytes() as f64 / f64::from(1 << 20),
        idle_rss as f64 / f64::from(1 << 20),
        merged.series_len(),
        after.judged - before.judged,
        seconds / Coordinator::EVALUATION_INTERVAL.as_secs_f64(),
        run.tick_late.as_secs_f64() * 1e3,
        run.lost,
    );
}

fn now() -> Time {
    Time(Clock::now().0)
}
