//! tropel: Rust, runs k6 scripts among others; at most 4,096 users.

use std::process::Command;

use anyhow::Result;

use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    script::{SUMMARY, k6_script},
    shop::Shop,
    text::{at, json},
};

#[derive(Debug)]
pub(super) struct Tropel;

impl Adapter for Tropel {
    fn name(&self) -> &'static str {
        "tropel"
    }

    fn about(&self) -> &'static str {
        "Rust; JavaScript, k6's scripts"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.cargo("tropel", "0.6.0", "tropel")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        if job.load.users() > USERS_MAX {
            return Err("has at most 4,096 users");
        }
        let mut command = Command::new(&program.path);
        command.args(["run", "--summary-export", SUMMARY, "script.js"]);
        Ok(Run::new(command).file("script.js", k6_script(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let summary = json(&output.file(SUMMARY))?;
        let latency =
            |field: &str| summary.get("metrics")?.get("http_req_duration")?.get("values")?.get(field)?.as_f64();
        let requests = at(&summary, "/state/http_reqs")?;
        Some(Claim {
            requests: Some(requests),
            rps: at(&summary, "/state/testRunDurationMs").map(|milliseconds| requests / (milliseconds / 1e3)),
            errors: None,
            mean: latency("avg"),
            p50: latency("med"),
            p90: latency("p(90)"),
            p95: latency("p(95)"),
            p99: latency("p(99)"),
            p999: None,
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["its time has its start in it, and so its rate"]
    }
}

const USERS_MAX: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote(SUMMARY, include_str!("../recorded/tropel.txt"));
        check(
            Tropel.claim(&job(), &output),
            "requests=1140 rps=327.586 mean_ms=20.362 p50_ms=15.567 p90_ms=36.447 p95_ms=50.431 p99_ms=90.431",
        );
    }
}
