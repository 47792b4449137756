//! TLS: the cost of a request over kept connections, over a new one each, and over HTTP/2.

use anyhow::Result;

use super::comparison::{Comparison, Ratios, compare};
use crate::bench::{
    client::{Client, Protocol},
    lab::Lab,
    load::Load,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "https";

const VUS: u64 = 100;

/// One way to speak to the server, who does it, and what we promise against whom.
struct Case {
    setup: &'static str,
    protocol: Protocol,
    clients: &'static [Client],
    limits: Ratios<'static>,
}

const WRK: Client = Client::Wrk { threads: 1 };

const CASES: [Case; 3] = [
    Case {
        setup: "HTTPS, kept connections",
        protocol: Protocol::Https,
        clients: &[Client::Onrush, WRK, Client::H2load, Client::Oha, Client::K6],
        limits: &[(WRK, 1.3), (Client::K6, 0.25)],
    },
    Case {
        setup: "HTTPS, a new connection for each request",
        protocol: Protocol::HttpsNew,
        clients: &[Client::Onrush, WRK, Client::Oha, Client::K6],
        limits: &[(Client::K6, 0.5)],
    },
    Case {
        setup: "HTTP/2, kept connections",
        protocol: Protocol::Http2,
        clients: &[Client::Onrush, Client::H2load, Client::Oha, Client::K6],
        limits: &[(Client::K6, 0.25)],
    },
];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Nginx)?;
    let mut comparisons = Vec::new();
    for case in CASES {
        let url = server.url_over(case.protocol, server.kind.small());
        let load = Load {
            script: "examples/minimal.js",
            env: vec![("URL", url.clone())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            url,
            protocol: case.protocol,
            pinned: lab.machine.cpus > 1,
            ..Load::default()
        };
        comparisons.push((Comparison::new(NAME, case.setup, load, case.clients), case.limits));
    }
    compare(lab, &mut server, &format!("Minimal script, {VUS} VUs, nginx"), comparisons)
}
