//! The two date forms Go reads from a cookie's `Expires`: RFC 1123 and its dashed variant.

use onrush_calendar::{days_in_month, days_of_date};

/// Parses `Mon, 02 Jan 2006 15:04:05 GMT` or `Mon, 02-Jan-2006 15:04:05 GMT` to unix milliseconds.
///
/// The zone's letters are read and, but for `GMT+3` forms, taken as UTC, as Go does with zones it does not know.
pub fn parse_http_date(text: &str) -> Option<i64> {
    let (weekday, rest) = text.split_once(", ")?;
    WEEKDAYS.iter().find(|name| name.eq_ignore_ascii_case(weekday))?;
    let separator = match *rest.as_bytes().get(2)? {
        byte @ (b' ' | b'-') => char::from(byte),
        _ => return None,
    };
    let mut date = rest.splitn(3, separator);
    let day = two_digits(date.next()?)?;
    let month_name = date.next()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month_name))?;
    let mut tail = date.next()?.splitn(3, ' ');
    let year_text = tail.next()?;
    let year: i64 = digits(year_text, 4, 4)?;
    let mut clock = tail.next()?.splitn(3, ':');
    let hour = digits(clock.next()?, 1, 2)?;
    let minute = two_digits(clock.next()?)?;
    let second_text = clock.next()?;
    let (whole, fraction) = second_text.split_once('.').unwrap_or((second_text, "0"));
    let second = two_digits(whole)?;
    let millis: i64 = digits(format!("{fraction:0<3}").get(..3)?, 3, 3)?;
    let offset_hours = zone_offset_hours(tail.next()?)?;
    let month_index = i64::try_from(month).ok()? + 1;
    if day < 1 || day > days_in_month(year, month_index) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_of_date(year, month_index, day);
    let seconds = days * 86_400 + (hour - offset_hours) * 3_600 + minute * 60 + second;
    Some(seconds * 1_000 + millis)
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn two_digits(text: &str) -> Option<i64> {
    digits(text, 2, 2)
}

fn digits(text: &str, min: usize, max: usize) -> Option<i64> {
    let fits = (min..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

fn zone_offset_hours(zone: &str) -> Option<i64> {
    let letters = zone.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = &zone[letters..];
    if !(3..=5).contains(&letters) {
        return None;
    }
    if rest.is_empty() {
        return Some(0);
    }
    let hours: i64 = rest.parse().ok()?;
    (&zone[..letters] == "GMT" && (-23..=23).contains(&hours) && rest.starts_with(['+', '-'])).then_some(hours)
}
