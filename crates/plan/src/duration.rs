//! Durations as k6 users write them: Go's grammar, k6's extended grammar, and Go's way of printing.
//!
//! A [`GoDuration`] may be negative: options are read before they are validated, and the validation text wants the
//! value. Plans use plain unsigned nanoseconds instead.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A signed number of nanoseconds that reads and prints the way Go's `time.Duration` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoDuration(i64);

impl GoDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// From signed nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// From whole seconds; saturates.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(NS_PER_S))
    }

    /// Signed nanoseconds.
    #[must_use]
    pub const fn ns(self) -> i64 {
        self.0
    }

    /// Nanoseconds, with a negative duration counted as none.
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0.unsigned_abs() }
    }

    /// As a standard duration, with a negative duration counted as none.
    #[must_use]
    pub const fn as_std(self) -> Duration {
        Duration::from_nanos(self.as_ns())
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_go_duration(self.0))
    }
}

impl From<Duration> for GoDuration {
    fn from(value: Duration) -> Self {
        Self(i64::try_from(value.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the extended grammar, from a JSON string or a JSON number of milliseconds.
impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let duration = match &value {
            serde_json::Value::String(text) => parse_extended_duration(text),
            serde_json::Value::Number(number) => from_ms(number.as_f64().unwrap_or(f64::NAN), &value.to_string()),
            other => Err(DurationError::NotADuration(other.to_string())),
        };
        duration.map_err(|error| {
            let example = r#"write "30s", "1m30s" or a number of milliseconds"#;
            serde::de::Error::custom(format!("{error}: {example}"))
        })
    }
}

/// Why a duration could not be read. The texts are Go's and k6's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// The text has no number or is out of range.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number without a unit, where one is needed.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// A unit Go does not know.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit as written.
        unit: String,
        /// The whole text.
        text: String,
    },
    /// The part before `d` is not a whole number of days.
    #[error("'{0}' is not a whole number of days")]
    Days(String),
    /// A sign after the days, as in `1d-2h`.
    #[error("invalid time format '{0}'")]
    SignAfterDays(String),
    /// A JSON value that is neither text nor a number.
    #[error("'{0}' is not a valid duration value")]
    NotADuration(String),
}

/// Reads Go's strict grammar, as the command line uses it: a unit is required except for a bare `0`.
///
/// # Errors
/// [`DurationError`] with Go's text for anything else, including values beyond ±292 years.
pub fn parse_go_duration(text: &str) -> Result<GoDuration, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(GoDuration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let whole = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (digits, after) = rest.split_at(whole);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(tail) => {
                let count = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                tail.split_at(count)
            }
            None => ("", after),
        };
        if digits.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_len = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, tail) = after.split_at(unit_len);
        if unit.is_empty() {
            return Err(DurationError::MissingUnit(text.to_owned()));
        }
        let scale =
            unit_ns(unit).ok_or_else(|| DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() })?;
        let whole_value: i128 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| invalid())? };
        let mut part = whole_value.checked_mul(i128::from(scale)).ok_or_else(invalid)?;
        // Digits beyond a femtosecond of an hour cannot matter; cutting them keeps the arithmetic in range.
        let kept = &fraction[..fraction.len().min(FRACTION_DIGITS_MAX)];
        if !kept.is_empty() {
            let value: i128 = kept.parse().map_err(|_| invalid())?;
            // `kept` is at most 18 digits, so the power fits.
            part += value * i128::from(scale) / 10_i128.pow(kept.len() as u32);
        }
        total = total.checked_add(part).ok_or_else(invalid)?;
        if total > i128::from(i64::MAX) + i128::from(negative) {
            return Err(invalid());
        }
        rest = tail;
    }
    let signed = if negative { -total } else { total };
    i64::try_from(signed).map(GoDuration).map_err(|_| invalid())
}

