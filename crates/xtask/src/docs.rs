//! `cargo xtask docs`: writes the pages that are made from tables in the code.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

/// Runs the test that holds the page to the tables, told to write it instead.
pub(crate) fn run(_: &[String]) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--quiet", "-p", "onrush", "--bin", "onrush", "the_reference_page_is_up_to_date"])
        .env("ONRUSH_WRITE_DOCS", "1")
        .status()
        .context("failed to start cargo")?;
    println!("docs/reference/options.md");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
