//! Memory does not grow with the number of requests: RSS after a million of them and after five.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use rustix::process::Signal;
use serde_json::json;

use crate::bench::{
    client::{Client, command},
    clock,
    lab::Lab,
    load::{Load, MB},
    process::{Cpus, Process},
    procfs,
    report::{Bound, Table, number},
    series::median,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "flat";

const VUS: u64 = 100;
/// Growth in percent.
const GROWTH_MAX: f64 = 2.0;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let (early, late): (u64, u64) = lab.options.pick((200_000, 1_000_000), (1_000_000, 5_000_000));
    let mut server = Server::start(lab, Kind::Target)?;
    let load = Load {
        script: "examples/minimal.js",
        env: vec![("URL", server.url(server.kind.small()))],
        vus: Some(VUS),
        seconds: TIMEOUT.as_secs() * 2,
        url: String::new(),
        pinned: false,
        ..Load::default()
    };
    let (command, _) = command(lab, Client::Onrush, &load);
    let before = server.counts()?.requests;
    let mut process = Process::start(command, Cpus::All, &lab.scratch.path().join("client.log"))?;
    let mut samples: Vec<(u64, f64)> = Vec::new();
    let mut medians = Vec::new();
    let step = late / 20;
    for mark in (1..=20).map(|index| index * step) {
        wait_for(lab, &mut process, &mut server, before + mark)?;
        let mut around = Vec::new();
        for _ in 0..SAMPLES {
            around.push(procfs::rss_bytes(process.pid())? as f64);
            clock::pause(SAMPLE_POLL);
        }
        let rss = median(&around).unwrap_or(0.0);
        samples.push((mark, rss));
        if mark == early || mark == late {
            eprintln!(
                "  {} requests: {:.2} MB after {:.0} s",
                number(mark as f64),
                rss / MB,
                process.age().as_secs_f64()
            );
            medians.push(rss);
        }
    }
    process.signal(Signal::INT);
    let limit = process.age() + STOP_TIMEOUT;
    let usage = lab.wait(&mut process, limit, |_| Ok(()))?;
    lab.report.ran(false);
    lab.record(NAME, json!({ "client": "onrush", "vus": VUS, "rss_bytes_by_requests": samples, "rss_bytes_max": usage.rss_bytes_max, "ending": usage.ending() }));
    let [first, last] = medians[..] else { bail!("there are {} measurements, not 2", medians.len()) };
    let mut table = Table::new(format!("Memory over time, minimal script, {VUS} VUs, target"), &["requests", "RSS MB"]);
    for (mark, rss) in samples.iter().filter(|(mark, _)| mark % (step * 4) == 0) {
        table.row([number(*mark as f64), format!("{:.2}", rss / MB)]);
    }
    table.note(format!("Ended by Ctrl+C: {}.", usage.ending()));
    lab.report.table(table);
    let growth = (last / first - 1.0) * 100.0;
    lab.report.limit(
        NAME,
        format!("RSS growth from {} to {} requests", number(early as f64), number(late as f64)),
        Some(growth),
        Bound::AtMost(GROWTH_MAX),
        " %",
    );
    Ok(())
}

fn wait_for(lab: &Lab, process: &mut Process, server: &mut Server, requests: u64) -> Result<()> {
    loop {
        lab.stop_if_interrupted()?;
        let counted = server.counts()?.requests;
        if counted >= requests {
            return Ok(());
        }
        if let Some(usage) = process.ended()? {
            bail!("the run ended early with {}: {}", usage.ending(), process.printed());
        }
        ensure!(
            process.age() < TIMEOUT,
            "{counted} requests after {} s are too few: is the machine busy?",
            TIMEOUT.as_secs()
        );
        clock::pause(Duration::from_millis(20));
    }
}

/// Five million requests at 17,000 a second.
const TIMEOUT: Duration = Duration::from_secs(300);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
const SAMPLES: usize = 9;
/// Together a fifth of a second: longer than the engine's own rhythms.
const SAMPLE_POLL: Duration = Duration::from_millis(25);
