//! What agents cost their coordinator: 20 and 1,000 synthetic ones over the real protocol, then an hour of virtual time.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::workspace;

use super::options::Options;

/// Agents that are measured, and over how many relays.
const MEASURED: [(&str, &str); 4] = [("20", "0"), ("1000", "0"), ("20", "1"), ("1000", "2")];
/// Worker threads of each, every one of which reports once a second.
const THREADS: &str = "2";
/// Agents of the hour, which takes as long as it takes.
const AGENTS_OF_HOUR: &str = "20";
/// A coordinator that has grown by more in an hour keeps something.
const GROWTH_MB_MAX: f64 = 8.0;
/// How far evaluations may be off what is due.
const EVALUATIONS_OFF_MAX: f64 = 1.5;

pub(super) fn run(root: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    let program = build(root)?;
    let seconds = options.seconds().to_string();
    let mut rows = Vec::new();
    let mut is_right = true;
    for (agents, relays) in MEASURED.into_iter().filter(|(agents, _)| options.wants(agents)) {
        let row = measure(&program, &["measure", agents, THREADS, &seconds, relays])?;
        println!(
            "{agents} agents over {relays} relays: {} µs of CPU and {} bytes (all connections) per agent and second, {} cores, {} MB, tick late by {} ms at most, {} evaluations of {}",
            row["cpu_us_per_agent_s"],
            row["bytes_per_agent_s"],
            row["cores"],
            row["rss_mb"],
            row["tick_late_ms_max"],
            row["evaluations"],
            row["evaluations_due"],
        );
        let number = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        let off = (number("evaluations") - number("evaluations_due")).abs();
        is_right &= off <= EVALUATIONS_OFF_MAX && number("lost") == 0.0;
        rows.push(row);
    }
    if options.wants("hour") {
        let row = measure(&program, &["hour", AGENTS_OF_HOUR, THREADS])?;
        println!(
            "an hour of {AGENTS_OF_HOUR} agents: {} MB after five minutes, {} MB at the end, {} µs per delta",
            row["rss_mb_after_5_min"], row["rss_mb_at_end"], row["us_per_delta"],
        );
        let number = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        is_right &= number("rss_mb_at_end") - number("rss_mb_after_5_min") <= GROWTH_MB_MAX;
        rows.push(row);
    }
    Ok((rows, is_right))
}

/// The driver is an example of the crate whose connections it measures.
fn build(root: &Path) -> Result<std::path::PathBuf> {
    eprintln!("Building the coordinator's driver ...");
    let built = workspace::cargo(root)
        .args(["build", "--release", "--locked", "--package", "onrush-cluster", "--example", "coordinator"])
        .status()
        .context("cannot run cargo")?;
    if !built.success() {
        bail!("the build failed; what cargo printed above says why");
    }
    Ok(workspace::target_dir(root)?.join("release").join("examples").join("coordinator"))
}

/// In a network namespace of its own, so that only its bytes are counted.
fn measure(program: &Path, words: &[&str]) -> Result<Value> {
    const ALONE: &str = r#"ip link set lo up && exec "$0" "$@""#;
    let output = Command::new("unshare")
        .args(["--net", "sh", "-c", ALONE])
        .arg(program)
        .args(words)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run unshare")?;
    if !output.status.success() {
        bail!("the driver ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the driver printed no JSON")
}
