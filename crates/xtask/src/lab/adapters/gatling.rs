//! Gatling: Scala on the JVM, simulations in Java. Its simulation is compiled once; its report is made afterwards.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::packages::find;

use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    cell::REPORT,
    job::{Job, Protocol},
    shop::{Artifact, Shop},
    text::number,
};

#[derive(Debug)]
pub(super) struct Gatling;

impl Adapter for Gatling {
    fn name(&self) -> &'static str {
        "gatling"
    }

    fn about(&self) -> &'static str {
        "Scala; Java, Scala"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        let program = shop.maven("gatling", VERSION, &[CHARTS])?;
        let mut compile = Command::new(find("javac").context("javac is missing: install a JDK")?);
        compile.args(["-cp", "lib/*", "-d", "classes", "Peer.java"]);
        let files = [("Peer.java", include_str!("../tools/Peer.java")), ("classes/logback.xml", LOGBACK)];
        shop.built("gatling", VERSION, &files, "classes/Peer.class", compile)?;
        Ok(program)
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        let java = |more: &[&str]| {
            let home = program.path.display();
            let mut command = Command::new("java");
            command.args(["-XX:+UseG1GC", "-Xms512m", "-Xmx2g", "--add-opens=java.base/java.lang=ALL-UNNAMED"]);
            command.args(["--enable-native-access=ALL-UNNAMED"]);
            command
                .arg(format!("-Dusers={}", job.load.users()))
                .arg(format!("-Drate={}", job.load.rate().unwrap_or(0)));
            command.arg(format!("-Dseconds={}", job.seconds)).arg(format!("-Dbase={}", job.base()));
            command.arg(format!("-Dhttp2={}", job.protocol == Protocol::Http2));
            let steps: Vec<String> = job
                .steps
                .iter()
                .map(|step| format!("{}\t{}\t{}", step.path, step.form.unwrap_or(""), step.contains.unwrap_or("")))
                .collect();
            command.arg(format!("-Dsteps={}", steps.join("\n")));
            command.arg("-cp").arg(format!("{home}/classes:{home}/lib/*")).arg("io.gatling.app.Gatling").args(more);
            command
        };
        let mut after = Command::new("sh");
        after.arg("-c").arg(format!(
            "cd results && exec java --add-opens=java.base/java.lang=ALL-UNNAMED -cp '{home}/classes:{home}/lib/*' io.gatling.app.Gatling -ro \"$(ls)\" -rf .",
            home = program.path.display()
        ));
        Ok(Run::new(java(&["-s", "Peer", "-rf", "results", "-nr"])).after(after))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        claim(&output.file(REPORT))
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["JVM: start and compilation are part of a short run", "latencies in whole milliseconds"]
    }
}

/// `> response time 95th percentile (ms)     |     44 |     44 |      - `: total, OK, KO.
fn claim(text: &str) -> Option<Claim> {
    let column = |label: &str, index: usize| {
        let line = text.lines().find(|line| line.trim_start_matches(['>', ' ']).starts_with(label))?;
        number(line.split('|').nth(index)?.trim())
    };
    Some(Claim {
        requests: column("request count", 1),
        rps: Some(column("mean throughput", 1)?),
        errors: column("request count", 3).or(Some(0.0)),
        mean: column("mean response time", 1),
        p50: column("response time 50th", 1),
        p90: None,
        p95: column("response time 95th", 1),
        p99: column("response time 99th", 1),
        p999: None,
    })
}

const VERSION: &str = "3.15.1";
const CHARTS: Artifact =
    Artifact { group: "io.gatling.highcharts", name: "gatling-charts-highcharts", version: VERSION, without: None };
/// Without it every request is logged.
const LOGBACK: &str = "\
<configuration><appender name=\"console\" class=\"ch.qos.logback.core.ConsoleAppender\"><encoder><pattern>%msg%n</pattern>\
</encoder></appender><root level=\"ERROR\"><appender-ref ref=\"console\"/></root></configuration>
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote(REPORT, include_str!("../recorded/gatling.txt"));
        check(
            Gatling.claim(&job(), &output),
            "requests=362 rps=90.5 errors=0 mean_ms=617 p50_ms=314 p95_ms=1526 p99_ms=1753",
        );
    }
}
