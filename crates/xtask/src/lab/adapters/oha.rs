//! oha: Rust on hyper and tokio.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Protocol},
    shop::Shop,
    text::{at, json},
};

#[derive(Debug)]
pub(super) struct Oha;

impl Adapter for Oha {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn about(&self) -> &'static str {
        "Rust; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.cargo("oha", "1.16.0", "oha")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["--no-tui", "--insecure", "--output-format", "json"]);
        command.args(["-c", &job.load.users().to_string(), "-z", &format!("{}s", job.seconds)]);
        if let Some(rate) = job.load.rate() {
            command.args(["-q", &rate.to_string(), "--latency-correction"]);
        }
        if job.protocol == Protocol::Http2 {
            command.arg("--http2");
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.stdout)?;
        let percentile = |name: &str| report["latencyPercentiles"][name].as_f64().map(|seconds| seconds * 1e3);
        let statuses = report["statusCodeDistribution"].as_object();
        let all: f64 =
            statuses.into_iter().flat_map(|statuses| statuses.values()).filter_map(|count| count.as_f64()).sum();
        let good = at(&report, "/statusCodeDistribution/200").unwrap_or(0.0);
        Some(Claim {
            requests: Some(all),
            rps: Some(at(&report, "/summary/requestsPerSec")?),
            errors: Some(all - good),
            mean: at(&report, "/summary/average").map(|seconds| seconds * 1e3),
            p50: percentile("p50"),
            p90: percentile("p90"),
            p95: percentile("p95"),
            p99: percentile("p99"),
            p999: percentile("p99.9"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Oha.claim(&job(), &printed(include_str!("../recorded/oha.txt"))),
            "requests=2000 rps=997.685 errors=0 mean_ms=19.847 p50_ms=14.238 p90_ms=37.853 p95_ms=44.136 p99_ms=56.19 p999_ms=57.571",
        );
    }
}
