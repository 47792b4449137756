//! The config file: a JSON object with options.

use std::{
    io,
    path::{Path, PathBuf},
};

use onrush_plan::Options;

use super::Surroundings;
use crate::failure::Failure;

/// Keys k6 knows beside options that change nothing here, or nothing yet.
const HARMLESS: [&str; 3] = ["noUsageReport", "noArchiveUpload", "collectors"];

/// The options of the config file that was named, or of the user's own if there is one.
///
/// # Errors
/// 104 for a named file that is not there, and for any that cannot be understood.
pub(super) fn read(around: &Surroundings) -> Result<Options, Failure> {
    if let Some(named) = around.given.text("config") {
        let text = std::fs::read_to_string(&named).map_err(|error| unreadable(Path::new(&named), &error))?;
        return parse(around, Path::new(&named), &text);
    }
    for path in defaults(around) {
        match std::fs::read_to_string(&path) {
            Ok(text) => return parse(around, &path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(Options::default())
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
    let unused: Vec<&str> = parsed.unknown.iter().map(String::as_str).filter(|key| !HARMLESS.contains(key)).collect();
    if !unused.is_empty() {
        around.logger.warn(format!(
            "the configuration file {} sets what this version of Onrush does not have: {}",
            path.display(),
            unused.join(", ")
        ));
    }
    Ok(parsed.options)
}
