//! WebSockets: messages that come back.

use anyhow::Result;

use super::comparison::{Comparison, Ratios, compare};
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
/// Of a text: small ones are mostly the kernel's work, which takes as long for either client.
const BYTES: [&str; 2] = ["1024", "5"];
/// CPU per message against k6's.
const K6_RATIO_MAX: f64 = 0.25;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let mut comparisons = Vec::new();
    for (module, bytes) in ["websockets", "ws"].into_iter().flat_map(|module| BYTES.map(|bytes| (module, bytes))) {
        let load = Load {
            script: "bench/scripts/echo.js",
            env: vec![
                ("BASE_URL", server.url("")),
                ("MODULE", module.to_owned()),
                ("MESSAGES", MESSAGES.to_owned()),
                ("BYTES", bytes.to_owned()),
            ],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            pinned: lab.machine.cpus > 1,
            counter: Some("ws_msgs_received"),
            ..Load::default()
        };
        let limits: Ratios<'_> = &[(Client::K6, K6_RATIO_MAX)];
        let clients = &[Client::Onrush, Client::K6];
        let setup = format!("k6/{module}, {bytes} bytes");
        comparisons.push((Comparison::new(NAME, setup, load, clients), limits));
    }
    compare(lab, &mut server, &format!("{VUS} WebSockets, target, a request is an echo"), comparisons)
}
