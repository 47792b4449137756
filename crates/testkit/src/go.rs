//! Programs in Go that tests speak with: other people's implementations of a protocol.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// A program that Go builds.
pub struct GoProgram<'a> {
    /// What a message calls it.
    pub name: &'a str,
    /// The folder of a module.
    pub source: &'a Path,
    /// The module's own program (`.`), or another module's that it requires.
    pub package: &'a str,
    /// Build tags, with commas.
    pub tags: &'a str,
}

impl<'a> GoProgram<'a> {
    /// The program of a folder.
    pub fn of_folder(name: &'a str, source: &'a Path) -> Self {
        Self { name, source, package: ".", tags: "" }
    }
}

/// Builds a program, which may take minutes the first time. `None` where Go is missing or cannot fetch what it needs: then nothing is
/// tested with it, and standard error says so.
pub fn built_with_go(what: &GoProgram<'_>, program: PathBuf) -> Option<PathBuf> {
    let built = Command::new("go")
        .args(["build", "-mod=readonly", "-tags", what.tags, "-o"])
        .arg(&program)
        .arg(what.package)
        .current_dir(what.source)
        .output();
    let why = match built {
        Ok(output) if output.status.success() => return Some(program),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let _ = writeln!(std::io::stderr(), "skipped: {} cannot be built with Go: {why}", what.name);
    None
}
