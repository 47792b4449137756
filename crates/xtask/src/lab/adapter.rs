//! The shape of an adapter: all the lab knows about a tool. One file each in `adapters`.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Result;

use super::{job::Job, shop::Shop};

/// A load generator.
pub(crate) trait Adapter: Sync {
    /// Its name in tables and in `--only`: lower case, no spaces.
    fn name(&self) -> &'static str;

    /// What it is written in, and what its users write.
    fn about(&self) -> &'static str;

    /// Finds it, or installs it.
    ///
    /// # Errors
    /// Why it cannot be had; the message becomes its row.
    fn install(&self, shop: &Shop) -> Result<Program>;

    /// The command that does a job, or why it cannot: what it does not speak, what it has no notion of.
    ///
    /// # Errors
    /// The reason, as a fragment that reads after the tool's name and a colon.
    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str>;

    /// What it says about a job that it did.
    fn claim(&self, job: &Job, output: &Output) -> Option<Claim>;

    /// What one should know about its figures.
    fn quirks(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A tool that is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    /// What is run.
    pub(crate) path: PathBuf,
    pub(crate) version: String,
    /// The command that installs it.
    pub(crate) installed_by: String,
}

/// How a tool does a job. The command runs in an empty folder that has the files.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) command: Command,
    /// Scripts and settings: name and text.
    pub(crate) files: Vec<(&'static str, String)>,
    /// What turns its raw results into a report, where it does not do that itself. Not measured.
    pub(crate) after: Option<Command>,
}

impl Run {
    pub(crate) fn new(command: Command) -> Self {
        Self { command, files: Vec::new(), after: None }
    }

    pub(crate) fn file(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    pub(crate) fn after(mut self, command: Command) -> Self {
        self.after = Some(command);
        self
    }
}

/// What a tool left behind.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Where it ran.
    pub(crate) folder: PathBuf,
}

impl Output {
    /// A file it wrote; empty if it did not.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read(self.folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

/// What a tool says it did. Latencies are in milliseconds; what it does not say is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Claim {
    pub(crate) requests: Option<f64>,
    pub(crate) rps: Option<f64>,
    pub(crate) errors: Option<f64>,
    pub(crate) mean: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p999: Option<f64>,
}

impl Claim {
    /// Its figures by the names they have in results.
    pub(crate) fn fields(&self) -> [(&'static str, Option<f64>); 9] {
        [
            ("requests", self.requests),
            ("rps", self.rps),
            ("errors", self.errors),
            ("mean_ms", self.mean),
            ("p50_ms", self.p50),
            ("p90_ms", self.p90),
            ("p95_ms", self.p95),
            ("p99_ms", self.p99),
            ("p999_ms", self.p999),
        ]
    }
}
