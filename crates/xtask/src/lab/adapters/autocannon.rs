//! autocannon: JavaScript on Node, one thread.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    shop::Shop,
    text::{at, json},
};

#[derive(Debug)]
pub(super) struct Autocannon;

impl Adapter for Autocannon {
    fn name(&self) -> &'static str {
        "autocannon"
    }

    fn about(&self) -> &'static str {
        "JavaScript; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.npm("autocannon", "9.0.0", "autocannon/autocannon.js")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: false }.enough_for(job)?;
        let mut command = Command::new("node");
        command.arg(&program.path).args(["-j", "-t", "30"]);
        command.args(["-c", &job.load.users().to_string(), "-d", &job.seconds.to_string()]);
        if let Some(rate) = job.load.rate() {
            command.args(["-R", &rate.to_string()]);
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.stdout)?;
        let count = |name: &str| at(&report, &format!("/{name}"));
        let bad = ["errors", "timeouts", "non2xx"].iter().filter_map(|name| count(name)).sum::<f64>();
        Some(Claim {
            requests: at(&report, "/requests/total"),
            rps: Some(at(&report, "/requests/average")?),
            errors: Some(bad),
            mean: at(&report, "/latency/mean"),
            p50: at(&report, "/latency/p50"),
            p90: at(&report, "/latency/p90"),
            p95: None,
            p99: at(&report, "/latency/p99"),
            p999: at(&report, "/latency/p99_9"),
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["one thread", "latencies in whole milliseconds", "no 95 %"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Autocannon.claim(&job(), &printed(include_str!("../recorded/autocannon.txt"))),
            "requests=2612 rps=1306 errors=0 mean_ms=14.82 p50_ms=11 p90_ms=24 p99_ms=49 p999_ms=67",
        );
    }
}
