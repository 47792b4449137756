//! drill: Rust, plans in YAML in the manner of Ansible. It counts iterations and knows no duration.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Step},
    shop::Shop,
    text::{milliseconds, number_after, word_after},
};

#[derive(Debug)]
pub(super) struct Drill;

impl Adapter for Drill {
    fn name(&self) -> &'static str {
        "drill"
    }

    fn about(&self) -> &'static str {
        "Rust; YAML"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.cargo("drill", "0.9.1", "drill")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: false, scripts: true }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["--benchmark", "plan.yml", "--stats", "--quiet", "--timeout", "30", "--no-check-certificate"]);
        Ok(Run::new(command).file("plan.yml", plan(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        claim(&output.stdout)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["does a number of iterations and has no duration: about as many as fit", "checks statuses, not bodies"]
    }
}

fn claim(text: &str) -> Option<Claim> {
    // Lines of a single request begin with its name, those of all with what they say.
    let latency = |label: &str| word_after(text, label).and_then(|word| milliseconds(&word));
    Some(Claim {
        requests: number_after(text, "Total requests"),
        rps: Some(number_after(text, "Requests per second")?),
        errors: number_after(text, "Failed requests"),
        mean: latency("Average time per request"),
        p50: latency("Median time per request"),
        p90: None,
        p95: None,
        p99: latency("99.0'th percentile"),
        p999: latency("99.9'th percentile"),
    })
}

fn plan(job: &Job) -> String {
    let users = job.load.users();
    // A user's iteration takes the delay of each answer, and what the tool can do at most.
    let by_delay = users * job.seconds * 1000 / (job.delay_ms * job.steps.len() as u64 + 1);
    let iterations = by_delay.min(job.seconds * ITERATIONS_A_SECOND / job.steps.len() as u64).max(users);
    let steps: String = job.steps.iter().map(step).collect();
    format!("concurrency: {users}\nbase: {}\niterations: {iterations}\nrampup: 0\nplan:\n{steps}", job.base())
}

fn step(step: &Step) -> String {
    let body = step.form.map_or_else(String::new, |form| {
        format!("      method: POST\n      body: {form}\n      headers:\n        Content-Type: application/x-www-form-urlencoded\n")
    });
    let check = if step.contains.is_some() {
        "    assign: answer\n  - name: status\n    assert:\n      key: answer.status\n      value: 200\n"
    } else {
        ""
    };
    format!("  - name: {path}\n    request:\n      url: {path}\n{body}{check}", path = step.path)
}

/// About what it reaches without a delay.
const ITERATIONS_A_SECOND: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Drill.claim(&job(), &printed(include_str!("../recorded/drill.txt"))),
            "requests=2000 rps=891.06 errors=0 mean_ms=21 p50_ms=16 p99_ms=80 p999_ms=93",
        );
    }
}
