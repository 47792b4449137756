//! `cargo xtask lab`: every load generator there is, side by side, each held against what the server saw.
//!
//! A run is a list of cells: an experiment with an amount of load, a tool, a round. Rounds are interleaved, so that a slow
//! minute of the machine hits all tools; a cell that other programs disturbed is measured again; one tool's failure is its
//! row and nothing more. Cells are kept as they are measured, and a run that was cut off goes on.
//!
//! It compares programs, not functions of ours: `bench` measures Onrush in depth, beside few others.
//!
//! Where to read on: `experiment` has what is measured, `adapter` what the lab knows of a tool, with one file each in
//! `adapters`, `cell` one measurement, `truth` what the server saw, `report` what comes of it. bench/lab/README.md explains
//! the figures.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to its user: results go to stdout, progress to stderr"
)]

mod adapter;
mod adapters;
mod agree;
mod calibrate;
mod cell;
mod experiment;
mod job;
mod machine;
mod options;
mod reaper;
mod report;
mod script;
mod shop;
mod statistics;
mod store;
mod target;
mod text;
mod truth;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::workspace;

use self::{
    adapter::{Adapter, Program},
    adapters::ADAPTERS,
    cell::Bench,
    experiment::{Amount, EXPERIMENTS, Experiment},
    job::{Job, Protocol},
    options::Options,
    shop::Shop,
    statistics::mean,
    store::{Key, Store, read_run, write_run},
    target::Setup,
};
use crate::{
    bench::{clock, machine::Machine, tool::Tools},
    program,
};

pub(crate) const ARGUMENTS: &str = options::ARGUMENTS;

