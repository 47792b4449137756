//! What agents cost their coordinator: the driver of `cargo xtask trial coordinator`.
//!
//! `measure AGENTS THREADS SECONDS RELAYS` is a coordinator as `onrush coordinator` has it, without outputs, whose agents are
//! synthetic and in another process, over TLS on loopback, directly or over relays. `hour AGENTS THREADS` feeds a coordinator an hour of reports without
//! waiting for it, and looks at its memory. Each prints a line of JSON.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod agents;
mod hour;
mod measure;
mod process;
mod relay;
mod website;

use std::{error::Error, process::ExitCode};

/// Both sides must have the same.
const PROGRAM: &str = "trial";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: coordinator: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    match words {
        ["measure", agents, threads, seconds, relays] => {
            measure::run(agents.parse()?, threads.parse()?, seconds.parse()?, relays.parse()?)
        }
        ["hour", agents, threads] => hour::run(agents.parse()?, threads.parse()?),
        // Started by `measure`.
        ["agents", agents, threads, ways @ ..] => agents::run(ways, agents.parse()?, threads.parse()?),
        ["relay", coordinator, token] => relay::run(coordinator, token),
        _ => Err("use `measure AGENTS THREADS SECONDS RELAYS` or `hour AGENTS THREADS`".into()),
    }
}
