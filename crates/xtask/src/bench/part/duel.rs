//! This build and an earlier one at the same time on the same cores: what slows one down slows down the other. On a
//! machine that is never quiet two builds that run one after the other differ by a tenth though they are the same; these
//! by half a percent.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::comparison::{BEFORE_RATIO_MAX, Comparison};
use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::{Load, per, read_summary},
    process::{Cpus, Process},
    report::Bound,
    series::median_ratio,
    server::Server,
};

/// Start, graceful stop and summary.
const GRACE: Duration = Duration::from_secs(45);

/// Measures the CPU of what `counter` counts against that of the earlier build, if there is one, and limits it.
pub(super) fn limit(lab: &mut Lab, server: &Server, comparison: &Comparison, counter: &str) -> Result<()> {
    if lab.before().is_none() {
        return Ok(());
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..lab.options.rounds() {
        // Who starts first changes.
        let clients = if round % 2 == 0 { [Client::Onrush, Client::Before] } else { [Client::Before, Client::Onrush] };
        let costs = both(lab, server, &comparison.load, clients, counter)?;
        for (client, cost) in clients.into_iter().zip(costs) {
            lab.record(
                comparison.part,
                json!({
                    "setup": comparison.setup, "duel": round, "client": client.name(), "counter": counter, "cpu_us": cost,
                }),
            );
            if client == Client::Onrush { &mut ours } else { &mut theirs }.push(cost);
        }
        let last = |costs: &[f64]| costs.last().copied().unwrap_or_default();
        eprintln!(
            "  at once, {}, round {}: {:.1} µs CPU each, the build before {:.1}",
            comparison.setup,
            round + 1,
            last(&ours),
            last(&theirs)
        );
    }
    let what = format!("{}: CPU of {counter} / that of the build before, both at once", comparison.setup);
    let ratio = median_ratio(&ours, &theirs);
    lab.report.limit(comparison.part, what, ratio, Bound::AtMost(BEFORE_RATIO_MAX), "");
    Ok(())
}

/// CPU microseconds of one counted thing in each.
fn both(lab: &mut Lab, server: &Server, load: &Load, clients: [Client; 2], counter: &str) -> Result<[f64; 2]> {
    server.move_to(if load.pinned { Cpus::One(1) } else { Cpus::All })?;
    let cpus = if load.pinned { Cpus::One(0) } else { Cpus::All };
    let mut running = Vec::new();
    for client in clients {
        let (command, summary) = command(lab, client, load);
        let output = lab.scratch.path().join(format!("{}.log", client.name()));
        running.push((client, Process::start(command, cpus, &output)?, summary.context("it runs scripts")?));
    }
    let mut costs = [0.0; 2];
    for ((client, process, summary), cost) in running.iter_mut().zip(&mut costs) {
        let usage = lab.wait(process, Duration::from_secs(load.seconds) + GRACE, |_| Ok(()))?;
        if !usage.status.success() && !load.thresholds_may_fail {
            bail!("{} ended with {}: {}", client.name(), usage.ending(), process.printed());
        }
        let count = read_summary(summary)?["metrics"][counter]["count"].as_f64().unwrap_or_default();
        if count < 1.0 {
            bail!("{} counted no {counter}: {}", client.name(), process.printed());
        }
        *cost = per(usage.cpu(), count as u64);
    }
    lab.report.ran(false);
    Ok(costs)
}
