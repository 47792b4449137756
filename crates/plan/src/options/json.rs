//! Reading an options object from JSON as k6 does: unknown top-level keys are kept apart, and errors name the option.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    scenario_config::ScenarioConfig,
    table::{OPTIONS, Options},
    tags::SystemTags,
};
use crate::{
    error::OptionsError,
    json::{canonical_keys, decode},
    names::closest,
};

/// What a script or config file said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The options that were understood.
    pub options: Options,
    /// Top-level keys that are not options, in their order. They only deserve a warning:
    /// `There were unknown fields in the options exported in the script`.
    pub unknown: Vec<String>,
    /// Those of them that are almost the name of something, with that name.
    pub hints: Vec<(String, &'static str)>,
}

/// Reads an options object. `null` is an empty one.
///
/// # Errors
/// [`OptionsError`] for text that is not JSON, a wrong type (naming the option), an invalid value, or an unknown field
/// within a scenario.
pub fn parse_json(text: &str) -> Result<Parsed, OptionsError> {
    let value: Value = serde_json::from_str(text).map_err(|error| OptionsError::plain(error.to_string()))?;
    let fields = match value {
        Value::Null => return Ok(Parsed::default()),
        Value::Object(fields) => fields,
        other => return Err(OptionsError::wrong_type("options", "an object", &other)),
    };
    let known: Vec<&'static str> = OPTIONS.iter().filter(|row| row.in_scripts).map(|row| row.key).collect();
    let (mut fields, mut unknown) = canonical_keys(fields, &known);
    let mut hints: Vec<(String, &'static str)> =
        unknown.iter().filter_map(|key| Some((key.clone(), closest(key, &known)?))).collect();
    hints.extend(misspelt_tags(&fields));
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
    Ok(Parsed { options, unknown, hints })
}

/// System tags that are almost names of some.
fn misspelt_tags(fields: &Map<String, Value>) -> Vec<(String, &'static str)> {
    let tags = fields.get("systemTags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let unknown = tags.filter(|tag| !SystemTags::is_known(tag));
    unknown.filter_map(|tag| Some((format!("systemTags.{tag}"), closest(tag, SystemTags::known())?))).collect()
}

/// What k6 leaves out without a word below the top level: fields of `dns`, names of system tags.
fn ignored(fields: &Map<String, Value>) -> Vec<String> {
    let dns = fields.get("dns").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let dns = dns.filter(|key| !["ttl", "select", "policy"].iter().any(|known| known.eq_ignore_ascii_case(key)));
    let tags = fields.get("systemTags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let tags = tags.filter(|tag| !SystemTags::is_known(tag));
    dns.map(|key| format!("dns.{key}")).chain(tags.map(|tag| format!("systemTags.{tag}"))).collect()
}
