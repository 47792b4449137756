//! Locust: Python, users as classes; once with its `requests` client and once with `FastHttpUser`. One process.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Load, Protocol, Step},
    shop::Shop,
    text::number,
};

#[derive(Debug)]
pub(super) struct Locust {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
}

impl Adapter for Locust {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Python; Python"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.pip("locust", "2.47.0")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: true }.enough_for(job)?;
        let users = job.load.users().to_string();
        let mut command = Command::new(&program.path);
        command.args(["-f", "locustfile.py", "--headless", "--only-summary", "--csv", "report", "--loglevel", "ERROR"]);
        command.args(["-u", &users, "-r", &users, "-t", &format!("{}s", job.seconds), "-H", &job.base()]);
        Ok(Run::new(command).file("locustfile.py", self.script(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let csv = output.file("report_stats.csv");
        let mut lines = csv.lines();
        let names: Vec<&str> = lines.next()?.split(',').collect();
        let total: Vec<&str> = lines.find(|line| line.starts_with(",Aggregated"))?.split(',').collect();
        let value = |name: &str| number(total.get(names.iter().position(|known| *known == name)?)?);
        Some(Claim {
            requests: value("Request Count"),
            rps: Some(value("Requests/s")?),
            errors: value("Failure Count"),
            mean: value("Average Response Time"),
            p50: value("50%"),
            p90: value("90%"),
            p95: value("95%"),
            p99: value("99%"),
            p999: value("99.9%"),
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["one process, as it starts by itself", "a rate is a pause for each user", "percentiles in whole milliseconds"]
    }
}

impl Locust {
    fn script(&self, job: &Job) -> String {
        let wait = match job.load {
            Load::Closed { .. } => "constant(0)".to_owned(),
            Load::Open { rate, users } => format!("constant_throughput({})", rate as f64 / users as f64),
        };
        let is_fast = self.class == "FastHttpUser";
        // The plain client asks for trust each time; the fast one trusts by default.
        let trust = if job.protocol == Protocol::Https && !is_fast { ", verify=False" } else { "" };
        let steps: String = job.steps.iter().map(|step| request(step, trust)).collect();
        format!(
            "from locust import {class}, constant, constant_throughput, task\n\n\n\
             class Visitor({class}):\n    wait_time = {wait}\n\n    @task\n    def visit(self):\n{steps}",
            class = self.class
        )
    }
}

fn request(step: &Step, trust: &str) -> String {
    let path = step.path;
    let call = match step.form {
        None => format!("self.client.get('{path}'{trust}"),
        Some(form) => format!(
            "self.client.post('{path}', data='{form}', headers={{'Content-Type': 'application/x-www-form-urlencoded'}}{trust}"
        ),
    };
    match step.contains {
        None => format!("        {call})\n"),
        Some(text) => format!(
            "        with {call}, catch_response=True) as response:\n            \
             if response.status_code != 200 or '{text}' not in response.text:\n                response.failure('check')\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote("report_stats.csv", include_str!("../recorded/locust.txt"));
        check(
            Locust { name: "locust", class: "HttpUser" }.claim(&job(), &output),
            "requests=882 rps=168.39 errors=0 mean_ms=73.936 p50_ms=62 p90_ms=140 p95_ms=170 p99_ms=420 p999_ms=630",
        );
    }
}
