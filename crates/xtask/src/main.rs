//! Developers' commands: `cargo xtask <command>`.
//!
//! One file (or folder) per command; a command is a function and a line in [`COMMANDS`]. What tests use as well is in
//! the library beside this file. Nothing here is part of the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "commands talk to their user")]

mod bench;
mod conformance;
mod docs;
mod fuzz;
mod graphs;
mod hardware;
mod lab;
mod picture;
mod program;
mod simulate;
mod soak;
mod test;
mod trial;
mod web;

use std::process::ExitCode;

use anyhow::Result;

/// A command of `cargo xtask`.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    /// Gets what follows the name; its result is the exit code.
    run: fn(&[String]) -> Result<ExitCode>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "",
        about: "Format check, lints and all tests, as `make test` does",
        run: test::run,
    },
    Command {
        name: "tidy",
        arguments: "",
        about: "Check the habits of this repository: file sizes, crate graph, fences, unsafe code, licences",
        run: tidy,
    },
    Command {
        name: "conformance",
        arguments: conformance::ARGUMENTS,
        about: "Run the scripts in conformance/ and compare with what k6 does, as recorded there",
        run: conformance::run,
    },
    Command {
        name: "docs",
        arguments: "",
        about: "Write docs/reference/options.md from the tables of options and flags",
        run: docs::run,
    },
    Command {
        name: "picture",
        arguments: "< TEXT",
        about: "Turn what a terminal shows (tmux capture-pane -e -p) into SVG, as docs/images/README.md describes",
        run: picture::run,
    },
    Command {
        name: "bench",
        arguments: "[--quick] [--only PART] [--rounds N] [--help]",
        about: "Measure Onrush, wrk and k6 side by side; raw results go to bench/runs",
        run: |arguments| bench::run(arguments).map(|()| ExitCode::SUCCESS),
    },
    Command {
        name: "lab",
        arguments: lab::ARGUMENTS,
        about: "Measure every load generator there is side by side; raw results and a report go to bench/lab/runs",
        run: lab::run,
    },
    Command {
        name: "hardware",
        arguments: hardware::ARGUMENTS,
        about: "CPU, memory, network, VUs and requests of three loads over time as charts, with k6 beside it where it is installed",
        run: hardware::run,
    },
    Command {
        name: "soak",
        arguments: soak::ARGUMENTS,
        about: "Run at full speed with a new URL for every request and watch memory; --out keeps it in bench/runs",
        run: soak::run,
    },
    Command {
        name: "simulate",
        arguments: simulate::ARGUMENTS,
        about: "Run tests of several agents in virtual time, with faults from seeds, and check what comes of each",
        run: simulate::run,
    },
    Command {
        name: "fuzz",
        arguments: "TARGET [--seconds N] [--seed N] [--runs N] (graphs: [--plant NAME] [--k6] [--onrush PROGRAM])",
        about: "Feed a parser of fuzz/README.md mutated inputs, or VUs random graphs of modules, until something breaks or time is up",
        run: fuzz::run,
    },
    Command {
        name: "trial",
        arguments: trial::ARGUMENTS,
        about: "Starve, stop, throttle and rob generators, and hold what they say of their measurements against what is known; or measure a coordinator",
        run: trial::run,
    },
    Command {
        name: "web",
        arguments: web::ARGUMENTS,
        about: "Build the dashboard and the report of web/ (needs Node); --check compares with what is checked in, and runs their tests",
        run: web::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        help();
        return ExitCode::from(USAGE);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        help();
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no command `{name}`; `cargo xtask help` lists them");
        return ExitCode::from(USAGE);
    };
    (command.run)(rest).unwrap_or_else(|error| {
        eprintln!("error: {name}: {error:#}");
        ExitCode::FAILURE
    })
}

fn help() {
    println!("cargo xtask <command>\n");
    for command in COMMANDS {
        println!("  {} {}\n      {}", command.name, command.arguments, command.about);
    }
}

fn tidy(_: &[String]) -> Result<ExitCode> {
    let root = xtask::workspace::root();
    let report = xtask::tidy::check(&root)?;
    for note in &report.notes {
        println!("note: {note}");
    }
    for finding in &report.findings {
        eprintln!("{finding}");
    }
    if report.findings.is_empty() {
        println!("{} files, {} crates: tidy", report.files, report.crates);
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} findings; CONTRIBUTING.md gives the reasons for each rule", report.findings.len());
    Ok(ExitCode::FAILURE)
}

/// The exit code of a command line that makes no sense.
const USAGE: u8 = 2;
