//! The texts that JSON has for times, spans and masks.

use onrush_calendar::{date_of_days, days_in_month, days_of_date};

/// A `Timestamp` as RFC 3339 with 0, 3, 6 or 9 decimals; `None` for what no calendar has.
pub fn timestamp_text(seconds: i64, nanos: i32) -> Option<String> {
    if !(TIMESTAMP_SECONDS_MIN..=TIMESTAMP_SECONDS_MAX).contains(&seconds) || !(0..NANOS_PER_SECOND).contains(&nanos) {
        return None;
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    push_decimals(&mut text, nanos);
    text.push('Z');
    Some(text)
}

/// Reads RFC 3339 with any offset.
pub fn parse_timestamp(text: &str) -> Option<(i64, i32)> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
    };
    let mark = |at: usize, mark: u8| (*bytes.get(at)? == mark).then_some(());
    mark(4, b'-')?;
    mark(7, b'-')?;
    mark(10, b'T')?;
    mark(13, b':')?;
    mark(16, b':')?;
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let (nanos, rest) = decimals(text.get(19..)?)?;
    let offset = match rest.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()) => {
            let digit = |byte: &u8| i64::from(byte - b'0');
            let (hours, minutes) = (digit(h1) * 10 + digit(h2), digit(m1) * 10 + digit(m2));
            if hours > 24 || minutes > 60 {
                return None;
            }
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => return None,
    };
    let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_of_date(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    (TIMESTAMP_SECONDS_MIN..=TIMESTAMP_SECONDS_MAX).contains(&seconds).then_some((seconds, nanos))
}

/// A `Duration` in seconds with 0, 3, 6 or 9 decimals; `None` for one out of range.
pub fn duration_text(seconds: i64, nanos: i32) -> Option<String> {
    let is_valid = seconds.abs() <= DURATION_SECONDS_MAX
        && nanos.abs() < NANOS_PER_SECOND
        && (seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0));
    if !is_valid {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let mut text = format!("{sign}{}", seconds.abs());
    push_decimals(&mut text, nanos.abs());
    text.push('s');
    Some(text)
}

/// Reads `1.5s` or `.5s`. It may be [out of range](is_duration).
pub fn parse_duration(text: &str) -> Option<(i64, i32)> {
    let number = text.strip_suffix('s')?;
    let (sign, number) = match number.as_bytes().first()? {
        b'-' => (-1, &number[1..]),
        b'+' => (1, &number[1..]),
        _ => (1, number),
    };
    let end = number.find('.').unwrap_or(number.len());
    let whole = &number[..end];
    if (whole.is_empty() && end == number.len()) || whole.len() > 18 || !whole.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let (nanos, rest) = decimals(&number[end..])?;
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    rest.is_empty().then_some((sign * seconds, sign as i32 * nanos))
}

/// Whether that many seconds are in the range of a `Duration`.
pub fn is_duration(seconds: i64) -> bool {
    seconds.abs() <= DURATION_SECONDS_MAX
}

/// A path of a `FieldMask` as JSON has it: `foo_bar.baz` becomes `fooBar.baz`. `None` if that would not come back.
pub fn mask_path_text(path: &str) -> Option<String> {
    let text = camel_case(path);
    (is_path(path) && snake_case(&text).is_some_and(|back| back == path)).then_some(text)
}

/// The other way round.
pub fn parse_mask_path(text: &str) -> Option<String> {
    let path = snake_case(text)?;
    (!text.contains('_') && is_path(&path)).then_some(path)
}

fn is_path(path: &str) -> bool {
    path.split('.').all(|name| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn camel_case(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '_' => text.extend(rest.next().map(|next| next.to_ascii_uppercase())),
            _ => text.push(letter),
        }
    }
    text
}

fn snake_case(text: &str) -> Option<String> {
    let mut path = String::with_capacity(text.len() + 4);
    for letter in text.chars() {
        if letter.is_ascii_uppercase() {
            path.push('_');
        }
        path.push(letter.to_ascii_lowercase());
    }
    text.is_ascii().then_some(path)
}

/// Reads `.123…` up to nine digits, and gives what follows.
fn decimals(text: &str) -> Option<(i32, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 || count > 9 {
        return None;
    }
    let value: i32 = rest[..count].parse().ok()?;
    Some((value * 10_i32.pow(9 - count as u32), &rest[count..]))
}

