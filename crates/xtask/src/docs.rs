//! `cargo xtask docs`: writes the pages that are made from tables and schemas, and the messages made from a schema.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

/// Runs the test that holds the page to the tables, told to write it instead.
pub(crate) fn run(_: &[String]) -> Result<ExitCode> {
    let pages = [
        ("onrush", "--bin", "onrush", "the_reference_page_is_up_to_date", "docs/reference/options.md"),
        ("onrush-cluster", "--test", "it", "generated::", "docs/reference/cluster-protocol.md and its messages"),
    ];
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut is_written = true;
    for (package, kind, target, test, page) in pages {
        let status = Command::new(&cargo)
            .args(["test", "--quiet", "-p", package, kind, target, test])
            .env("ONRUSH_WRITE_DOCS", "1")
            .status()
            .context("failed to start cargo")?;
        println!("{page}");
        is_written &= status.success();
    }
    Ok(if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
