//! Redis: one GET after another.

use anyhow::Result;

use super::comparison::{Comparison, Ratios, compare};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "redis";

const VUS: u64 = 50;
/// CPU per command against k6's.
const K6_RATIO_MAX: f64 = 0.25;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Redis)?;
    let load = Load {
        script: "bench/scripts/redis.js",
        env: vec![("REDIS", server.address.to_string())],
        vus: Some(VUS),
        seconds: lab.options.pick(2, 5),
        pinned: lab.machine.cpus > 1,
        counter: Some("iterations"),
        ..Load::default()
    };
    let limits: Ratios<'_> = &[(Client::K6, K6_RATIO_MAX)];
    let comparison = Comparison::new(NAME, "redis-server", load, &[Client::Onrush, Client::K6]);
    compare(lab, &mut server, &format!("{VUS} VUs, a request is an iteration with a GET"), vec![(comparison, limits)])
}
