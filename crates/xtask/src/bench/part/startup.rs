//! How long a test of nothing takes, from the start of the process to its end, and how large the program is.

use std::{fs, process::Command};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::bench::{
    client::Client,
    clock,
    lab::Lab,
    process::{Cpus, Process},
    report::{Bound, Table, cell},
    series::{median, range},
};

pub(super) const NAME: &str = "startup";

const SCRIPT: &str = "export default function () {}\n";
/// Start to end of one iteration of nothing.
const MS_MAX: f64 = 10.0;
/// The program without symbols.
const PROGRAM_MB_MAX: f64 = 32.0;
/// A run takes a few milliseconds, and so does what disturbs it.
const RUNS: usize = 60;
const RUNS_QUICK: usize = 20;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let script = lab.scratch.path().join("nothing.js");
    fs::write(&script, SCRIPT).context("cannot write the script")?;
    let clients = [Client::Onrush, Client::K6];
    let mut all: [Vec<f64>; 2] = Default::default();
    for _ in 0..lab.options.pick(RUNS_QUICK, RUNS) {
        for (client, times) in clients.iter().zip(&mut all) {
            lab.stop_if_interrupted()?;
            let program = if *client == Client::K6 { &lab.tools.k6 } else { &lab.tools.onrush };
            let mut command = Command::new(program);
            command.args(["run", "--address", "", "--quiet", "--no-usage-report"]).arg(&script);
            let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
            let usage = loop {
                if let Some(usage) = process.ended()? {
                    break usage;
                }
                ensure!(process.age().as_secs() < 30, "{} does not end: {}", client.name(), process.printed());
                clock::pause(POLL);
            };
            if !usage.status.success() {
                bail!("{} ended with {}: {}", client.name(), usage.ending(), process.printed());
            }
            times.push(usage.wall.as_secs_f64() * 1e3);
        }
    }
    let mut table = Table::new(
        format!("One iteration of nothing, from start to end of the process: {} runs in turns", all[0].len()),
        &["client", "median ms", "lowest–highest"],
    );
    for (client, times) in clients.iter().zip(&all) {
        let spread = range(times).map_or_else(String::new, |(low, high)| format!("{low:.1}–{high:.1}"));
        table.row([client.name(), cell(median(times)), spread]);
        lab.record(NAME, json!({ "client": client.name(), "wall_ms": times }));
    }
    lab.report.table(table);
    lab.report.limit(NAME, "start to end, median", median(&all[0]), Bound::AtMost(MS_MAX), " ms");
    let size = stripped_mb(lab)?;
    lab.record(NAME, json!({ "client": "onrush", "stripped_mb": size }));
    lab.report.limit(NAME, "size of the program without symbols", Some(size), Bound::AtMost(PROGRAM_MB_MAX), " MB");
    Ok(())
}

/// The size of the program once its symbols are removed.
fn stripped_mb(lab: &Lab) -> Result<f64> {
    let stripped = lab.scratch.path().join("stripped");
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(&lab.tools.onrush).status();
    ensure!(status.context("cannot run strip (of binutils)")?.success(), "strip failed");
    Ok(fs::metadata(&stripped).context("strip wrote nothing")?.len() as f64 / 1e6)
}

/// Fine enough for what takes some milliseconds.
const POLL: std::time::Duration = std::time::Duration::from_micros(200);
