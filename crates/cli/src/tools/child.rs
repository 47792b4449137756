//! Runs of our own program, for tools that need several: each starts afresh, and what it does to itself ends with it.

use std::{
    path::Path,
    process::{Command as Process, Stdio},
};

use onrush_session::ExitCode;
use serde_json::Value;

use crate::{failure::Failure, flags::Flags};

/// A run that is over.
pub(super) struct Done {
    /// `--summary-export`.
    pub(super) summary: Value,
}

fn failed(error: &dyn std::fmt::Display) -> Failure {
    Failure::other(format!("a run could not be made: {error}"))
}

/// A scratch folder.
///
/// # Errors
/// 255 where there is no room.
pub(super) fn folder(name: &str) -> Result<tempfile::TempDir, Failure> {
    tempfile::TempDir::with_prefix(format!("onrush-{name}-")).map_err(|error| failed(&error))
}

/// The flags of `run` that were given, for a run that has those in `own` itself.
pub(super) fn given(flags: &Flags, own: &[&str]) -> Vec<String> {
    let given = flags.by_name.iter().filter(|(name, _)| !own.contains(name));
    given.flat_map(|(name, values)| values.iter().map(move |value| format!("--{name}={value}"))).collect()
}

/// Runs a script to its end. Crossed thresholds are no failure.
///
/// # Errors
/// 255 with the last line of its log, when it did not come to a summary.
pub(super) fn run(file: &Path, flags: &[String], trend_stats: &str) -> Result<Done, Failure> {
    let folder = folder("run")?;
    let export = folder.path().join("summary.json");
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let child = Process::new(program)
        .args(["run", "--quiet", "--address", "", "--summary-trend-stats", trend_stats])
        .arg("--summary-export")
        .arg(&export)
        .args(flags)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let output = child.and_then(std::process::Child::wait_with_output).map_err(|error| failed(&error))?;
    let is_known = [Some(0), Some(ExitCode::ThresholdsHaveFailed as i32)].contains(&output.status.code());
    let text = std::fs::read_to_string(&export).unwrap_or_default();
    match serde_json::from_str(&text) {
        Ok(summary) if is_known => Ok(Done { summary }),
        _ => {
            let log = String::from_utf8_lossy(&output.stderr);
            let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
            Err(failed(&format!("it ended with {}: {last}", output.status)))
        }
    }
}
