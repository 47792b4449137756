//! Siege: C, a thread a user, 255 users unless its settings say otherwise.

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
pub(super) struct Siege;

impl Adapter for Siege {
    fn name(&self) -> &'static str {
        "siege"
    }

    fn about(&self) -> &'static str {
        "C; flags, lists of addresses"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.debian("siege", "siege", "--version")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: false, scripts: false }.enough_for(job)?;
        if job.load.users() > USERS_MAX {
            return Err("has at most 255 users by default");
        }
        let mut command = Command::new(&program.path);
        // It would make a folder of settings there.
        command.env("HOME", ".");
        command.args(["-R", "siegerc", "-b", "-c", &job.load.users().to_string()]);
        command.arg("-t").arg(format!("{}S", job.seconds)).arg(job.url());
        Ok(Run::new(command).file("siegerc", SETTINGS))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.stdout)?;
        let good = at(&report, "/transactions")?;
        let bad = at(&report, "/failed_transactions");
        Some(Claim {
            requests: Some(good + bad.unwrap_or(0.0)),
            rps: at(&report, "/transaction_rate"),
            errors: bad,
            mean: at(&report, "/response_time").map(|seconds| seconds * 1e3),
            ..Claim::default()
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["latencies in steps of 10 ms", "prints a mean and no percentiles", "255 users at most by default"]
    }
}

const USERS_MAX: u64 = 255;
const SETTINGS: &str = "\
verbose = false
quiet = true
json_output = true
show-logfile = false
logging = false
protocol = HTTP/1.1
chunked = true
cache = false
connection = keep-alive
parser = false
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Siege.claim(&job(), &printed(include_str!("../recorded/siege.txt"))),
            "requests=2030 rps=1068.42 errors=0 mean_ms=20",
        );
    }
}
