//! The fuzz driver: `cargo xtask fuzz <target> [--seconds N] [--seed N] [--runs N]`, and `--unpack` and `--pack` for the
//! archive of a target's inputs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

#[path = "support/targets.rs"]
mod targets;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, Result, bail};
use targets::TARGETS;
use xtask::{
    arguments::Arguments,
    fuzzing::{self, Corpus, Effort, Finding, Outcome, Target},
    workspace,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("error: fuzz: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let Some((name, options)) = arguments.split_first() else { bail!("name a target: {}", names.join(", ")) };
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        bail!("there is no target `{name}`, only {}", names.join(", "));
    };
    let folder = workspace::root().join("fuzz");
    match options {
        [option] if option == "--unpack" => {
            println!("{name}: {} inputs unpacked", fuzzing::unpack(&folder, name).context("cannot unpack")?);
            return Ok(ExitCode::SUCCESS);
        }
        [option] if option == "--pack" => {
            println!("{name}: {} inputs packed", fuzzing::pack(&folder, name).context("cannot pack")?);
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let effort = effort(options)?;
    let corpus = Corpus::read(&folder, target.name).context("cannot read the corpus")?;
    println!("{name}: {} inputs in the corpus, first seed {}", corpus.inputs().len(), effort.seed);
    if let Err(finding) = fuzzing::replay(target, &corpus) {
        println!("an input of the corpus itself breaks it");
        return report(target, &folder, &finding);
    }
    match fuzzing::fuzz(target, &corpus, effort) {
        Outcome::Clean { runs, time, slowest, slowest_seed } => {
            let rate = runs as f64 / time.as_secs_f64().max(1e-9);
            println!("{name}: clean after {runs} inputs in {:.1} s, {rate:.0} a second", time.as_secs_f64());
            println!("{name}: the slowest took {} us (seed {slowest_seed})", slowest.as_micros());
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Broken(finding) => report(target, &folder, &finding),
    }
}

fn report(target: &Target, folder: &std::path::Path, finding: &Finding) -> Result<ExitCode> {
    let name = target.name;
    eprintln!("{name}: {}", finding.message);
    eprintln!("input ({} bytes): \"{}\"", finding.input.len(), finding.input.escape_ascii());
    eprintln!("kept in {}", fuzzing::keep(folder, target, finding)?.display());
    if finding.seed != 0 {
        eprintln!("reproduce: cargo xtask fuzz {name} --seed {} --runs 1", finding.seed);
    }
    Ok(ExitCode::FAILURE)
}

fn effort(options: &[String]) -> Result<Effort> {
    let mut arguments = Arguments::new(options);
    let effort = Effort {
        seed: arguments.value("--seed")?.unwrap_or_else(fuzzing::seed_of_now),
        time: arguments.value("--seconds")?.map_or(SECONDS_DEFAULT, Duration::from_secs),
        runs: arguments.value("--runs")?.unwrap_or(u64::MAX),
    };
    arguments.end("fuzz TARGET [--seconds N] [--seed N] [--runs N] | --unpack | --pack")?;
    Ok(effort)
}

const SECONDS_DEFAULT: Duration = Duration::from_secs(60);
