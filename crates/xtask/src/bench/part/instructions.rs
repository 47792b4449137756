//! What a request costs, counted instead of timed: instructions, and misses of simulated caches and branch predictors.
//!
//! A simulated machine is not disturbed by others, so two builds can be compared where times differ from minute to minute. It counts
//! what a process does itself, not what the kernel does for it; libraries still choose code for the processor they find.

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::bench::{
    lab::Lab,
    process::{Cpus, Process},
    report::{Bound, Table, cell, number},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "instructions";

/// Of a request of 10,000 VUs against one of 250.
const MANY_RATIO_MAX: f64 = 1.5;

/// What is counted.
#[derive(Debug, Clone, Copy)]
struct Row {
    name: &'static str,
    /// `KIND` of bench/scripts/params.js; `None` is wrk.
    kind: Option<&'static str>,
    vus: u64,
}

const ROWS: [Row; 8] = [
    Row { name: "Onrush, plain", kind: Some("plain"), vus: 10 },
    Row { name: "Onrush, plain", kind: Some("plain"), vus: 250 },
    Row { name: "Onrush, plain", kind: Some("plain"), vus: 10_000 },
    Row { name: "Onrush, a check", kind: Some("check"), vus: 10 },
    Row { name: "Onrush, two headers, a tag and a check", kind: Some("params"), vus: 10 },
    Row { name: "wrk", kind: None, vus: 10 },
    Row { name: "wrk", kind: None, vus: 250 },
    Row { name: "wrk", kind: None, vus: 10_000 },
];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let mut table = Table::new(
        "What a request costs outside the kernel, counted by callgrind with caches of 32 KB and 32 MB",
        &["client", "VUs", "instructions", "D1 misses", "LL misses", "mispredicted"],
    );
    let mut instructions = Vec::new();
    for row in ROWS {
        let [few, many] = counts(lab, &mut server, row)?;
        let requests = (many.requests - few.requests) as f64;
        let each = |value: fn(&Counted) -> f64| (value(&many) - value(&few)) / requests;
        let [all, l1, ll, mispredicted] =
            [Counted::instructions, Counted::l1_misses, Counted::ll_misses, Counted::mispredicted].map(each);
        let decimals = |value: f64| cell(Some(value));
        table.row([
            row.name.to_owned(),
            row.vus.to_string(),
            number(all.round()),
            decimals(l1),
            decimals(ll),
            decimals(mispredicted),
        ]);
        lab.record(
            NAME,
            json!({
                "client": row.name, "vus": row.vus, "instructions": all, "d1_misses": l1, "ll_misses": ll, "mispredicted": mispredicted,
            }),
        );
        instructions.push((row, all));
    }
    table.note("A request is the difference of two runs of different length divided by that of their requests: start-up is not in it.");
    lab.report.table(table);
    let of = |kind, vus| instructions.iter().find(|(row, _)| row.kind == kind && row.vus == vus).map(|(_, all)| *all);
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
    lab.report.limit(
        NAME,
        "of 10,000 VUs / of 250",
        ratio(of(Some("plain"), 10_000), of(Some("plain"), 250)),
        Bound::AtMost(MANY_RATIO_MAX),
        "",
    );
    Ok(())
}

/// A short run and a longer one.
fn counts(lab: &mut Lab, server: &mut Server, row: Row) -> Result<[Counted; 2]> {
    // Each VU has warmed up in the short run already.
    let few = lab.options.pick(3, 5) * row.vus.max(1_000);
    let mut all = [Counted::default(); 2];
    for (long, counted) in [false, true].into_iter().zip(&mut all) {
        let url = server.url(server.kind.small());
        let mut command = Command::new(&lab.tools.valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--cache-sim=yes", "--branch-sim=yes"]);
        command.args(CACHES);
        if let Some(kind) = row.kind {
            let iterations = if long { 3 * few } else { few };
            command.arg(&lab.tools.onrush);
            command.args(["run", "--address", "", "--quiet", "--no-usage-report", "--no-summary", "--threads=1"]);
            command.args(["--vus", &row.vus.to_string(), "--iterations", &iterations.to_string()]);
            command.args(["--env", &format!("URL={url}"), "--env", &format!("KIND={kind}")]);
            command.arg(lab.root.join("bench/scripts/params.js"));
        } else {
            // Connecting takes it a while.
            let seconds = lab.options.pick(2, 4) * if long { 3 } else { 1 } + row.vus / 1000;
            command.arg(&lab.tools.wrk);
            command.args(["-t1", "-c", &row.vus.to_string(), "-d", &format!("{seconds}s"), "--timeout", "30s", &url]);
        }
        command.current_dir(lab.scratch.path());
        let before = server.counts()?.requests;
        let log = lab.scratch.path().join("callgrind.log");
        let mut process = Process::start(command, Cpus::All, &log)?;
        let usage = lab.wait(&mut process, LIMIT, |_| Ok(()))?;
        if !usage.status.success() {
            bail!("{} under callgrind ended with {}: {}", row.name, usage.ending(), process.printed());
        }
        *counted = Counted::read(&log)?;
        counted.requests = server.counts()?.requests.saturating_sub(before + 1);
        lab.report.ran(false);
    }
    if all[1].requests <= all[0].requests {
        bail!("{}: the longer run sent {} requests, the shorter one {}", row.name, all[1].requests, all[0].requests);
    }
    Ok(all)
}

/// What callgrind says of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    requests: u64,
    /// Ir, Dr, Dw, I1mr, D1mr, D1mw, ILmr, DLmr, DLmw, Bc, Bcm, Bi, Bim.
    events: [u64; 13],
}

impl Counted {
    fn read(log: &Path) -> Result<Self> {
        let text = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Result<Self> {
        let after = |name: &str| text.lines().rev().find_map(|line| line.split_once(name)).map(|(_, rest)| rest);
        let events = after("Events    :").context("callgrind printed no events")?;
        if events.split_whitespace().ne(EVENTS) {
            bail!("callgrind counts other events than it did: {events}");
        }
        let mut counted = Self::default();
        let values = after("Collected :").context("callgrind printed no counts")?;
        for (event, value) in counted.events.iter_mut().zip(values.split_whitespace()) {
            *event = value.parse().with_context(|| format!("callgrind printed {value}, which is no number"))?;
        }
        Ok(counted)
    }

    fn instructions(&self) -> f64 {
        self.events[0] as f64
    }

    fn l1_misses(&self) -> f64 {
        (self.events[4] + self.events[5]) as f64
    }

    fn ll_misses(&self) -> f64 {
        (self.events[6] + self.events[7] + self.events[8]) as f64
    }

    fn mispredicted(&self) -> f64 {
        (self.events[10] + self.events[12]) as f64
    }
}

const EVENTS: [&str; 13] = ["Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "Bc", "Bcm", "Bi", "Bim"];
/// Else they have the sizes of the machine that simulates them.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=33554432,16,64"];
const LIMIT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callgrind_prints() {
        let text = "==7== Events    : Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n\
                    ==7== Collected : 215671 55011 27312 1351 2932 1010 1296 2354 963 31203 4520 741 242\n==7== \n";
        let counted = Counted::parse(text).unwrap();
        assert_eq!(counted.instructions(), 215_671.0);
        assert_eq!(counted.l1_misses(), 3942.0);
        assert_eq!(counted.ll_misses(), 4613.0);
        assert_eq!(counted.mispredicted(), 4762.0);
        for bad in ["", "Events    : Ir\nCollected : 5", "Collected : 1"] {
            assert!(Counted::parse(bad).is_err(), "{bad}");
        }
    }
}
