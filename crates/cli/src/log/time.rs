//! Wall-clock times as text, in UTC.

const SECONDS_PER_DAY: i64 = 86_400;

/// `2026-08-21T10:00:00Z` from nanoseconds since 1970.
pub(crate) fn rfc3339(unix_ns: i128) -> String {
    format!("{}Z", seconds(unix_ns))
}

/// `2026-08-21T10:00:00.123456789Z`.
pub(crate) fn rfc3339_nanos(unix_ns: i128) -> String {
    format!("{}.{:09}Z", seconds(unix_ns), unix_ns.rem_euclid(1_000_000_000))
}

fn seconds(unix_ns: i128) -> String {
    // The cast cannot truncate before the year 292,000,000,000.
    let secs = unix_ns.div_euclid(1_000_000_000) as i64;
    let (days, second) = (secs.div_euclid(SECONDS_PER_DAY), secs.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of a number of days since 1970-01-01: counted in 400-year eras that begin in March, so that the
/// leap day is the last of its year.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_BEFORE_1970: i64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secs: i128, expect: &str) {
        assert_eq!(rfc3339(secs * 1_000_000_000), expect);
    }

    #[test]
    fn dates() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(951_868_800, "2000-03-01T00:00:00Z");
        check(1_786_000_000, "2026-08-06T07:06:40Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(-1, "1969-12-31T23:59:59Z");
        assert_eq!(rfc3339_nanos(1_000_000_001), "1970-01-01T00:00:01.000000001Z");
    }
}