/// Reads k6's extended grammar, as JSON and the environment use it: a bare number is milliseconds, and whole days may
/// come first (`1d2h`).
///
/// # Errors
/// [`DurationError`], with Go's or k6's text where they have one.
pub fn parse_extended_duration(text: &str) -> Result<GoDuration, DurationError> {
    if looks_like_number(text) {
        let ms: f64 = text.parse().map_err(|_| DurationError::Invalid(text.to_owned()))?;
        return from_ms(ms, text);
    }
    let Some((days_text, rest)) = text.split_once('d') else {
        return parse_go_duration(text);
    };
    if days_text.starts_with(char::is_alphabetic) {
        // The `d` of another word: `ten seconds`.
        return Err(DurationError::Invalid(text.to_owned()));
    }
    let days: i64 = days_text.parse().map_err(|_| DurationError::Days(days_text.to_owned()))?;
    if rest.starts_with(['-', '+']) {
        return Err(DurationError::SignAfterDays(rest.to_owned()));
    }
    let hours = if rest.is_empty() { 0 } else { parse_go_duration(rest)?.0 };
    let hours = if days_text.starts_with('-') { -hours } else { hours };
    days.checked_mul(NS_PER_DAY)
        .and_then(|ns| ns.checked_add(hours))
        .map(GoDuration)
        .ok_or_else(|| DurationError::Invalid(text.to_owned()))
}

/// Prints nanoseconds as Go does: `0s`, `1.5ms`, `1m30s`, `10m0s`.
#[must_use]
pub fn format_go_duration(ns: i64) -> String {
    let magnitude = ns.unsigned_abs();
    let sign = if ns < 0 { "-" } else { "" };
    if magnitude == 0 {
        return "0s".to_owned();
    }
    let small = |unit: u64, name: &str| format!("{sign}{}{}{name}", magnitude / unit, fraction(magnitude % unit, unit));
    if magnitude < 1_000 {
        return format!("{sign}{magnitude}ns");
    }
    if magnitude < 1_000_000 {
        return small(1_000, "µs");
    }
    if magnitude < 1_000_000_000 {
        return small(1_000_000, "ms");
    }
    let secs = magnitude / 1_000_000_000;
    let tail = fraction(magnitude % 1_000_000_000, 1_000_000_000);
    let (hours, minutes, seconds) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 {
        format!("{sign}{hours}h{minutes}m{seconds}{tail}s")
    } else if minutes > 0 {
        format!("{sign}{minutes}m{seconds}{tail}s")
    } else {
        format!("{sign}{seconds}{tail}s")
    }
}

/// `.5` for 500 of 1000, nothing for 0: the fraction's digits without trailing zeros.
fn fraction(part: u64, unit: u64) -> String {
    if part == 0 {
        return String::new();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{part:0width$}");
    format!(".{}", digits.trim_end_matches('0'))
}

fn unit_ns(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NS_PER_S,
        "m" => 60 * NS_PER_S,
        "h" => 3_600 * NS_PER_S,
        _ => return None,
    })
}

/// True for what k6 reads as a bare number of milliseconds. Words that Rust also reads as floats (`inf`, `NaN`) are
/// not numbers here: k6 turns them into nonsense, a clear error serves the user better.
fn looks_like_number(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
        && text.parse::<f64>().is_ok()
}

fn from_ms(ms: f64, text: &str) -> Result<GoDuration, DurationError> {
    let ns = ms * 1e6;
    // 2^63 is exact as a float; the comparison also refuses NaN.
    if ns.abs() < 9_223_372_036_854_775_808.0 {
        Ok(GoDuration(ns as i64))
    } else {
        Err(DurationError::Invalid(text.to_owned()))
    }
}

