//! A scenario as written: the common fields, and the executor's own as an enum by `executor`.

use std::collections::BTreeMap;

use serde::{
    Serialize,
    ser::{SerializeMap, Serializer},
};
use serde_json::{Map, Value};

use crate::{
    duration::GoDuration,
    error::OptionsError,
    executor::{
        ConstantArrivalRateConfig, ConstantVusConfig, Executor, ExecutorKind, ExternallyControlledConfig,
        PerVuIterationsConfig, RampingArrivalRateConfig, RampingVusConfig, SharedIterationsConfig,
    },
    json::{canonical_keys, decode, texts},
    names::closest,
    scenario::{DEFAULT_EXEC, DEFAULT_GRACEFUL_STOP, Scenario},
};

/// A scenario as the user wrote it; nothing is checked but types and field names.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioConfig {
    /// When it starts, from the start of the test; at once if not given.
    pub start_time: Option<GoDuration>,
    /// How long iterations may go on after the regular end; 30 seconds if not given.
    pub graceful_stop: Option<GoDuration>,
    /// Laid over `__ENV`.
    pub env: Option<BTreeMap<String, String>>,
    /// The exported function; `default` if not given.
    pub exec: Option<String>,
    /// Tags for all samples of the scenario.
    pub tags: Option<BTreeMap<String, String>>,
    /// The raw `options` object.
    pub options: Option<Value>,
    /// The executor and its fields.
    pub executor: ExecutorConfig,
}

/// An executor as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variants are the executors' names")]
pub enum ExecutorConfig {
    ConstantVus(ConstantVusConfig),
    RampingVus(RampingVusConfig),
    SharedIterations(SharedIterationsConfig),
    PerVuIterations(PerVuIterationsConfig),
    ConstantArrivalRate(ConstantArrivalRateConfig),
    RampingArrivalRate(RampingArrivalRateConfig),
    ExternallyControlled(ExternallyControlledConfig),
}

impl ExecutorConfig {
    /// Which executor it is.
    #[must_use]
    pub fn kind(&self) -> ExecutorKind {
        match self {
            Self::ConstantVus(_) => ExecutorKind::ConstantVus,
            Self::RampingVus(_) => ExecutorKind::RampingVus,
            Self::SharedIterations(_) => ExecutorKind::SharedIterations,
            Self::PerVuIterations(_) => ExecutorKind::PerVuIterations,
            Self::ConstantArrivalRate(_) => ExecutorKind::ConstantArrivalRate,
            Self::RampingArrivalRate(_) => ExecutorKind::RampingArrivalRate,
            Self::ExternallyControlled(_) => ExecutorKind::ExternallyControlled,
        }
    }

    /// The fields an executor has of its own.
    fn fields(kind: ExecutorKind) -> &'static [&'static str] {
        match kind {
            ExecutorKind::ConstantVus => ConstantVusConfig::FIELDS,
            ExecutorKind::RampingVus => RampingVusConfig::FIELDS,
            ExecutorKind::SharedIterations => SharedIterationsConfig::FIELDS,
            ExecutorKind::PerVuIterations => PerVuIterationsConfig::FIELDS,
            ExecutorKind::ConstantArrivalRate => ConstantArrivalRateConfig::FIELDS,
            ExecutorKind::RampingArrivalRate => RampingArrivalRateConfig::FIELDS,
            ExecutorKind::ExternallyControlled => ExternallyControlledConfig::FIELDS,
        }
    }

    fn decode(kind: ExecutorKind, fields: Value, path: &str) -> Result<Self, OptionsError> {
        Ok(match kind {
            ExecutorKind::ConstantVus => Self::ConstantVus(decode(fields, path)?),
            ExecutorKind::RampingVus => Self::RampingVus(decode(fields, path)?),
            ExecutorKind::SharedIterations => Self::SharedIterations(decode(fields, path)?),
            ExecutorKind::PerVuIterations => Self::PerVuIterations(decode(fields, path)?),
            ExecutorKind::ConstantArrivalRate => Self::ConstantArrivalRate(decode(fields, path)?),
            ExecutorKind::RampingArrivalRate => Self::RampingArrivalRate(decode(fields, path)?),
            ExecutorKind::ExternallyControlled => Self::ExternallyControlled(decode(fields, path)?),
        })
    }

    fn validate(&self) -> Result<Executor, Vec<String>> {
        Ok(match self {
            Self::ConstantVus(c) => Executor::ConstantVus(c.validate()?),
            Self::RampingVus(c) => Executor::RampingVus(c.validate()?),
            Self::SharedIterations(c) => Executor::SharedIterations(c.validate()?),
            Self::PerVuIterations(c) => Executor::PerVuIterations(c.validate()?),
            Self::ConstantArrivalRate(c) => Executor::ConstantArrivalRate(c.validate()?),
            Self::RampingArrivalRate(c) => Executor::RampingArrivalRate(c.validate()?),
            Self::ExternallyControlled(c) => Executor::ExternallyControlled(c.validate()?),
        })
    }
}

