//! More sockets than one address has ports for: connections from several loopback addresses to one server.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
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

/// Open at once, all to one address and port.
const CONNECTIONS: u64 = 60_000;
const SCRIPT: &str = "bench/scripts/hold.js";

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let wanted = lab.options.pick(CONNECTIONS / 4, CONNECTIONS);
    let workers = usize::try_from(wanted.div_ceil(lab.machine.connections_max() * 3 / 4)).unwrap_or(1);
    // One listener in the kernel for each worker; connections are spread over them.
    let mut server = Server::start_with(lab, Kind::Nginx, Settings { workers, ..Settings::default() })?;
    let before = server.counts()?.open;
    let mut processes = Vec::new();
    for part in 0..workers {
        let load = Load {
            script: SCRIPT,
            env: vec![("URL", server.url(server.kind.small())), ("SLEEP", HOLD_S.to_string())],
            vus: Some(wanted),
            seconds: HOLD_S,
            ..Load::default()
        };
        let (mut command, _) = command(lab, Client::Onrush, &load);
        let sequence: Vec<String> = (0..=workers).map(|edge| format!("{edge}/{workers}")).collect();
        command.arg("--execution-segment").arg(format!("{part}/{workers}:{}/{workers}", part + 1));
        command.arg("--execution-segment-sequence").arg(sequence.join(","));
        command.arg("--local-ips").arg(format!("127.0.1.{}", part + 1));
        processes.push(Process::start(command, Cpus::All, &lab.scratch.path().join(format!("client-{part}.log")))?);
    }
    let mut open = 0;
    while open < wanted {
        lab.stop_if_interrupted()?;
        for process in &mut processes {
            if let Some(usage) = process.ended()? {
                bail!("a client ended with {}: {}", usage.ending(), process.printed());
            }
        }
        open = server.counts().map_or(open, |counts| counts.open.saturating_sub(before));
        let age = processes.first().map_or(Duration::ZERO, Process::age);
        ensure!(age < READY_TIMEOUT, "{open} of {wanted} connections are open after {} s", READY_TIMEOUT.as_secs());
        clock::pause(POLL);
    }
    let ready_s = processes.first().map_or(Duration::ZERO, Process::age).as_secs_f64();
    clock::pause(SETTLE);
    open = server.counts()?.open.saturating_sub(before);
    let mut rss = 0.0;
    for process in &mut processes {
        rss += procfs::rss_bytes(process.pid())? as f64;
        process.kill()?;
    }
    lab.report.ran(false);
    lab.record(NAME, json!({ "client": "onrush", "processes": workers, "connections_open": open, "ready_s": ready_s, "rss_bytes": rss }));
    let mut table = Table::new(
        "Open connections to one address and port, nginx",
        &[
            "processes",
            "source addresses",
            "connections open",
            "all open after s",
            "RSS MB together",
            "KB per connection",
        ],
    );
    table.row([
        workers.to_string(),
        workers.to_string(),
        number(open as f64),
        number(ready_s),
        number(rss / MB),
        number(rss / 1024.0 / open.max(1) as f64),
    ]);
    table.note("Counted by the server. Each process may open so many files; each address has some 28,000 ports.");
    lab.report.table(table);
    lab.report.limit(NAME, "connections open at once", Some(open as f64), Bound::AtLeast(wanted as f64), "");
    Ok(())
}

/// Longer than any run is held.
const HOLD_S: u64 = 300;
const READY_TIMEOUT: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(100);
/// Connections that would be lost are lost by then.
const SETTLE: Duration = Duration::from_secs(3);
