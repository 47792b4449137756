//! What calls of an extension cost beside the same in JavaScript, and what its instances weigh.

use std::{fs, path::PathBuf};

use anyhow::{Result, ensure};

use super::comparison::{Comparison, cost_of_one, placement, rounds};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "extensions";

const VUS: u64 = 50;
/// Operations beside each request in the two kinds of runs; what one costs is their difference.
const FEW: u32 = 1;
const MANY: u32 = 101;
/// VUs whose memory is compared; each sends a request a second.
const HELD_VUS: u64 = 1_000;

/// The extension of the examples.
const EXTENSION: &str = "examples/extensions/checksums/checksums.wasm";
/// What its description says, and the same of an instance for each VU: as long, so that nothing else changes.
const STATES: [&str; 2] = ["state none", "state vu  "];

/// Names in the script, what they are, and who can do them.
const OPERATIONS: [(&str, &str, &[Client]); 3] = [
    ("call", "a call without data", &[Client::Onrush]),
    ("crc32", "a checksum of 1 KB in the extension", &[Client::Onrush]),
    ("javascript", "the same in JavaScript", &[Client::Onrush, Client::K6]),
];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    calls(lab, &mut server)?;
    instances(lab, &mut server)
}

fn calls(lab: &mut Lab, server: &mut Server) -> Result<()> {
    let pinned = lab.machine.cpus > 1;
    let seconds = lab.options.pick(2, 5);
    let path = lab.root.join(EXTENSION).display().to_string();
    let comparison = |operation: &str, repeat: u32, clients: &[Client]| {
        let mut load = load(server, operation, repeat, VUS, seconds, pinned);
        if operation != "javascript" {
            load.env.push(("EXTENSION", path.clone()));
        }
        Comparison::new(NAME, format!("{operation} {repeat} times"), load, clients)
    };
    let mut pairs = OPERATIONS
        .map(|(operation, _, clients)| (comparison(operation, FEW, clients), comparison(operation, MANY, clients)));
    rounds(lab, server, pairs.iter_mut().flat_map(|(few, many)| [few, many]).collect())?;
    let mut table = Table::new(
        format!("Calls of an extension, {VUS} VUs, {}: {}", placement(pinned), medians(lab.options.rounds())),
        &["what", "Onrush, CPU µs", "k6, CPU µs"],
    );
    for ((few, many), (_, about, _)) in pairs.iter().zip(OPERATIONS) {
        let cost = |client| cost_of_one(client, few, many, MANY - FEW);
        table.row([about.to_owned(), cell(cost(Client::Onrush)), cell(cost(Client::K6))]);
    }
    lab.report.table(table);
    Ok(())
}

fn instances(lab: &mut Lab, server: &mut Server) -> Result<()> {
    let seconds = lab.options.pick(3, 5);
    let comparison = |setup: &str, extension: Option<PathBuf>| {
        let operation = if extension.is_some() { "crc32" } else { "none" };
        let mut load = load(server, operation, 1, HELD_VUS, seconds, false);
        load.env.push(("SLEEP", "1".to_owned()));
        load.env.extend(extension.map(|path| ("EXTENSION", path.display().to_string())));
        Comparison::new(NAME, setup, load, &[Client::Onrush])
    };
    let mut all = vec![
        comparison("no extension", None),
        comparison("an instance for each thread", Some(lab.root.join(EXTENSION))),
        comparison("an instance for each VU", Some(of_each_vu(lab)?)),
    ];
    rounds(lab, server, all.iter_mut().collect())?;
    let memory = |comparison: &Comparison| comparison.median(Client::Onrush, Measurement::rss_mb);
    let least = memory(&all[0]);
    let mut table = Table::new(
        format!("Instances of an extension, {HELD_VUS} VUs: {}", medians(lab.options.rounds())),
        &["", "RSS MB", "KB/VU more"],
    );
    for comparison in &all {
        let more = memory(comparison).zip(least).map(|(all, least)| (all - least) * 1e3 / HELD_VUS as f64);
        table.row([comparison.setup.clone(), cell(memory(comparison)), cell(more)]);
    }
    lab.report.table(table);
    Ok(())
}

/// The extension with an instance for each VU.
fn of_each_vu(lab: &Lab) -> Result<PathBuf> {
    let [of_thread, of_vu] = STATES.map(str::as_bytes);
    let mut bytes = fs::read(lab.root.join(EXTENSION))?;
    let places: Vec<usize> =
        bytes.windows(of_thread.len()).enumerate().filter(|(_, part)| *part == of_thread).map(|(at, _)| at).collect();
    ensure!(places.len() == 1, "{EXTENSION} says {:?} {} times", STATES[0], places.len());
    bytes[places[0]..places[0] + of_vu.len()].copy_from_slice(of_vu);
    let path = lab.scratch.path().join("of-each-vu.wasm");
    fs::write(&path, bytes)?;
    Ok(path)
}

fn load(server: &Server, operation: &str, repeat: u32, vus: u64, seconds: u64, pinned: bool) -> Load {
    Load {
        script: "bench/scripts/extension.js",
        env: vec![
            ("URL", server.url(server.kind.small())),
            ("OPERATION", operation.to_owned()),
            ("REPEAT", repeat.to_string()),
        ],
        vus: Some(vus),
        seconds,
        url: String::new(),
        pinned,
        ..Load::default()
    }
}
