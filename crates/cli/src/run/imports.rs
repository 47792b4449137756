//! Where remote modules come from: flags, the cache's folder, the lock file beside the script.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use onrush_imports::{ImportOptions, Imports, Lock, TIMEOUT};
use onrush_net::ProxyOptions;
use onrush_script::Entry;

use super::input::{Input, is_url};
use crate::{failure::Failure, flags::Flags, log::Logger};

/// The name of lock files.
pub(crate) const LOCK: &str = "onrush.lock";

/// Whoever fetches modules for this script. With `is_locking`, what the lock file has does not count.
///
/// # Errors
/// 255 for a lock file, a certificate or a flag that cannot be used.
pub(crate) fn imports(flags: &Flags, input: &Input, is_locking: bool) -> Result<Arc<Imports>, Failure> {
    let offline = flags.switch("offline")?.unwrap_or(false);
    if is_locking && offline {
        return Err(Failure::other("--lock asks servers for their modules, which --offline forbids")
            .hint("remove one of the two"));
    }
    let timeout = match flags.text("import-timeout") {
        None => TIMEOUT,
        Some(text) => {
            let wrong = |reason: String| Failure::other(format!("invalid --import-timeout \"{text}\": {reason}"));
            let time = onrush_plan::parse_extended_duration(&text).map_err(|error| wrong(error.to_string()))?.as_std();
            if time.is_zero() {
                return Err(wrong("it must be greater than 0".to_owned()));
            }
            time
        }
    };
    let extra_roots_pem = match flags.text("import-ca") {
        None => None,
        Some(path) => Some(std::fs::read_to_string(&path).map_err(|error| {
            Failure::other(format!("failed to read --import-ca '{path}': {error}"))
                .hint("name a file with certificates in PEM")
        })?),
    };
    let lock = if is_locking || input.archived.is_some() { None } else { read(&lock_path(input))? };
    Ok(Arc::new(Imports::new(ImportOptions {
        proxies: ProxyOptions::from_environment(|name| flags.env.get(name).cloned()),
        extra_roots_pem,
        timeout,
        offline,
        cache: cache_folder(flags),
        lock,
        ..ImportOptions::default()
    })))
}

/// Tells what is worth knowing after the script was loaded.
pub(crate) fn report(imports: &Imports, input: &Input, logger: &Logger) {
    if let Some(reason) = imports.cache_failure() {
        logger.warn(format!("remote modules could not be kept in the cache, so they are fetched each time: {reason}"));
    }
    let unlocked = imports.unlocked();
    if let Some(first) = unlocked.first() {
        let others = match unlocked.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let path = lock_path(input);
        logger.warn(format!(
            "not in {}: {first}{others}; add what the script imports with `onrush deps --lock`",
            path.display()
        ));
    }
}

/// The lock file's place: beside the script, or in the working folder for one that is no file.
pub(crate) fn lock_path(input: &Input) -> PathBuf {
    let folder = match &input.entry {
        Entry::File(path) if !is_url(&path.to_string_lossy()) => {
            let path = onrush_script::normalise(&input.working_dir, path);
            path.parent().map(Path::to_owned)
        }
        _ => None,
    };
    folder.unwrap_or_else(|| input.working_dir.clone()).join(LOCK)
}

/// A lock file; `None` if there is none.
///
/// # Errors
/// 255 for one that cannot be used: a module must not run unchecked because of a typing error.
pub(crate) fn read(path: &Path) -> Result<Option<Lock>, Failure> {
    let failed = |reason: String| {
        Failure::other(format!("failed to read {}: {reason}", path.display()))
            .hint("mend the file, or remove it and write it again with `onrush deps --lock SCRIPT`")
    };
    match std::fs::read_to_string(path) {
        Ok(text) => Lock::parse(&text).map(Some).map_err(|error| failed(error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// `$XDG_CACHE_HOME/onrush/modules`, or below `~/.cache`. Relative paths do not count, as the specification says.
fn cache_folder(flags: &Flags) -> Option<PathBuf> {
    let folder = |name: &str| flags.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("onrush").join("modules"))
}
