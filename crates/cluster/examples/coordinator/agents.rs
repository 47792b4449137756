//! Agents without engines, all in one process: they join over the real protocol and report synthetic seconds.

use std::{
    collections::BTreeMap,
    error::Error,
    io::Read as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::{Duration, Instant},
};

use onrush_cluster::{Capacity, Connection, Credential, Destination, FromHub, JoinConfig, Token};
use onrush_metrics::{Delta, Registry, Span};
use onrush_session::protocol::{
    Command, Flushed, Health, HealthReport, Progress, Report, ScenarioProgress, ThreadDelta, Time,
};

use crate::{
    PROGRAM,
    website::{self, Random},
};

/// Different seconds that agents report in turn.
const SECONDS: u64 = 16;
const SECOND: Duration = Duration::from_secs(1);

/// Runs until this process's input ends, which is with whoever measures. Agents take the ways in turn: an address and a token
/// each.
pub(crate) fn run(ways: &[&str], agents: usize, threads: u32) -> Result<(), Box<dyn Error>> {
    let is_over = Arc::new(AtomicBool::new(false));
    let watched = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        watched.store(true, Ordering::Relaxed);
    });
    let ways = ways.chunks_exact(2).map(|way| Ok((way[0], Token::parse(way[1])?)));
    let ways: Vec<(&str, Token)> = ways.collect::<Result<_, Box<dyn Error>>>()?;
    let (sender, commands) = channel();
    let of_index = |index: usize| {
        let (to, token) = &ways[index % ways.len()];
        join(to, token, index, &sender)
    };
    let connections: Vec<Connection> = (0..agents).map(of_index).collect::<Result<_, _>>()?;
    let registry = Registry::new();
    let mut random = Random(1);
    let deltas: Vec<Delta> = (0..SECONDS).map(|_| website::delta(&registry, &mut random)).collect();
    let mut started: Option<Instant> = None;
    let mut second = 0;
    while !is_over.load(Ordering::Relaxed) {
        let next = started.map(|at| at + SECOND * (second + 1));
        obey(&connections, &commands, next, &registry, threads, &mut started);
        if started.is_some_and(|at| at.elapsed() >= SECOND * (second + 1)) {
            second += 1;
            for (index, connection) in connections.iter().enumerate() {
                report(connection, &deltas, index as u64, u64::from(second), threads);
            }
        }
    }
    Ok(())
}

fn join(
    to: &str,
    token: &Token,
    index: usize,
    sender: &Sender<(usize, Command)>,
) -> Result<Connection, Box<dyn Error>> {
    let credential = Credential::token(token);
    let sender = sender.clone();
    let config = JoinConfig {
        to: Destination { coordinator: to.to_owned(), credential, run: None },
        name: format!("agent {index}"),
        labels: BTreeMap::new(),
        capacity: Capacity::default(),
        child: None,
        program: PROGRAM.to_owned(),
        wait: Duration::from_secs(30),
    };
    let deliver = move |message: FromHub| match message {
        FromHub::Command(command) => drop(sender.send((index, command))),
        FromHub::Gone { .. } => {}
    };
    Ok(Connection::join(config, deliver)?)
}

/// Answers commands until the next second is over.
fn obey(
    connections: &[Connection],
    commands: &Receiver<(usize, Command)>,
    until: Option<Instant>,
    registry: &Registry,
    threads: u32,
    started: &mut Option<Instant>,
) {
    let wait = until.map_or(SECOND, |until| until.saturating_duration_since(Instant::now()));
    let Ok((index, command)) = commands.recv_timeout(wait) else { return };
    let reporter = connections[index].reporter();
    match command {
        Command::Init(_) => {
            reporter.report(&Report::Accepted(Box::new(website::accepted(registry, threads))));
            reporter.report(&Report::Ready);
        }
        Command::Start { at, .. } => {
            started.get_or_insert_with(Instant::now);
            reporter.report(&Report::Started { at });
        }
        Command::Flush => reporter.report(&Report::Flushed(Flushed::default())),
        _ => {}
    }
}

/// What an agent says once a second: a delta of each thread, how its scenarios stand, how it is.
fn report(connection: &Connection, deltas: &[Delta], index: u64, second: u64, threads: u32) {
    let reporter = connection.reporter();
    let ns = |second: u64| second * 1_000_000_000;
    for thread in 0..threads {
        let mut delta = deltas[((index * 7 + second + u64::from(thread)) % SECONDS) as usize].clone();
        if thread == 0 {
            website::add_vus(&mut delta, second);
        }
        let span = Some(Span { from_ns: ns(second - 1), until_ns: ns(second) });
        let ended = vec![website::iterations()];
        reporter.report(&Report::Delta(Box::new(ThreadDelta { thread, span, delta, ended })));
    }
    let done = second * website::iterations() * u64::from(threads);
    let scenario = ScenarioProgress {
        started_at: Some(Time(1)),
        running_vus: 50,
        active_vus: 50,
        active_vus_max: 50,
        done,
        ..ScenarioProgress::default()
    };
    let progress = Progress {
        scenarios: vec![scenario],
        vus_active: 50,
        vus_initialized: 50,
        complete: done,
        ..Progress::default()
    };
    reporter.report(&Report::Progress(Box::new(progress)));
    let second = Health { at_secs: second as f64, process_cores: 1.0, available_cores: 2.0, ..Health::default() };
    reporter.report(&Report::Health(Box::new(HealthReport { second: Some(second), ..HealthReport::default() })));
}
