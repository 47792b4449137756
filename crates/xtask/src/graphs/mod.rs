//! `cargo xtask fuzz graphs`: random graphs of modules, run by VUs of both layouts under AddressSanitizer, and compared
//! with what the generator says they print.
//!
//! `model` makes a graph and its expectation from a seed, `source` writes it down, `program` builds and runs Onrush.
//! fuzz/README.md has the defects that were found, and those that can be planted.

mod model;
mod program;
mod source;

use std::{
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask::{arguments::Arguments, fuzzing::seed_of_now, workspace};

use self::{
    model::{Graph, How, Step},
    program::{Layout, Program, Server},
};

/// What to do.
struct Options {
    time: Duration,
    seed: u64,
    runs: u64,
    /// A defect to put back in: then finding it is success.
    plant: Option<String>,
    k6: bool,
    /// A program that is built already, without the sanitizer.
    onrush: Option<String>,
}

/// Runs graphs until one shows a defect or the effort is spent.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = options(arguments)?;
    let root = workspace::root();
    let program = match &options.onrush {
        Some(path) => Program::plain(path)?,
        None => Program::sanitized(&root, options.plant.as_deref())?,
    };
    let mut programs = vec![(Layout::Dense, program.clone()), (Layout::Isolated, program)];
    if options.k6 {
        programs.push((Layout::K6, Program::k6()));
    }
    let server = Server::start()?;
    println!("graphs: first seed {}", options.seed);
    let began = Instant::now();
    let mut runs = 0;
    while runs < options.runs && began.elapsed() < options.time {
        let seed = options.seed.wrapping_add(runs);
        let graph = Graph::random(seed);
        for (layout, program) in &programs {
            let Some(finding) = check(&graph, seed, *layout, program, &server)? else { continue };
            let folder = keep(&root, seed, &graph)?;
            println!("graphs: seed {seed}, {layout:?}: {finding}\nkept in {folder}");
            if let Some(plant) = &options.plant {
                println!(
                    "graphs: found the planted defect `{plant}` after {} graphs, {:.1} s",
                    runs + 1,
                    began.elapsed().as_secs_f64()
                );
                return Ok(ExitCode::SUCCESS);
            }
            println!("reproduce: cargo xtask fuzz graphs --seed {seed} --runs 1");
            return Ok(ExitCode::FAILURE);
        }
        runs += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("graphs: clean after {runs} graphs in {seconds:.1} s");
    if let Some(plant) = &options.plant {
        bail!("the planted defect `{plant}` was not found");
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a graph once. What is wrong, if something is.
fn check(graph: &Graph, seed: u64, layout: Layout, program: &Program, server: &Server) -> Result<Option<String>> {
    // k6 has no import().
    let is_dynamic = graph.modules.iter().flat_map(|module| &module.links).any(|link| link.how == How::Dynamic);
    if layout == Layout::K6 && is_dynamic {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    for (name, text) in source::files(graph) {
        std::fs::write(folder.path().join(name), text)?;
    }
    // Every other graph: at every poll, or only where it waits.
    let suspends = seed % 2 == 1;
    let done = program.run(folder.path(), layout, suspends, server).with_context(|| format!("seed {seed}"))?;
    if let Some(wrong) = &done.wrong {
        return Ok(Some(format!("{wrong}\n{}", done.log)));
    }
    // k6 has no Atomics.
    let is_left_out = |line: &str| {
        let number = line.split(' ').nth(1).and_then(|number| number.parse::<usize>().ok());
        layout == Layout::K6 && number.is_some_and(|number| matches!(graph.steps.get(number), Some(Step::Atomics)))
    };
    for vu in 1..=graph.vus {
        let prefix = format!("vu{vu} ");
        let said = done.log.lines().filter_map(|line| line.strip_prefix(&prefix)).filter(|line| !is_left_out(line));
        let expected = graph.expected();
        let expected = expected.iter().map(String::as_str).filter(|line| !is_left_out(line));
        let (said, expected): (Vec<&str>, Vec<&str>) = (said.collect(), expected.collect());
        if said != expected {
            let place = said.iter().zip(&expected).take_while(|(said, expected)| said == expected).count();
            return Ok(Some(format!(
                "VU {vu} prints line {place} as {:?}, not as {:?}\n{}",
                said.get(place),
                expected.get(place),
                done.log
            )));
        }
    }
    Ok(None)
}

/// Writes the graph's files where they can be looked at.
fn keep(root: &Path, seed: u64, graph: &Graph) -> Result<String> {
    let folder = root.join("fuzz/artifacts/graphs").join(format!("seed-{seed}"));
    std::fs::create_dir_all(&folder)?;
    for (name, text) in source::files(graph) {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder.display().to_string())
}

fn options(given: &[String]) -> Result<Options> {
    let mut arguments = Arguments::new(given);
    let options = Options {
        time: arguments.value("--seconds")?.map_or(SECONDS_DEFAULT, Duration::from_secs),
        seed: arguments.value("--seed")?.unwrap_or_else(seed_of_now),
        runs: arguments.value("--runs")?.unwrap_or(u64::MAX),
        plant: arguments.value("--plant")?,
        k6: arguments.flag("--k6"),
        onrush: arguments.value("--onrush")?,
    };
    arguments.end("fuzz graphs [--seconds N] [--seed N] [--runs N] [--plant NAME] [--k6] [--onrush PROGRAM]")?;
    if let Some(name) = &options.plant
        && !program::PLANTS.contains(&name.as_str())
    {
        bail!("there is no defect `{name}` to plant, only {}", program::PLANTS.join(", "));
    }
    if options.plant.is_some() && options.onrush.is_some() {
        bail!("--plant needs the build with the sanitizer, not --onrush");
    }
    Ok(options)
}

const SECONDS_DEFAULT: Duration = Duration::from_secs(60);
