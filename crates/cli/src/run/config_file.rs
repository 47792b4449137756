//! The config file: a JSON object with options and with some settings of the program.

use std::{
    io,
    path::{Path, PathBuf},
};

use onrush_plan::Options;
use serde_json::{Map, Value};

use crate::{context::Context, failure::Failure};

/// What a config file says.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    /// The options of the test.
    pub(crate) options: Options,
    /// `out`: as `--out`, one item a flag.
    pub(crate) out: Vec<String>,
    /// `linger`: as `--linger`.
    pub(crate) linger: Option<bool>,
    /// `features`: as `--features`.
    pub(crate) features: Vec<String>,
    /// `webDashboard`: as `K6_WEB_DASHBOARD`.
    pub(crate) dashboard: bool,
    /// `collectors`: options of outputs, by their names.
    pub(crate) collectors: Map<String, Value>,
}

/// Keys k6 knows beside options that change nothing here.
const HARMLESS: [&str; 2] = ["noUsageReport", "noArchiveUpload"];
/// Keys beside options that are read here.
const SETTINGS: [&str; 5] = ["out", "linger", "features", "collectors", "webDashboard"];

impl ConfigFile {
    /// Reads the file that was named, or the user's own if there is one.
    ///
    /// # Errors
    /// 104 for a named file that is not there, and for any that cannot be understood.
    pub(crate) fn read(cx: &Context) -> Result<Self, Failure> {
        if let Some(named) = cx.flags.text_even_empty("config") {
            let text = std::fs::read_to_string(&named).map_err(|error| unreadable(Path::new(&named), &error))?;
            return Self::parse(cx, Path::new(&named), &text);
        }
        for path in defaults(cx) {
            match std::fs::read_to_string(&path) {
                Ok(text) => return Self::parse(cx, &path, &text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        Ok(Self::default())
    }

    fn parse(cx: &Context, path: &Path, text: &str) -> Result<Self, Failure> {
        let wrong = |what: String| {
            Failure::config(format!("couldn't parse the configuration from \"{}\": {what}", path.display()))
        };
        let parsed = onrush_plan::parse_json(text).map_err(|error| wrong(error.to_string()))?;
        // It is JSON, and an object or null, or there would have been an error.
        let fields = match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let mut file = Self { options: parsed.options, ..Self::default() };
        file.read_settings(fields).map_err(wrong)?;
        cx.logger.debug(format!("using the configuration file {}", path.display()));
        let known = |key: &str| HARMLESS.iter().chain(&SETTINGS).any(|known| known.eq_ignore_ascii_case(key));
        let unknown: Vec<&str> = parsed.unknown.iter().map(String::as_str).filter(|key| !known(key)).collect();
        if !unknown.is_empty() {
            let hints: Vec<(String, &str)> =
                parsed.hints.iter().filter(|(key, _)| unknown.contains(&key.as_str())).cloned().collect();
            let hint = if hints.is_empty() { String::new() } else { format!("; {}", onrush_plan::meant(&hints)) };
            let keys = unknown.join(", ");
            cx.logger.warn(format!("the configuration file {} has unknown fields: {keys}{hint}", path.display()));
        }
        Ok(file)
    }

    /// Reads what is no option.
    fn read_settings(&mut self, fields: Map<String, Value>) -> Result<(), String> {
        for (key, value) in fields {
            // k6: in any letter case.
            let Some(name) = SETTINGS.into_iter().find(|name| name.eq_ignore_ascii_case(&key)) else { continue };
            match name {
                "out" => self.out = texts(name, value)?,
                "features" => self.features = texts(name, value)?,
                "collectors" => self.collectors = collectors(value)?,
                "linger" => self.linger = switch(name, &value)?,
                _ => self.dashboard = switch(name, &value)?.unwrap_or(false),
            }
        }
        Ok(())
    }
}

/// A list of texts, or one text.
fn texts(name: &str, value: Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        Value::Array(items) => {
            let item = |(index, item)| match item {
                Value::String(text) => Ok(text),
                other => Err(format!("{name}[{index}]: expected a text, got {other}")),
            };
            items.into_iter().enumerate().map(item).collect()
        }
        other => Err(format!("{name}: expected a list of texts, got {other}")),
    }
}

fn collectors(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields),
        other => Err(format!("collectors: expected an object, got {other}")),
    }
}

fn switch(name: &str, value: &Value) -> Result<Option<bool>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        other => Err(format!("{name}: expected true or false, got {other}")),
    }
}

/// `~/.config/onrush/config.json`, else k6's.
fn defaults(cx: &Context) -> Vec<PathBuf> {
    let variable = |name: &str| cx.flags.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    base.iter().flat_map(|base| ["onrush", "k6"].map(|name| base.join(name).join("config.json"))).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::config(format!("couldn't load the configuration from \"{}\": {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was read, one word each: outputs, lingering, features, the dashboard.
    fn check(json: &str, expect: Result<[&str; 4], &str>) {
        let Ok(Value::Object(fields)) = serde_json::from_str(json) else { panic!("{json} is no object") };
        let mut file = ConfigFile::default();
        let got = file.read_settings(fields).map(|()| {
            let linger = file.linger.map_or_else(String::new, |linger| linger.to_string());
            [file.out.join("|"), linger, file.features.join("|"), file.dashboard.to_string()]
        });
        assert_eq!(got, expect.map(|words| words.map(str::to_owned)).map_err(str::to_owned), "{json}");
    }

    #[test]
    fn settings() {
        check("{}", Ok(["", "", "", "false"]));
        check(r#"{"vus": 1, "OUT": "json", "linger": null}"#, Ok(["json", "", "", "false"]));
        check(
            r#"{"out": ["json=a", "csv"], "linger": true, "features": ["a"], "webDashboard": true}"#,
            Ok(["json=a|csv", "true", "a", "true"]),
        );
        check(r#"{"out": 5}"#, Err("out: expected a list of texts, got 5"));
        check(r#"{"out": ["a", 5]}"#, Err("out[1]: expected a text, got 5"));
        check(r#"{"linger": "yes"}"#, Err("linger: expected true or false, got \"yes\""));
        check(r#"{"collectors": 1}"#, Err("collectors: expected an object, got 1"));
        check(r#"{"webDashboard": 1}"#, Err("webDashboard: expected true or false, got 1"));
    }
}
