//! Result files that `--keep` put in the user's folder, and their names: the newest is `last`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use onrush_fiber::Clock;
use onrush_session::ExitCode;

use crate::{context::Context, failure::Failure, log::rfc3339_nanos};

/// What stands for the newest one.
const LAST: &str = "last";
const EXTENSION: &str = "onrush";

/// The folder: `$XDG_STATE_HOME/onrush/runs`, by default in `~/.local/state`.
///
/// # Errors
/// 255 without a home.
fn folder(env: &BTreeMap<String, String>) -> Result<PathBuf, Failure> {
    // A relative one does not count, says the specification.
    let variable = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::other("there is no folder for runs that are kept: neither XDG_STATE_HOME nor HOME is set")
            .hint("set one of them, or name a file: --out result=FILE")
    })?;
    Ok(state.join("onrush/runs"))
}

/// Where a run of this script is kept: names are in the order of time. The folder is made.
///
/// # Errors
/// 255 where it cannot be made.
pub(crate) fn place(env: &BTreeMap<String, String>, script: &str) -> Result<PathBuf, Failure> {
    let folder = folder(env)?;
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::other(format!("failed to make the folder {}: {error}", folder.display())))?;
    let time = rfc3339_nanos(Clock::unix_nanos(Clock::now()));
    Ok(folder.join(name(&time, script)))
}

/// `20260102-030405.678-script.onrush`
fn name(time: &str, script: &str) -> String {
    const SCRIPT_CHARS_MAX: usize = 40;
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let digits: String = seconds.chars().filter(char::is_ascii_digit).collect();
    let (day, clock) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    let millis: String = fraction.chars().filter(char::is_ascii_digit).chain("000".chars()).take(3).collect();
    let stem = Path::new(script).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let stem: String =
        stem.chars().map(|char| if is_plain(char) { char } else { '_' }).take(SCRIPT_CHARS_MAX).collect();
    let has_name = stem.chars().any(|char| char.is_ascii_alphanumeric());
    let stem = if has_name { stem.as_str() } else { "run" };
    format!("{day}-{clock}.{millis}-{stem}.{EXTENSION}")
}

/// All of them, the newest last.
fn all(cx: &Context) -> Result<Vec<PathBuf>, Failure> {
    let folder = folder(&cx.flags.env)?;
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::other(format!("failed to read the folder {}: {error}", folder.display()))),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|is| is == EXTENSION)).collect();
    paths.sort();
    Ok(paths)
}

/// The file that is meant: `last` is the newest that was kept, unless there is a file of that name.
///
/// # Errors
/// 255 where none was kept.
pub(crate) fn found(cx: &Context, file: &str) -> Result<String, Failure> {
    if file != LAST || Path::new(file).exists() {
        return Ok(file.to_owned());
    }
    let newest = all(cx)?.pop().ok_or_else(|| {
        Failure::other("no run was kept").hint("onrush run --keep keeps a run, --out result=FILE writes it to a file")
    })?;
    Ok(newest.display().to_string())
}

/// `onrush result list`
pub(super) fn list(cx: &Context) -> Result<ExitCode, Failure> {
    let paths = all(cx)?;
    let text: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    cx.terminal.stdout(text);
    Ok(ExitCode::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_time() {
        let check = |time: &str, script: &str, expect: &str| assert_eq!(name(time, script), expect);
        check("2026-01-02T03:04:05.678901234Z", "tests/a b.js", "20260102-030405.678-a_b.onrush");
        check("2026-01-02T03:04:05Z", "-", "20260102-030405.000-run.onrush");
        check("2026-01-02T03:04:05.6Z", "../../../..", "20260102-030405.600-run.onrush");
    }

    #[test]
    fn the_folder_is_where_the_user_has_such_things() {
        let check = |env: &[(&str, &str)], expect: Option<&str>| {
            let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(folder(&env).ok(), expect.map(PathBuf::from));
        };
        check(&[("HOME", "/home/a")], Some("/home/a/.local/state/onrush/runs"));
        check(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "/state")], Some("/state/onrush/runs"));
        check(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "state")], Some("/home/a/.local/state/onrush/runs"));
        check(&[], None);
    }
}
