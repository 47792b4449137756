//! How the value of an option is written in a flag and in a variable, and how one place's is laid over another's.
//!
//! Each row of the table of options names its form; what JSON looks like is serde's business.

use std::{collections::BTreeMap, str::FromStr};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    dns::DnsConfig,
    hosts::{self, HostTarget},
    info::Kind,
    ips,
    scenario_config::ScenarioConfig,
    tags::SystemTags,
    text,
    threshold::{self, ThresholdConfig},
    tls::{self, TlsAuth, TlsVersions},
};
use crate::{
    duration::{GoDuration, parse_extended_duration, parse_go_duration},
    executor::StageConfig,
    segment::{Segment, SegmentSequence},
};

/// How an option is written.
pub(super) trait Form {
    /// The option's field: what is not set is its default.
    type Field: Default;
    /// What the option holds.
    const KIND: Kind;

    /// From the values of its flag, in their order; there is one at least.
    fn flag(values: Vec<String>) -> Result<Self::Field, String>;

    /// From its variable, which is set and may be empty.
    fn env(text: &str) -> Result<Self::Field, String>;

    /// Lays a higher place's value over a lower one's.
    fn lay(field: &mut Self::Field, over: Self::Field);
}

/// A form whose field is an `Option`: what is set replaces what was there, whole maps and lists included.
macro_rules! form {
    ($(#[$doc:meta])* $form:ident: $value:ty, $kind:ident, flag: $flag:expr, env: $env:expr $(,)?) => {
        $(#[$doc])*
        pub(super) enum $form {}

        impl Form for $form {
            type Field = Option<$value>;
            const KIND: Kind = Kind::$kind;

            fn flag(values: Vec<String>) -> Result<Self::Field, String> {
                let read: fn(Vec<String>) -> Result<Self::Field, String> = $flag;
                read(values)
            }

            fn env(text: &str) -> Result<Self::Field, String> {
                let read: fn(&str) -> Result<Self::Field, String> = $env;
                read(text)
            }

            fn lay(field: &mut Self::Field, over: Self::Field) {
                if over.is_some() {
                    *field = over;
                }
            }
        }
    };
    // Written in objects only.
    ($(#[$doc:meta])* $form:ident: $value:ty, $kind:ident) => {
        form! { $(#[$doc])* $form: $value, $kind, flag: |_| Ok(None), env: |_| Ok(None) }
    };
}

form! {
    /// `true` or `false`.
    Switch: bool, Bool,
    flag: |values| match last(values).as_str() {
        "" | "true" | "t" | "T" | "TRUE" | "True" | "1" => Ok(Some(true)),
        "false" | "f" | "F" | "FALSE" | "False" | "0" => Ok(Some(false)),
        other => Err(not_a_switch(other)),
    },
    env: |text| filled(text, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(not_a_switch(other)),
    }),
}

form! {
    /// A whole number.
    Int: i64, Int,
    flag: |values| whole(&last(values)).map(Some),
    env: |text| filled(text, whole),
}

form! {
    /// A duration: with a unit in flags, as in Go; a bare number is milliseconds in variables.
    Time: GoDuration, Duration,
    flag: |values| parse_go_duration(&last(values)).map(Some).map_err(|error| error.to_string()),
    env: |text| filled(text, |text| parse_extended_duration(text).map_err(|error| error.to_string())),
}

form! {
    /// A text, which may be empty in a flag.
    Text: String, Text,
    flag: |values| Ok(Some(last(values))),
    env: |text| filled(text, |text| Ok(text.to_owned())),
}

form! {
    /// A path. k6: an empty one is as none.
    Path: String, Text,
    flag: |values| Ok(Some(last(values)).filter(|path| !path.is_empty())),
    env: |text| filled(text, |text| Ok(text.to_owned())),
}

form! {
    /// What `httpDebug` logs.
    Debug: String, Mode,
    flag: |values| debug_mode(&last(values)).map(Some),
    env: |text| filled(text, debug_mode),
}

form! {
    /// The unit of times in the summary.
    TimeUnit: String, Text,
    flag: |values| text::time_unit(&last(values)).map(Some),
    env: |text| text::time_unit(text).map(Some),
}

form! {
    /// This instance's part of the test.
    Part: Segment, Text,
    flag: |values| parsed(&last(values)).map(Some),
    env: |text| filled(text, parsed),
}

form! {
    /// The parts of all instances.
    Parts: SegmentSequence, Text,
    flag: |values| parsed(&last(values)).map(Some),
    env: |text| filled(text, parsed),
}

form! {
    /// Addresses to connect from.
    Ips: ips::IpPool, Text,
    flag: |values| filled(&last(values), str::parse),
    env: |text| filled(text, str::parse),
}

form! {
    /// Scenarios by name.
    Scenarios: BTreeMap<String, ScenarioConfig>, Table
}

form! {
    /// TLS versions.
    Versions: TlsVersions, Text
}

form! {
    /// Kept as it is.
    Anything: Value, Table
}

form! {
    /// Kept as it is, by name.
    Extensions: BTreeMap<String, Value>, Table
}

form! {
    /// Client certificates.
    Certificates: Vec<TlsAuth>, List,
    flag: |values| json(&last(values)),
    env: json,
}

form! {
    /// `DURATION:TARGET` for each stage.
    Stages: Vec<StageConfig>, List,
    flag: |values| flag_stages(&items(&values)).map(Some),
    env: |text| env_stages(text).map(Some),
}

form! {
    /// Names between commas.
    Names: Vec<String>, List,
    flag: |values| Ok(Some(items(&values))),
    env: |text| Ok(Some(text::list(text))),
}

form! {
    /// Cipher suites.
    Suites: Vec<String>, List,
    flag: |values| tls::checked_suites(items(&values)).map(Some),
    env: |text| tls::checked_suites(text::list(text)).map(Some),
}

form! {
    /// Patterns of host names.
    Patterns: Vec<String>, List,
    flag: |values| hosts::checked_patterns(items(&values)).map(Some),
    env: |text| hosts::checked_patterns(text::list(text)).map(Some),
}

form! {
    /// Networks.
    Cidrs: Vec<ips::Cidr>, List,
    flag: |values| {
        let cidr = |item: &String| item.parse().map_err(|e| format!("error parsing blacklist-ip '{item}': {e}"));
        items(&values).iter().map(cidr).collect::<Result<_, _>>().map(Some)
    },
    env: |text| text::list(text).iter().map(|item| item.parse()).collect::<Result<_, _>>().map(Some),
}

form! {
    /// Names of system tags.
    TagNames: SystemTags, List,
    flag: |values| Ok(Some(SystemTags::of(items(&values).iter().map(String::as_str)))),
    env: |text| Ok(Some(SystemTags::of(text.split(',').map(str::trim)))),
}

form! {
    /// Addresses by host name.
    Hosts: BTreeMap<String, HostTarget>, Table,
    flag: |values| json(&last(values)),
    env: |text| json(text)?.map(hosts::checked_targets).transpose(),
}

form! {
    /// Threshold expressions by metric.
    Thresholds: BTreeMap<String, Vec<ThresholdConfig>>, Table,
    flag: |values| Ok(filled(&last(values), threshold::from_text)?.flatten()),
    env: |text| Ok(filled(text, threshold::from_text)?.flatten()),
}

/// `NAME=VALUE` for each tag. k6: no tags are as none given, so they leave those below alone.
pub(super) enum Tags {}

impl Form for Tags {
    type Field = Option<BTreeMap<String, String>>;
    const KIND: Kind = Kind::Table;

    fn flag(values: Vec<String>) -> Result<Self::Field, String> {
        let given: Vec<String> = values.into_iter().filter(|tag| !tag.is_empty()).collect();
        if given.is_empty() {
            return Ok(None);
        }
        given.iter().map(|item| text::tag(item)).collect::<Result<_, _>>().map(Some)
    }

    fn env(text: &str) -> Result<Self::Field, String> {
        text::map(text).map(Some)
    }

    fn lay(field: &mut Self::Field, over: Self::Field) {
        if let Some(over) = over.filter(|tags| !tags.is_empty()) {
            *field = Some(over);
        }
    }
}

/// The settings of name resolution, each of which can be set by itself.
pub(super) enum Dns {}

impl Form for Dns {
    type Field = DnsConfig;
    const KIND: Kind = Kind::Table;

    fn flag(values: Vec<String>) -> Result<Self::Field, String> {
        DnsConfig::parse(&last(values))
    }

    fn env(text: &str) -> Result<Self::Field, String> {
        DnsConfig::parse(text)
    }

    fn lay(field: &mut Self::Field, over: Self::Field) {
        field.apply(over);
    }
}

/// A flag that does not repeat: the last one counts.
fn last(mut values: Vec<String>) -> String {
    values.pop().unwrap_or_default()
}

/// All values of a flag that repeats and is split at commas.
fn items(values: &[String]) -> Vec<String> {
    values.iter().flat_map(|value| text::list(value)).collect()
}

/// k6: an empty variable is not set, where it means a number, a switch, a duration or JSON.
fn filled<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("{text:?} is not a whole number"))
}

fn not_a_switch(text: &str) -> String {
    format!("{text:?} is not a valid boolean value: use true or false")
}

fn json<T: DeserializeOwned>(text: &str) -> Result<Option<T>, String> {
    filled(text, |text| {
        serde_json::from_str(text).map_err(|error| format!("{error}; the value is JSON, as in the config file"))
    })
}

/// k6 takes any text for `headers`; here a misspelt `full` is told.
fn debug_mode(text: &str) -> Result<String, String> {
    match text {
        "" | "headers" | "true" => Ok("headers".to_owned()),
        "full" => Ok(text.to_owned()),
        other => Err(format!("{other:?} is not a mode: use full or headers")),
    }
}

fn flag_stages(items: &[String]) -> Result<Vec<StageConfig>, String> {
    let mut stages = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let stage = text::stage(item, parse_go_duration).map_err(|e| format!("error for stage {i}: {e}"))?;
        if stage.duration.is_none() {
            return Err(format!("stage {i} doesn't have a specified duration"));
        }
        stages.push(stage);
    }
    Ok(stages)
}

fn env_stages(text: &str) -> Result<Vec<StageConfig>, String> {
    let mut stages = Vec::new();
    for item in text.split(',').filter(|item| !item.is_empty()) {
        let stage = text::stage(item, parse_extended_duration)?;
        // k6: a stage without a duration is left out without a word.
        if stage.duration.is_some() {
            stages.push(stage);
        }
    }
    Ok(stages)
}
