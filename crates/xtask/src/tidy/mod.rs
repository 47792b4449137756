//! The habits of this repository, checked: file sizes, module docs, the crate graph, circles of
//! files, dependency fences, `unsafe`, clocks, words, licences.
//!
//! It runs as `cargo xtask tidy` and as a test, so nothing else has to be remembered. Each rule is a file
//! here and takes the repository as data; CONTRIBUTING.md says why there is such a rule. What the compiler
//! or clippy can check is left to them.

mod circles;
mod clock;
mod dependencies;
mod graph;
mod heads;
mod licences;
mod lints;
mod scan;
mod size;
mod spdx;
mod unsafe_code;
mod words;

use std::{fmt, path::Path};

use anyhow::Result;

use crate::workspace::{self, File};

use self::scan::Source;

/// A broken rule and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to the root.
    pub path: String,
    /// Its line from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Broken rules.
    pub findings: Vec<Finding>,
    /// What is allowed but should not grow.
    pub notes: Vec<String>,
    /// Text files looked at.
    pub files: usize,
    /// Crates of the workspace.
    pub crates: usize,
}

/// A Rust file and its scan.
struct Rust<'a> {
    file: &'a File,
    source: Source,
}

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

/// The text of a file at the root, or a finding that it is missing.
fn required<'a>(files: &'a [File], path: &str, report: &mut Report) -> Option<&'a str> {
    let found = files.iter().find(|file| file.path == path);
    if found.is_none() {
        report.findings.push(Finding::new(path, 0, "is missing"));
    }
    found.map(|file| file.text.as_str())
}
