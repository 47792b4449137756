//! ApacheBench: C, one thread, HTTP/1.0 with keep-alive.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::Job,
    shop::Shop,
    text::number_after,
};

#[derive(Debug)]
pub(super) struct Ab;

impl Adapter for Ab {
    fn name(&self) -> &'static str {
        "ab"
    }

    fn about(&self) -> &'static str {
        "C; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.debian("ab", "apache2-utils", "-V")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: false, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["-q", "-k", "-c", &job.load.users().to_string(), "-t", &job.seconds.to_string()]);
        command.args(["-n", REQUESTS_MAX]).arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let text = &output.stdout;
        Some(Claim {
            requests: number_after(text, "Complete requests:"),
            rps: Some(number_after(text, "Requests per second:")?),
            errors: number_after(text, "Failed requests:"),
            // The first of two lines that begin alike.
            mean: number_after(text, "Time per request:"),
            p50: number_after(text, "50%"),
            p90: number_after(text, "90%"),
            p95: number_after(text, "95%"),
            p99: number_after(text, "99%"),
            p999: None,
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["one thread", "HTTP/1.0", "percentiles in whole milliseconds"]
    }
}

/// `-t` alone stops after 50,000; memory for all is allotted, and used as they come.
const REQUESTS_MAX: &str = "10000000";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Ab.claim(&job(), &printed(include_str!("../recorded/ab.txt"))),
            "requests=1811 rps=901.71 errors=0 mean_ms=22.18 p50_ms=18 p90_ms=40 p95_ms=44 p99_ms=52",
        );
    }
}
