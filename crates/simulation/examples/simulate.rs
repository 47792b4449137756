//! The driver of `cargo xtask simulate [--seeds N] [--minutes N] [--seed S]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

use std::{
    ops::ControlFlow,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use onrush_simulation::{Campaign, Case, campaign};

/// Runs without `--seeds` and `--minutes`.
const SEEDS_DEFAULT: u64 = 10_000;
/// How often it is said how far it is.
const SAY_EVERY: Duration = Duration::from_secs(10);
const HELP: &str = "cargo xtask simulate [--seeds N] [--minutes N] [--seed S]

  --seeds N     runs (default 10000, or as many as --minutes allows)
  --minutes N   go on for so long
  --seed S      the first seed (default 0); with --seeds 1 what happens in it is shown";

/// What is to be run.
struct Wanted {
    first: u64,
    seeds: u64,
    time: Option<Duration>,
}

fn main() -> ExitCode {
    let mut arguments = pico_args::Arguments::from_env();
    if arguments.contains(["-h", "--help"]) {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match wanted(arguments) {
        Ok(Wanted { first, seeds: 1, .. }) => one(first),
        Ok(wanted) => many(&wanted),
        Err(why) => {
            eprintln!("error: simulate: {why}\n\n{HELP}");
            ExitCode::FAILURE
        }
    }
}

fn wanted(mut arguments: pico_args::Arguments) -> Result<Wanted, String> {
    let mut number = |name: &'static str| -> Result<Option<u64>, String> {
        arguments.opt_value_from_str(name).map_err(|error| format!("invalid {name}: {error}"))
    };
    let (seeds, minutes, first) = (number("--seeds")?, number("--minutes")?, number("--seed")?);
    if let Some(unknown) = arguments.finish().first() {
        return Err(format!("unknown argument {}", unknown.display()));
    }
    let default = if minutes.is_some() { u64::MAX } else { SEEDS_DEFAULT };
    let time = minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
    Ok(Wanted { first: first.unwrap_or(0), seeds: seeds.unwrap_or(default), time })
}

/// Shows a run.
fn one(seed: u64) -> ExitCode {
    let case = Case::of(seed);
    println!("{case:#?}");
    for line in case.world().traced().run().trace.into_iter().flatten() {
        println!("{line}");
    }
    match case.check() {
        Ok(ended) => {
            println!("seed {seed}: right; exit {:?}, lost {:?}, {:?}", ended.exit, ended.lost, ended.reasons);
            ExitCode::SUCCESS
        }
        Err(what) => {
            eprintln!("seed {seed}: {what}");
            ExitCode::FAILURE
        }
    }
}

fn many(wanted: &Wanted) -> ExitCode {
    let began = Instant::now();
    let said = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let look = |runs: u64| {
        let took = began.elapsed();
        let step = took.as_secs() / SAY_EVERY.as_secs();
        if said.fetch_max(step, Ordering::Relaxed) < step {
            println!("{runs} runs in {} s", took.as_secs());
        }
        if wanted.time.is_some_and(|time| took >= time) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let Campaign {
        runs,
        whole,
        went_on,
        ended,
        resumed,
        resumed_whole,
        joined,
        steps_met,
        relayed,
        refused,
        violations,
    } = campaign(wanted.first, wanted.seeds, threads, None, look);
    let took = began.elapsed().as_secs_f64();
    println!(
        "{runs} runs in {took:.1} s on {threads} threads: {whole} without a loss, {went_on} went on after one, {ended} ended with it; the coordinator of {resumed} was restarted, {resumed_whole} of these lost nobody; {joined} agents joined later, {steps_met} steps were met by all; relays added up in {relayed}, and a sum was refused in {refused} of these; {} wrong",
        violations.len()
    );
    for violation in &violations {
        eprintln!("seed {}: {}", violation.seed, violation.what);
        eprintln!("repeat: cargo xtask simulate --seed {} --seeds 1", violation.seed);
    }
    if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
