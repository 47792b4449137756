//! The cost of a realistic iteration: groups, a batch, checks, custom metrics, thresholds, a login.

use anyhow::{Result, ensure};

use super::{
    comparison::{Comparison, placement, placements, rounds},
    duel,
};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "website";

const VUS: u64 = 100;
/// CPU per iteration against k6's.
const K6_RATIO_MAX: f64 = 0.25;
/// Front page, two assets, the form, the login and where it redirects to.
const REQUESTS_PER_ITERATION: f64 = 6.0;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let mut comparisons: Vec<Comparison> = placements(lab)
        .iter()
        .map(|&pinned| {
            let load = Load {
                script: "examples/website.js",
                env: vec![("TARGET", server.address.to_string()), ("SLEEP", "0".to_owned())],
                vus: Some(VUS),
                seconds: lab.options.pick(3, 8),
                url: String::new(),
                pinned,
                // Its limits are for visitors who think; here they do not.
                thresholds_may_fail: true,
                ..Load::default()
            };
            Comparison::new(NAME, placement(pinned), load, &[Client::Onrush, Client::K6])
        })
        .collect();
    rounds(lab, &mut server, comparisons.iter_mut().collect())?;
    for comparison in &comparisons {
        show(lab, comparison)?;
        duel::limit(lab, &server, comparison, "iterations")?;
    }
    Ok(())
}

fn show(lab: &mut Lab, comparison: &Comparison) -> Result<()> {
    let mut table = Table::new(
        format!("Website script, {VUS} VUs, target, {}: {}", comparison.setup, medians(lab.options.rounds())),
        &[
            "client",
            "iterations/s",
            "CPU µs/iteration",
            "CPU µs/request",
            "requests/iteration",
            "RSS MB",
            "onrush's CPU / its",
        ],
    );
    for client in comparison.clients() {
        let requests = comparison.median(client, |measured| measured.requests as f64 / iterations(measured));
        table.row([
            client.name(),
            cell(comparison.median(client, |measured| iterations(measured) / comparison.load.seconds as f64)),
            cell(comparison.median(client, cpu_per_iteration)),
            cell(comparison.median(client, Measurement::cpu_us)),
            cell(requests),
            cell(comparison.median(client, Measurement::rss_mb)),
            cell(comparison.ratio(Client::Onrush, client, cpu_per_iteration)),
        ]);
        let whole =
            requests.is_some_and(|requests| (requests / REQUESTS_PER_ITERATION - 1.0).abs() < REQUESTS_TOLERANCE);
        ensure!(
            whole,
            "{} sent {} requests per iteration, not {REQUESTS_PER_ITERATION}",
            client.name(),
            cell(requests)
        );
    }
    lab.report.table(table);
    let ratio = comparison.ratio(Client::Onrush, Client::K6, cpu_per_iteration);
    lab.report.limit(
        NAME,
        format!("{}: CPU per iteration / k6's", comparison.setup),
        ratio,
        Bound::AtMost(K6_RATIO_MAX),
        "",
    );
    Ok(())
}

/// At least one, so that nothing is divided by zero; [`show`] notices the difference.
fn iterations(measured: &Measurement) -> f64 {
    measured.metric("iterations", "count").unwrap_or(0.0).max(1.0)
}

fn cpu_per_iteration(measured: &Measurement) -> f64 {
    measured.usage.cpu().as_secs_f64() * 1e6 / iterations(measured)
}

/// Iterations that were interrupted at the end sent requests too.
const REQUESTS_TOLERANCE: f64 = 0.1;
