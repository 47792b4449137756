//! Tsung: Erlang, sessions in XML; users arrive, and go on until time is up.

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
pub(super) struct Tsung;

impl Adapter for Tsung {
    fn name(&self) -> &'static str {
        "tsung"
    }

    fn about(&self) -> &'static str {
        "Erlang; XML"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.debian("tsung", "tsung", "-v")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: true }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        command.args(["-I", "127.0.0.1", "-f", "tsung.xml", "-l", "log", "-n", "start"]);
        Ok(Run::new(command).file("tsung.xml", settings(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let log = std::fs::read_dir(output.folder.join("log"))
            .ok()?
            .find_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("tsung.log")).ok())?;
        claim(&log)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "its figures come every ten seconds: of a shorter run only the last mean",
            "prints no percentiles",
            "users begin within half a second, since they arrive",
        ]
    }
}

/// `stats: request 12190 10.3 0.4 25.1 10.1 0 0`: count, mean, … of an interval; then the mean and count of those before.
fn claim(log: &str) -> Option<Claim> {
    let request: Vec<Vec<f64>> = log
        .lines()
        .filter_map(|line| line.strip_prefix("stats: request "))
        .map(|rest| rest.split_whitespace().filter_map(number).collect())
        .collect();
    let last = request.last()?;
    let (count, mean) = (*last.first()?, *last.get(1)?);
    let (mean_before, before) = (last.get(5).copied().unwrap_or(0.0), last.get(6).copied().unwrap_or(0.0));
    let all = count + before;
    Some(Claim {
        requests: Some(all),
        mean: (all > 0.0).then(|| (mean * count + mean_before * before) / all),
        ..Claim::default()
    })
}

fn settings(job: &Job) -> String {
    let kind = if job.protocol == Protocol::Https { "ssl" } else { "tcp" };
    let steps: String = job.steps.iter().map(step).collect();
    let (arrivals, flow) = match job.load {
        Load::Closed { users } => (
            format!(
                "<arrivalphase phase=\"1\" duration=\"{}\" unit=\"second\"><users maxnumber=\"{users}\" interarrival=\"{:.6}\" unit=\"second\"/>",
                job.seconds,
                0.5 / users as f64
            ),
            format!("<for from=\"1\" to=\"100000000\" var=\"i\">{steps}</for>"),
        ),
        Load::Open { rate, .. } => (
            format!(
                "<arrivalphase phase=\"1\" duration=\"{}\" unit=\"second\"><users arrivalrate=\"{rate}\" unit=\"second\"/>",
                job.seconds
            ),
            steps,
        ),
    };
    format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE tsung SYSTEM \"/usr/share/tsung/tsung-1.0.dtd\">\n<tsung loglevel=\"error\">\n\
         <clients><client host=\"localhost\" use_controller_vm=\"true\" maxusers=\"40000\"/></clients>\n\
         <servers><server host=\"{}\" port=\"{}\" type=\"{kind}\"/></servers>\n\
         <load duration=\"{}\" unit=\"second\">{arrivals}</arrivalphase></load>\n\
         <sessions><session name=\"lab\" probability=\"100\" type=\"ts_http\">{flow}</session></sessions>\n</tsung>\n",
        job.address.ip(),
        job.address.port(),
        job.seconds
    )
}

fn step(step: &Step) -> String {
    let check =
        step.contains.map_or_else(String::new, |text| format!("<match do=\"abort\" when=\"nomatch\">{text}</match>"));
    let (method, body) = match step.form {
        None => ("GET", String::new()),
        Some(form) => (
            "POST",
            format!(" contents=\"{}\" content_type=\"application/x-www-form-urlencoded\"", form.replace('&', "&amp;")),
        ),
    };
    format!("<request>{check}<http url=\"{}\" method=\"{method}\" version=\"1.1\"{body}/></request>", step.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote("log/20261124-0900/tsung.log", include_str!("../recorded/tsung.txt"));
        check(Tsung.claim(&job(), &output), "requests=428 mean_ms=24.065");
    }
}
