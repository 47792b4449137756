//! Bodies: read by the script, discarded, compressed; and requests in batches.

use anyhow::Result;

use super::comparison::{Comparison, Ratios, compare};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "bodies";

const VUS: u64 = 20;

/// A kind of response and what is done with it.
struct Case {
    setup: &'static str,
    script: &'static str,
    path: fn(Kind) -> &'static str,
    response_type: &'static str,
    clients: &'static [Client],
    limits: Ratios<'static>,
}

const WRK: Client = Client::Wrk { threads: 1 };
/// wrk does not look into bodies.
const DISCARDING: &[Client] = &[Client::Onrush, WRK, Client::K6];
const READING: &[Client] = &[Client::Onrush, Client::K6];
const GET: &str = "bench/scripts/get.js";

const CASES: [Case; 7] = [
    Case {
        setup: "11 KB discarded",
        script: GET,
        path: Kind::page,
        response_type: "none",
        clients: DISCARDING,
        limits: &[],
    },
    Case { setup: "11 KB read", script: GET, path: Kind::page, response_type: "text", clients: READING, limits: &[] },
    Case { setup: "11 KB gzip, read", script: GET, path: gzip, response_type: "text", clients: READING, limits: &[] },
    Case {
        setup: "1 MB discarded",
        script: GET,
        path: Kind::large,
        response_type: "none",
        clients: DISCARDING,
        limits: &[],
    },
    Case { setup: "1 MB read", script: GET, path: Kind::large, response_type: "text", clients: READING, limits: &[] },
    Case {
        setup: "1 MB binary",
        script: GET,
        path: Kind::large,
        response_type: "binary",
        clients: READING,
        limits: &[],
    },
    Case {
        setup: "batch of 10",
        script: "bench/scripts/batch.js",
        path: Kind::small,
        response_type: "text",
        clients: READING,
        limits: &[(Client::K6, 0.25)],
    },
];

fn gzip(_: Kind) -> &'static str {
    "/page.html.gz"
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Nginx)?;
    let mut comparisons = Vec::new();
    for case in CASES {
        let url = server.url((case.path)(server.kind));
        let load = Load {
            script: case.script,
            env: vec![("URL", url.clone()), ("RESPONSE_TYPE", case.response_type.to_owned())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 4),
            url,
            pinned: lab.machine.cpus > 1,
            ..Load::default()
        };
        comparisons.push((Comparison::new(NAME, case.setup, load, case.clients), case.limits));
    }
    compare(lab, &mut server, &format!("{VUS} VUs, nginx"), comparisons)
}
