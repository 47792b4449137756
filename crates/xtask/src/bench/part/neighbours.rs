//! Work that takes long within one call, and how much later a VU of the same thread goes on because of it.

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::bench::{
    lab::Lab,
    process::{Cpus, Process, Usage},
    report::{Bound, Table, cell, number},
};

pub(super) const NAME: &str = "neighbours";

/// A slice is up to 10 ms, and two VUs take turns; the rest is for the kernel.
const P99_MS_MAX: f64 = 20.0;

/// Work that many do, and how many.
const MANY: (&str, usize) = ("empty loop", 100);

/// From the end of a VU's time to that of the run, whatever the VU does.
const END_MS_MAX: f64 = 100.0;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let seconds: u64 = lab.options.pick(1, 3);
    let (text, idle) = observe(lab, "?", 1, seconds)?;
    let work: Vec<(String, usize)> =
        text.lines().map(|name| (name.to_owned(), 1)).chain([(MANY.0.to_owned(), MANY.1)]).collect();
    let mut table = Table::new(
        format!(
            "A VU that sleeps 5 ms beside work that takes long, {seconds} s each, one thread: how late it goes on, in milliseconds"
        ),
        &["work", "turns", "mean", "p(99)", "latest", "end", "MB"],
    );
    let mut latest: Option<(f64, String)> = None;
    let mut end_ms_most = None::<f64>;
    for (name, vus) in work {
        // Of these the first is for their start.
        let seconds = if vus > 1 { seconds.max(2) } else { seconds };
        let (text, usage) = observe(lab, &name, vus, seconds)?;
        let name = if vus == 1 { name } else { format!("{name}, {vus} VUs") };
        let mut late: Vec<f64> = text.lines().map(str::parse).collect::<Result<_, _>>().context("not a number")?;
        late.sort_by(f64::total_cmp);
        let mean = (!late.is_empty()).then(|| late.iter().sum::<f64>() / late.len() as f64);
        // The names are printed at once: that run is nothing but a start and an end.
        let end_ms = (usage.wall.as_secs_f64() - idle.wall.as_secs_f64() - seconds as f64) * 1000.0;
        end_ms_most = Some(end_ms_most.map_or(end_ms, |most| most.max(end_ms)));
        table.row([
            name.clone(),
            number(late.len() as f64),
            cell(mean),
            cell(quantile(&late, 0.99)),
            cell(quantile(&late, 1.0)),
            number(end_ms),
            number(usage.rss_bytes_max as f64 / 1e6),
        ]);
        lab.record(
            NAME,
            json!({ "work": name, "late_ms": late, "end_ms": end_ms, "rss_bytes_max": usage.rss_bytes_max }),
        );
        let p99 = quantile(&late, 0.99).with_context(|| format!("beside `{name}` the neighbour never went on"))?;
        if latest.as_ref().is_none_or(|(most, _)| p99 > *most) {
            latest = Some((p99, name));
        }
    }
    let (most, name) = latest.context("there is no work")?;
    lab.report.limit(
        NAME,
        format!("p(99) of lateness, most of all: beside `{name}`"),
        Some(most),
        Bound::AtMost(P99_MS_MAX),
        " ms",
    );
    let what = "latest end after the time of all work".to_owned();
    lab.report.limit(NAME, what, end_ms_most, Bound::AtMost(END_MS_MAX), " ms");
    table.note(
        "end: from the end of the test to that of the process, without what a process takes that ends at once. MB: the most memory the process had.",
    );
    lab.report.table(table);
    Ok(())
}

/// Runs one row; what the neighbour printed.
fn observe(lab: &mut Lab, name: &str, vus: usize, seconds: u64) -> Result<(String, Usage)> {
    let console = lab.scratch.path().join("neighbours.txt");
    let _ = fs::remove_file(&console);
    let mut command = Command::new(&lab.tools.onrush);
    command
        .args(["run", "--address", "", "--quiet", "--no-usage-report", "--no-summary", "--threads=1"])
        .args(["--vu-memory-limit=128MiB", "--log-format=raw", "--console-output"])
        .arg(&console)
        .args(["--env", &format!("SECONDS={seconds}"), "--env", &format!("HOSTILE={name}")])
        .args(["--env", &format!("VUS={vus}")])
        .arg(lab.root.join("bench/scripts/neighbours.js"))
        .current_dir(lab.scratch.path());
    let mut process = Process::start(command, Cpus::One(0), &lab.scratch.path().join("client.log"))?;
    let usage = lab.wait(&mut process, Duration::from_secs(seconds) + GRACE, |_| Ok(()))?;
    if !usage.status.success() {
        bail!("beside `{name}` Onrush ended with {}: {}", usage.ending(), process.printed());
    }
    lab.report.ran(false);
    let text = fs::read_to_string(&console).with_context(|| format!("cannot read {}", console.display()))?;
    Ok((text, usage))
}

fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    sorted.get(((sorted.len() as f64 * q) as usize).min(sorted.len().saturating_sub(1))).copied()
}

const GRACE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let check = |values: &[f64], q: f64, expect: Option<f64>| assert_eq!(quantile(values, q), expect);
        check(&[], 0.99, None);
        check(&[3.0], 0.99, Some(3.0));
        check(&[1.0, 2.0, 3.0, 4.0], 0.5, Some(3.0));
        check(&[1.0, 2.0, 3.0, 4.0], 1.0, Some(4.0));
    }
}
