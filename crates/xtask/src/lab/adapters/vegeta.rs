//! vegeta: Go, made for rates; a rate of 0 with a number of workers is as fast as they can.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    cell::REPORT,
    job::{Job, Protocol},
    shop::Shop,
    text::{at, json},
};

#[derive(Debug)]
pub(super) struct Vegeta;

impl Adapter for Vegeta {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn about(&self) -> &'static str {
        "Go; flags, lists of targets"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.go("vegeta", "github.com/tsenart/vegeta/v12", "v12.13.0")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let users = job.load.users().to_string();
        let mut command = Command::new(&program.path);
        command.args(["attack", "-targets=targets", "-output=results", "-insecure", "-timeout=30s"]);
        command.arg(format!("-duration={}s", job.seconds)).arg(format!("-rate={}", job.load.rate().unwrap_or(0)));
        command.arg(format!("-workers={users}")).arg(format!("-connections={users}"));
        if job.load.rate().is_none() {
            command.arg(format!("-max-workers={users}"));
        }
        command.arg(format!("-http2={}", job.protocol == Protocol::Http2));
        let mut after = Command::new(&program.path);
        after.args(["report", "-type=json", "results"]);
        Ok(Run::new(command).file("targets", format!("GET {}\n", job.url())).after(after))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        // Printed by the report, which is made afterwards.
        let report = json(&output.stdout).or_else(|| json(&output.file(REPORT)))?;
        let latency = |path: &str| at(&report, &format!("/latencies/{path}")).map(|nanoseconds| nanoseconds / 1e6);
        let requests = at(&report, "/requests")?;
        Some(Claim {
            requests: Some(requests),
            rps: at(&report, "/rate"),
            errors: at(&report, "/success").map(|share| (requests * (1.0 - share)).round()),
            mean: latency("mean"),
            p50: latency("50th"),
            p90: latency("90th"),
            p95: latency("95th"),
            p99: latency("99th"),
            p999: None,
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["encodes every result to a file; its report is made afterwards and not measured"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Vegeta.claim(&job(), &printed(include_str!("../recorded/vegeta.txt"))),
            "requests=3141 rps=1568.812 errors=0 mean_ms=12.487 p50_ms=10.577 p90_ms=15.007 p95_ms=23.114 p99_ms=43.859",
        );
    }
}