impl From<ExecutorConfig> for ScenarioConfig {
    /// A scenario with nothing but its executor, as the shortcuts make it.
    fn from(executor: ExecutorConfig) -> Self {
        Self { start_time: None, graceful_stop: None, env: None, exec: None, tags: None, options: None, executor }
    }
}

impl ScenarioConfig {
    /// Reads one entry of `scenarios`. Unknown fields are errors.
    pub(super) fn from_value(name: &str, value: Value) -> Result<Self, OptionsError> {
        let path = format!("scenarios.{name}");
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => return Err(no_executor(name)),
            other => return Err(OptionsError::wrong_type(&path, "an object", &other)),
        };
        let kind = executor_kind(name, &path, &fields)?;
        let executor_fields = ExecutorConfig::fields(kind);
        let known: Vec<&str> = COMMON_FIELDS.iter().chain(executor_fields).copied().collect();
        let (fields, unknown) = canonical_keys(fields, &known);
        if let Some(field) = unknown.first() {
            return Err(OptionsError::unknown_field(&path, field, &known));
        }
        let (mut common, mut own) = (Map::new(), Map::new());
        for (key, value) in fields {
            if executor_fields.contains(&key.as_str()) {
                own.insert(key, strict_stages(&path, value)?);
            } else if key != "executor" {
                common.insert(key, value);
            }
        }
        let executor = ExecutorConfig::decode(kind, Value::Object(own), &path)?;
        if let Some(options) = common.get_mut("options") {
            check_module_options(&format!("{path}.options"), options)?;
        }
        let common: CommonFields = decode(Value::Object(common), &path)?;
        Ok(Self {
            start_time: common.start_time,
            graceful_stop: common.graceful_stop,
            env: common.env,
            exec: common.exec,
            tags: common.tags,
            options: common.options,
            executor,
        })
    }

    /// Checks everything; all messages of one scenario together.
    pub(super) fn validate(&self, name: &str) -> Result<Scenario, String> {
        let mut errors = Vec::new();
        if name.is_empty() {
            errors.push("scenario name can't be empty".to_owned());
        }
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            errors.push(
                "the scenario name should contain only numbers, latin letters, underscores, and dashes".to_owned(),
            );
        }
        let exec = self.exec.clone().unwrap_or_else(|| DEFAULT_EXEC.to_owned());
        if exec.is_empty() {
            errors.push("exec value cannot be empty".to_owned());
        }
        let start_time = self.start_time.unwrap_or_default();
        if start_time < GoDuration::ZERO {
            errors.push("the startTime can't be negative".to_owned());
        }
        let is_external = matches!(self.executor, ExecutorConfig::ExternallyControlled(_));
        let default = if is_external { GoDuration::ZERO } else { DEFAULT_GRACEFUL_STOP };
        let graceful_stop = self.graceful_stop.unwrap_or(default);
        if is_external && self.graceful_stop.is_some() {
            errors.push("gracefulStop is not supported by the externally controlled executor".to_owned());
        }
        if graceful_stop < GoDuration::ZERO {
            errors.push("the gracefulStop timeout can't be negative".to_owned());
        }
        let executor = match self.executor.validate() {
            Ok(executor) if errors.is_empty() => executor,
            Ok(_) => return Err(scenario_errors(name, &errors)),
            Err(more) => {
                errors.extend(more);
                return Err(scenario_errors(name, &errors));
            }
        };
        Ok(Scenario {
            name: name.to_owned(),
            exec,
            start_time,
            graceful_stop,
            env: self.env.clone().unwrap_or_default(),
            tags: self.tags.clone().unwrap_or_default(),
            options: self.options.clone(),
            executor,
        })
    }
}

