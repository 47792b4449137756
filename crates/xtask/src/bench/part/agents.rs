//! Agents that start together: when the first request of each reaches the server, with one clock and with clocks far apart.

use std::{
    fs::File,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::bench::{
    clock,
    lab::Lab,
    process::{Cpus, Process},
    report::{Bound, Table, cell, number},
};

pub(super) const NAME: &str = "agents";

const AGENTS: usize = 8;
const SCRIPT: &str = "bench/scripts/agents.js";
/// A secret of this machine, for a minute.
const TOKEN: &str = "agents-of-the-bench";
/// How far apart the first requests of all agents may be, at p(99).
const APART_MS_MAX: f64 = 2.0;
const LIMIT: Duration = Duration::from_secs(60);
/// What follows in time namespaces: each agent's clock is so much further ahead than that of the one before.
const SHIFT_S: usize = 1_234;

/// One run.
struct Start {
    /// When each request came, after the first, milliseconds.
    apart_ms: Vec<f64>,
    /// What the summary says of it.
    told: Value,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let rounds = lab.options.pick(3, 25);
    let mut table = Table::new(
        format!(
            "{AGENTS} agents start together, {rounds} times: first requests at the server, in milliseconds after the first of all"
        ),
        &["clocks", "starts", "mean", "p(99)", "latest", "told by the summary (median)", "± (median)"],
    );
    for (name, shift_s) in [("one", 0), ("hours apart", SHIFT_S)] {
        if shift_s > 0 && !has_time_namespaces() {
            lab.report.could_not_measure(NAME, "clocks apart: time namespaces are not permitted here (unshare -T)");
            continue;
        }
        let mut starts = Vec::new();
        for round in 0..rounds {
            lab.stop_if_interrupted()?;
            starts.push(start(lab, shift_s, round)?);
        }
        let mut apart: Vec<f64> = starts.iter().flat_map(|start| start.apart_ms.iter().copied()).collect();
        apart.sort_by(f64::total_cmp);
        let quantile = |q: f64| apart.get(((apart.len() as f64 * q) as usize).min(apart.len() - 1)).copied();
        let told = |key: &str| median(starts.iter().filter_map(|start| start.told[key].as_f64()).collect());
        table.row([
            name.to_owned(),
            number(apart.len() as f64),
            cell(Some(apart.iter().sum::<f64>() / apart.len() as f64)),
            cell(quantile(0.99)),
            cell(quantile(1.0)),
            cell(told("started_within_ms")),
            cell(told("clock_error_ms")),
        ]);
        let what = format!("clocks {name}: p(99) of first requests after the first of all");
        lab.report.limit(NAME, what, quantile(0.99), Bound::AtMost(APART_MS_MAX), " ms");
        for start in starts {
            lab.record(NAME, json!({ "clocks": name, "apart_ms": start.apart_ms, "told": start.told }));
        }
    }
    table.note("A request counts from when its connection was accepted. Agents are processes, each with one VU.");
    lab.report.table(table);
    Ok(())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn has_time_namespaces() -> bool {
    let probe = Command::new("unshare").args(["--time", "--monotonic", "1", "--fork", "true"]).output();
    probe.is_ok_and(|done| done.status.success())
}

/// A test on agents of its own.
fn start(lab: &mut Lab, shift_s: usize, round: usize) -> Result<Start> {
    let server = Arrivals::listen()?;
    let (listen, url) = (lab.free_address()?.to_string(), format!("http://{}/", server.address));
    let folder = lab.scratch.path().to_owned();
    let summary = folder.join("agents.json");
    let mut coordinator = Command::new(&lab.tools.onrush);
    coordinator
        .args(["coordinator", "--listen", &listen, "--agents", &AGENTS.to_string(), "--address", ""])
        .args(["--no-usage-report", "--include-system-env-vars=false", "--summary-export"])
        .arg(&summary)
        .args(["--env", &format!("URL={url}"), "--env", &format!("AGENTS={AGENTS}")])
        .arg(lab.root.join(SCRIPT))
        .current_dir(&folder)
        .env("ONRUSH_JOIN_TOKEN", TOKEN);
    let log = |name: &str| folder.join(format!("{name}.log"));
    let mut coordinator = Process::start(coordinator, Cpus::All, &log("coordinator"))?;
    let agents: Result<Vec<Process>> = (0..AGENTS)
        .map(|number| {
            let mut agent = match shift_s * number {
                0 => Command::new(&lab.tools.onrush),
                shift => {
                    let mut command = Command::new("unshare");
                    command.args(["--time", "--monotonic", &shift.to_string(), "--fork", "--kill-child"]);
                    command.arg(&lab.tools.onrush);
                    command
                }
            };
            agent.args(["agent", "--quiet", "--wait", "20s", "--join", &listen, "--name", &format!("agent-{number}")]);
            agent.current_dir(&folder).env("ONRUSH_JOIN_TOKEN", TOKEN);
            Process::start(agent, Cpus::All, &log(&format!("agent-{number}")))
        })
        .collect();
    let mut agents = agents?;
    let usage = lab.wait(&mut coordinator, LIMIT, |_| Ok(()))?;
    if !usage.status.success() {
        bail!("the coordinator ended with {}: {}", usage.ending(), coordinator.printed());
    }
    for agent in &mut agents {
        lab.wait(agent, LIMIT, |_| Ok(()))?;
    }
    lab.report.ran(false);
    let file = File::open(&summary).with_context(|| format!("cannot read {}", summary.display()))?;
    let summary: Value = serde_json::from_reader(file).context("the summary is no JSON")?;
    let mut arrivals = server.stop();
    arrivals.sort();
    let (Some(first), AGENTS) = (arrivals.first().copied(), arrivals.len()) else {
        bail!("in round {round} {} of {AGENTS} requests came", arrivals.len());
    };
    let apart_ms = arrivals.iter().map(|at| at.duration_since(first).as_secs_f64() * 1e3).collect();
    Ok(Start { apart_ms, told: summary["agents"].clone() })
}

/// A server that answers and notes when each connection came.
struct Arrivals {
    address: SocketAddr,
    times: Arc<Mutex<Vec<Instant>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Arrivals {
    fn listen() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
        let address = listener.local_addr().context("the server has no address")?;
        let (times, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (own, over) = (times.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let at = clock::now();
                if over.load(Ordering::Relaxed) {
                    return;
                }
                own.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                std::thread::spawn(move || answer(stream));
            }
        });
        Ok(Self { address, times, is_over, thread: Some(thread) })
    }

    fn stop(mut self) -> Vec<Instant> {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the accept call.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        std::mem::take(&mut *self.times.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn answer(mut stream: TcpStream) {
    let mut head = [0; 4_096];
    // A request of ours comes in one piece.
    if matches!(stream.read(&mut head), Ok(1..)) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}
