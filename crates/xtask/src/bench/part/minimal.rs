//! The cost of a request: `http.get` and one check, 100 bytes, keep-alive.

use anyhow::Result;

use super::{
    comparison::{Comparison, placement, placements, show},
    duel,
};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::Bound,
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
                ..Load::default()
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
    for (server, comparison) in &comparisons {
        show_all(lab, comparison);
        duel::limit(lab, &servers[*server], comparison, "http_reqs")?;
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

fn show_all(lab: &mut Lab, comparison: &Comparison) {
    let wrk = Client::Wrk { threads: if comparison.load.pinned { 1 } else { 2 } };
    let title = format!("Minimal script, {VUS} VUs");
    show(lab, comparison, &title, &[(wrk, WRK_RATIO_MAX), (Client::K6, K6_RATIO_MAX)]);
    lab.report.limit(
        NAME,
        format!("{}: user CPU per request", comparison.setup),
        comparison.median(Client::Onrush, Measurement::user_us),
        Bound::AtMost(USER_US_MAX),
        " µs",
    );
}