/// In k6's order: executor, the common fields, then the executor's own; unset is null.
impl Serialize for ScenarioConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let own = match &self.executor {
            ExecutorConfig::ConstantVus(c) => serde_json::to_value(c),
            ExecutorConfig::RampingVus(c) => serde_json::to_value(c),
            ExecutorConfig::SharedIterations(c) => serde_json::to_value(c),
            ExecutorConfig::PerVuIterations(c) => serde_json::to_value(c),
            ExecutorConfig::ConstantArrivalRate(c) => serde_json::to_value(c),
            ExecutorConfig::RampingArrivalRate(c) => serde_json::to_value(c),
            ExecutorConfig::ExternallyControlled(c) => serde_json::to_value(c),
        }
        .map_err(Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("executor", self.executor.kind().name())?;
        map.serialize_entry("startTime", &self.start_time)?;
        map.serialize_entry("gracefulStop", &self.graceful_stop)?;
        map.serialize_entry("env", &self.env)?;
        map.serialize_entry("exec", &self.exec)?;
        map.serialize_entry("tags", &self.tags)?;
        if let Some(options) = &self.options {
            map.serialize_entry("options", options)?;
        }
        if let Value::Object(fields) = own {
            for (key, value) in fields {
                map.serialize_entry(&key, &value)?;
            }
        }
        map.end()
    }
}

/// The executor that the fields name.
fn executor_kind(name: &str, path: &str, fields: &Map<String, Value>) -> Result<ExecutorKind, OptionsError> {
    let named = match fields.iter().find(|(key, _)| key.eq_ignore_ascii_case("executor")) {
        None | Some((_, Value::Null)) => return Err(no_executor(name)),
        Some((_, Value::String(text))) if text.is_empty() => return Err(no_executor(name)),
        Some((_, Value::String(text))) => text,
        Some((_, other)) => return Err(OptionsError::wrong_type(&format!("{path}.executor"), "text", other)),
    };
    ExecutorKind::of(named).ok_or_else(|| {
        let names = ExecutorKind::ALL.map(ExecutorKind::name);
        // k6: its text, then where and what there is.
        let what = match closest(named, &names) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => {
                let (last, others) = names.split_last().unwrap_or((&"", &[]));
                format!("use {} or {last}", others.join(", "))
            }
        };
        OptionsError::plain(format!("unknown executor type '{named}' in {path}, {what}"))
    })
}

fn no_executor(name: &str) -> OptionsError {
    OptionsError::plain(format!("scenario '{name}' doesn't have a specified executor type"))
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct CommonFields {
    start_time: Option<GoDuration>,
    graceful_stop: Option<GoDuration>,
    #[serde(deserialize_with = "texts")]
    env: Option<BTreeMap<String, String>>,
    exec: Option<String>,
    #[serde(deserialize_with = "texts")]
    tags: Option<BTreeMap<String, String>>,
    options: Option<Value>,
}

/// k6: the `options` of a scenario are those of the browser module, and no others.
fn check_module_options(path: &str, options: &mut Value) -> Result<(), OptionsError> {
    let fields = match options {
        Value::Null => return Ok(()),
        Value::Object(fields) => std::mem::take(fields),
        other => return Err(OptionsError::wrong_type(path, "an object", other)),
    };
    let (fields, unknown) = canonical_keys(fields, &["browser"]);
    if let Some(field) = unknown.first() {
        return Err(OptionsError::unknown_field(path, field, &["browser"]));
    }
    if let Some(browser) = fields.get("browser").filter(|browser| !browser.is_object() && !browser.is_null()) {
        return Err(OptionsError::wrong_type(&format!("{path}.browser"), "an object", browser));
    }
    *options = Value::Object(fields);
    Ok(())
}

/// Stages of a scenario allow no other field, unlike those of the shortcut.
fn strict_stages(path: &str, value: Value) -> Result<Value, OptionsError> {
    let Value::Array(items) = value else {
        return Ok(value);
    };
    let mut strict = Vec::with_capacity(items.len());
    for (i, item) in items.into_iter().enumerate() {
        strict.push(match item {
            Value::Object(fields) => {
                let (fields, unknown) = canonical_keys(fields, STAGE_FIELDS);
                if let Some(field) = unknown.first() {
                    return Err(OptionsError::unknown_field(&format!("{path}.stages[{i}]"), field, STAGE_FIELDS));
                }
                Value::Object(fields)
            }
            other => other,
        });
    }
    Ok(Value::Array(strict))
}

fn scenario_errors(name: &str, errors: &[String]) -> String {
    format!("scenario {name} has configuration errors: {}", errors.join(", "))
}

const COMMON_FIELDS: &[&str] = &["executor", "startTime", "gracefulStop", "env", "exec", "tags", "options"];
const STAGE_FIELDS: &[&str] = &["duration", "target"];
