//! wrk: C, an event loop a thread, scripts in Lua (not used here).

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    shop::Shop,
    text::{milliseconds, number_after, word_after},
};

#[derive(Debug)]
pub(super) struct Wrk;

impl Adapter for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn about(&self) -> &'static str {
        "C; flags, Lua"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.debian("wrk", "wrk", "-v")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: false, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        let users = job.load.users();
        command.arg(format!("-t{}", users.min(THREADS))).arg(format!("-c{users}"));
        command.arg(format!("-d{}s", job.seconds)).args(["--timeout", "30s", "--latency"]).arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        claim(&output.stdout)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["the first line of its percentiles is 50 %, the last 99 %: no 95 and no 99.9"]
    }
}

/// wrk2 prints the same and more percentiles.
pub(super) fn claim(text: &str) -> Option<Claim> {
    let latency = |label: &str| word_after(text, label).and_then(|word| milliseconds(&word));
    let requests = text.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok());
    let errors =
        text.lines().find_map(|line| line.trim().strip_prefix("Non-2xx or 3xx responses:")?.trim().parse().ok());
    Some(Claim {
        requests,
        rps: Some(number_after(text, "Requests/sec:")?),
        errors: errors.or(Some(0.0)),
        mean: latency("Latency  "),
        p50: latency("50%").or_else(|| latency("50.000%")),
        p90: latency("90%").or_else(|| latency("90.000%")),
        p95: None,
        p99: latency("99%").or_else(|| latency("99.000%")),
        p999: latency("99.900%"),
    })
}

/// The number of users is split over so many, which are enough for the CPUs of this lab's machines.
const THREADS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Wrk.claim(&job(), &printed(include_str!("../recorded/wrk.txt"))),
            "requests=2780 rps=1356.2 errors=0 mean_ms=14.59 p50_ms=12.03 p90_ms=23.81 p99_ms=31.28",
        );
    }
}
