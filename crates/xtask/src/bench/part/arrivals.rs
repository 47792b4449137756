//! Arrival rates without work: does every iteration begin when it should?

use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::{Load, read_summary},
    process::{Cpus, Process},
    report::{Bound, Table, cell, number},
};

pub(super) const NAME: &str = "arrivals";

/// What Onrush must hold, and a rate that k6 holds as well.
const RATE: u64 = 20_000;
const RATE_OF_BOTH: u64 = 1_000;
const VUS: u64 = 200;
/// Of the iterations planned, in percent.
const RATE_ERROR_MAX: f64 = 0.1;
const LAG_P99_MS_MAX: f64 = 1.0;

struct Case {
    client: Client,
    rate: u64,
    /// Whether the script measures too.
    in_script: bool,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let seconds = lab.options.pick(4, 20);
    let cases = [
        Case { client: Client::Onrush, rate: RATE, in_script: false },
        Case { client: Client::Onrush, rate: RATE_OF_BOTH, in_script: true },
        Case { client: Client::K6, rate: RATE_OF_BOTH, in_script: true },
    ];
    let mut table = Table::new(
        format!("Empty iterations at a constant arrival rate, {VUS} VUs, {seconds} s"),
        &[
            "client",
            "rate/s",
            "planned",
            "ran",
            "dropped",
            "p(99) late ms",
            "latest ms",
            "p(99) late ms, by the script",
            "CPU µs/iteration",
        ],
    );
    for case in &cases {
        let planned = (case.rate * seconds) as f64;
        let (summary, cpu) = measure(lab, case, seconds)?;
        let metric = |name: &str, field: &str| summary["metrics"][name][field].as_f64();
        let lag = |field: &str| summary["measurement"]["start_lag_ms"][field].as_f64();
        let ran = metric("iterations", "count");
        let dropped = metric("dropped_iterations", "count").unwrap_or(0.0);
        table.row([
            case.client.name(),
            number(case.rate as f64),
            number(planned),
            cell(ran),
            number(dropped),
            cell(lag("p(99)")),
            cell(lag("max")),
            cell(metric("start_late", "p(99)")),
            cell(ran.map(|ran| cpu.as_secs_f64() * 1e6 / ran)),
        ]);
        lab.record(
            NAME,
            json!({
                "client": case.client.name(), "rate": case.rate, "seconds": seconds, "planned": planned,
                "cpu_s": cpu.as_secs_f64(), "metrics": summary["metrics"], "measurement": summary["measurement"],
            }),
        );
        if case.client == Client::Onrush && case.rate == RATE {
            let error = ran.map(|ran| ((ran / planned - 1.0) * 100.0).abs());
            let rate = format!("{}/s", number(RATE as f64));
            lab.report.limit(NAME, format!("{rate}: rate error"), error, Bound::AtMost(RATE_ERROR_MAX), " %");
            lab.report.limit(NAME, format!("{rate}: dropped"), Some(dropped), Bound::AtMost(0.0), "");
            lab.report.limit(
                NAME,
                format!("{rate}: p(99) of lateness"),
                lag("p(99)"),
                Bound::AtMost(LAG_P99_MS_MAX),
                " ms",
            );
        }
    }
    table.note(
        "Late: from the instant the plan gives an iteration to its start. k6 does not measure it; its script does.",
    );
    lab.report.table(table);
    Ok(())
}

/// The summary and the CPU it took.
fn measure(lab: &mut Lab, case: &Case, seconds: u64) -> Result<(Value, Duration)> {
    let mut env = vec![("RATE", case.rate.to_string()), ("SECONDS", seconds.to_string()), ("VUS", VUS.to_string())];
    if case.in_script {
        env.push(("TREND", "1".to_owned()));
    }
    let load = Load {
        script: "bench/scripts/arrivals.js",
        env,
        vus: None,
        seconds,
        url: String::new(),
        pinned: false,
        ..Load::default()
    };
    let (command, summary) = command(lab, case.client, &load);
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let usage = lab.wait(&mut process, Duration::from_secs(seconds) + GRACE, |_| Ok(()))?;
    if !usage.status.success() {
        bail!("{} ended with {}: {}", case.client.name(), usage.ending(), process.printed());
    }
    eprintln!("  {:<7} {:>6}/s: {}", case.client.name(), case.rate, usage.ending());
    lab.report.ran(false);
    let summary = summary.map_or(Ok(Value::Null), |path| read_summary(&path))?;
    Ok((summary, usage.cpu()))
}

const GRACE: Duration = Duration::from_secs(40);
