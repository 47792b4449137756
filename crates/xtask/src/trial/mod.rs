//! `cargo xtask trial`: whether runs judge themselves rightly. Generators are starved, stopped, throttled and robbed of
//! files and ports, and what they say of their own measurements is held against what is known.
//!
//! - `own-delay`: latencies less the own delay against the log of the server.
//! - `verdict`: each fault, and the reason that must name it.
//! - `healthy`: runs of many shapes with nothing wrong, which must be VALID.
//! - `pairs`: pairs of runs of an unchanged system, which `onrush compare` must not call different.
//! - `outputs`: ten minutes at 20,000 requests a second into all outputs, whose receivers are killed and come back.
//! - `receivers`: outputs into servers that are built with Go first, which takes minutes: Prometheus 3.
//! - `coordinator`: what agents cost their coordinator.
//! - `dashboard`: runs whose dashboard 500 clients attack, beside runs whose dashboard nobody looks at.
//!
//! Needs two cores (generators on one, the server on the others), `taskset`, and root for control groups and namespaces.

mod attack;
mod coordinator;
mod fault;
mod healthy;
mod options;
mod outputs;
mod own_delay;
mod pairs;
mod server;
mod verdict;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};
use xtask::{arguments::Arguments, workspace};

use self::{fault::Fault, options::Options};
use crate::program::build;

/// The arguments in one line.
pub(crate) const ARGUMENTS: &str = "own-delay|verdict|healthy|pairs|outputs|receivers|coordinator|dashboard [--seconds N] [--runs N] [--only TEXT] [--out NAME] [--onrush PATH]";

/// A generator's run that is over.
struct Ran {
    /// `--summary-export`.
    summary: Value,
}

/// Runs a trial; exit code 1 if something was judged wrongly.
pub(crate) fn run(given: &[String]) -> Result<ExitCode> {
    let (Some(kind), rest) = (given.first().cloned(), given.get(1..).unwrap_or_default()) else {
        bail!("what is to be tried: {ARGUMENTS}");
    };
    let mut arguments = Arguments::new(rest);
    let options = Options {
        kind,
        seconds: arguments.value("--seconds")?,
        runs: arguments.value("--runs")?.unwrap_or(200),
        only: arguments.value("--only")?,
        out: arguments.value("--out")?,
    };
    let onrush: Option<PathBuf> = arguments.value("--onrush")?;
    arguments.end(ARGUMENTS)?;
    let root = workspace::root();
    match options.kind.as_str() {
        "outputs" => return outputs::run(&root, &options),
        "receivers" => return outputs::receivers(&root),
        _ => {}
    }
    let onrush = || onrush.map_or_else(|| build(&root), Ok);
    let (rows, is_right) = match options.kind.as_str() {
        "own-delay" => own_delay::run(&onrush()?, &options)?,
        "verdict" => verdict::run(&onrush()?, &options)?,
        "healthy" => healthy::run(&onrush()?, &options)?,
        "pairs" => pairs::run(&onrush()?, &options)?,
        "dashboard" => attack::run(&onrush()?, &options)?,
        "coordinator" => coordinator::run(&root, &options)?,
        other => bail!("there is no trial `{other}`: {ARGUMENTS}"),
    };
    if let Some(name) = &options.out {
        let path = root.join("bench").join("runs").join(name).join(format!("trial-{}.json", options.kind));
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        let text = serde_json::to_string_pretty(
            &json!({ "trial": options.kind, "seconds": options.seconds(), "rows": rows }),
        )?;
        fs::write(&path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        println!("raw results: bench/runs/{name}/trial-{}.json", options.kind);
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The server's threads, which are those that this one starts, leave the generator's core alone.
fn leave_core_of_generators() -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if cores < 2 {
        bail!("this needs two cores: one for the generator and one for the server");
    }
    let mut others = CpuSet::new();
    (1..cores).for_each(|core| others.set(core));
    sched_setaffinity(None, &others).context("cannot choose cores")
}

/// Runs a script to its end and reads its summary. `flags` are those of `onrush run`.
fn generate(onrush: &Path, script: &str, flags: &[&str], fault: Fault, pinned: bool) -> Result<Ran> {
    /// No script of a trial runs longer.
    const PATIENCE: Duration = Duration::from_secs(120);
    let folder = tempfile::TempDir::with_prefix("onrush-trial-").context("cannot make a scratch folder")?;
    let (file, export) = (folder.path().join("script.js"), folder.path().join("summary.json"));
    fs::write(&file, script)?;
    let mut words = vec![onrush.to_string_lossy().into_owned(), "run".to_owned(), "--quiet".to_owned()];
    words.extend(flags.iter().map(ToString::to_string));
    words.extend(["--summary-export", &export.to_string_lossy(), &file.to_string_lossy()].map(ToString::to_string));
    let mut suffering = fault.start(words, pinned)?;
    let until = Instant::now() + PATIENCE;
    while suffering.generator.try_wait()?.is_none() {
        if Instant::now() > until {
            bail!("the generator did not end within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(suffering);
    let text = fs::read_to_string(&export).context("the generator wrote no summary: run it by hand")?;
    Ok(Ran { summary: serde_json::from_str(&text)? })
}

impl Ran {
    fn verdict(&self) -> &str {
        self.summary["measurement"]["verdict"].as_str().unwrap_or_default()
    }

    fn reasons(&self) -> Vec<&str> {
        self.summary["measurement"]["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
}
