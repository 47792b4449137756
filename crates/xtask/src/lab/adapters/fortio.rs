//! fortio: Go, from Istio; a histogram, rates with and without catching up.

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
pub(super) struct Fortio;

impl Adapter for Fortio {
    fn name(&self) -> &'static str {
        "fortio"
    }

    fn about(&self) -> &'static str {
        "Go; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.go("fortio", "fortio.org/fortio", "v1.66.5")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["load", "-loglevel", "error", "-k", "-timeout", "30s", "-p", "50,90,95,99,99.9", "-json", "-"]);
        command.args(["-c", &job.load.users().to_string(), "-t", &format!("{}s", job.seconds)]);
        match job.load.rate() {
            Some(rate) => command.args(["-uniform", "-qps", &rate.to_string()]),
            None => command.args(["-qps", "0"]),
        };
        if job.protocol == Protocol::Http2 {
            command.arg("-h2");
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.stdout)?;
        let durations = report.get("DurationHistogram")?;
        let percentile = |share: f64| {
            let found =
                durations["Percentiles"].as_array()?.iter().find(|one| one["Percentile"].as_f64() == Some(share))?;
            Some(at(found, "/Value")? * 1e3)
        };
        let requests = at(durations, "/Count");
        let good = at(&report, "/RetCodes/200").unwrap_or(0.0);
        Some(Claim {
            requests,
            rps: Some(at(&report, "/ActualQPS")?),
            errors: requests.map(|requests| requests - good),
            mean: at(durations, "/Avg").map(|seconds| seconds * 1e3),
            p50: percentile(50.0),
            p90: percentile(90.0),
            p95: percentile(95.0),
            p99: percentile(99.0),
            p999: percentile(99.9),
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["v1.75.3, its latest, cannot be installed: the module proxy lacks one of its dependencies"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Fortio.claim(&job(), &printed(include_str!("../recorded/fortio.txt"))),
            "requests=3127 rps=1557.005 errors=0 mean_ms=12.842 p50_ms=10.766 p90_ms=17.091 p95_ms=22.697 p99_ms=36.243 p999_ms=86.958",
        );
    }
}
