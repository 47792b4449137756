//! A run that somebody sent: the coordinator of it, started by one that serves many. Everything it needs is in a folder, and
//! what it has for whoever sent it goes there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use onrush_session::ExitCode;

use super::{ConfigFile, bundle::Bundle, execute};
use crate::{
    attached,
    cluster::ClusterArgs,
    context::Context,
    failure::Failure,
    flags::{Command, Flags},
    save,
};

/// Names the folder.
pub(crate) const FOLDER: &str = "ONRUSH_RUN_FOLDER";
/// The test, in its folder.
pub(crate) const TEST: &str = "test";
/// Where the coordinator takes agents; written when it does.
pub(crate) const HUB: &str = "hub";
/// Where its REST API is.
pub(crate) const API: &str = "api";
/// The journal that steers it.
const REPLAY: &str = "replay.json";
/// Files for whoever sent the run.
pub(crate) const FILES: &str = "files";
/// Settings of the process that started this one, not of the test.
const OWN: [&str; 10] =
    ["agents", "listen", "wait", "zone", "share", "address", "verbose", "no-color", "join-token", "api-token"];

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

/// Runs the test of a folder.
///
/// # Errors
/// As [`super::run`].
pub(crate) fn submitted(cx: &Context, folder: &Path) -> Result<ExitCode, Failure> {
    attached::end_with_stdin()?;
    save::keep_in(folder.join(FILES));
    let path = folder.join(TEST);
    let bytes =
        fs::read(&path).map_err(|error| Failure::other(format!("failed to read {}: {error}", path.display())))?;
    let bundle = Bundle::read(&bytes)?;
    drop(bytes);
    let mut flags = bundle.flags(&cx.flags);
    for name in OWN {
        let values = cx.flags.values(name);
        let values = if values.is_empty() { cx.flags.text(name).into_iter().collect() } else { values };
        if !values.is_empty() {
            flags.by_name.insert(name, values);
        }
    }
    let mut args = bundle.args(&flags)?;
    if let Some(journal) = bundle.replay() {
        let path = folder.join(REPLAY);
        fs::write(&path, journal)
            .map_err(|error| Failure::other(format!("failed to write {}: {error}", path.display())))?;
        args.replay = Some(path.display().to_string());
    }
    args.cluster = ClusterArgs::new(&flags, Command::Coordinator, &mut |warning| cx.logger.warn(warning))?;
    let cx = Context { flags, logger: cx.logger.clone(), terminal: cx.terminal.clone(), look: cx.look };
    execute(&cx, ConfigFile::default(), &args)
}
