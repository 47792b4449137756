//! The fields that several executors have, and what is valid there.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    duration::GoDuration,
    json::{int, object},
};

/// A stage as written, of a scenario or of the `stages` shortcut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StageConfig {
    /// How long the stage lasts.
    pub duration: Option<GoDuration>,
    /// What it leads to: VUs, or iterations per time unit.
    pub target: Option<i64>,
}

impl<'de> Deserialize<'de> for StageConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            duration: Option<GoDuration>,
            #[serde(deserialize_with = "int")]
            target: Option<i64>,
        }
        let example = r#"{ duration: "1m", target: 100 }"#;
        let Fields { duration, target } = object(deserializer, &["duration", "target"], example)?;
        Ok(Self { duration, target })
    }
}

/// A valid stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// How long the stage lasts, in nanoseconds; 0 jumps at once.
    pub duration_ns: u64,
    /// What it leads to: VUs, or iterations per time unit.
    pub target: u64,
}

/// The end of what has none, and later than any other: the longest duration there is, 292 years.
pub const FOREVER_NS: u64 = i64::MAX.unsigned_abs();
/// The smallest `duration` and `maxDuration`.
pub(crate) const MIN_DURATION: GoDuration = GoDuration::from_secs(1);
/// `maxDuration` when it is not given.
pub(crate) const DEFAULT_MAX_DURATION: GoDuration = GoDuration::from_secs(600);
/// Most VUs a stage of ramping-vus may ask for.
pub(crate) const VUS_MAX: i64 = 100_000_000;

/// Reads and checks `vus` as most executors do.
pub(super) fn positive_vus(vus: i64, errors: &mut Vec<String>) -> u64 {
    if vus <= 0 {
        errors.push("the number of VUs must be more than 0".to_owned());
    }
    u64::try_from(vus).unwrap_or(0)
}

pub(super) fn required_duration(duration: Option<GoDuration>, errors: &mut Vec<String>) -> GoDuration {
    match duration {
        None => errors.push("the duration is unspecified".to_owned()),
        Some(d) if d < MIN_DURATION => {
            errors.push(too_short("duration", d));
        }
        Some(_) => {}
    }
    duration.unwrap_or_default()
}

pub(super) fn max_duration(duration: Option<GoDuration>, errors: &mut Vec<String>) -> GoDuration {
    let duration = duration.unwrap_or(DEFAULT_MAX_DURATION);
    if duration < MIN_DURATION {
        errors.push(too_short("maxDuration", duration));
    }
    duration
}

/// Whole milliseconds are most likely a number that was meant as seconds: the text says how to write those.
fn too_short(option: &str, duration: GoDuration) -> String {
    const NS_PER_MS: i64 = 1_000_000;
    let mut text = format!("the {option} must be at least {MIN_DURATION}, but is {duration}");
    let (ms, rest) = (duration.ns() / NS_PER_MS, duration.ns() % NS_PER_MS);
    if ms > 0 && rest == 0 {
        text.push_str(&format!(" (a number is in milliseconds; for seconds write '{ms}s')"));
    }
    text
}

/// Checks stages; `target_max` only where k6 has one.
pub(super) fn valid_stages(
    stages: Option<&[StageConfig]>,
    target_max: Option<i64>,
    errors: &mut Vec<String>,
) -> Vec<Stage> {
    let stages = stages.unwrap_or_default();
    if stages.is_empty() {
        errors.push("at least one stage has to be specified".to_owned());
    }
    let mut total: i64 = 0;
    let mut valid = Vec::with_capacity(stages.len());
    for (i, stage) in stages.iter().enumerate() {
        let number = i + 1;
        match stage.duration {
            None => errors.push(format!("stage {number} doesn't have a duration")),
            Some(d) if d < GoDuration::ZERO => {
                errors.push(format!("the duration for stage {number} can't be negative"));
            }
            Some(d) => match total.checked_add(d.ns()) {
                Some(sum) => total = sum,
                None => errors.push(format!("the stages up to stage {number} are longer than 292 years")),
            },
        }
        match stage.target {
            None => errors.push(format!("stage {number} doesn't have a target")),
            Some(t) if t < 0 => errors.push(format!("the target for stage {number} can't be negative")),
            Some(t) => {
                if let Some(max) = target_max.filter(|max| t > *max) {
                    errors.push(format!("target for stage {number} exceeds max limit of {max}"));
                }
            }
        }
        valid.push(Stage {
            duration_ns: stage.duration.unwrap_or_default().as_ns(),
            target: u64::try_from(stage.target.unwrap_or(0)).unwrap_or(0),
        });
    }
    valid
}

/// The sum of the stages' durations. Validation keeps it within an `i64`; anything else saturates.
pub(super) fn total_ns(stages: &[Stage]) -> u64 {
    stages.iter().fold(0, |sum, stage| sum.saturating_add(stage.duration_ns))
}

/// `1m30s` for unsigned nanoseconds.
pub(super) fn text_ns(ns: u64) -> String {
    crate::duration::format_go_duration(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// VUs, or the result of a check that needs the errors collected so far to be none.
pub(super) fn checked<T>(value: T, errors: Vec<String>) -> Result<T, Vec<String>> {
    if errors.is_empty() { Ok(value) } else { Err(errors) }
}
