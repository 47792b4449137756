//! What a request costs with many VUs: those that are not in the processor's caches when it is their turn.
//!
//! Each client runs twice, for a short and a long time, and what is compared is what the longer run used and sent above
//! the shorter one: the making of 10,000 VUs is in neither.

use anyhow::Result;

use super::comparison::{Comparison, rounds};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    series::{median, median_ratio},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "many";

const SIZES: [u64; 2] = [250, 10_000];
const CLIENTS: [Client; 2] = [Client::Onrush, Client::Wrk { threads: 1 }];
/// User time of a request with the most VUs against that with the fewest.
const USER_RATIO_MAX: f64 = 1.5;

/// A short and a long run with so many VUs.
struct Pair {
    vus: u64,
    short: Comparison,
    long: Comparison,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Nginx)?;
    let pinned = lab.machine.cpus > 1;
    let url = server.url(server.kind.small());
    let comparison = |vus: u64, seconds: u64| {
        let load = Load {
            script: "examples/minimal.js",
            env: vec![("URL", url.clone())],
            vus: Some(vus),
            seconds,
            url: url.clone(),
            pinned,
            ..Load::default()
        };
        Comparison::new(NAME, format!("{vus} VUs, {seconds} s"), load, &CLIENTS)
    };
    let (short, long) = lab.options.pick((3, 6), (4, 12));
    let mut pairs = SIZES.map(|vus| Pair { vus, short: comparison(vus, short), long: comparison(vus, long) });
    rounds(lab, &mut server, pairs.iter_mut().flat_map(|pair| [&mut pair.short, &mut pair.long]).collect())?;
    let mut table = Table::new(
        format!("A request of many VUs, nginx: {}", medians(lab.options.rounds())),
        &["client", "VUs", "user µs/request", "system µs/request"],
    );
    for client in CLIENTS {
        for pair in &pairs {
            let user = pair.beyond(client, |measured| measured.usage.user.as_secs_f64());
            let system = pair.beyond(client, |measured| measured.usage.system.as_secs_f64());
            table.row([client.name(), pair.vus.to_string(), cell(median(&user)), cell(median(&system))]);
        }
    }
    lab.report.table(table);
    let [few, many] = &pairs;
    let user = |pair: &Pair| pair.beyond(Client::Onrush, |measured| measured.usage.user.as_secs_f64());
    let what = format!("user CPU per request with {} VUs / with {}", many.vus, few.vus);
    lab.report.limit(NAME, what, median_ratio(&user(many), &user(few)), Bound::AtMost(USER_RATIO_MAX), "");
    Ok(())
}

impl Pair {
    /// Microseconds per request, round by round, of what the long run did beyond the short one.
    fn beyond(&self, client: Client, seconds: impl Fn(&Measurement) -> f64) -> Vec<f64> {
        let (short, long) = (self.short.measurements(client), self.long.measurements(client));
        let each = |(short, long): (&Measurement, &Measurement)| {
            let requests = long.requests.saturating_sub(short.requests).max(1);
            (seconds(long) - seconds(short)) * 1e6 / requests as f64
        };
        short.iter().zip(long).map(each).collect()
    }
}
