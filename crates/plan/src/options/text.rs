//! The parts of options that are written as one text, in flags and in the environment.

use std::collections::BTreeMap;

use crate::{
    duration::{DurationError, GoDuration},
    executor::StageConfig,
};

/// `[duration]:[target]`.
pub(super) fn stage(
    text: &str,
    duration: fn(&str) -> Result<GoDuration, DurationError>,
) -> Result<StageConfig, String> {
    let (duration_text, target_text) = text.split_once(':').unwrap_or((text, ""));
    let mut stage = StageConfig::default();
    if !duration_text.is_empty() {
        stage.duration = Some(duration(duration_text).map_err(|e| e.to_string())?);
    }
    if !target_text.is_empty() {
        let target = target_text.parse().map_err(|_| format!("{target_text:?} is not a whole number"))?;
        stage.target = Some(target);
    }
    Ok(stage)
}

/// `name=value`.
pub(super) fn tag(text: &str) -> Result<(String, String), String> {
    let wrap = |reason: &str| format!("error parsing tag '{text}': {reason}");
    let Some((name, value)) = text.split_once('=') else {
        return Err(wrap(if text.is_empty() { "invalid tag, empty string" } else { "invalid tag, empty value" }));
    };
    if name.is_empty() {
        return Err(wrap("invalid tag, empty name"));
    }
    if value.is_empty() {
        return Err(wrap("invalid tag, empty value"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// `a:b,c:d`, as k6 reads maps from the environment.
pub(super) fn map(text: &str) -> Result<BTreeMap<String, String>, String> {
    text.split(',')
        .filter(|item| !item.is_empty())
        .map(|item| {
            let (key, value) = item.split_once(':').ok_or_else(|| format!("invalid map item: {item:?}"))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

/// `a,b,c`; empty text is an empty list.
pub(super) fn list(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.split(',').map(|item| item.trim().to_owned()).collect() }
}

/// `summaryTimeUnit` from a flag.
pub(super) fn time_unit(text: &str) -> Result<String, String> {
    match text {
        "" | "s" | "ms" | "us" => Ok(text.to_owned()),
        other => Err(format!("invalid summary time unit '{other}', use 's', 'ms' or 'us'")),
    }
}
