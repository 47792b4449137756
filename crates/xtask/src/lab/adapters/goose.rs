//! Goose: a library for Rust; a test is a program, which is built on the spot.

use std::process::Command;

use anyhow::Result;
use xtask::workspace;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Load},
    shop::Shop,
    text::number,
};

#[derive(Debug)]
pub(super) struct Goose;

impl Adapter for Goose {
    fn name(&self) -> &'static str {
        "goose"
    }

    fn about(&self) -> &'static str {
        "Rust; Rust"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        let mut build = workspace::cargo(&shop.place("goose", VERSION));
        build.args(["install", "--path", ".", "--root", ".", "--target-dir"]).arg(shop.build_folder());
        let files = [("Cargo.toml", MANIFEST), ("src/main.rs", include_str!("../tools/goose.rs.txt"))];
        let program = shop.built("goose", VERSION, &files, "bin/lab-goose", build)?;
        let installed_by =
            format!("cargo install --path . of a program with goose {VERSION} (crates/xtask/src/lab/tools)");
        Ok(Program { installed_by, ..program })
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: true }.enough_for(job)?;
        let users = job.load.users().to_string();
        let mut command = Command::new(&program.path);
        command.args(["--host", &job.base(), "--users", &users, "--increase-rate", &users, "--no-telnet", "--quiet"]);
        command.args(["--run-time", &format!("{}s", job.seconds), "--no-reset-metrics", "--accept-invalid-certs"]);
        if let Load::Open { rate, .. } = job.load {
            command.args(["--throttle-requests", &rate.to_string()]);
        }
        let steps: Vec<String> = job
            .steps
            .iter()
            .map(|step| format!("{}\t{}\t{}", step.path, step.form.unwrap_or(""), step.contains.unwrap_or("")))
            .collect();
        command.env("STEPS", steps.join("\n"));
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        claim(&output.stdout)
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["latencies in whole milliseconds", "a rate is a throttle for all users together"]
    }
}

/// Tables under headings, of which the last row is the sum where there are several.
fn claim(text: &str) -> Option<Claim> {
    let requests = &text[text.find("=== PER REQUEST METRICS ===")?..];
    let row = |heading: &str| -> Option<Vec<f64>> {
        let table = &requests[requests.find(heading)?..];
        let rows =
            table.lines().skip(1).take_while(|line| !line.trim_start().starts_with("Name") && !line.contains("==="));
        let last = rows.filter(|line| line.contains('|')).last()?;
        Some(last.split('|').skip(1).filter_map(|field| number(field.split_whitespace().next()?)).collect())
    };
    let (counts, times, shares) = (row("# reqs |")?, row("Avg (ms) |"), row("50% |"));
    let at = |values: &Option<Vec<f64>>, index: usize| values.as_ref()?.get(index).copied();
    Some(Claim {
        requests: counts.first().copied(),
        rps: Some(*counts.get(2)?),
        errors: counts.get(1).copied(),
        mean: at(&times, 0),
        p50: at(&shares, 0),
        p90: None,
        p95: None,
        p99: at(&shares, 3),
        p999: at(&shares, 4),
    })
}

const VERSION: &str = "0.19.0";
const MANIFEST: &str = "\
[package]
name = \"lab-goose\"
version = \"0.0.0\"
edition = \"2024\"

[dependencies]
goose = \"=0.19.0\"
tokio = { version = \"1\", features = [\"rt-multi-thread\", \"macros\"] }

[workspace]
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            Goose.claim(&job(), &printed(include_str!("../recorded/goose.txt"))),
            "requests=4824 rps=1206 errors=0 mean_ms=15 p50_ms=12 p99_ms=60 p999_ms=99",
        );
    }
}