/// Runs the lab; `args` is what follows the command's name.
///
/// # Errors
/// When the server is not what it should be, on Ctrl+C, or when results cannot be kept; no tool's failure.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let Some(options) = Options::parse(args)? else {
        println!("{}", options::HELP);
        return Ok(ExitCode::SUCCESS);
    };
    if options.list {
        list();
    } else if let Some(folder) = &options.report {
        println!("{}", report::write(folder)?);
    } else if let (Some(one), Some(other)) = (&options.agree, &options.with) {
        println!("{}", agree::compare(one, other)?);
    } else {
        Lab::open(options)?.run()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list() {
    println!("tools");
    for adapter in ADAPTERS {
        println!("  {:<16} {}", adapter.name(), adapter.about());
    }
    println!("\nexperiments");
    for experiment in EXPERIMENTS {
        println!("  {:<16} {}", experiment.name, experiment.about);
    }
}

/// A run in progress.
struct Lab {
    options: Options,
    shop: Shop,
    store: Store,
    interrupted: Arc<AtomicBool>,
    /// No cell begins after it.
    until: Instant,
}

/// A tool, and whether it is to be had.
struct Candidate {
    adapter: &'static dyn Adapter,
    program: Result<Program, String>,
}

/// One cell that is to be measured.
struct Cell {
    experiment: &'static Experiment,
    amount: Amount,
    round: u64,
}

impl Lab {
    fn open(options: Options) -> Result<Self> {
        let root = workspace::root();
        let onrush = match &options.onrush {
            Some(path) => path.canonicalize().with_context(|| format!("there is no {}", path.display()))?,
            None => program::build(&root)?,
        };
        reaper::adopt()?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted)).context("cannot watch for Ctrl+C")?;
        }
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let shop = Shop::open(options.tools.clone(), onrush, cpus)?;
        let folder = folder(&root, &options);
        let is_begun = folder.join("run.json").is_file();
        let store = Store::open(&folder)?;
        if is_begun {
            let quick = read_run(&folder)?["quick"].as_bool();
            if quick != Some(options.quick) {
                bail!("{} is a run with other options: give --quick as before, or --fresh", folder.display());
            }
            eprintln!("going on with {} ({} cells)", folder.display(), store.cells.len());
        }
        let until = clock::now() + Duration::from_secs(options.minutes() * 60);
        Ok(Self { options, shop, store, interrupted, until })
    }

    fn run(mut self) -> Result<()> {
        let candidates = self.candidates();
        let scratch = TempDir::with_prefix("onrush-lab-").context("cannot make a scratch folder")?;
        eprintln!("checking the server");
        let calibration = calibrate::calibrate(&self.shop.onrush, scratch.path());
        let calibration = match calibration {
            Ok(found) => found,
            // On a busy machine the figures say so themselves, and are marked; a server that miscounts is found by every cell.
            Err(error) => {
                eprintln!("  the server could not be confirmed: {error:#}");
                json!({ "failed": format!("{error:#}") })
            }
        };
        self.write_head(&candidates, &calibration)?;
        let ended = self.rounds(&candidates);
        // Also after Ctrl+C there is a report of what was measured.
        reaper::end_strays(&[]);
        let summary = report::write(&self.store.folder)?;
        println!("{summary}");
        eprintln!("report: {}", self.store.folder.join("report.html").display());
        ended
    }

    /// Finds or installs all tools.
    fn candidates(&self) -> Vec<Candidate> {
        let wanted = ADAPTERS.iter().filter(|adapter| self.options.wants_tool(adapter.name()));
        wanted
            .map(|&adapter| {
                let program = self.stop_if_interrupted().and_then(|()| adapter.install(&self.shop));
                match &program {
                    Ok(program) => eprintln!("{:<16} {}", adapter.name(), program.version),
                    Err(error) => eprintln!("{:<16} not to be had: {error:#}", adapter.name()),
                }
                Candidate { adapter, program: program.map_err(|error| format!("{error:#}")) }
            })
            .collect()
    }

    fn write_head(&self, candidates: &[Candidate], calibration: &Value) -> Result<()> {
        let machine = Machine::look(&workspace::root(), &Tools::default());
        let mut tools: Vec<Value> = candidates
            .iter()
            .map(|one| {
                let mut tool = json!({
                    "name": one.adapter.name(), "about": one.adapter.about(), "quirks": one.adapter.quirks(),
                });
                match &one.program {
                    Ok(program) => {
                        tool["version"] = program.version.as_str().into();
                        tool["installed_by"] = program.installed_by.as_str().into();
                    }
                    Err(reason) => tool["reason"] = reason.as_str().into(),
                }
                tool
            })
            .collect();
        // What an earlier start measured with other tools stays in the report.
        if let Ok(before) = read_run(&self.store.folder) {
            let known: Vec<&str> = candidates.iter().map(|one| one.adapter.name()).collect();
            let others = before["tools"].as_array().into_iter().flatten();
            tools.extend(
                others.filter(|tool| tool["name"].as_str().is_some_and(|name| !known.contains(&name))).cloned(),
            );
        }
        write_run(
            &self.store.folder,
            &json!({
                "format": FORMAT,
                "quick": self.options.quick,
                "machine": machine.to_json(),
                "described": machine.describe(),
                "mitigations": machine::mitigations(),
                "tools": tools,
                "calibration": calibration,
            }),
        )
    }

    /// Measures all cells, round by round.
    fn rounds(&mut self, candidates: &[Candidate]) -> Result<()> {
        let options = self.options.clone();
        for round in 0..options.rounds() {
            for experiment in EXPERIMENTS.iter().filter(|one| options.wants_experiment(one.name)) {
                for &amount in options.loads(experiment) {
                    eprintln!("\nround {}, {} {}", round + 1, experiment.name, amount.label());
                    for turn in 0..candidates.len() {
                        // Who comes first changes: nobody always runs on the others' heat.
                        let candidate = &candidates[(turn + round as usize * TURN) % candidates.len()];
                        let Ok(program) = &candidate.program else { continue };
                        self.stop_if_interrupted()?;
                        if clock::now() > self.until {
                            eprintln!("time is up; started again, the lab goes on here");
                            return Ok(());
                        }
                        self.cell(&Cell { experiment, amount, round }, candidate.adapter, program)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Measures a cell, unless that is done: again while others disturb it.
    fn cell(&mut self, cell: &Cell, adapter: &dyn Adapter, program: &Program) -> Result<()> {
        let key = Key {
            experiment: cell.experiment.name.to_owned(),
            amount: cell.amount.label(),
            tool: adapter.name().to_owned(),
            round: cell.round,
        };
        if self.store.has(&key) {
            return Ok(());
        }
        let limit = self.limit_of(adapter.name());
        let mut found = Value::Null;
        for attempt in 1..=ATTEMPTS {
            found = match cell.amount.load(limit) {
                None => json!({ "cannot": "its limit was not measured in this run (experiment `static`)" }),
                Some(load) => {
                    let job = Job {
                        // The server's, once there is one.
                        address: ([127, 0, 0, 1], 0).into(),
                        protocol: cell.experiment.protocol,
                        steps: cell.experiment.steps,
                        load,
                        seconds: self.options.seconds(cell.experiment),
                        delay_ms: cell.experiment.delay_ms,
                    };
                    let setup = Setup {
                        delay_ms: job.delay_ms,
                        freezes: cell.experiment.freezes,
                        is_old: job.protocol == Protocol::Https,
                    };
                    let bench = Bench {
                        onrush: &self.shop.onrush,
                        cpus: self.shop.cpus,
                        keep: self.options.keep,
                        interrupted: &|| self.stop_if_interrupted(),
                    };
                    match cell::measure(&bench, adapter, program, job, setup) {
                        Ok(figures) => figures,
                        Err(error) => {
                            self.stop_if_interrupted()?;
                            json!({ "failed": format!("{error:#}") })
                        }
                    }
                }
            };
            found["attempts"] = attempt.into();
            if found["disturbed"] != true || self.options.quick {
                break;
            }
        }
        eprintln!("  {:<16} {}", adapter.name(), line(&found));
        let mut record = key.to_json();
        if let (Some(record), Value::Object(found)) = (record.as_object_mut(), found) {
            record.extend(found);
        }
        self.store.add(key, record)
    }

    /// The highest rate a tool reached in this run while its users waited for answers.
    fn limit_of(&self, tool: &str) -> Option<f64> {
        let reached: Vec<f64> = self
            .store
            .cells
            .iter()
            .filter(|cell| cell["tool"] == tool && cell["experiment"] == "static" && cell["amount"] == "100")
            .filter_map(|cell| cell["truth"]["rps"].as_f64())
            .collect();
        mean(&reached)
    }

    fn stop_if_interrupted(&self) -> Result<()> {
        if self.interrupted.load(Ordering::Relaxed) {
            bail!("interrupted; what was measured is kept, and the next start goes on");
        }
        Ok(())
    }
}

/// What a cell came to, in a line.
fn line(cell: &Value) -> String {
    for (name, word) in [("cannot", "cannot: "), ("failed", "failed: ")] {
        if let Some(reason) = cell[name].as_str() {
            return format!("{word}{reason}");
        }
    }
    let number = |pointer: &str| cell.pointer(pointer).and_then(Value::as_f64);
    let shown =
        |value: Option<f64>, digits: usize| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"));
    format!(
        "{:>8}/s (says {:>8}), {:>7} µs CPU each, {:>5} MB, mean {:>8} ms{}",
        shown(number("/truth/rps"), 0),
        shown(number("/claim/rps"), 0),
        shown(number("/usage/cpu_us_per_request"), 1),
        shown(number("/usage/rss_bytes_max").map(|bytes| bytes / 1024.0 / 1024.0), 0),
        shown(number("/claim/mean_ms"), 2),
        if cell["disturbed"] == true { "; disturbed" } else { "" },
    )
}

/// `bench/lab/runs/<date>-<commit>`, with a number if a fresh one is wanted.
fn folder(root: &Path, options: &Options) -> PathBuf {
    if let Some(folder) = &options.out {
        return folder.clone();
    }
    let machine = Machine::look(root, &Tools::default());
    let quick = if options.quick { "-quick" } else { "" };
    let name = format!("{}-{}{quick}", machine.date, machine.commit);
    let runs = root.join("bench/lab/runs");
    let plain = runs.join(&name);
    if !options.fresh || !plain.exists() {
        return plain;
    }
    let mut numbered = (2..FOLDERS_MAX).map(|number| runs.join(format!("{name}-{number}")));
    numbered.find(|folder| !folder.exists()).unwrap_or(plain)
}

/// Changes with the shape of run.json and cells.jsonl.
const FORMAT: u32 = 1;
/// How often a cell is measured at most while others disturb it.
const ATTEMPTS: u32 = 3;
/// How far the order moves on from round to round; has no divisor in common with any likely number of tools.
const TURN: usize = 7;
const FOLDERS_MAX: u32 = 1_000;
