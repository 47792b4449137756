//! Dates and times, all in UTC.

use onrush_calendar::days_of_date;

use crate::{
    arguments::optional,
    calendar::{Civil, parse},
    definition::{Definition, Made, define},
    source::Source,
    value::{FakerError, Value},
};

const N: &str = "time";

pub(crate) const DEFINITIONS: &[Definition] = &[
    define(N, "date", &[optional("format", "RFC3339")], |source, arguments| {
        let pattern = arguments.text(0)?;
        let (end, nanosecond) = (source.now, source.rng.between(0, 999_999_999));
        let seconds = source.rng.between(days_of_date(FIRST_YEAR, 1, 1) * DAY_SECONDS, end);
        written(source, seconds, nanosecond, named(&pattern))
    }),
    define(
        N,
        "dateRange",
        &[optional("startdate", "1970-01-01"), optional("enddate", ""), optional("format", "yyyy-MM-dd")],
        |source, arguments| {
            let read = |index: usize| -> Result<i64, FakerError> {
                let text = arguments.text(index)?;
                parse(&text).ok_or_else(|| FakerError::InvalidArgument {
                    function: "dateRange",
                    parameter: if index == 0 { "startdate" } else { "enddate" },
                    expected: "a date like 2006-01-02",
                    found: text.chars().take(40).collect(),
                })
            };
            let start = read(0)?;
            let end = if arguments.text(1)?.is_empty() { source.now } else { read(1)? };
            let seconds = source.rng.between(start, end);
            let pattern = arguments.text(2)?;
            written(source, seconds, 0, named(&pattern))
        },
    ),
    define(N, "pastTime", &[], |source, _| hours_from_now(source, -1)),
    define(N, "futureTime", &[], |source, _| hours_from_now(source, 1)),
    define(N, "year", &[], |source, _| {
        let last = Civil::of(source.now).year;
        between(source, FIRST_YEAR, last.max(FIRST_YEAR))
    }),
    define(N, "month", &[], |source, _| between(source, 1, 12)),
    define(N, "day", &[], |source, _| between(source, 1, 31)),
    define(N, "hour", &[], |source, _| between(source, 0, 23)),
    define(N, "minute", &[], |source, _| between(source, 0, 59)),
    define(N, "second", &[], |source, _| between(source, 0, 59)),
    define(N, "nanosecond", &[], |source, _| between(source, 0, 999_999_999)),
    define(N, "timezoneOffset", &[], |source, _| {
        Ok(Value::Float(source.word(".timezoneOffset").parse().unwrap_or_default()))
    }),
];

fn between(source: &mut Source<'_>, min: i64, max: i64) -> Made {
    Ok(Value::Integer(source.rng.between(min, max)))
}

fn hours_from_now(source: &mut Source<'_>, direction: i64) -> Made {
    let seconds = source.now + direction * source.rng.between(3_600, 12 * 3_600);
    written(source, seconds, 0, RFC3339)
}

fn written(source: &mut Source<'_>, seconds: i64, nanosecond: i64, pattern: &str) -> Made {
    // No letter of a pattern becomes more than this.
    source.take(pattern.len().saturating_mul(9))?;
    Ok(Value::Text(Civil::of(seconds).format(pattern, nanosecond)))
}

/// The pattern behind the name of a format.
fn named(name: &str) -> &str {
    match name {
        "ANSIC" => "EEE MMM d HH:mm:ss yyyy",
        "UnixDate" => "EEE MMM d HH:mm:ss z yyyy",
        "RubyDate" => "EEE MMM dd HH:mm:ss Z yyyy",
        "RFC822" => "dd MMM yy HH:mm z",
        "RFC822Z" => "dd MMM yy HH:mm Z",
        "RFC850" => "EEEE, dd-MMM-yy HH:mm:ss z",
        "RFC1123" => "EEE, dd MMM yyyy HH:mm:ss z",
        "RFC1123Z" => "EEE, dd MMM yyyy HH:mm:ss Z",
        "RFC3339" => RFC3339,
        "RFC3339Nano" => "yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSSX",
        other => other,
    }
}

const RFC3339: &str = "yyyy-MM-dd'T'HH:mm:ssX";
const FIRST_YEAR: i64 = 1900;
const DAY_SECONDS: i64 = 86_400;
