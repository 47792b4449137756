//! Dates and times of the Gregorian calendar, in UTC, and their texts.

use onrush_calendar::{date_of_days, days_of_date};

/// A point in time as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    /// 0 is Sunday.
    weekday: usize,
    hour: i64,
    minute: i64,
    second: i64,
}

const DAY_SECONDS: i64 = 86_400;

impl Civil {
    /// From seconds since 1970.
    pub(crate) fn of(seconds: i64) -> Self {
        let (days, rest) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
        let (year, month, day) = date_of_days(days);
        Self {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7) as usize,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }

    /// As a pattern such as `yyyy-MM-dd` says; text in quotes and other characters stay as they are. `nanosecond` is
    /// for what is smaller than a second.
    pub(crate) fn format(&self, pattern: &str, nanosecond: i64) -> String {
        let mut out = String::with_capacity(pattern.len() + 8);
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                let quoted = &rest[1..];
                let end = quoted.find('\'').unwrap_or(quoted.len());
                out.push_str(&quoted[..end]);
                rest = quoted.get(end + 1..).unwrap_or_default();
                continue;
            }
            let end = rest.find(|each| each != first).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            self.put(first, run, nanosecond, &mut out);
            rest = after;
        }
        out
    }

    fn put(&self, first: char, run: &str, nanosecond: i64, out: &mut String) {
        let width = run.len();
        let mut number = |value: i64| out.push_str(&format!("{value:0width$}", width = width.min(9)));
        match first {
            'y' if width == 2 => number(self.year % 100),
            'y' => number(self.year),
            'M' if width >= 3 => out.push_str(shortened(MONTHS[self.month as usize - 1], width)),
            'M' => number(self.month),
            'd' => number(self.day),
            'E' => out.push_str(shortened(WEEKDAYS[self.weekday], width)),
            'H' => number(self.hour),
            'h' => number((self.hour + 11) % 12 + 1),
            'm' => number(self.minute),
            's' => number(self.second),
            'S' => out.push_str(&format!("{nanosecond:09}")[..width.min(9)]),
            'a' => out.push_str(if self.hour < 12 { "AM" } else { "PM" }),
            'z' => out.push_str("UTC"),
            'Z' => out.push_str("+0000"),
            'X' => out.push('Z'),
            _ => out.push_str(run),
        }
    }
}

/// `yyyy-MM-dd`, with a time behind a `T` or a blank that may be left out, in seconds since 1970.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z');
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut seconds = days_of_date(year, month, day) * DAY_SECONDS;
    let limits = [(3_600, 23), (60, 59), (1, 59)];
    for (part, (unit, max)) in time.split(':').filter(|part| !part.is_empty()).zip(limits) {
        let number = part.split(['.', '+']).next()?.parse::<i64>().ok().filter(|number| (0..=max).contains(number))?;
        seconds += number * unit;
    }
    Some(seconds)
}

fn shortened(name: &'static str, width: usize) -> &'static str {
    if width >= 4 { name } else { &name[..3] }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        let check = |text: &str, pattern: &str, expect: &str| {
            let seconds = parse(text).expect(text);
            assert_eq!(Civil::of(seconds).format(pattern, 5_000_000), expect, "{text}");
        };
        check("1970-01-01", "yyyy-MM-dd'T'HH:mm:ssX", "1970-01-01T00:00:00Z");
        check("2000-02-29", "EEEE, d MMMM yy", "Tuesday, 29 February 00");
        check("1969-12-31 23:59:59", "yyyy-M-d H:m:s.SSS", "1969-12-31 23:59:59.005");
        check("2024-03-01T13:05:09Z", "EEE MMM dd hh:mm:ss a z Z", "Fri Mar 01 01:05:09 PM UTC +0000");
        check("0001-01-01", "yyyy 'at' ''", "0001 at ");
        for wrong in ["", "2020", "2020-13-01", "2020-00-10", "x-1-1", "2020-01-01T25", "99999999999-01-01", "2020-1-"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
