//! The file that `SSLKEYLOGFILE` names: where the secrets of TLS sessions go, for Wireshark.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    sync::Arc,
};

use onrush_net::KeyLog;

use crate::{failure::Failure, log::Logger};

/// Opens the file and says so. Without the variable, or with an empty one, there is none.
///
/// # Errors
/// 255, as in k6, when it cannot be opened for writing.
pub(super) fn open(variable: Option<OsString>, logger: &Arc<Logger>) -> Result<Option<Arc<KeyLog>>, Failure> {
    let Some(path) = variable.filter(|path| !path.is_empty()) else { return Ok(None) };
    let shown = path.to_string_lossy().into_owned();
    // k6's words: whoever reads the log should know that its secrets are written down.
    logger.warn(format!("SSLKEYLOGFILE was specified, logging TLS connection keys to '{shown}'..."));
    let file = append(&path).map_err(|error| {
        Failure::other(format!("couldn't open the keylog file '{shown}': {error}"))
            .hint("SSLKEYLOGFILE must name a file that can be written; unset it to log no keys")
    })?;
    let logger = Arc::clone(logger);
    Ok(Some(Arc::new(KeyLog::new(file, move |error| {
        logger.warn(format!("couldn't write to the keylog file '{shown}', TLS keys are missing in it: {error}"));
    }))))
}

/// Others must not read what is new in it.
fn append(path: &OsStr) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
