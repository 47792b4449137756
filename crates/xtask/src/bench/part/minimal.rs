//! The cost of a request: `http.get` and one check, 100 bytes, keep-alive.

use anyhow::Result;

use super::comparison::{Comparison, placement, placements};
use crate::bench::{
    lab::Lab,
    load::{Client, Load, Measurement},
    report::{Bound, Table, cell, medians},
    series::range,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "minimal";

const VUS: u64 = 100;
/// CPU per request against wrk's.
const WRK_RATIO_MAX: f64 = 1.15;
/// CPU per request against k6's.
const K6_RATIO_MAX: f64 = 0.2;
/// CPU outside the kernel.
const USER_US_MAX: f64 = 3.5;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut servers = [Server::start(lab, Kind::Nginx)?, Server::start(lab, Kind::Target)?];
    let seconds = lab.options.pick(2, 5);
    let mut comparisons = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        for &pinned in placements(lab) {
            let url = server.url(server.kind.small());
            let load = Load {
                script: "examples/minimal.js",
                env: vec![("URL", url.clone())],
                vus: Some(VUS),
                seconds,
                url,
                pinned,
                thresholds_may_fail: false,
            };
            let setup = format!("{}, {}", server.kind.name(), placement(pinned));
            comparisons.push((index, Comparison::new(NAME, setup, load, clients(pinned))));
        }
    }
    for round in 0..lab.options.rounds() {
        for (server, comparison) in &mut comparisons {
            comparison.round(lab, round, &mut servers[*server])?;
        }
    }
    for (_, comparison) in &comparisons {
        show(lab, comparison);
    }
    Ok(())
}

fn clients(pinned: bool) -> &'static [Client] {
    // Two threads of wrk have the whole of a machine with two CPUs, as Onrush has unpinned.
    if pinned {
        &[Client::Onrush, Client::Wrk { threads: 1 }, Client::K6]
    } else {
        &[Client::Onrush, Client::Wrk { threads: 1 }, Client::Wrk { threads: 2 }, Client::K6]
    }
}

fn show(lab: &mut Lab, comparison: &Comparison) {
    let pinned = comparison.load.pinned;
    let wrk = Client::Wrk { threads: if pinned { 1 } else { 2 } };
    let mut table = Table::new(
        format!("Minimal script, {VUS} VUs, {}: {}", comparison.setup, medians(lab.options.rounds())),
        &[
            "client",
            "requests/s",
            "CPU µs/request",
            "lowest–highest",
            "user",
            "system",
            "RSS MB",
            "server µs/request",
            "onrush's CPU / its",
        ],
    );
    for client in comparison.clients() {
        let spread = range(&comparison.values(client, Measurement::cpu_us))
            .map_or_else(String::new, |(low, high)| format!("{low:.1}–{high:.1}"));
        table.row([
            client.name(),
            cell(comparison.median(client, Measurement::rps)),
            cell(comparison.median(client, Measurement::cpu_us)),
            spread,
            cell(comparison.median(client, Measurement::user_us)),
            cell(comparison.median(client, Measurement::system_us)),
            cell(comparison.median(client, Measurement::rss_mb)),
            cell(comparison.median(client, Measurement::server_us)),
            cell(comparison.ratio(Client::Onrush, client, Measurement::cpu_us)),
        ]);
    }
    if pinned {
        table.note("Client on one CPU, server on the other. Requests/s of the fast clients are the server's limit: compare CPU.");
    }
    lab.report.table(table);
    let setup = &comparison.setup;
    lab.report.limit(
        NAME,
        format!("{setup}: CPU per request / {}'s", wrk.name()),
        comparison.ratio(Client::Onrush, wrk, Measurement::cpu_us),
        Bound::AtMost(WRK_RATIO_MAX),
        "",
    );
    lab.report.limit(
        NAME,
        format!("{setup}: CPU per request / k6's"),
        comparison.ratio(Client::Onrush, Client::K6, Measurement::cpu_us),
        Bound::AtMost(K6_RATIO_MAX),
        "",
    );
    lab.report.limit(
        NAME,
        format!("{setup}: user CPU per request"),
        comparison.median(Client::Onrush, Measurement::user_us),
        Bound::AtMost(USER_US_MAX),
        " µs",
    );
}
