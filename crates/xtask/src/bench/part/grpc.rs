//! gRPC: single calls, and streams of a thousand messages.

use anyhow::Result;

use super::comparison::{Comparison, Ratios, compare};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "grpc";

const VUS: u64 = 50;
/// Calls in the script, what the client counts of them, and what that is.
const CALLS: [(&str, &str, &str); 2] =
    [("unary", "iterations", "a call and a check"), ("stream", "grpc_streams_msgs_received", "one of 1,000 messages")];
/// CPU per message against k6's.
const K6_RATIO_MAX: f64 = 0.25;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let mut comparisons = Vec::new();
    for (call, counter, about) in CALLS {
        let load = Load {
            script: "bench/scripts/grpc.js",
            env: vec![("ADDRESS", server.address.to_string()), ("CALL", call.to_owned())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            pinned: lab.machine.cpus > 1,
            counter: Some(counter),
            ..Load::default()
        };
        let limits: Ratios<'_> = &[(Client::K6, K6_RATIO_MAX)];
        let clients = &[Client::Onrush, Client::K6];
        comparisons.push((Comparison::new(NAME, format!("{call}: {about}"), load, clients), limits));
    }
    compare(lab, &mut server, &format!("{VUS} VUs over gRPC, target"), comparisons)
}
