//! Every executor: when each iteration should begin, and when it did.

use std::{collections::BTreeMap, fs, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::Load,
    process::{Cpus, Process},
    report::{Bound, Table, cell, number},
};

pub(super) const NAME: &str = "starts";

/// As in the script.
const EXECUTORS: [&str; 6] = [
    "constant-vus",
    "ramping-vus",
    "shared-iterations",
    "per-vu-iterations",
    "constant-arrival-rate",
    "ramping-arrival-rate",
];
const GAP_S: f64 = 1.0;
const RAMP_VUS: f64 = 40.0;
const RATE: f64 = 200.0;
const RATE_FROM: f64 = 50.0;
const RATE_TO: f64 = 350.0;

/// Lateness that an idle machine may show: the kernel wakes a thread within this nearly always.
const P99_MS_MAX: f64 = 5.0;

/// An iteration as the script saw it, milliseconds since the test began.
#[derive(Debug, Clone, PartialEq)]
struct Iteration {
    vu: u64,
    number: u64,
    begin: f64,
    end: f64,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let seconds: u64 = lab.options.pick(1, 4);
    let mut table = Table::new(
        format!("When iterations begin, {seconds} s of each executor: after the instant planned, in milliseconds"),
        &["executor", "client", "iterations", "mean", "p(99)", "latest", "earliest"],
    );
    let clients = [Client::Onrush, Client::K6];
    let mut runs = Vec::new();
    for client in clients {
        runs.push((client, observe(lab, client, seconds)?));
    }
    for (turn, executor) in EXECUTORS.into_iter().enumerate() {
        let start = turn as f64 * (seconds as f64 + GAP_S) * 1000.0;
        for (client, seen) in &runs {
            let iterations = seen.get(executor).map_or(&[][..], Vec::as_slice);
            let mut late = lateness(executor, iterations, start, seconds as f64 * 1000.0);
            late.sort_by(f64::total_cmp);
            let quantile =
                |q: f64| late.get(((late.len() as f64 * q) as usize).min(late.len().saturating_sub(1))).copied();
            let mean = (!late.is_empty()).then(|| late.iter().sum::<f64>() / late.len() as f64);
            table.row([
                executor.to_owned(),
                client.name(),
                number(iterations.len() as f64),
                cell(mean),
                cell(quantile(0.99)),
                cell(quantile(1.0)),
                cell(quantile(0.0)),
            ]);
            lab.record(
                NAME,
                json!({
                    "executor": executor, "client": client.name(), "start_ms": start, "late_ms": late,
                    "begins_ms": iterations.iter().map(|iteration| iteration.begin).collect::<Vec<_>>(),
                }),
            );
            if *client == Client::Onrush {
                let what = format!("{executor}: p(99) of lateness");
                lab.report.limit(NAME, what, quantile(0.99), Bound::AtMost(P99_MS_MAX), " ms");
            }
        }
    }
    table.note("Looping executors: a VU's first iteration is planned for the VU's start, each further one for the end of the one before.");
    lab.report.table(table);
    Ok(())
}

/// Runs the script; its iterations by scenario.
fn observe(lab: &mut Lab, client: Client, seconds: u64) -> Result<BTreeMap<String, Vec<Iteration>>> {
    let load = Load {
        script: "bench/scripts/starts.js",
        env: vec![("SECONDS", seconds.to_string())],
        vus: None,
        seconds: (seconds + 1) * EXECUTORS.len() as u64,
        url: String::new(),
        pinned: false,
        ..Load::default()
    };
    let (mut command, _) = command(lab, client, &load);
    let console = lab.scratch.path().join(format!("starts-{}.txt", client.name()));
    command.args(["--log-format=raw", "--console-output"]).arg(&console);
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let usage = lab.wait(&mut process, Duration::from_secs(load.seconds) + GRACE, |_| Ok(()))?;
    if !usage.status.success() {
        bail!("{} ended with {}: {}", client.name(), usage.ending(), process.printed());
    }
    eprintln!("  {}: {}", client.name(), usage.ending());
    lab.report.ran(false);
    let text = fs::read_to_string(&console).with_context(|| format!("cannot read {}", console.display()))?;
    parse(&text)
}

