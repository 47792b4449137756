//! The habits of this repository, checked: file sizes, module docs, imports, the crate graph, circles of files, dependency
//! fences, `unsafe`, clocks, words, licences.
//!
//! It runs as `cargo xtask tidy` and as a test, so nothing else has to be remembered. Each rule is a file here and
//! takes the repository as data; CONTRIBUTING.md says why there is such a rule. What the compiler or clippy can check
//! is left to them.

mod circles;
mod clock;
mod dependencies;
mod graph;
mod heads;
mod imports;
mod licences;
mod lints;
mod report;
mod scan;
mod size;
mod spdx;
mod unsafe_code;
mod words;

use std::path::Path;

use anyhow::Result;

pub use self::report::{Finding, Report};
use self::{
    report::{Rust, required},
    scan::Source,
};
use crate::workspace;

/// Checks the repository at `root`.
///
/// # Errors
/// When files cannot be read or `cargo metadata` fails; not when a rule is broken.
pub fn check(root: &Path) -> Result<Report> {
    let files = workspace::files(root)?;
    let rust: Vec<Rust<'_>> = files
        .iter()
        .filter(|file| file.is_rust())
        .map(|file| Rust { file, source: Source::scan(&file.text) })
        .collect();
    let shallow = workspace::metadata(root, false)?;
    let deep = workspace::metadata(root, true)?;
    let edges = workspace::edges(root)?;
    let crates = graph::crates(&shallow)?;

    let mut report = Report { files: files.len(), crates: crates.len(), ..Report::default() };
    size::check(&files, &mut report);
    heads::check(&rust, &mut report);
    imports::check(&rust, &mut report);
    unsafe_code::check(&rust, &mut report);
    clock::check(&rust, &mut report);
    circles::check(&files, &mut report);
    words::check(&files, &rust, &mut report);
    lints::check(&files, &crates, &mut report);
    graph::check(&files, &crates, &mut report);
    dependencies::check(&files, &crates, &edges, &mut report);
    licences::check(&files, &shallow, &deep, &edges, &mut report)?;
    report.findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(report)
}
