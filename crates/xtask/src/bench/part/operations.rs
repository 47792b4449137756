//! The cost of what modules compute: SHA-256, HMAC and AES-GCM of 1 KB, Base64 of 10 KB.

use anyhow::Result;

use super::comparison::{Comparison, cost_of_one, placement, rounds};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    report::{Bound, Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "operations";

const VUS: u64 = 50;
/// Against k6's.
const RATIO_MAX: f64 = 0.5;
/// Operations beside each request in the two kinds of runs; what one costs is their difference.
const FEW: u32 = 1;
const MANY: u32 = 101;

/// Names in the script, and what they are.
const OPERATIONS: [(&str, &str); 5] = [
    ("sha256", "SHA-256 of 1 KB"),
    ("hmac", "HMAC of 1 KB"),
    ("b64encode", "Base64 of 10 KB"),
    ("b64decode", "Base64 to 10 KB"),
    ("aesgcm", "AES-GCM of 1 KB"),
];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let pinned = lab.machine.cpus > 1;
    let comparison = |operation: &str, repeat: u32| {
        let load = Load {
            script: "bench/scripts/operations.js",
            env: vec![
                ("URL", server.url(server.kind.small())),
                ("OPERATION", operation.to_owned()),
                ("REPEAT", repeat.to_string()),
            ],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            url: String::new(),
            pinned,
            ..Load::default()
        };
        Comparison::new(NAME, format!("{operation} {repeat} times"), load, &[Client::Onrush, Client::K6])
    };
    let mut pairs = OPERATIONS.map(|(operation, _)| (comparison(operation, FEW), comparison(operation, MANY)));
    rounds(lab, &mut server, pairs.iter_mut().flat_map(|(few, many)| [few, many]).collect())?;
    let mut table = Table::new(
        format!("Operations of modules, {VUS} VUs, {}: {}", placement(pinned), medians(lab.options.rounds())),
        &["operation", "Onrush, CPU µs", "k6, CPU µs"],
    );
    let cost = |(few, many): &(Comparison, Comparison), client: Client| cost_of_one(client, few, many, MANY - FEW);
    let mut limits = Vec::new();
    for (pair, (_, about)) in pairs.iter().zip(OPERATIONS) {
        let (ours, theirs) = (cost(pair, Client::Onrush), cost(pair, Client::K6));
        table.row([about.to_owned(), cell(ours), cell(theirs)]);
        limits.push((format!("{about}: CPU / k6's"), ours.zip(theirs).map(|(ours, theirs)| ours / theirs)));
    }
    lab.report.table(table);
    for (name, ratio) in limits {
        lab.report.limit(NAME, name, ratio, Bound::AtMost(RATIO_MAX), "");
    }
    Ok(())
}
