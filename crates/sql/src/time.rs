//! Points in time as databases write them.

use onrush_calendar::{date_of_days, days_of_date};

/// A date, or a date and a time with an offset or without; in milliseconds since 1970.
pub(crate) fn ms_of_text(text: &str) -> Option<f64> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok().filter(|_| part.len() <= 6));
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (time, offset) = match time.rfind(['+', '-']) {
        Some(at) => time.split_at(at),
        None => (time.trim_end_matches('Z'), ""),
    };
    let direction = if offset.starts_with('-') { -1.0 } else { 1.0 };
    let offset = seconds_of(offset.trim_start_matches(['+', '-']))? * direction;
    Some((days_of_date(year, month, day) as f64 * 86_400.0 + seconds_of(time)? - offset) * 1e3)
}

/// `15:04:05.678`, or its beginning.
fn seconds_of(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    for (part, unit) in text.split(':').filter(|part| !part.is_empty()).zip([3_600.0, 60.0, 1.0]) {
        seconds += part.parse::<f64>().ok().filter(|number| (0.0..100.0).contains(number))? * unit;
    }
    Some(seconds)
}

/// `2006-01-02T15:04:05.678` with that character in the middle, in UTC.
pub(crate) fn text_of_ms(ms: f64, middle: char) -> String {
    // What JavaScript's dates reach.
    let ms = if ms.is_finite() { ms.clamp(-8.64e15, 8.64e15) as i64 } else { 0 };
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = date_of_days(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let (second, ms) = (rest / 1_000 % 60, rest % 1_000);
    format!("{year:04}-{month:02}-{day:02}{middle}{hour:02}:{minute:02}:{second:02}.{ms:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        let check = |text: &str, expect: &str| {
            let ms = ms_of_text(text).expect(text);
            assert_eq!(text_of_ms(ms, ' '), expect, "{text}");
        };
        check("1970-01-01", "1970-01-01 00:00:00.000");
        check("2024-02-29 23:59:59.5", "2024-02-29 23:59:59.500");
        check("2024-02-29T23:59:59.25Z", "2024-02-29 23:59:59.250");
        check("2024-03-01 00:30:00+01:30", "2024-02-29 23:00:00.000");
        check("1969-12-31 19:00:00-05", "1970-01-01 00:00:00.000");
        for wrong in ["", "infinity", "2024-13-01", "2024-01-01 99x", "0044-03-15 BC", "99999999-01-01"] {
            assert_eq!(ms_of_text(wrong), None, "{wrong}");
        }
    }
}
