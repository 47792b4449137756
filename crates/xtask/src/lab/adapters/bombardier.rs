//! bombardier: Go, on fasthttp for HTTP/1.1 and net/http for HTTP/2.

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
pub(super) struct Bombardier;

impl Adapter for Bombardier {
    fn name(&self) -> &'static str {
        "bombardier"
    }

    fn about(&self) -> &'static str {
        "Go; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.go("bombardier", "github.com/codesenberg/bombardier", "v1.2.6")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["-c", &job.load.users().to_string(), "-d", &format!("{}s", job.seconds)]);
        command.args(["-t", "30s", "-l", "-k", "-p", "r", "-o", "json"]);
        if let Some(rate) = job.load.rate() {
            command.args(["-r", &rate.to_string()]);
        }
        if job.protocol == Protocol::Http2 {
            command.arg("--http2");
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.stdout)?;
        let count = |name: &str| at(&report, &format!("/result/{name}"));
        let good = count("req2xx")?;
        let bad = ["req1xx", "req3xx", "req4xx", "req5xx", "others"].iter().filter_map(|name| count(name)).sum::<f64>();
        let latency =
            |path: &str| at(&report, &format!("/result/latency/{path}")).map(|microseconds| microseconds / 1e3);
        Some(Claim {
            requests: Some(good + bad),
            rps: count("timeTakenSeconds").map(|seconds| (good + bad) / seconds),
            errors: Some(bad),
            mean: latency("mean"),
            p50: latency("percentiles/50"),
            p90: latency("percentiles/90"),
            p95: latency("percentiles/95"),
            p99: latency("percentiles/99"),
            p999: None,
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
            Bombardier.claim(&job(), &printed(include_str!("../recorded/bombardier.txt"))),
            "requests=2714 rps=1350.095 errors=0 mean_ms=14.782 p50_ms=10.564 p90_ms=28.146 p95_ms=39.706 p99_ms=49.383",
        );
    }
}
