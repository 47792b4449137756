//! wrk2: wrk with a rate and latencies from the intended start. In no registry: found in PATH if somebody built it.

use std::process::Command;

use anyhow::Result;

use super::{reason::Has, wrk};
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Load},
    shop::Shop,
};

#[derive(Debug)]
pub(super) struct Wrk2;

impl Adapter for Wrk2 {
    fn name(&self) -> &'static str {
        "wrk2"
    }

    fn about(&self) -> &'static str {
        "C; flags, Lua"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.only_in_path("wrk2", "-v", "no package registry has it (looked for in Debian, npm, PyPI and crates.io); build it and put it in PATH as wrk2")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: false }.enough_for(job)?;
        let Load::Open { rate, users } = job.load else { return Err("needs a rate") };
        let mut command = Command::new(&program.path);
        command.args(["-t2", "--latency"]).arg(format!("-c{users}")).arg(format!("-R{rate}"));
        command.arg(format!("-d{}s", job.seconds)).arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        wrk::claim(&output.stdout)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["spends its first ten seconds on calibration"]
    }
}
