//! Uploads of one shared file: no limit is promised, but memory and CPU are worth a look.

use std::{fs::File, io::Write};

use anyhow::{Context, Result};

use super::comparison::Comparison;
use crate::bench::{
    lab::Lab,
    load::{Client, Load, Measurement},
    report::{Table, cell, medians},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "upload";

const VUS: u64 = 5;
/// As large as the one in published upload benchmarks.
const FILE_MB: usize = 26;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let path = lab.scratch.path().join("upload.bin");
    write_file(&path).context("cannot write the file to upload")?;
    let mut server = Server::start(lab, Kind::Target)?;
    let load = Load {
        script: "examples/upload.js",
        env: vec![
            ("BASE_URL", server.url("")),
            ("FILE", path.to_string_lossy().into_owned()),
            ("SLEEP", "0".to_owned()),
        ],
        vus: Some(VUS),
        seconds: lab.options.pick(3, 6),
        url: String::new(),
        pinned: false,
        thresholds_may_fail: false,
    };
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
    Ok(())
}

/// Bytes without much of a pattern, the same in every run.
fn write_file(path: &std::path::Path) -> std::io::Result<()> {
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
