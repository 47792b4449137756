//! Onrush: `onrush http`, and the script that k6 runs as well.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::{
    bench::tool,
    lab::{
        adapter::{Adapter, Claim, Output, Program, Run},
        job::{Job, Load},
        script::{SUMMARY, TREND_STATS, k6_script, k6_summary},
        shop::Shop,
    },
};

#[derive(Debug)]
pub(super) struct OnrushHttp;

impl Adapter for OnrushHttp {
    fn name(&self) -> &'static str {
        "onrush-http"
    }

    fn about(&self) -> &'static str {
        "Rust; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        Ok(program(shop))
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["http", "--quiet", "--insecure-skip-tls-verify", "--summary-export", SUMMARY]);
        command.args(["--connections", &job.load.users().to_string(), "--duration", &format!("{}s", job.seconds)]);
        if let Some(rate) = job.load.rate() {
            command.args(["--rate", &rate.to_string()]);
        }
        command.arg(job.url()).env("K6_SUMMARY_TREND_STATS", TREND_STATS);
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        k6_summary(&output.file(SUMMARY))
    }
}

#[derive(Debug)]
pub(super) struct OnrushScript;

impl Adapter for OnrushScript {
    fn name(&self) -> &'static str {
        "onrush"
    }

    fn about(&self) -> &'static str {
        "Rust; JavaScript, k6's scripts"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        Ok(program(shop))
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        let mut command = Command::new(&program.path);
        command.args(["run", "--quiet", "--address", ""]);
        command.args(["--summary-trend-stats", TREND_STATS, "--summary-export", SUMMARY]);
        if matches!(job.load, Load::Open { .. }) {
            command.arg("--intended-latency");
        }
        command.arg("script.js");
        Ok(Run::new(command).file("script.js", k6_script(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        k6_summary(&output.file(SUMMARY))
    }
}

fn program(shop: &Shop) -> Program {
    let version = tool::version(&shop.onrush, "version");
    Program { path: shop.onrush.clone(), version, installed_by: "cargo build --release --package onrush".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote(SUMMARY, include_str!("../recorded/onrush-rate.txt"));
        check(
            OnrushHttp.claim(&job(), &output),
            "requests=1000 rps=497.736 errors=0 mean_ms=10.964 p50_ms=10.221 p90_ms=12.225 p95_ms=14.145",
        );
        check(
            OnrushScript.claim(&job(), &output),
            "requests=1000 rps=497.736 errors=0 mean_ms=10.964 p50_ms=10.221 p90_ms=12.225 p95_ms=14.145",
        );
    }
}
