//! The options of an output: its argument, else a variable, else `collectors` of the config file, as k6 ranks them.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::{Map, Value};

use crate::{
    failure::Failure,
    flags::{Flags, parse_bool},
};

/// What was said about an output.
pub(super) struct Asked<'a> {
    /// Its name.
    pub(super) name: &'static str,
    argument: &'a str,
    /// All flags and variables.
    pub(super) flags: &'a Flags,
    collector: Option<&'a Map<String, Value>>,
}

impl<'a> Asked<'a> {
    /// `names`: what it is called, the first one in messages, each as a key of `collectors`.
    pub(super) fn new(
        names: &'static [&'static str],
        argument: &'a str,
        flags: &'a Flags,
        collectors: &'a Map<String, Value>,
    ) -> Self {
        let collector = names.iter().find_map(|name| collectors.get(*name)?.as_object());
        Self { name: names[0], argument, flags, collector }
    }

    /// What follows the name, if something does.
    pub(super) fn argument(&self) -> Option<String> {
        Some(self.argument.to_owned()).filter(|argument| !argument.is_empty())
    }

    /// What follows the name.
    pub(super) fn argument_or_empty(&self) -> &'a str {
        self.argument
    }

    /// The file that is written: the argument, or the default.
    ///
    /// # Errors
    /// 255 for standard output, where the summary goes.
    pub(super) fn file(&self, default: &str) -> Result<PathBuf, Failure> {
        match self.argument {
            "" => Ok(default.into()),
            "-" | "stdout" => Err(Failure::other(format!("the {} output has no file", self.name))
                .hint(format!("name one: --out {}={default}", self.name))),
            file => Ok(file.into()),
        }
    }

    /// A variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.flags.env.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// A variable, else this key of the config file: lists with commas between their items.
    pub(super) fn text(&self, variable: &str, key: &str) -> Option<String> {
        self.variable(variable).or_else(|| written(self.collector?.get(key)?))
    }

    /// An object of texts in the config file.
    pub(super) fn texts(&self, key: &str) -> BTreeMap<String, String> {
        let fields = self.collector.and_then(|fields| fields.get(key)?.as_object());
        fields.into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), written(value)?))).collect()
    }

    /// Whether a switch is on; `None` where nothing says so.
    ///
    /// # Errors
    /// 255 for what is neither true nor false.
    pub(super) fn switch(&self, variable: &str, key: &str) -> Result<Option<bool>, Failure> {
        self.parsed(variable, key, "use true or false", parse_bool)
    }

    /// A duration longer than none.
    ///
    /// # Errors
    /// 255 for what is no such duration.
    pub(super) fn duration(&self, variable: &str, key: &str) -> Result<Option<Duration>, Failure> {
        self.parsed(variable, key, "use a duration, such as 5s", duration)
    }

    /// A value that this function reads.
    ///
    /// # Errors
    /// 255 with the hint for one that it cannot read.
    pub(super) fn parsed<T>(
        &self,
        variable: &str,
        key: &str,
        hint: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(variable, key) else { return Ok(None) };
        match read(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(Failure::other(format!("invalid {variable} \"{text}\"")).hint(hint.to_owned())),
        }
    }

    /// The same, naming the output in what is wrong.
    pub(super) fn naming<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| Failure {
            message: format!("could not create the '{}' output: {}", self.name, failure.message),
            ..failure
        })
    }
}

/// A duration longer than none, as k6 writes them in variables: bare numbers are milliseconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let duration = onrush_plan::parse_extended_duration(text).ok()?.as_std();
    Some(duration).filter(|duration| !duration.is_zero())
}

fn written(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(items) => Some(items.iter().filter_map(written).collect::<Vec<_>>().join(",")),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_before_the_config_file() {
        let flags = Flags {
            env: [("A".to_owned(), "1".to_owned()), ("E".to_owned(), String::new())].into(),
            ..Flags::default()
        };
        let Value::Object(collectors) =
            serde_json::json!({ "second": { "a": 2, "b": true, "c": ["x", 3], "d": { "k": "v" }, "e": "5s" } })
        else {
            panic!("an object");
        };
        let asked = Asked::new(&["first", "second"], "", &flags, &collectors);
        let check = |variable: &str, key: &str, expect: Option<&str>| {
            assert_eq!(asked.text(variable, key).as_deref(), expect, "{variable} {key}");
        };
        check("A", "a", Some("1"));
        check("B", "a", Some("2"));
        check("B", "b", Some("true"));
        check("C", "c", Some("x,3"));
        check("D", "d", None);
        check("D", "none", None);
        assert_eq!(asked.texts("d").get("k").map(String::as_str), Some("v"));
        assert_eq!(asked.duration("E", "e").ok(), Some(Some(Duration::from_secs(5))));
        let failure = asked.switch("A2", "a").expect_err("2 is neither true nor false");
        assert_eq!(failure.message, "invalid A2 \"2\"");
        assert!(asked.argument().is_none());
    }
}
