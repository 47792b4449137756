//! Memory of VUs that sleep with one open connection, and how soon all of them are there.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use serde_json::json;

use crate::bench::{
    client::{Client, command},
    clock,
    lab::Lab,
    load::{Load, MB},
    process::{Cpus, Process},
    procfs::{self, MachineTime, others_share},
    report::{Bound, DISTURBED, Table, cell, medians, number},
    series::median,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "memory";

/// A script whose VUs send their requests once and then sleep.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Script {
    name: &'static str,
    path: &'static str,
    /// Requests before the sleep.
    requests: u64,
    /// The most a VU may need, in KB.
    kb_max: f64,
}

const SCRIPTS: [Script; 3] = [
    Script { name: "minimal", path: "bench/scripts/idle.js", requests: 1, kb_max: 8.0 },
    Script { name: "all modules", path: "bench/scripts/idle-imports.js", requests: 1, kb_max: 8.0 + IMPORTS_KB_MAX },
    Script { name: "60 lines", path: "examples/typical.js", requests: 2, kb_max: 20.0 },
];

/// What importing every module may add to a VU that uses one of them.
const IMPORTS_KB_MAX: f64 = 1.0;
/// Memory per VU against k6's.
const K6_RATIO_MAX: f64 = 1.0 / 12.0;
/// All of the largest number of VUs have sent their first request.
const READY_VUS: u64 = 15_000;
const READY_S_MAX: f64 = 2.0;

const SIZES: [u64; 3] = [1_000, 5_000, READY_VUS];
/// k6 needs gigabytes beyond this.
const K6_VUS_MAX: u64 = 5_000;
const K6_VUS_MAX_QUICK: u64 = 1_000;

/// One run held in its sleep.
#[derive(Debug, Clone, Copy)]
struct Held {
    script: Script,
    client: Client,
    vus: u64,
    rss_bytes: f64,
    ready_s: f64,
    cpu_s: f64,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut all = Vec::new();
    for round in 0..lab.options.rounds_few() {
        for script in SCRIPTS {
            for (client, vus) in cases(lab) {
                let held = hold(lab, script, client, vus, round)?;
                all.push(held);
            }
        }
    }
    for script in SCRIPTS {
        show(lab, script, &all);
    }
    Ok(())
}

/// Who is measured with how many VUs; one VU is where the slopes start.
fn cases(lab: &Lab) -> Vec<(Client, u64)> {
    let k6_max = lab.options.pick(K6_VUS_MAX_QUICK, K6_VUS_MAX);
    let mut cases = vec![(Client::Onrush, 1), (Client::K6, 1)];
    for vus in SIZES {
        if vus > lab.machine.connections_max() {
            eprintln!("  not with {vus} VUs: a process may open {} files here", lab.machine.connections_max());
            continue;
        }
        cases.push((Client::Onrush, vus));
        if vus <= k6_max {
            cases.push((Client::K6, vus));
        }
    }
    cases
}

/// Starts that many VUs, waits until all sleep, looks at the memory, and ends them.
fn hold(lab: &mut Lab, script: Script, client: Client, vus: u64, round: usize) -> Result<Held> {
    // A server of its own, on another port: the last one's connections linger.
    let mut server = Server::start(lab, Kind::Target)?;
    let load = Load {
        script: script.path,
        env: vec![("BASE_URL", server.url("")), ("SLEEP", SLEEP_S.to_string())],
        vus: Some(vus),
        seconds: SLEEP_S,
        url: String::new(),
        pinned: false,
        ..Load::default()
    };
    let (command, _) = command(lab, client, &load);
    let (before, machine, server_cpu) = (server.counts()?, MachineTime::now()?, server.cpu_time());
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let ready_s = loop {
        lab.stop_if_interrupted()?;
        if let Some(usage) = process.ended()? {
            bail!("{} with {vus} VUs ended with {}: {}", client.name(), usage.ending(), process.printed());
        }
        let counts = server.counts()?;
        if counts.requests - before.requests >= vus * script.requests {
            break process.age().as_secs_f64();
        }
        ensure!(
            process.age() < READY_TIMEOUT,
            "{} of {vus} VUs of {} have sent their requests after {} s",
            (counts.requests - before.requests) / script.requests,
            client.name(),
            READY_TIMEOUT.as_secs()
        );
        clock::pause(READY_POLL);
    };
    let ours = procfs::cpu_time(process.pid()) + server.cpu_time().saturating_sub(server_cpu);
    let other_cpu = others_share(machine, MachineTime::now()?, ours, process.age(), lab.machine.cpus);
    let mut samples = Vec::new();
    for _ in 0..SETTLE_SAMPLES {
        lab.stop_if_interrupted()?;
        clock::pause(SETTLE_POLL);
        samples.push(procfs::rss_bytes(process.pid())? as f64);
    }
    // The last ones: what start-up needed has been given back, if it is ever.
    let rss_bytes = median(&samples[samples.len() / 2..]).unwrap_or(0.0);
    let open = server.counts()?.open.saturating_sub(before.open);
    ensure!(
        open as f64 >= vus as f64 * OPEN_MIN,
        "{open} connections are open, not {vus}: the VUs of {} do not keep theirs",
        client.name()
    );
    let usage = process.kill()?;
    let held = Held { script, client, vus, rss_bytes, ready_s, cpu_s: usage.cpu().as_secs_f64() };
    eprintln!(
        "  round {}, {}: {:<6} {vus:>6} VUs, {:.1} MB, ready after {ready_s:.2} s",
        round + 1,
        script.name,
        client.name(),
        rss_bytes / MB
    );
    lab.report.ran(other_cpu > DISTURBED);
    lab.record(
        NAME,
        json!({
            "round": round, "script": script.name, "client": client.name(), "vus": vus,
            "rss_bytes": rss_bytes, "rss_samples": samples, "rss_bytes_max": usage.rss_bytes_max,
            "ready_s": ready_s, "other_cpu_share": other_cpu, "cpu_s": held.cpu_s, "connections_open": open,
        }),
    );
    Ok(held)
}

