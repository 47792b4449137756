//! A run that somebody sent: the coordinator of it, started by one that serves many. Everything it needs is in a folder, and
//! what it has for whoever sent it goes there.

use std::{fs, path::Path};

use onrush_session::ExitCode;

use super::{
    ConfigFile,
    bundle::Bundle,
    execute,
    run_folder::{FILES, TEST},
};
use crate::{attached, cluster::ClusterArgs, context::Context, failure::Failure, flags::Command, save};

/// The journal that steers it.
const REPLAY: &str = "replay.json";
/// Settings of the process that started this one, not of the test.
const OWN: [&str; 10] =
    ["agents", "listen", "wait", "zone", "share", "address", "verbose", "no-color", "join-token", "api-token"];

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
