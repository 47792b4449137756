//! VUs that do what they have to do and then rest: the memory of each, and how soon all are there.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use serde_json::json;

use super::comparison::BEFORE_RATIO_MAX;
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

/// A script whose VUs send their requests once and then rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Script {
    pub(super) part: &'static str,
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    pub(super) variable: Option<(&'static str, &'static str)>,
    /// What the server counts of a VU before it rests.
    pub(super) requests: u64,
    /// The most a VU may need, in KB.
    pub(super) kb_max: Option<f64>,
}

/// Memory per VU against k6's.
const K6_RATIO_MAX: f64 = 1.0 / 12.0;

/// One run held in its rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    script: Script,
    client: Client,
    vus: u64,
    rss_bytes: f64,
    ready_s: f64,
    cpu_s: f64,
}

impl Script {
    fn env(&self, server: &Server) -> Vec<(&'static str, String)> {
        let mut env = vec![("BASE_URL", server.url("")), ("SLEEP", SLEEP_S.to_string())];
        env.extend(self.variable.map(|(name, value)| (name, value.to_owned())));
        env
    }
}

/// Runs every script with one VU, where the slopes start, and with each of those many, k6 with fewer or, at 0, not at all.
pub(super) fn hold_all(lab: &mut Lab, scripts: &[Script], sizes: &[u64], k6_vus_max: u64) -> Result<Vec<Held>> {
    let mut cases = vec![(Client::Onrush, 1)];
    cases.extend(lab.before().map(|before| (before, 1)));
    if k6_vus_max > 0 {
        cases.push((Client::K6, 1));
    }
    for &vus in sizes {
        if vus > lab.machine.connections_max() {
            eprintln!("  not with {vus} VUs: a process may open {} files here", lab.machine.connections_max());
            continue;
        }
        cases.push((Client::Onrush, vus));
        cases.extend(lab.before().map(|before| (before, vus)));
        if vus <= k6_vus_max {
            cases.push((Client::K6, vus));
        }
    }
    let mut all = Vec::new();
    for round in 0..lab.options.rounds_few() {
        for &script in scripts {
            for &(client, vus) in &cases {
                match hold(lab, script, client, vus, round) {
                    Ok(held) => all.push(held),
                    // An earlier build may lack what the script needs.
                    Err(error) if client == Client::Before => eprintln!("  not with the build before: {error:#}"),
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(all)
}

/// Starts that many VUs, waits until all sleep, looks at the memory, and ends them.
fn hold(lab: &mut Lab, script: Script, client: Client, vus: u64, round: usize) -> Result<Held> {
    // A server of its own, on another port: the last one's connections linger.
    let mut server = Server::start(lab, Kind::Target)?;
    let load = Load {
        script: script.path,
        env: script.env(&server),
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
            if script.requests == 0 {
                calm_down(lab, &process)?;
            }
            break process.age().as_secs_f64();
        }
        ensure!(
            process.age() < READY_TIMEOUT,
            "{} of {vus} VUs of {} have sent their requests after {} s",
            (counts.requests - before.requests) / script.requests.max(1),
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
    let rss_bytes = median(&samples[samples.len() - SETTLED_SAMPLES..]).unwrap_or(0.0);
    let open = server.counts()?.open.saturating_sub(before.open);
    ensure!(
        script.requests == 0 || open as f64 >= vus as f64 * OPEN_MIN,
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
        script.part,
        json!({
            "round": round, "script": script.name, "client": client.name(), "vus": vus,
            "rss_bytes": rss_bytes, "rss_samples": samples, "rss_bytes_max": usage.rss_bytes_max,
            "ready_s": ready_s, "other_cpu_share": other_cpu, "cpu_s": held.cpu_s, "connections_open": open,
        }),
    );
    Ok(held)
}

/// Waits until a process that says nothing to the server has done what it had to do.
fn calm_down(lab: &Lab, process: &Process) -> Result<()> {
    loop {
        let before = procfs::cpu_time(process.pid());
        for _ in 0..CALM_POLLS {
            lab.stop_if_interrupted()?;
            clock::pause(SETTLE_POLL);
        }
        if procfs::cpu_time(process.pid()).saturating_sub(before) < CALM_CPU || process.age() > READY_TIMEOUT {
            return Ok(());
        }
    }
}

/// KB per VU of a client: round by round, against the run with one VU.
pub(super) fn kb_per_vu(all: &[Held], script: Script, client: Client, vus: u64) -> Option<f64> {
    let rss = |vus: u64| values(all, script, client, vus, |held| held.rss_bytes);
    let slopes: Vec<f64> =
        rss(vus).iter().zip(rss(1)).map(|(many, one)| (many - one) / (vus - 1) as f64 / 1024.0).collect();
    median(&slopes)
}

/// When all of so many VUs were there.
pub(super) fn ready_s(all: &[Held], script: Script, vus: u64) -> Option<f64> {
    median(&values(all, script, Client::Onrush, vus, |held| held.ready_s))
}

fn values(all: &[Held], script: Script, client: Client, vus: u64, value: fn(&Held) -> f64) -> Vec<f64> {
    all.iter().filter(|held| held.script == script && held.client == client && held.vus == vus).map(value).collect()
}

/// The table of a script, and its limits.
pub(super) fn show(lab: &mut Lab, script: Script, sizes: &[u64], all: &[Held]) {
    let mut table = Table::new(
        format!("Resting VUs, {}: {}", script.name, medians(lab.options.rounds_few())),
        &["client", "VUs", "RSS MB", "KB per VU", "all were there after s", "CPU s"],
    );
    for client in [Client::Onrush, Client::Before, Client::K6] {
        for vus in std::iter::once(1).chain(sizes.iter().copied()) {
            let rss = values(all, script, client, vus, |held| held.rss_bytes / MB);
            if rss.is_empty() {
                continue;
            }
            let slope = if vus > 1 { kb_per_vu(all, script, client, vus) } else { None };
            table.row([
                client.name(),
                number(vus as f64).trim_end_matches(".00").to_owned(),
                cell(median(&rss)),
                cell(slope),
                cell(median(&values(all, script, client, vus, |held| held.ready_s))),
                cell(median(&values(all, script, client, vus, |held| held.cpu_s))),
            ]);
        }
    }
    table.note("KB per VU = (RSS − RSS with one VU) / (VUs − 1), both while all VUs rest. Times are from the start of the process.");
    lab.report.table(table);
    let mut theirs = None;
    for &vus in sizes {
        let ours = kb_per_vu(all, script, Client::Onrush, vus);
        if let Some(kb_max) = script.kb_max {
            let what = format!("{}, {} VUs: RSS per VU", script.name, number(vus as f64));
            lab.report.limit(script.part, what, ours, Bound::AtMost(kb_max), " KB");
        }
        if let Some((before, ours)) = kb_per_vu(all, script, Client::Before, vus).zip(ours) {
            let what = format!("{}, {} VUs: RSS per VU / that of the build before", script.name, number(vus as f64));
            lab.report.limit(script.part, what, Some(ours / before), Bound::AtMost(BEFORE_RATIO_MAX), "");
        }
        // With more VUs than k6 was run with: its slope with as many as it was.
        if let Some(slope) = kb_per_vu(all, script, Client::K6, vus) {
            theirs = Some((vus, slope));
        }
        if let (Some((k6_vus, slope)), Some(_)) = (theirs, ours) {
            let of = if k6_vus == vus { String::new() } else { format!(" with {}", number(k6_vus as f64)) };
            let what = format!("{}, {} VUs: RSS per VU / k6's{of}", script.name, number(vus as f64));
            let ratio = ours.map(|ours| ours / slope);
            lab.report.limit(script.part, what, ratio, Bound::AtMost(K6_RATIO_MAX), "");
        }
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
/// Five seconds in all ...
const SETTLE_SAMPLES: usize = 25;
/// ... of which the last second counts.
const SETTLED_SAMPLES: usize = 5;
/// A process that has used less than this in 0.6 s is at rest.
const CALM_CPU: Duration = Duration::from_millis(20);
const CALM_POLLS: usize = 3;
