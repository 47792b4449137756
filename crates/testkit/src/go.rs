//! Programs in Go that tests speak with: other people's implementations of a protocol.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// Builds the program of a folder, which may take minutes the first time. `None` where Go is missing or cannot fetch what it needs:
/// then nothing is tested with it, and standard error says so, calling it `what`.
pub fn built_with_go(what: &str, source: &Path, program: PathBuf) -> Option<PathBuf> {
    let built =
        Command::new("go").args(["build", "-mod=readonly", "-o"]).arg(&program).arg(".").current_dir(source).output();
    let why = match built {
        Ok(output) if output.status.success() => return Some(program),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let _ = writeln!(std::io::stderr(), "skipped: {what} cannot be built with Go: {why}");
    None
}
