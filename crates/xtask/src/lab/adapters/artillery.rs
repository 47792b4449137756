//! Artillery: JavaScript on Node, scenarios in YAML. A user is somebody who arrives; one who goes on until time is up
//! needs a function.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Load, Step},
    shop::Shop,
    text::{at, json},
};

#[derive(Debug)]
pub(super) struct Artillery;

impl Adapter for Artillery {
    fn name(&self) -> &'static str {
        "artillery"
    }

    fn about(&self) -> &'static str {
        "JavaScript; YAML, JavaScript"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.npm("artillery", "2.0.21", "artillery/bin/run")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: true }.enough_for(job)?;
        let mut command = Command::new("node");
        command.arg(&program.path).args(["run", "--quiet", "--output", "report.json", "scenario.yml"]);
        // Telemetry needs the Internet.
        command.env("ARTILLERY_DISABLE_TELEMETRY", "true");
        Ok(Run::new(command).file("scenario.yml", scenario(job)).file("time.js", processor(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let report = json(&output.file("report.json"))?;
        let counter = |name: &str| report["aggregate"]["counters"][name].as_f64();
        let latency = |name: &str| report["aggregate"]["summaries"]["http.response_time"][name].as_f64();
        let requests = counter("http.requests")?;
        let span = at(&report, "/aggregate/lastMetricAt").zip(at(&report, "/aggregate/firstMetricAt"));
        let bad: f64 = report["aggregate"]["counters"].as_object().map_or(0.0, |counters| {
            counters
                .iter()
                .filter(|(name, _)| name.starts_with("errors."))
                .filter_map(|(_, count)| count.as_f64())
                .fold(0.0, |sum, count| sum + count)
        });
        Some(Claim {
            requests: Some(requests),
            rps: span.map(|(last, first)| requests / ((last - first) / 1e3)).filter(|rate| rate.is_finite()),
            errors: Some(bad),
            mean: latency("mean"),
            p50: latency("p50"),
            p90: latency("p90"),
            p95: latency("p95"),
            p99: latency("p99"),
            p999: latency("p999"),
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "one process",
            "checks a text in the body and not the status",
            "its rate is of the last ten seconds: here its count by the time between its first and last metric",
        ]
    }
}

fn scenario(job: &Job) -> String {
    let (phase, indent) = match job.load {
        Load::Closed { users } => (format!("duration: 1\n      arrivalCount: {users}"), "          "),
        Load::Open { rate, .. } => (format!("duration: {}\n      arrivalRate: {rate}", job.seconds), "      "),
    };
    let steps: String = job.steps.iter().map(|step| request(step, indent)).collect();
    let flow = match job.load {
        Load::Closed { .. } => format!("      - loop:\n{steps}        whileTrue: isTime\n"),
        Load::Open { .. } => steps,
    };
    format!(
        "config:\n  target: {}\n  processor: ./time.js\n  http:\n    timeout: 30\n    pool: {}\n  tls:\n    rejectUnauthorized: false\n  \
         phases:\n    - {phase}\nscenarios:\n  - flow:\n{flow}",
        job.base(),
        job.load.users()
    )
}

fn request(step: &Step, indent: &str) -> String {
    let (method, body) = match step.form {
        None => ("get", String::new()),
        Some(form) => (
            "post",
            format!(
                "{indent}    body: {form}\n{indent}    headers:\n{indent}      content-type: application/x-www-form-urlencoded\n"
            ),
        ),
    };
    let checks = step.contains.map_or_else(String::new, |text| {
        format!("{indent}    match:\n{indent}      regexp: {text}\n{indent}      value: {text}\n")
    });
    format!("{indent}- {method}:\n{indent}    url: {}\n{body}{checks}", step.path)
}

fn processor(job: &Job) -> String {
    format!(
        "const until = Date.now() + {} * 1000;\n\
         module.exports = {{ isTime: (context, next) => next(Date.now() < until) }};\n",
        job.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote("report.json", include_str!("../recorded/artillery.txt"));
        check(
            Artillery.claim(&job(), &output),
            "requests=560 rps=55.838 errors=0 mean_ms=106.3 p50_ms=85.6 p90_ms=214.9 p95_ms=257.3 p99_ms=340.4 p999_ms=415.8",
        );
    }
}
