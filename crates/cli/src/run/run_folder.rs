//! The folder through which a coordinator hands a test to the process that runs it, and hears from it.

use std::{fs, path::PathBuf};

use crate::{failure::Failure, flags::Flags};

/// Names the folder.
pub(crate) const FOLDER: &str = "ONRUSH_RUN_FOLDER";
/// The test, in its folder.
pub(crate) const TEST: &str = "test";
/// Where the coordinator takes agents; written when it does.
pub(crate) const HUB: &str = "hub";
/// Where its REST API is.
pub(crate) const API: &str = "api";
/// Files for whoever sent the run.
pub(crate) const FILES: &str = "files";

/// The folder of the run that this process is the coordinator of.
pub(crate) fn folder(flags: &Flags) -> Option<PathBuf> {
    flags.env.get(FOLDER).map(PathBuf::from)
}

/// Tells whoever started this process something.
///
/// # Errors
/// When it cannot be written.
pub(super) fn tell(flags: &Flags, what: &str, text: &str) -> Result<(), Failure> {
    let Some(folder) = folder(flags) else { return Ok(()) };
    let fresh = folder.join(format!("{what}.new"));
    // As a whole, or not yet.
    fs::write(&fresh, text)
        .and_then(|()| fs::rename(&fresh, folder.join(what)))
        .map_err(|error| Failure::other(format!("failed to write {}: {error}", fresh.display())))
}
