//! `cargo xtask bench`: Onrush, wrk and k6 side by side on the same work.
//!
//! One run measures everything on one machine, in interleaved rounds, so that a slow minute of the machine hits all of
//! them; what is compared are medians of ratios within a round. What a client did is counted at the server, what it
//! cost is what the kernel charged its process.
//!
//! It is not a benchmark of functions, and it needs a quiet machine: every measurement says how much CPU other programs
//! took meanwhile.
//!
//! Where to read on: `lab` holds what all parts share, `part` has one file for each thing that is measured, `client`
//! the programs that drive load, `load` one measurement. bench/README.md explains the output.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command talks to its user: the tables go to stdout, progress to stderr"
)]

mod client;
pub(crate) mod clock;
mod lab;
mod load;
pub(crate) mod machine;
mod options;
mod part;
pub(crate) mod process;
pub(crate) mod procfs;
mod report;
pub(crate) mod series;
mod server;
pub(crate) mod stats_page;
pub(crate) mod tool;

use anyhow::{Result, bail};

use self::{lab::Lab, options::Options, part::Part, tool::Tool};

/// Runs the benchmark; `args` is what follows the command's name.
///
/// # Errors
/// When something needed is missing and cannot be installed, when a limit is missed, or on Ctrl+C. The
/// message says which.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let Some(options) = Options::parse(args)? else {
        println!("{}", options::HELP);
        return Ok(());
    };
    if let Some(unknown) = options.only.iter().find(|name| !part::PARTS.iter().any(|part| part.name == **name)) {
        let names: Vec<&str> = part::PARTS.iter().map(|part| part.name).collect();
        bail!("unknown part `{unknown}`; the parts are {}", names.join(", "));
    }
    let parts: Vec<&Part> = part::PARTS.iter().filter(|part| options.wants(part.name)).collect();
    let mut needs: Vec<Tool> = parts.iter().flat_map(|part| part.needs).copied().collect();
    needs.sort_unstable();
    needs.dedup();
    let mut lab = Lab::open(options, &needs)?;
    for part in parts {
        let started = clock::now();
        eprintln!("\n{}: {}", part.name, part.about);
        if let Err(error) = (part.run)(&mut lab) {
            lab.stop_if_interrupted()?;
            // The other parts can still be measured.
            eprintln!("  failed: {error:#}");
            lab.report.could_not_measure(part.name, &format!("{error:#}"));
        }
        eprintln!("  {:.0} s", started.elapsed().as_secs_f64());
    }
    let text = lab.report.text(&lab.machine);
    println!("{text}");
    let folder = lab.save(&text)?;
    eprintln!("raw results: {}", folder.display());
    match lab.report.missed() {
        0 => Ok(()),
        missed => bail!("{missed} of {} limits missed", lab.report.limits()),
    }
}
