//! Two runs at the same time on the same cores: what slows one down slows down the other. On a machine that is never quiet
//! two programs that run one after the other differ by a tenth though they are the same; these by half a percent.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::comparison::{BEFORE_RATIO_MAX, Comparison};
use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::{Load, per, read_summary, wait},
    process::{Cpus, Process, Usage},
    report::Bound,
    series::median_ratio,
    server::Server,
};

/// Who does what.
type Side<'a> = (Client, &'a Load);

/// Limits the CPU of what `counter` counts to that of the earlier build, if there is one, and a little more.
pub(super) fn limit(lab: &mut Lab, server: &Server, comparison: &Comparison, counter: &str) -> Result<()> {
    if lab.before().is_none() {
        return Ok(());
    }
    let load = &comparison.load;
    let sides = [(Client::Onrush, load), (Client::Before, load)];
    let ratio = ratio(lab, server, (comparison.part, &comparison.setup), sides, counter, Usage::cpu)?;
    let what = format!("{}: CPU of {counter} / that of the build before, both at once", comparison.setup);
    lab.report.limit(comparison.part, what, ratio, Bound::AtMost(BEFORE_RATIO_MAX), "");
    Ok(())
}

/// What one of the things that `counter` counts takes on the first side, divided by that of the second: the median of all
/// rounds. `(part, setup)` says where the records belong.
pub(super) fn ratio(
    lab: &mut Lab,
    server: &Server,
    (part, setup): (&'static str, &str),
    sides: [Side<'_>; 2],
    counter: &str,
    time: impl Fn(&Usage) -> Duration,
) -> Result<Option<f64>> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..lab.options.rounds() {
        // Who starts first changes.
        let costs = if round % 2 == 0 {
            both(lab, server, sides, counter, &time)?
        } else {
            let [b, a] = both(lab, server, [sides[1], sides[0]], counter, &time)?;
            [a, b]
        };
        lab.record(part, json!({ "setup": setup, "at_once": round, "counter": counter, "us": costs }));
        eprintln!("  at once, {setup}, round {}: {:.2} µs of CPU each, and {:.2}", round + 1, costs[0], costs[1]);
        first.push(costs[0]);
        second.push(costs[1]);
    }
    Ok(median_ratio(&first, &second))
}

/// Microseconds for one counted thing on each side.
fn both(
    lab: &mut Lab,
    server: &Server,
    sides: [Side<'_>; 2],
    counter: &str,
    time: impl Fn(&Usage) -> Duration,
) -> Result<[f64; 2]> {
    let pinned = sides[0].1.pinned;
    server.move_to(if pinned { Cpus::One(1) } else { Cpus::All })?;
    let cpus = if pinned { Cpus::One(0) } else { Cpus::All };
    let mut running = Vec::new();
    for (number, (client, load)) in sides.into_iter().enumerate() {
        let (command, summary) = command(lab, client, load);
        let output = lab.scratch.path().join(format!("client-{number}.log"));
        running.push((Process::start(command, cpus, &output)?, summary.context("it runs no scripts")?));
    }
    let mut costs = [0.0; 2];
    for (((process, summary), (client, load)), cost) in running.iter_mut().zip(sides).zip(&mut costs) {
        let usage = wait(lab, process, client, load, || Ok(()))?;
        let count = read_summary(summary)?["metrics"][counter]["count"].as_f64().unwrap_or_default();
        if count < 1.0 {
            bail!("{} counted no {counter}: {}", client.name(), process.printed());
        }
        *cost = per(time(&usage), count as u64);
    }
    lab.report.ran(false);
    Ok(costs)
}
