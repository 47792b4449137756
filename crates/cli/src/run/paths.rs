//! The files a test is going to write, checked before it starts: a result nobody can keep is not worth the load.

use std::{fs, path::Path};

use rustix::fs::{Access, access};

use super::outputs::Wanted;
use crate::{args::RunArgs, failure::Failure};

/// Checks the paths of the settings. Nothing is created.
///
/// # Errors
/// 255 with the first path that cannot be written.
pub(super) fn check(args: &RunArgs) -> Result<(), Failure> {
    match &args.summary_export {
        Some(path) => {
            writable(Path::new(path)).map_err(|(reason, hint)| failure("--summary-export", path, &reason, hint))
        }
        None => Ok(()),
    }
}

/// Checks the files of outputs, which a run opens before it starts, and `onrush check` does not.
///
/// # Errors
/// 255 with the first path that cannot be written.
pub(super) fn check_outputs(outputs: &Wanted) -> Result<(), Failure> {
    check_reports(outputs)?;
    outputs.files().try_for_each(|path| check_file("--out", path))
}

/// Checks the files that are opened only when the run is over.
///
/// # Errors
/// 255 with the first path that cannot be written.
pub(super) fn check_reports(outputs: &Wanted) -> Result<(), Failure> {
    outputs.files_of_the_end().try_for_each(|(flag, path)| check_file(flag, path))
}

fn check_file(flag: &str, path: &Path) -> Result<(), Failure> {
    writable(path).map_err(|(reason, hint)| failure(flag, &path.display().to_string(), &reason, hint))
}

fn failure(flag: &str, path: &str, reason: &str, hint: String) -> Failure {
    Failure::other(format!("cannot write {flag} '{path}': {reason}")).hint(hint)
}

/// Whether a file can be written there; if not, why, and what to do.
fn writable(path: &Path) -> Result<(), (String, String)> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let shown = folder.display();
    if path.is_dir() {
        return Err(("it is a folder".to_owned(), "name a file in it".to_owned()));
    }
    if !folder.exists() {
        return Err((format!("the folder '{shown}' does not exist"), format!("mkdir -p {shown}")));
    }
    if !folder.is_dir() {
        return Err((format!("'{shown}' is not a folder"), "choose another path".to_owned()));
    }
    // What is there is written over; else the folder gets an entry. Devices and pipes count as files.
    let place = if fs::symlink_metadata(path).is_ok() && path.exists() { path } else { folder };
    access(place, Access::WRITE_OK)
        .map_err(|error| (error.to_string(), format!("check the permissions of '{}'", place.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").expect("a file");
        let check = |name: &str, expect: Option<&str>| {
            let reason = writable(&at(name)).err().map(|(reason, _)| reason);
            match (expect, &reason) {
                (None, None) => {}
                (Some(expect), Some(reason)) if reason.contains(expect) => {}
                _ => panic!("{name}: {reason:?}, not {expect:?}"),
            }
        };
        check("new.json", None);
        check("file", None);
        check(".", Some("it is a folder"));
        check("missing/new.json", Some("does not exist"));
        check("file/new.json", Some("is not a folder"));
        assert!(writable(Path::new("/dev/null")).is_ok());
        assert!(writable(Path::new("bare-name.json")).is_ok());
    }
}