fn show(lab: &mut Lab, script: Script, all: &[Held]) {
    let mut table = Table::new(
        format!("Sleeping VUs, {} script: {}", script.name, medians(lab.options.rounds_few())),
        &["client", "VUs", "RSS MB", "KB per VU", "all had sent a request after s", "CPU s"],
    );
    let values = |client: Client, vus: u64, value: &dyn Fn(&Held) -> f64| -> Vec<f64> {
        all.iter().filter(|held| held.script == script && held.client == client && held.vus == vus).map(value).collect()
    };
    let kb_per_vu = |client: Client, vus: u64| -> Option<f64> {
        let rss = |vus: u64| values(client, vus, &|held| held.rss_bytes);
        // Round by round.
        let slopes: Vec<f64> =
            rss(vus).iter().zip(rss(1)).map(|(many, one)| (many - one) / (vus - 1) as f64 / 1024.0).collect();
        median(&slopes)
    };
    for client in [Client::Onrush, Client::K6] {
        for vus in std::iter::once(1).chain(SIZES) {
            let rss = values(client, vus, &|held| held.rss_bytes / MB);
            if rss.is_empty() {
                continue;
            }
            let slope = if vus > 1 { kb_per_vu(client, vus) } else { None };
            table.row([
                client.name(),
                number(vus as f64).trim_end_matches(".00").to_owned(),
                cell(median(&rss)),
                cell(slope),
                cell(median(&values(client, vus, &|held| held.ready_s))),
                cell(median(&values(client, vus, &|held| held.cpu_s))),
            ]);
        }
    }
    table.note("KB per VU = (RSS − RSS with one VU) / (VUs − 1), both while all VUs sleep. Times are from the start of the process.");
    lab.report.table(table);
    for vus in SIZES {
        let ours = kb_per_vu(Client::Onrush, vus);
        lab.report.limit(
            NAME,
            format!("{} script, {} VUs: RSS per VU", script.name, number(vus as f64)),
            ours,
            Bound::AtMost(script.kb_max),
            " KB",
        );
        if let Some(theirs) = kb_per_vu(Client::K6, vus) {
            lab.report.limit(
                NAME,
                format!("{} script, {} VUs: RSS per VU / k6's", script.name, number(vus as f64)),
                ours.map(|ours| ours / theirs),
                Bound::AtMost(K6_RATIO_MAX),
                "",
            );
        }
    }
    if script.requests == 1 {
        let ready = median(&values(Client::Onrush, READY_VUS, &|held| held.ready_s));
        lab.report.limit(
            NAME,
            format!("{} VUs have sent their first request", number(READY_VUS as f64)),
            ready,
            Bound::AtMost(READY_S_MAX),
            " s",
        );
    }
}

/// A client may close a connection now and then: k6 races a new one with one that becomes free.
const OPEN_MIN: f64 = 0.99;
/// Longer than any run is held.
const SLEEP_S: u64 = 300;
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// How exactly the moment is known when all are there.
const READY_POLL: Duration = Duration::from_millis(4);
const SETTLE_POLL: Duration = Duration::from_millis(200);
/// Two seconds in all.
const SETTLE_SAMPLES: usize = 10;
