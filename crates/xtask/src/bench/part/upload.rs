//! Uploads of one shared file: CPU beside k6's, and the memory of very many at once.

use std::{fs::File, io::Write, path::Path, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::comparison::Comparison;
use crate::bench::{
    client::{Client, command},
    clock,
    lab::Lab,
    load::{Load, MB, Measurement},
    process::{Cpus, Process},
    procfs,
    report::{Bound, Table, cell, medians, number},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "upload";

const VUS: u64 = 5;
/// As large as the one in published upload benchmarks.
const FILE_MB: usize = 26;
/// So many at once in those, and the most memory they may take.
const MANY_VUS: u64 = 1000;
const MANY_MB_MAX: f64 = 400.0;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let path = lab.scratch.path().join("upload.bin");
    write_file(&path).context("cannot write the file to upload")?;
    beside_k6(lab, &path)?;
    many(lab, &path)
}

fn load(server: &Server, path: &Path, vus: u64, seconds: u64) -> Load {
    Load {
        script: "examples/upload.js",
        env: vec![
            ("BASE_URL", server.url("")),
            ("FILE", path.to_string_lossy().into_owned()),
            ("SLEEP", "0".to_owned()),
        ],
        vus: Some(vus),
        seconds,
        ..Load::default()
    }
}

fn beside_k6(lab: &mut Lab, path: &Path) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let load = load(&server, path, VUS, lab.options.pick(3, 6));
    let mut comparison = Comparison::new(NAME, "target, unpinned", load, &[Client::Onrush, Client::K6]);
    for round in 0..lab.options.rounds_few() {
        comparison.round(lab, round, &mut server)?;
    }
    let mut table = Table::new(
        format!("Uploads of {FILE_MB} MB, {VUS} VUs, {}: {}", comparison.setup, medians(lab.options.rounds_few())),
        &["client", "uploads/s", "CPU ms/upload", "RSS MB", "onrush's CPU / its"],
    );
    for client in comparison.clients() {
        table.row([
            client.name(),
            cell(comparison.median(client, Measurement::rps)),
            cell(comparison.median(client, |measured| measured.cpu_us() / 1000.0)),
            cell(comparison.median(client, Measurement::rss_mb)),
            cell(comparison.ratio(Client::Onrush, client, Measurement::cpu_us)),
        ]);
    }
    lab.report.table(table);
    lab.report.limit(
        NAME,
        "CPU per upload / k6's",
        comparison.ratio(Client::Onrush, Client::K6, Measurement::cpu_us),
        Bound::AtMost(1.0),
        "",
    );
    Ok(())
}

/// What many uploads at once occupy, and as many as this machine's files and ports allow.
fn many(lab: &mut Lab, path: &Path) -> Result<()> {
    let most = lab.machine.connections_max().min(PORTS);
    let mut table = Table::new(
        format!("Uploads of {FILE_MB} MB at once, target"),
        &["VUs", "RSS MB while uploading", "highest", "KB per VU"],
    );
    let mut one = None;
    for vus in [1, MANY_VUS, most] {
        let (rss, highest) = hold(lab, path, vus)?;
        let first = *one.get_or_insert(rss);
        let slope = (vus > 1).then(|| (rss - first) / (vus - 1).max(1) as f64 / 1024.0);
        table.row([
            number(vus as f64).trim_end_matches(".00").to_owned(),
            number(rss / MB),
            number(highest / MB),
            cell(slope),
        ]);
        if vus == MANY_VUS {
            let what = format!("{} VUs: highest RSS", number(vus as f64));
            lab.report.limit(NAME, what, Some(highest / MB), Bound::AtMost(MANY_MB_MAX), " MB");
        }
    }
    table
        .note("The file is held once, whatever the number of VUs. The last row is all that one process may open here.");
    lab.report.table(table);
    Ok(())
}

/// Uploads with that many VUs for a while; the memory then, and the highest of the run.
fn hold(lab: &mut Lab, path: &Path, vus: u64) -> Result<(f64, f64)> {
    let mut server = Server::start(lab, Kind::Target)?;
    let load = load(&server, path, vus, HOLD_S);
    let (command, _) = command(lab, Client::Onrush, &load);
    let open_before = server.counts()?.open;
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    loop {
        lab.stop_if_interrupted()?;
        if let Some(usage) = process.ended()? {
            bail!("{vus} uploads ended with {}: {}", usage.ending(), process.printed());
        }
        // The server is as busy as its client: its answer may take seconds.
        if server.counts().is_ok_and(|counts| counts.open.saturating_sub(open_before) >= vus) {
            break;
        }
        ensure!(process.age() < READY_TIMEOUT, "{vus} uploads have not begun after {} s", READY_TIMEOUT.as_secs());
        clock::pause(SAMPLE_POLL);
    }
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        lab.stop_if_interrupted()?;
        clock::pause(SAMPLE_POLL);
        samples.push(procfs::rss_bytes(process.pid())? as f64);
    }
    let rss = samples.iter().copied().fold(0.0, f64::max);
    let usage = process.kill()?;
    let highest = usage.rss_bytes_max as f64;
    lab.report.ran(false);
    eprintln!("  {vus:>6} VUs, {:.0} MB, at most {:.0} MB", rss / MB, highest / MB);
    lab.record(NAME, json!({ "client": "onrush", "vus": vus, "rss_samples": samples, "rss_bytes_max": highest, "cpu_s": usage.cpu().as_secs_f64() }));
    Ok((rss, highest))
}

/// Bytes without much of a pattern, the same in every run.
fn write_file(path: &Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut block = Vec::with_capacity(1 << 20);
    for _ in 0..FILE_MB {
        block.clear();
        while block.len() < 1 << 20 {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            block.extend_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block)?;
    }
    Ok(())
}

/// Longer than any run is held.
const HOLD_S: u64 = 300;
/// As many uploads as one process can have begin slowly: they share the machine with those under way.
const READY_TIMEOUT: Duration = Duration::from_secs(180);
const SAMPLE_POLL: Duration = Duration::from_millis(200);
/// Six seconds in all.
const SAMPLES: usize = 30;
/// What Linux lends out by default for connections to one address.
const PORTS: u64 = 28_000;
