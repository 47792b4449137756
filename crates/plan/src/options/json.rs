//! Reading options from JSON as k6 does: any letter case of a key, numbers as text where a number is meant, unknown
//! top-level keys kept apart, and errors that name the option.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::scenario_config::ScenarioConfig;
use super::{OPTION_KEYS, Options, SystemTags};

/// What a script or config file said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The options that were understood.
    pub options: Options,
    /// Top-level keys that are not options, in their order. They only deserve a warning:
    /// `There were unknown fields in the options exported in the script`.
    pub unknown: Vec<String>,
}

/// Reads an options object. `null` is an empty one.
///
/// # Errors
/// [`OptionsError`] for text that is not JSON, a wrong type (naming the option), an invalid value, or an unknown field
/// within a scenario.
pub fn parse_json(text: &str) -> Result<Parsed, OptionsError> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| OptionsError { path: String::new(), message: e.to_string() })?;
    let fields = match value {
        Value::Null => return Ok(Parsed::default()),
        Value::Object(fields) => fields,
        other => return Err(OptionsError::wrong_type("options", "an object", &other)),
    };
    let (mut fields, mut unknown) = canonical_keys(fields, OPTION_KEYS);
    unknown.extend(ignored(&fields));
    let scenarios = match fields.remove("scenarios") {
        None | Some(Value::Null) => None,
        Some(Value::Object(entries)) => {
            let mut scenarios = BTreeMap::new();
            for (name, value) in entries {
                let config = ScenarioConfig::from_value(&name, value)?;
                scenarios.insert(name, config);
            }
            Some(scenarios)
        }
        Some(other) => return Err(OptionsError::wrong_type("scenarios", "an object", &other)),
    };
    let mut options: Options = decode(Value::Object(fields), "")?;
    options.scenarios = scenarios;
    if let Some(stages) = &mut options.stages {
        // k6: a stage of the shortcut without a duration is left out without a word.
        stages.retain(|stage| stage.duration.is_some());
    }
    Ok(Parsed { options, unknown })
}

/// What k6 leaves out without a word below the top level: fields of `dns`, names of system tags.
fn ignored(fields: &Map<String, Value>) -> Vec<String> {
    let dns = fields.get("dns").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let dns = dns.filter(|key| !["ttl", "select", "policy"].iter().any(|known| known.eq_ignore_ascii_case(key)));
    let tags = fields.get("systemTags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let tags = tags.filter(|tag| !SystemTags::is_known(tag));
    dns.map(|key| format!("dns.{key}")).chain(tags.map(|tag| format!("systemTags.{tag}"))).collect()
}

/// Why options could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    /// Which option: `scenarios.contacts.vus`, `K6_VUS`, `--stage`; empty when the text names it or it is the whole.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl OptionsError {
    pub(super) fn new(path: impl Into<String>, message: impl ToString) -> Self {
        Self { path: path.into(), message: message.to_string() }
    }

    pub(super) fn plain(message: String) -> Self {
        Self { path: String::new(), message }
    }

    pub(super) fn wrong_type(path: &str, expected: &str, got: &Value) -> Self {
        Self::new(path, format!("expected {expected}, got {}", shown(got)))
    }

    /// As the text of an error within another decoder, which [`decode`] takes apart again to tell the whole path.
    pub(super) fn nested(&self) -> String {
        format!("{NESTED}{}{NESTED}{}", self.path, self.message)
    }

    /// k6: the text is Go's; where it was found is added.
    pub(super) fn unknown_field(path: &str, field: &str) -> Self {
        Self::plain(format!("json: unknown field {field:?} in {path}"))
    }
}

impl std::fmt::Display for OptionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for OptionsError {}

/// Gives every known key its canonical spelling (k6 accepts any letter case) and splits off the unknown ones.
/// The last of several spellings wins.
pub(super) fn canonical_keys(fields: Map<String, Value>, known: &[&str]) -> (Map<String, Value>, Vec<String>) {
    let mut canonical = Map::new();
    let mut unknown = Vec::new();
    for (key, value) in fields {
        let name = known.iter().find(|k| **k == key).or_else(|| known.iter().find(|k| k.eq_ignore_ascii_case(&key)));
        match name {
            Some(name) => {
                canonical.insert((*name).to_owned(), value);
            }
            None => unknown.push(key),
        }
    }
    (canonical, unknown)
}

/// Decodes with the path of what went wrong, below `base`.
pub(super) fn decode<T: DeserializeOwned>(value: Value, base: &str) -> Result<T, OptionsError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let text = error.into_inner().to_string();
        let (deeper, text) = match text.strip_prefix(NESTED).and_then(|rest| rest.split_once(NESTED)) {
            Some((path, message)) => (format!(".{path}"), message),
            None => (String::new(), text.as_str()),
        };
        let path = match (base, inner.as_str()) {
            ("", ".") => "options".to_owned(),
            ("", inner) => inner.to_owned(),
            (base, ".") => base.to_owned(),
            (base, inner) => format!("{base}.{inner}"),
        };
        OptionsError::new(path + &deeper, plain(text))
    })
}

/// serde's words for a wrong type in those of JavaScript.
fn plain(message: &str) -> String {
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    let Some((got, expected)) = wrong.and_then(|rest| rest.split_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "a string" => "a text",
        "a boolean" => "true or false",
        "u64" => "a whole number from 0",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    let got = match got {
        "map" => "an object",
        "sequence" => "a list",
        other => other.split_once(' ').filter(|_| other.ends_with(['`', '"'])).map_or(other, |(kind, value)| {
            // A number between backticks, a text between quotes.
            if kind == "string" { value } else { other.split('`').nth(1).unwrap_or(value) }
        }),
    };
    format!("expected {expected}, got {got}")
}

/// A whole number, also as text; an empty text is unset, as in k6.
pub(crate) fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => {
            text.parse().map(Some).map_err(|_| Error::custom(format!("{text:?} is not a whole number")))
        }
        Value::Number(number) => {
            if let Some(n) = number.as_i64() {
                return Ok(Some(n));
            }
            match number.as_f64() {
                // 2^63 is exact as a float.
                Some(f) if f.fract() == 0.0 && f.abs() < 9_223_372_036_854_775_808.0 => Ok(Some(f as i64)),
                _ => Err(Error::custom(format!("{number} is not a whole number within 64 bits"))),
            }
        }
        other => Err(Error::custom(format!("expected a whole number, got {}", shown(&other)))),
    }
}

/// Texts by name. k6: `null` is an empty text, as Go's decoder has it.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    let texts = Option::<BTreeMap<String, Option<String>>>::deserialize(deserializer)?;
    Ok(texts.map(|texts| texts.into_iter().map(|(name, text)| (name, text.unwrap_or_default())).collect()))
}

/// A value as an error repeats it: of lists and objects only that they are such.
fn shown(value: &Value) -> String {
    let mut text = match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    };
    if let Some((end, _)) = text.char_indices().nth(VALUE_SHOWN_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Stands around the path of an error that another decoder found; no text of ours has it.
const NESTED: char = '\u{1}';

/// Longest piece of a value that an error repeats, in characters.
const VALUE_SHOWN_MAX: usize = 60;
