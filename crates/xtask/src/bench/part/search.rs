//! The cost of looking for text in bodies: `includes`, `indexOf` and a regular expression over 11 KB.

use anyhow::Result;

use super::comparison::{Comparison, cost_of_one, placement, rounds};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "search";

const VUS: u64 = 50;
/// Against k6's.
const RATIO_MAX: f64 = 1.0;
/// Searches of each body in the two kinds of runs. What one search costs is their difference: the noise of a single one
/// would drown it.
const ONCE: u32 = 1;
const OFTEN: u32 = 21;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Nginx)?;
    let pinned = lab.machine.cpus > 1;
    let comparison = |repeat: u32| {
        let load = Load {
            script: "examples/search-body.js",
            env: vec![("URL", server.url(server.kind.page())), ("REPEAT", repeat.to_string())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            url: String::new(),
            pinned,
            ..Load::default()
        };
        Comparison::new(NAME, format!("each body searched {repeat} times"), load, &[Client::Onrush, Client::K6])
    };
    let (mut once, mut often) = (comparison(ONCE), comparison(OFTEN));
    rounds(lab, &mut server, vec![&mut once, &mut often])?;
    let mut table = Table::new(
        format!("Bodies of 11 KB, {VUS} VUs, nginx, {}: {}", placement(pinned), medians(lab.options.rounds())),
        &["client", "CPU µs/request, one search", "21 searches", "so one search (3 operations)"],
    );
    let search = |client: Client| cost_of_one(client, &once, &often, OFTEN - ONCE);
    for client in once.clients() {
        table.row([
            client.name(),
            cell(once.median(client, Measurement::cpu_us)),
            cell(often.median(client, Measurement::cpu_us)),
            cell(search(client)),
        ]);
    }
    lab.report.table(table);
    lab.report.limit(
        NAME,
        "request and one search: CPU / k6's",
        once.ratio(Client::Onrush, Client::K6, Measurement::cpu_us),
        Bound::AtMost(RATIO_MAX),
        "",
    );
    let ratio = search(Client::Onrush).zip(search(Client::K6)).map(|(ours, theirs)| ours / theirs);
    lab.report.limit(NAME, "one search alone: CPU / k6's", ratio, Bound::AtMost(RATIO_MAX), "");
    Ok(())
}
