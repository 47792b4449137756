//! What the rules are given and what they report.

use std::fmt;

use super::scan::Source;
use crate::workspace::File;

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
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
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
pub(super) struct Rust<'a> {
    pub(super) file: &'a File,
    pub(super) source: Source,
}

/// The text of a file at the root, or a finding that it is missing.
pub(super) fn required<'a>(files: &'a [File], path: &str, report: &mut Report) -> Option<&'a str> {
    let found = files.iter().find(|file| file.path == path);
    if found.is_none() {
        report.findings.push(Finding::new(path, 0, "is missing"));
    }
    found.map(|file| file.text.as_str())
}
