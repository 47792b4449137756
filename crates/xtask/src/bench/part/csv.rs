//! Tables: a million rows, read once for all VUs, and one after another.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::bench::{
    client::{Client, command},
    lab::Lab,
    load::{Load, MB},
    process::{Cpus, Process},
    procfs::{MachineTime, others_share},
    report::{Bound, DISTURBED, Table, cell, medians},
    series::{median, median_ratio},
};

pub(super) const NAME: &str = "csv";

const ROWS: u32 = 1_000_000;
/// What the script does, and what that is.
const READS: [(&str, &str); 3] = [
    ("parse", "csv.parse()"),
    ("rows", "csv.parse(), every tenth row read"),
    ("next", "csv.Parser, one row after another"),
];
/// Against k6's, of what reads the whole file at once.
const CPU_RATIO_MAX: f64 = 1.0 / 3.0;
const MEMORY_RATIO_MAX: f64 = 0.2;
const TIMEOUT: Duration = Duration::from_secs(120);

struct Ran {
    read: &'static str,
    client: Client,
    cpu_s: f64,
    rss_mb: f64,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let file = lab.scratch.path().join("million.csv");
    write(&file).context("cannot write the table")?;
    let mut all = Vec::new();
    for round in 0..lab.options.rounds_few() {
        for (read, _) in READS {
            for client in [Client::Onrush, Client::K6] {
                all.push(measure(lab, &file, read, client, round)?);
            }
        }
    }
    for (read, about) in READS {
        show(lab, &all, read, about);
    }
    Ok(())
}

fn measure(lab: &mut Lab, file: &Path, read: &'static str, client: Client, round: usize) -> Result<Ran> {
    let load = Load {
        script: "bench/scripts/csv.js",
        env: vec![("FILE", file.display().to_string()), ("READ", read.to_owned())],
        flags: &["--iterations", "1"],
        ..Load::default()
    };
    let (command, _) = command(lab, client, &load);
    let machine = MachineTime::now()?;
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let usage = lab.wait(&mut process, TIMEOUT, |_| Ok(()))?;
    // The script fails where the number of rows, or what is in them, is another.
    if !usage.status.success() || process.printed_whole().contains("level=error") {
        bail!("{} ended with {}: {}", client.name(), usage.ending(), process.printed());
    }
    let other_cpu = others_share(machine, MachineTime::now()?, usage.cpu(), usage.wall, lab.machine.cpus);
    let ran = Ran { read, client, cpu_s: usage.cpu().as_secs_f64(), rss_mb: usage.rss_bytes_max as f64 / MB };
    eprintln!("  round {}, {read}: {:<6} {:.2} s CPU, {:.0} MB", round + 1, client.name(), ran.cpu_s, ran.rss_mb);
    lab.report.ran(other_cpu > DISTURBED);
    lab.record(
        NAME,
        json!({
            "round": round, "read": read, "client": client.name(), "cpu_s": ran.cpu_s,
            "wall_s": usage.wall.as_secs_f64(), "rss_bytes_max": usage.rss_bytes_max, "other_cpu_share": other_cpu,
        }),
    );
    Ok(ran)
}

fn show(lab: &mut Lab, all: &[Ran], read: &str, about: &str) {
    let mut table = Table::new(
        format!("A million rows, {about}: {}", medians(lab.options.rounds_few())),
        &["client", "CPU s", "peak RSS MB"],
    );
    let values = |client: Client, value: fn(&Ran) -> f64| -> Vec<f64> {
        all.iter().filter(|ran| ran.read == read && ran.client == client).map(value).collect()
    };
    let clients = [Client::Onrush, Client::K6];
    for client in clients {
        let (cpu, rss) = (values(client, |ran| ran.cpu_s), values(client, |ran| ran.rss_mb));
        table.row([client.name(), cell(median(&cpu)), cell(median(&rss))]);
    }
    lab.report.table(table);
    let ratio = |value: fn(&Ran) -> f64| median_ratio(&values(clients[0], value), &values(clients[1], value));
    let (cpu, rss) = (ratio(|ran| ran.cpu_s), ratio(|ran| ran.rss_mb));
    lab.report.limit(NAME, format!("{about}: CPU / k6's"), cpu, Bound::AtMost(CPU_RATIO_MAX), "");
    if read == "rows" {
        lab.report.limit(NAME, format!("{about}: peak RSS / k6's"), rss, Bound::AtMost(MEMORY_RATIO_MAX), "");
    }
}

/// A header, and rows of users: a number, a name, an address, and a text in quotes.
fn write(path: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,name,email,city")?;
    for number in 0..ROWS {
        writeln!(file, "{number},user {number},user{number}@example.com,\"Springfield, {}\"", number % 50)?;
    }
    file.flush()
}
