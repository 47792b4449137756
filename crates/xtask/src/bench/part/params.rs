//! What parameters of a request and a check cost beside the request.

use anyhow::Result;

use super::{
    comparison::{Comparison, placement, rounds},
    duel::{self, Manner},
};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "params";

const VUS: u64 = 100;
/// User time of a request with two headers, a tag and a check against that of a plain one.
const RATIO_MAX: f64 = 1.5;

/// `KIND` of the script, and what it is.
const KINDS: [(&str, &str); 2] = [("plain", "a plain request"), ("params", "with two headers, a tag and a check")];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let pinned = lab.machine.cpus > 1;
    let url = server.url(server.kind.small());
    let mut kinds = KINDS.map(|(kind, _)| {
        let load = Load {
            script: "bench/scripts/params.js",
            env: vec![("URL", url.clone()), ("KIND", kind.to_owned())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            pinned,
            ..Load::default()
        };
        Comparison::new(NAME, kind, load, &[Client::Onrush, Client::K6])
    });
    rounds(lab, &mut server, kinds.iter_mut().collect())?;
    let mut table = Table::new(
        format!("Parameters and a check, {VUS} VUs, {}: {}", placement(pinned), medians(lab.options.rounds())),
        &["request", "Onrush, user µs", "CPU µs", "k6, user µs", "CPU µs"],
    );
    for (comparison, (_, about)) in kinds.iter().zip(KINDS) {
        let median = |client, value: fn(&Measurement) -> f64| cell(comparison.median(client, value));
        table.row([
            about.to_owned(),
            median(Client::Onrush, Measurement::user_us),
            median(Client::Onrush, Measurement::cpu_us),
            median(Client::K6, Measurement::user_us),
            median(Client::K6, Measurement::cpu_us),
        ]);
    }
    lab.report.table(table);
    let [plain, with_params] = kinds.each_ref().map(|kind| (Client::Onrush, &kind.load));
    let ratio = duel::ratio(
        lab,
        &server,
        (NAME, "params / plain"),
        Manner::AtOnce,
        [with_params, plain],
        "http_reqs",
        |usage| usage.user,
    )?;
    lab.report.limit(
        NAME,
        "user CPU with two headers, a tag and a check / plain, both at once",
        ratio,
        Bound::AtMost(RATIO_MAX),
        "",
    );
    Ok(())
}
