//! hey: Go, flags.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Protocol},
    shop::Shop,
    text::number_after,
};

#[derive(Debug)]
pub(super) struct Hey;

impl Adapter for Hey {
    fn name(&self) -> &'static str {
        "hey"
    }

    fn about(&self) -> &'static str {
        "Go; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.go("hey", "github.com/rakyll/hey", "v0.1.5")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: true, scripts: false }.enough_for(job)?;
        let users = job.load.users();
        let mut command = Command::new(&program.path);
        command.args(["-z", &format!("{}s", job.seconds), "-c", &users.to_string(), "-t", "30"]);
        if let Some(rate) = job.load.rate() {
            // For each worker.
            command.args(["-q", &(rate as f64 / users as f64).to_string()]);
        }
        if job.protocol == Protocol::Http2 {
            command.arg("-h2");
        }
        if job.protocol.scheme() == "https" {
            // In TLS it asks for a server by its `Host`, port and all: no name, and a server may refuse it.
            command.args(["-host", "localhost"]);
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let text = &output.stdout;
        // Newer versions print `50%% in 0.0107 secs`.
        let percentile = |share: &str| {
            let seconds =
                number_after(text, &format!("{share}%% in")).or_else(|| number_after(text, &format!("{share}% in")));
            seconds.map(|seconds| seconds * 1e3)
        };
        let statuses = text.lines().filter_map(|line| line.trim().strip_prefix('[')?.split_once(']'));
        let counts: Vec<(&str, f64)> = statuses
            .filter_map(|(code, rest)| Some((code, rest.trim().strip_suffix(" responses")?.parse().ok()?)))
            .collect();
        let all: f64 = counts.iter().map(|(_, count)| count).sum();
        let good: f64 = counts.iter().filter(|(code, _)| *code == "200").map(|(_, count)| count).sum();
        Some(Claim {
            requests: (!counts.is_empty()).then_some(all),
            rps: Some(number_after(text, "Requests/sec:")?),
            errors: (!counts.is_empty()).then_some(all - good),
            mean: number_after(text, "Average:").map(|seconds| seconds * 1e3),
            p50: percentile("50"),
            p90: percentile("90"),
            p95: percentile("95"),
            p99: percentile("99"),
            p999: None,
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "a rate is split over workers that all begin together: requests come in bursts",
            "in TLS it adds the port to the server's name, which our server refuses: it is given a host without one",
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Hey.claim(&job(), &printed(include_str!("../recorded/hey.txt"))),
            "requests=3355 rps=1655.571 errors=0 mean_ms=11.6 p50_ms=10.7 p90_ms=13.6 p95_ms=16.1 p99_ms=30",
        );
    }
}
