//! Memory of VUs with an open WebSocket or gRPC stream on which nothing happens any more.

use anyhow::Result;

use super::held::{Script, hold_all, kb_per_vu, show};
use crate::bench::{client::Client, lab::Lab, report::Bound};

pub(super) const NAME: &str = "idle";

const SCRIPTS: [Script; 4] = [
    script("no connection", "none", 0),
    // The handshake, and a message that has come back.
    script("WebSocket of k6/websockets", "websockets", 2),
    script("WebSocket of k6/ws", "ws", 2),
    script("gRPC stream", "grpc", 1),
];
/// What an open WebSocket may take beside what the script needs by itself.
const SOCKET_KB_MAX: f64 = 10.0;

const VUS: u64 = 10_000;
const SIZES: [u64; 2] = [K6_VUS_MAX, VUS];
/// k6 needs gigabytes beyond this.
const K6_VUS_MAX: u64 = 2_000;

const fn script(name: &'static str, protocol: &'static str, requests: u64) -> Script {
    let variable = Some(("PROTOCOL", protocol));
    Script { part: NAME, name, path: "bench/scripts/open.js", variable, requests, kb_max: None }
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let all = hold_all(lab, &SCRIPTS, &SIZES, K6_VUS_MAX)?;
    for script in SCRIPTS {
        show(lab, script, &SIZES, &all);
    }
    let kb = |script: Script| kb_per_vu(&all, script, Client::Onrush, VUS);
    let own = kb(SCRIPTS[0]);
    for script in &SCRIPTS[1..3] {
        let more = kb(*script).zip(own).map(|(kb, own)| kb - own);
        let what = format!("{}: RSS per VU above the script's own", script.name);
        lab.report.limit(NAME, what, more, Bound::AtMost(SOCKET_KB_MAX), " KB");
    }
    Ok(())
}
