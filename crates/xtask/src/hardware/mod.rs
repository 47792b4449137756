//! `cargo xtask hardware`: what a test needs of its machine, second by second, as one picture: CPU, memory, network, VUs and requests
//! of a website's visitors, of as many requests as possible, and of uploads. For Onrush, and for k6 beside it where it is installed.
//!
//! A command for developers, not for users: it says something about the programs, on a machine that does nothing else. What a
//! user wants to know of their own machine is `onrush selftest` and `onrush doctor`.

mod chart;
mod client;
mod page;
mod sample;

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result, bail};
use serde_json::json;
use xtask::{arguments::Arguments, packages::find, workspace};

use self::{client::Client, sample::Sample};
use crate::program::{RunningTarget, build};

/// The arguments in one line.
pub(crate) const ARGUMENTS: &str =
    "[--seconds N] [--vus N] [--only website|rps|upload] [--out DIR] [--onrush PATH] [--k6 PATH]";

/// A kind of load.
struct Load {
    name: &'static str,
    title: &'static str,
    /// VUs on a machine with two cores; more cores get more.
    vus_per_two_cores: u64,
}

/// k6's documentation has 6,000 visitors on a machine with two cores.
const LOADS: [Load; 3] = [
    Load {
        name: "website",
        title: "Visitors of a website, 10 s of pauses in each iteration",
        vus_per_two_cores: 6_000,
    },
    Load { name: "rps", title: "As many requests as possible", vus_per_two_cores: 100 },
    Load { name: "upload", title: "Uploads of 1 MB each", vus_per_two_cores: 20 },
];

/// A run that is over.
struct Ran {
    load: &'static Load,
    vus: u64,
    client: Client,
    samples: Vec<Sample>,
}

/// Runs all loads and draws what they needed.
pub(crate) fn run(given: &[String]) -> Result<ExitCode> {
    let mut arguments = Arguments::new(given);
    let seconds: u64 = arguments.number("--seconds", 5..=3_600)?.unwrap_or(60);
    let vus: Option<u64> = arguments.number("--vus", 1..=1_000_000)?;
    let only: Option<String> = arguments.value("--only")?;
    let out: Option<PathBuf> = arguments.value("--out")?;
    let onrush: Option<PathBuf> = arguments.value("--onrush")?;
    let k6: Option<PathBuf> = arguments.value("--k6")?;
    arguments.end(ARGUMENTS)?;
    if only.as_ref().is_some_and(|only| LOADS.iter().all(|load| load.name != only)) {
        bail!("there is no such load: {ARGUMENTS}");
    }
    let root = workspace::root();
    let onrush = match onrush {
        Some(onrush) => onrush,
        None => build(&root)?,
    };
    let mut clients = vec![Client::Onrush(onrush.clone())];
    match k6.or_else(|| find("k6")) {
        Some(k6) => clients.push(Client::K6(k6)),
        None => println!("k6 is not installed: Onrush alone is measured"),
    }
    let out = out.unwrap_or_else(|| root.join("target").join("hardware"));
    fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let mut ran = Vec::new();
    for load in LOADS.iter().filter(|load| only.as_ref().is_none_or(|only| load.name == only)) {
        let vus = vus.unwrap_or_else(|| load.vus_per_two_cores * cores.div_ceil(2));
        for client in &clients {
            let target = RunningTarget::start(&onrush, None)?;
            let script = root.join("bench").join("hardware").join(format!("{}.js", load.name));
            println!("{}, {} VUs, {seconds} s: {}", load.name, vus, client.name());
            let samples = client.run(&script, &format!("http://{}", target.address), vus, seconds)?;
            println!("    {}", sample::summed_up(&samples));
            ran.push(Ran { load, vus, client: client.clone(), samples });
        }
    }
    let charts: Vec<(String, String)> = LOADS
        .iter()
        .filter_map(|load| {
            let of_load: Vec<&Ran> = ran.iter().filter(|ran| ran.load.name == load.name).collect();
            let vus = of_load.first()?.vus;
            let title = format!("{}: {vus} VUs", load.title);
            Some(chart::svg(&title, &of_load).map(|svg| (load.name.to_owned(), svg)))
        })
        .collect::<Result<_>>()?;
    for (name, svg) in &charts {
        fs::write(out.join(format!("{name}.svg")), svg)?;
    }
    fs::write(out.join("hardware.html"), page::html(&charts, &ran))?;
    let rows: Vec<_> = ran
        .iter()
        .map(|ran| {
            let samples: Vec<_> = ran.samples.iter().map(|sample| sample.to_json()).collect();
            json!({ "load": ran.load.name, "vus": ran.vus, "client": ran.client.name(), "samples": samples })
        })
        .collect();
    fs::write(out.join("hardware.json"), serde_json::to_string_pretty(&rows)? + "\n")?;
    println!("charts: {}", out.join("hardware.html").display());
    Ok(ExitCode::SUCCESS)
}
