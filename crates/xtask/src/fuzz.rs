//! `cargo xtask fuzz`: runs the fuzz driver, which is an example so that other commands need not build
//! the parsers it drives.

use std::process::ExitCode;

use anyhow::{Context, Result};
use xtask::workspace;

use crate::graphs;

/// Passes everything on to the driver; graphs of modules are programs to run, and have one of their own.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    if let Some((name, options)) = arguments.split_first()
        && name == "graphs"
    {
        return graphs::run(options);
    }
    let root = workspace::root();
    // The development profile: debug assertions and overflow checks are findings, too.
    let status = workspace::cargo(&root)
        .args(["run", "--quiet", "--locked", "--package", "xtask", "--example", "fuzz", "--"])
        .args(arguments)
        .status()
        .context("cannot run cargo")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