fn parse(text: &str) -> Result<BTreeMap<String, Vec<Iteration>>> {
    let mut seen: BTreeMap<String, Vec<Iteration>> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [scenario, vu, number, begin, end] = fields[..] else { bail!("not an iteration: {line}") };
        let iteration =
            Iteration { vu: vu.parse()?, number: number.parse()?, begin: begin.parse()?, end: end.parse()? };
        seen.entry(scenario.to_owned()).or_default().push(iteration);
    }
    Ok(seen)
}

/// How long after its planned instant each iteration began.
fn lateness(executor: &str, iterations: &[Iteration], start: f64, duration: f64) -> Vec<f64> {
    let planned_first: Box<dyn Fn(usize) -> f64> = match executor {
        "constant-arrival-rate" => {
            return iterations.iter().map(|i| i.begin - (start + i.number as f64 * 1000.0 / RATE)).collect();
        }
        "ramping-arrival-rate" => {
            return iterations
                .iter()
                .map(|i| i.begin - (start + ramp_arrival(i.number as f64 + 1.0, duration)))
                .collect();
        }
        // k6: the n-th VU begins when the line from 0 to the target reaches n.
        "ramping-vus" => Box::new(|order| start + duration * (order + 1) as f64 / RAMP_VUS),
        _ => Box::new(|_| start),
    };
    let mut by_vu: BTreeMap<u64, Vec<&Iteration>> = BTreeMap::new();
    for iteration in iterations {
        by_vu.entry(iteration.vu).or_default().push(iteration);
    }
    let mut vus: Vec<Vec<&Iteration>> = by_vu.into_values().collect();
    for own in &mut vus {
        own.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    }
    vus.sort_by(|a, b| a[0].begin.total_cmp(&b[0].begin));
    let mut late = Vec::new();
    for (order, own) in vus.iter().enumerate() {
        late.push(own[0].begin - planned_first(order));
        late.extend(own.windows(2).map(|pair| pair[1].begin - pair[0].end));
    }
    late
}

/// When the n-th arrival, counted from one, of a rate that grows evenly is due, in milliseconds: when the area under
/// the line reaches n. So the first one waits for a whole iteration to have accumulated, as in k6.
fn ramp_arrival(n: f64, duration: f64) -> f64 {
    let (from, slope) = (RATE_FROM / 1000.0, (RATE_TO - RATE_FROM) / 1000.0 / duration);
    ((from * from + 2.0 * slope * n).sqrt() - from) / slope
}

const GRACE: Duration = Duration::from_secs(40);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(executor: &str, text: &str, start: f64, expect: &[f64]) {
        let seen = parse(text).expect("iterations");
        let late = lateness(executor, &seen[executor], start, 4000.0);
        assert_eq!(late.len(), expect.len());
        for (late, expect) in late.iter().zip(expect) {
            assert!((late - expect).abs() < 1e-6, "{executor}: {late} is not {expect}");
        }
    }

    #[test]
    fn lateness_by_executor() {
        check("constant-vus", "constant-vus 1 0 10.5 60\nconstant-vus 1 1 60.25 110", 10.0, &[0.5, 0.25]);
        // 40 VUs in 4 s: one each 100 ms.
        check("ramping-vus", "ramping-vus 7 0 101 150\nramping-vus 3 1 200 250", 0.0, &[1.0, 0.0]);
        check("constant-arrival-rate", "constant-arrival-rate 1 2 12 60", 0.0, &[2.0]);
        // Half of 4 s: the rate is 200/s, 250 have arrived.
        check("ramping-arrival-rate", "ramping-arrival-rate 1 249 2001 2060", 0.0, &[1.0]);
        assert!(parse("nonsense").is_err());
    }
}
