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
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

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

fn options(arguments: &[String]) -> Result<Options> {
    // Another start for each run; it is printed, and every finding prints its own.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros() as u64);
    let mut options = Options { time: SECONDS_DEFAULT, seed, runs: u64::MAX, plant: None, k6: false, onrush: None };
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        if option == "--k6" {
            options.k6 = true;
            continue;
        }
        let value = rest.next().with_context(|| format!("{option} needs a value"))?;
        let number = || value.parse().with_context(|| format!("{option} needs a number, not `{value}`"));
        match option.as_str() {
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--seed" => options.seed = number()?,
            "--runs" => options.runs = number()?,
            "--plant" if program::PLANTS.contains(&value.as_str()) => options.plant = Some(value.clone()),
            "--plant" => bail!("there is no defect `{value}` to plant, only {}", program::PLANTS.join(", ")),
            "--onrush" => options.onrush = Some(value.clone()),
            _ => bail!("there is no option `{option}`, only --seconds, --seed, --runs, --plant, --onrush and --k6"),
        }
    }
    if options.plant.is_some() && options.onrush.is_some() {
        bail!("--plant needs the build with the sanitizer, not --onrush");
    }
    Ok(options)
}

const SECONDS_DEFAULT: Duration = Duration::from_secs(60);
