//! Dates of the proleptic Gregorian calendar as days since 1970-01-01, and back.
//!
//! Howard Hinnant's algorithms: years begin in March, so that the leap day is a year's last day, and come in eras of 400.
//! No texts, no time zones and no clock.
//!
//! ```
//! use onrush_calendar::{date_of_days, days_of_date};
//!
//! assert_eq!(days_of_date(2000, 2, 29), 11_016);
//! assert_eq!(date_of_days(11_017), (2000, 3, 1));
//! ```

/// Days from 1970-01-01 to a date; the month is 1 to 12.
#[must_use]
pub const fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let year_of_era = year.rem_euclid(ERA_YEARS);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    year.div_euclid(ERA_YEARS) * ERA_DAYS + day_of_era - DAYS_TO_1970
}

/// Year, month and day of the month that many days after 1970-01-01.
#[must_use]
pub const fn date_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + days.div_euclid(ERA_DAYS) * ERA_YEARS;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

/// How many days a month has, 1 to 12.
#[must_use]
pub const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const ERA_YEARS: i64 = 400;
const ERA_DAYS: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for days in (-800_000..3_000_000).step_by(97) {
            let (year, month, day) = date_of_days(days);
            assert_eq!(days_of_date(year, month, day), days);
            assert!((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day));
        }
    }

    #[test]
    fn known_dates() {
        let check = |days, date| assert_eq!(date_of_days(days), date);
        check(0, (1970, 1, 1));
        check(-1, (1969, 12, 31));
        check(-719_162, (1, 1, 1));
        check(2_932_896, (9999, 12, 31));
        check(20_513, (2026, 3, 1));
    }
}
