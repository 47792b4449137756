//! The Grinder: Java, scripts in Jython, last released in 2012.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::packages::find;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Step},
    shop::{Artifact, Shop},
    text::number,
};

#[derive(Debug)]
pub(super) struct Grinder;

impl Adapter for Grinder {
    fn name(&self) -> &'static str {
        "grinder"
    }

    fn about(&self) -> &'static str {
        "Java; Jython"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        let program = shop.maven("grinder", VERSION, &[GRINDER])?;
        let mut compile = Command::new(find("javac").context("javac is missing: install a JDK")?);
        compile.args(["-cp", "lib/*", "-d", "classes", "Launch.java"]);
        let files = [("Launch.java", include_str!("../tools/Launch.java"))];
        shop.built("grinder", VERSION, &files, "classes/Launch.class", compile)?;
        Ok(program)
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: false, scripts: true }.enough_for(job)?;
        let mut command = Command::new("java");
        let home = program.path.display();
        command
            .args(JAVA)
            .arg("-cp")
            .arg(format!("{home}/classes:{home}/lib/*"))
            .args(["Launch", "grinder.properties"]);
        let properties = format!(
            "grinder.script=visit.py\ngrinder.processes=1\ngrinder.threads={}\ngrinder.runs=0\ngrinder.duration={}\n\
             grinder.useConsole=false\ngrinder.logDirectory=log\ngrinder.numberOfOldLogs=0\ngrinder.jvm.arguments={}\n",
            job.load.users(),
            job.seconds * 1000,
            JAVA.join(" ")
        );
        Ok(Run::new(command).file("grinder.properties", properties).file("visit.py", script(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let log = std::fs::read_dir(output.folder.join("log")).ok()?.find_map(|entry| {
            let path = entry.ok()?.path();
            path.to_string_lossy().ends_with("-0.log").then(|| std::fs::read_to_string(path).ok())?
        })?;
        claim(&log)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "takes Java 17 for older than 6: a launcher of six lines tells it 1.8",
            "JVM: start and compilation are part of a short run",
            "prints a mean and no percentiles",
        ]
    }
}

/// `Totals   5000   0   11.2   2.1   446.3 …`: tests, errors, mean, deviation, tests a second.
fn claim(log: &str) -> Option<Claim> {
    let totals: Vec<f64> = log
        .lines()
        .find_map(|line| line.trim().strip_prefix("Totals"))?
        .split_whitespace()
        .filter_map(number)
        .collect();
    Some(Claim {
        requests: Some(*totals.first()? + totals.get(1)?),
        rps: Some(*totals.get(4)?),
        errors: totals.get(1).copied(),
        mean: totals.get(2).copied(),
        ..Claim::default()
    })
}

fn script(job: &Job) -> String {
    let steps: String = job.steps.iter().map(step).collect();
    format!(
        "from net.grinder.script import Test\nfrom net.grinder.script.Grinder import grinder\n\
         from net.grinder.plugin.http import HTTPRequest\nfrom HTTPClient import NVPair\n\n\
         base = '{}'\nrequest = HTTPRequest()\nTest(1, 'visit').record(request)\n\n\n\
         class TestRunner:\n    def __call__(self):\n{steps}",
        job.base()
    )
}

fn step(step: &Step) -> String {
    let path = step.path;
    let request = match step.form {
        None => format!("        answer = request.GET(base + '{path}')\n"),
        Some(form) => {
            format!(
                "        answer = request.POST(base + '{path}', '{form}', [NVPair('Content-Type', 'application/x-www-form-urlencoded')])\n"
            )
        }
    };
    let check = step.contains.map_or_else(String::new, |text| {
        format!("        if answer.statusCode != 200 or answer.text.find('{text}') < 0:\n            grinder.statistics.forLastTest.success = 0\n")
    });
    request + &check
}

const VERSION: &str = "3.11";
/// It looks into classes that newer JVMs close.
const JAVA: &[&str] = &[
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
];
/// Its console needs packages of Clojars.
const GRINDER: Artifact = Artifact {
    group: "net.sf.grinder",
    name: "grinder",
    version: VERSION,
    without: Some(("net.sf.grinder", "grinder-console-service")),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote("log/host-0.log", include_str!("../recorded/grinder.txt"));
        check(Grinder.claim(&job(), &output), "requests=1206 rps=578.42 errors=0 mean_ms=23.95");
    }
}