const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_DAY: i64 = 86_400 * NS_PER_S;
/// 10^18 times an hour in nanoseconds still fits an `i128` with room to spare.
const FRACTION_DIGITS_MAX: usize = 18;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_go(text: &str, expect: &str) {
        let got = parse_go_duration(text).map_or_else(|e| e.to_string(), |d| d.to_string());
        assert_eq!(got, expect, "strict {text:?}");
    }

    fn check_extended(text: &str, expect: &str) {
        let got = parse_extended_duration(text).map_or_else(|e| e.to_string(), |d| d.to_string());
        assert_eq!(got, expect, "extended {text:?}");
    }

    #[test]
    fn strict_grammar() {
        check_go("10s", "10s");
        check_go("10", "time: missing unit in duration \"10\"");
        check_go("0", "0s");
        check_go("-0", "0s");
        check_go("+5s", "5s");
        check_go("-1.5h", "-1h30m0s");
        check_go(".5s", "500ms");
        check_go("5.s", "5s");
        check_go(".s", "time: invalid duration \".s\"");
        check_go("", "time: invalid duration \"\"");
        check_go("-", "time: invalid duration \"-\"");
        check_go("s", "time: invalid duration \"s\"");
        check_go("5x", "time: unknown unit \"x\" in duration \"5x\"");
        check_go("5 s", "time: unknown unit \" s\" in duration \"5 s\"");
        check_go("1e3s", "time: unknown unit \"e\" in duration \"1e3s\"");
        check_go("1h1.5m.5s100us3µs4ns", "1h1m30.500103004s");
        check_go("99999999h", "time: invalid duration \"99999999h\"");
        check_go("2562047h47m16.854775807s", "2562047h47m16.854775807s");
        check_go("-2562047h47m16.854775808s", "-2562047h47m16.854775808s");
        check_go("2562047h47m16.854775808s", "time: invalid duration \"2562047h47m16.854775808s\"");
        check_go("1d", "time: unknown unit \"d\" in duration \"1d\"");
        check_go("0.000000000000000000000000000000000001h", "0s");
        check_go(
            "99999999999999999999999999999999999999999999s",
            "time: invalid duration \"99999999999999999999999999999999999999999999s\"",
        );
    }

    #[test]
    fn extended_grammar() {
        check_extended("10", "10ms");
        check_extended("1.5", "1.5ms");
        check_extended("+3", "3ms");
        check_extended("1e3", "1s");
        check_extended("1d", "24h0m0s");
        check_extended("1d0", "24h0m0s");
        check_extended("1d2h", "26h0m0s");
        check_extended("-1d2h", "-26h0m0s");
        check_extended("1d-2h", "invalid time format '-2h'");
        check_extended("1d1d", "time: unknown unit \"d\" in duration \"1d\"");
        check_extended("1h1d", "'1h1' is not a whole number of days");
        check_extended("ten seconds", "time: invalid duration \"ten seconds\"");
        check_extended("1.5d", "'1.5' is not a whole number of days");
        check_extended("d", "'' is not a whole number of days");
        check_extended("106751d", "2562024h0m0s");
        check_extended("106752d", "time: invalid duration \"106752d\"");
        check_extended("1.23456789", "1.234567ms");
        check_extended("inf", "time: invalid duration \"inf\"");
        check_extended("NaN", "time: invalid duration \"NaN\"");
        check_extended("1e300", "time: invalid duration \"1e300\"");
        check_extended("0x10", "time: unknown unit \"x\" in duration \"0x10\"");
        check_extended("5s", "5s");
    }

    #[test]
    fn printing() {
        for (ns, expect) in [
            (0, "0s"),
            (999, "999ns"),
            (-1_500, "-1.5µs"),
            (1_500_000, "1.5ms"),
            (500_000_000, "500ms"),
            (1_010_000_000, "1.01s"),
            (90 * NS_PER_S, "1m30s"),
            (600 * NS_PER_S, "10m0s"),
            (3600 * NS_PER_S, "1h0m0s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(format_go_duration(ns), expect);
        }
    }

    #[test]
    fn json_values() {
        let read =
            |json: &str| serde_json::from_str::<GoDuration>(json).map_or_else(|e| e.to_string(), |d| d.to_string());
        assert_eq!(read("1500.5"), "1.5005s");
        assert_eq!(read("\"1d\""), "24h0m0s");
        assert_eq!(read("-5"), "-5ms");
        assert!(read("true").starts_with("'true' is not a valid duration value"));
        assert!(read("{}").starts_with("'{}' is not a valid duration value"));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(ns: i64) {
            prop_assert_eq!(parse_go_duration(&format_go_duration(ns)), Ok(GoDuration(ns)));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,24}") {
            let _ = parse_go_duration(&text);
            let _ = parse_extended_duration(&text);
        }

        #[test]
        fn no_duration_like_text_panics(text in "[-+]?([0-9.]{0,30}(d|h|m|s|ms|us|ns|µs|)){0,4}") {
            let _ = parse_go_duration(&text);
            let _ = parse_extended_duration(&text);
        }
    }
}
