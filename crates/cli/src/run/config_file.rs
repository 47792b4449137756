//! The config file: a JSON object with options, and a few settings of this program.

use std::{
    io,
    path::{Path, PathBuf},
};

use onrush_plan::Options;
use serde_json::Value;

use super::Surroundings;
use crate::failure::Failure;

/// Keys k6 knows beside options that change nothing here.
const HARMLESS: [&str; 3] = ["noUsageReport", "noArchiveUpload", "collectors"];
/// Keys that are settings of a run, see [`Settings`].
const SETTINGS: [&str; 2] = ["out", "linger"];
/// Keys of what this version does not have.
const NOT_YET: [&str; 2] = ["webDashboard", "features"];

/// What a config file can say beside options. Variables and flags count more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// As `--out`.
    pub(super) out: Vec<String>,
    /// As `--linger`.
    pub(super) linger: Option<bool>,
}

/// The options of the config file that was named, or of the user's own if there is one.
///
/// # Errors
/// 104 for a named file that is not there, and for any that cannot be understood.
pub(super) fn read(around: &Surroundings) -> Result<Options, Failure> {
    match find(around)? {
        Some((path, text)) => parse(around, &path, &text),
        None => Ok(Options::default()),
    }
}

/// The settings of the same file.
///
/// # Errors
/// As [`read`].
pub(super) fn settings(around: &Surroundings) -> Result<Settings, Failure> {
    let Some((path, text)) = find(around)? else { return Ok(Settings::default()) };
    let wrong = |error: String| {
        Failure::config(format!("couldn't parse the configuration from \"{}\": {error}", path.display()))
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    parse_settings(&value).map_err(wrong)
}

fn parse_settings(value: &Value) -> Result<Settings, String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let out = match &value["out"] {
        Value::Null => Some(Vec::new()),
        Value::Array(all) => all.iter().map(text).collect(),
        one => text(one).map(|one| vec![one]),
    };
    let linger = match &value["linger"] {
        Value::Null => None,
        Value::Bool(linger) => Some(*linger),
        other => return Err(format!("linger: expected true or false, got {other}")),
    };
    let out =
        out.ok_or_else(|| format!("out: expected a list of texts such as [\"json=out.json\"], got {}", value["out"]))?;
    Ok(Settings { out, linger })
}

/// The file's path and text, if there is one.
fn find(around: &Surroundings) -> Result<Option<(PathBuf, String)>, Failure> {
    if let Some(named) = around.given.text("config") {
        let text = std::fs::read_to_string(&named).map_err(|error| unreadable(Path::new(&named), &error))?;
        return Ok(Some((named.into(), text)));
    }
    for path in defaults(around) {
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(None)
}

/// `~/.config/onrush/config.json`, else k6's.
fn defaults(around: &Surroundings) -> Vec<PathBuf> {
    let variable = |name: &str| around.given.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    base.iter().flat_map(|base| ["onrush", "k6"].map(|name| base.join(name).join("config.json"))).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::config(format!("couldn't load the configuration from \"{}\": {error}", path.display()))
}

fn parse(around: &Surroundings, path: &Path, text: &str) -> Result<Options, Failure> {
    let parsed = onrush_plan::parse_json(text).map_err(|error| {
        Failure::config(format!("couldn't parse the configuration from \"{}\": {error}", path.display()))
    })?;
    around.logger.debug(format!("using the configuration file {}", path.display()));
    let is_own = |key: &&str| HARMLESS.contains(key) || SETTINGS.contains(key);
    let unused = parsed.unknown.iter().map(String::as_str).filter(|key| !is_own(key));
    let (missing, unknown): (Vec<&str>, Vec<&str>) = unused.partition(|key| NOT_YET.contains(key));
    for (keys, what) in [(missing, "sets what this version of Onrush does not have"), (unknown, "has unknown fields")] {
        if !keys.is_empty() {
            around.logger.warn(format!("the configuration file {} {what}: {}", path.display(), keys.join(", ")));
        }
    }
    Ok(parsed.options)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_beside_options() {
        let check = |value: Value, expect: Result<(&[&str], Option<bool>), &str>| {
            let expect =
                expect.map(|(out, linger)| Settings { out: out.iter().map(|&one| one.to_owned()).collect(), linger });
            assert_eq!(parse_settings(&value), expect.map_err(str::to_owned), "{value}");
        };
        check(json!({"vus": 3}), Ok((&[], None)));
        check(json!({"out": ["json=a", "csv"], "linger": true}), Ok((&["json=a", "csv"], Some(true))));
        check(json!({"out": "csv=b", "linger": null}), Ok((&["csv=b"], None)));
        check(json!({"out": 5}), Err("out: expected a list of texts such as [\"json=out.json\"], got 5"));
        check(json!({"out": [5]}), Err("out: expected a list of texts such as [\"json=out.json\"], got [5]"));
        check(json!({"linger": "x"}), Err("linger: expected true or false, got \"x\""));
        check(json!([1]), Ok((&[], None)));
    }
}
