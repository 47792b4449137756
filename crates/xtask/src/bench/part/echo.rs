//! WebSockets: messages that come back.

use anyhow::Result;

use super::comparison::{Comparison, compare};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "echo";

const VUS: u64 = 50;
/// Messages of a connection: enough that its handshake does not count.
const MESSAGES: &str = "1000";
/// CPU per message against k6's.
const K6_RATIO_MAX: f64 = 0.25;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let mut comparisons = Vec::new();
    for module in ["websockets", "ws"] {
        let load = Load {
            script: "bench/scripts/echo.js",
            env: vec![("BASE_URL", server.url("")), ("MODULE", module.to_owned()), ("MESSAGES", MESSAGES.to_owned())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            url: String::new(),
            pinned: lab.machine.cpus > 1,
            ..Load::default()
        };
        let setup = format!("k6/{module}");
        let limits: &[(Client, f64)] = &[(Client::K6, K6_RATIO_MAX)];
        comparisons.push((Comparison::new(NAME, setup, load, &[Client::Onrush, Client::K6]), limits));
    }
    compare(lab, &mut server, &format!("{VUS} WebSockets, target, a request is an echo"), comparisons)
}
