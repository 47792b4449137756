//! `cargo xtask simulate`: runs the driver of the simulation, which is an example of that crate so that other commands need
//! not build what it simulates.

use std::process::ExitCode;

use anyhow::{Context, Result};
use xtask::workspace;

pub(crate) const ARGUMENTS: &str = "[--seeds N] [--minutes N] [--seed S]";

/// Passes everything on to the driver.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    // The development profile: debug assertions and overflow checks are findings, too.
    let status = workspace::cargo(&root)
        .args(["run", "--quiet", "--locked", "--package", "onrush-simulation", "--example", "simulate", "--"])
        .args(arguments)
        .status()
        .context("cannot run cargo")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
