//! More VUs than one process may open files, and more sockets than one address has ports for: one test in several agent
//! processes, each VU with an open connection from one of several loopback addresses to one server.

use std::{fs, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::bench::{
    client::{Client, command},
    clock,
    lab::Lab,
    load::{Load, MB},
    process::{Cpus, Process},
    procfs,
    report::{Bound, Table, number},
    server::{Kind, Server, Settings},
};

pub(super) const NAME: &str = "sockets";

/// VUs with an open connection each, all to one address and port.
const VUS: u64 = 100_000;
/// All are active within this time of the first request.
const ACTIVE_S_MAX: f64 = 10.0;
/// An address has some 28,000 ports; each process takes all addresses in turn.
const SOURCES: &str = "127.0.1.1-127.0.1.8";
const SCRIPT: &str = "bench/scripts/hold.js";

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let vus = lab.options.pick(VUS / 4, VUS);
    // Connections are spread over the listeners at random: some get more than their share.
    let workers = usize::try_from(vus.div_ceil(lab.machine.connections_max() * 3 / 4)).unwrap_or(1);
    let mut server = Server::start_with(lab, Kind::Nginx, Settings { workers, ..Settings::default() })?;
    let before = server.counts()?.open;
    let load = Load {
        script: SCRIPT,
        env: vec![("URL", server.url(server.kind.small())), ("SLEEP", HOLD_S.to_string())],
        vus: Some(vus),
        seconds: RUN_S,
        ..Load::default()
    };
    let (mut command, summary) = command(lab, Client::Onrush, &load);
    command.args(["--agents", "auto", "--local-ips", SOURCES]);
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let (mut open, mut first) = (0, None);
    while open < vus {
        lab.stop_if_interrupted()?;
        if let Some(usage) = process.ended()? {
            bail!("the test ended with {}: {}", usage.ending(), process.printed());
        }
        open = server.counts().map_or(open, |counts| counts.open.saturating_sub(before));
        if open > 0 {
            first.get_or_insert_with(|| process.age());
        }
        ensure!(process.age() < READY_TIMEOUT, "{open} of {vus} are open after {} s", READY_TIMEOUT.as_secs());
        clock::pause(POLL);
    }
    let ready_s = process.age().as_secs_f64();
    let active_s = ready_s - first.unwrap_or_default().as_secs_f64();
    clock::pause(SETTLE);
    open = server.counts()?.open.saturating_sub(before);
    let agents = procfs::children(process.pid());
    let rss: f64 = agents.iter().map(|pid| procfs::rss_bytes(*pid).map(|bytes| bytes as f64)).sum::<Result<f64>>()?;
    let own_rss = procfs::rss_bytes(process.pid())? as f64;
    let usage = lab.wait(&mut process, RUN_TIMEOUT, |_| Ok(()))?;
    ensure!(usage.status.success(), "the test ended with {}: {}", usage.ending(), process.printed());
    let summary = summary.context("there is no summary")?;
    let text = fs::read_to_string(&summary).context("the test wrote no summary")?;
    let summary: serde_json::Value = serde_json::from_str(&text).context("the summary is not JSON")?;
    let count = |metric: &str, field: &str| summary["metrics"][metric][field].as_f64();
    lab.report.ran(false);
    lab.record(
        NAME,
        json!({
            "client": "onrush", "agents": agents.len(), "connections_open": open, "ready_s": ready_s,
            "active_s": active_s, "rss_bytes": rss, "coordinator_rss_bytes": own_rss, "metrics": summary["metrics"],
        }),
    );
    let mut table = Table::new(
        format!("{} VUs of one test with an open connection each, to one address and port, nginx", number(vus as f64)),
        &[
            "agents",
            "connections open",
            "first to last s",
            "since the start s",
            "agents' RSS MB",
            "KB per VU",
            "coordinator's RSS MB",
        ],
    );
    table.row([
        agents.len().to_string(),
        number(open as f64),
        number(active_s),
        number(ready_s),
        number(rss / MB),
        number(rss / 1024.0 / vus as f64),
        number(own_rss / MB),
    ]);
    table.note("Counted by the server.");
    lab.report.table(table);
    lab.report.limit(NAME, "connections open at once", Some(open as f64), Bound::AtLeast(vus as f64), "");
    lab.report.limit(NAME, "first to last connection", Some(active_s), Bound::AtMost(ACTIVE_S_MAX), " s");
    lab.report.limit(NAME, "requests in the summary", count("http_reqs", "count"), Bound::AtLeast(vus as f64), "");
    lab.report.limit(NAME, "checks that failed", count("checks", "fails"), Bound::AtMost(0.0), "");
    Ok(())
}

/// How long iterations begin; the graceful stop holds them for 30 s more.
const RUN_S: u64 = 10;
/// Longer than that: no VU has a second iteration.
const HOLD_S: u64 = 300;
const READY_TIMEOUT: Duration = Duration::from_secs(90);
const RUN_TIMEOUT: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(100);
/// Connections that would be lost are lost by then.
const SETTLE: Duration = Duration::from_secs(3);
