//! Outputs and their receivers: tests of the program that take too long for `make test`.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

use super::options::Options;

/// All outputs at once, while receivers die and come back; what it found is kept where `--out` says.
pub(super) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let mut command = tests(root, "long_outputs::");
    if let Some(seconds) = options.seconds {
        command.env("ONRUSH_TRIAL_SECONDS", seconds.to_string());
    }
    if let Some(name) = &options.out {
        let folder = root.join("bench").join("runs").join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        command.env("ONRUSH_TRIAL_RESULT", folder.join("trial-outputs.json"));
    }
    ended(command)
}

/// Receivers that are built first.
pub(super) fn receivers(root: &Path) -> Result<ExitCode> {
    ended(tests(root, "prometheus_3::"))
}

/// The tests of this name that `make test` leaves out.
fn tests(root: &Path, name: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(["test", "--locked", "--workspace", "--test", "it", "--", "--ignored", "--nocapture", name])
        .current_dir(root);
    command
}

fn ended(mut command: Command) -> Result<ExitCode> {
    let status = command.status().context("cargo does not run")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