fn push_decimals(text: &mut String, nanos: i32) {
    use std::fmt::Write;
    // Writing to a string does not fail.
    let _ = match nanos {
        0 => Ok(()),
        _ if nanos % 1_000_000 == 0 => write!(text, ".{:03}", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => write!(text, ".{:06}", nanos / 1_000),
        _ => write!(text, ".{nanos:09}"),
    };
}

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const TIMESTAMP_SECONDS_MIN: i64 = -62_135_596_800;
const TIMESTAMP_SECONDS_MAX: i64 = 253_402_300_799;
/// About 10,000 years.
const DURATION_SECONDS_MAX: i64 = 315_576_000_000;
const NANOS_PER_SECOND: i32 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timestamps() {
        let check = |text: &str, expect: Option<(i64, i32)>| assert_eq!(parse_timestamp(text), expect, "{text}");
        check("1970-01-01T00:00:00Z", Some((0, 0)));
        check("2020-02-29T12:34:56.789Z", Some((1_582_979_696, 789_000_000)));
        check("2020-01-01T01:00:00+01:00", Some((1_577_836_800, 0)));
        check("2020-01-01T00:00:00.000000001-00:30", Some((1_577_838_600, 1)));
        check("0001-01-01T00:00:00Z", Some((TIMESTAMP_SECONDS_MIN, 0)));
        for wrong in [
            "",
            "2020",
            "2020-01-01",
            "2020-01-01 00:00:00Z",
            "2021-02-29T00:00:00Z",
            "2020-13-01T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:00:00",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00.0000000001Z",
            "0001-01-01T00:00:00+00:01",
            "é020-01-01T00:00:00Z",
        ] {
            check(wrong, None);
        }
        assert_eq!(timestamp_text(0, 1_000).as_deref(), Some("1970-01-01T00:00:00.000001Z"));
        assert_eq!(timestamp_text(TIMESTAMP_SECONDS_MAX + 1, 0), None);
        assert_eq!(timestamp_text(0, -1), None);
    }

    #[test]
    fn durations() {
        let check = |text: &str, expect: Option<(i64, i32)>| assert_eq!(parse_duration(text), expect, "{text}");
        check("1.5s", Some((1, 500_000_000)));
        check("-0.000000001s", Some((0, -1)));
        check("315576000000s", Some((DURATION_SECONDS_MAX, 0)));
        check(".5s", Some((0, 500_000_000)));
        assert!(is_duration(-DURATION_SECONDS_MAX) && !is_duration(DURATION_SECONDS_MAX + 1));
        for wrong in ["", "s", "1", ".s", "1.s", "1e3s", "9999999999999999999s", "--1s", "1.5"] {
            check(wrong, None);
        }
        assert_eq!(duration_text(1, 500_000_000).as_deref(), Some("1.500s"));
        assert_eq!(duration_text(0, -1).as_deref(), Some("-0.000000001s"));
        assert_eq!(duration_text(1, -1), None);
    }

    #[test]
    fn masks() {
        assert_eq!(mask_path_text("foo_bar.baz").as_deref(), Some("fooBar.baz"));
        assert_eq!(mask_path_text("fooBar"), None);
        assert_eq!(parse_mask_path("fooBar.baz").as_deref(), Some("foo_bar.baz"));
        assert_eq!(parse_mask_path("foo_bar"), None);
        assert_eq!(parse_mask_path("é"), None);
    }

    proptest! {
        #[test]
        fn times_come_back(seconds in TIMESTAMP_SECONDS_MIN..=TIMESTAMP_SECONDS_MAX, nanos in 0..NANOS_PER_SECOND) {
            let text = timestamp_text(seconds, nanos).expect("in range");
            prop_assert_eq!(parse_timestamp(&text), Some((seconds, nanos)));
        }

        #[test]
        fn spans_come_back(seconds in 0..=DURATION_SECONDS_MAX, nanos in 0..NANOS_PER_SECOND) {
            let text = duration_text(-seconds, -nanos).expect("in range");
            prop_assert_eq!(parse_duration(&text), Some((-seconds, -nanos)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = (parse_timestamp(&text), parse_duration(&text), parse_mask_path(&text), mask_path_text(&text));
        }
    }
}
