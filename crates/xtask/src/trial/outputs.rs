//! All outputs at once, and receivers that die: a test of the program that takes too long for `make test`.

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

use super::options::Options;

/// Runs it; what it found is kept where `--out` says.
pub(super) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let mut command = Command::new("cargo");
    command
        .args(["test", "--locked", "--workspace", "--test", "it", "--"])
        .args(["--ignored", "--nocapture", "long_outputs::"])
        .current_dir(root);
    if let Some(seconds) = options.seconds {
        command.env("ONRUSH_TRIAL_SECONDS", seconds.to_string());
    }
    if let Some(name) = &options.out {
        let folder = root.join("bench").join("runs").join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        command.env("ONRUSH_TRIAL_RESULT", folder.join("trial-outputs.json"));
    }
    let status = command.status().context("cargo does not run")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
