//! The target's time: monotonic nanoseconds for delays, wall seconds for `Date`.
//!
//! It reads the kernel's clocks through `rustix` and not `Instant`, because a deadline is handed to `timerfd`, which
//! wants the raw monotonic value.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds in one second.
pub(crate) const NANOS_PER_SEC: u64 = 1_000_000_000;
/// Nanoseconds in one microsecond.
pub(crate) const NANOS_PER_MICRO: u64 = 1_000;
/// Nanoseconds in one millisecond.
pub(crate) const NANOS_PER_MILLI: u64 = 1_000_000;
/// Length of an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const DATE_BYTES: usize = 29;

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock of the delay timer.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock starts near zero at boot: both parts are positive.
    (now.tv_sec as u64).wrapping_mul(NANOS_PER_SEC).wrapping_add(now.tv_nsec as u64)
}

/// Seconds since 1970, as good as the last kernel tick: enough for a header.
pub(crate) fn wall_seconds() -> u64 {
    clock_gettime(ClockId::RealtimeCoarse).tv_sec.max(0) as u64
}

/// The `Date` header's value for a number of seconds since 1970.
pub(crate) fn http_date(seconds: u64) -> [u8; DATE_BYTES] {
    const DAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
    const MONTHS: [&[u8; 3]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let days = seconds / 86_400;
    let rest = seconds % 86_400;
    // Days to a civil date: count from 0000-03-01 so that the leap day ends the year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);

    let mut text = *b"Thu, 00 Jan 0000 00:00:00 GMT";
    let two = |value: u64| [b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8];
    text[0..3].copy_from_slice(DAYS[(days % 7) as usize]);
    text[5..7].copy_from_slice(&two(day));
    text[8..11].copy_from_slice(MONTHS[(month - 1) as usize]);
    text[12..14].copy_from_slice(&two(year / 100));
    text[14..16].copy_from_slice(&two(year % 100));
    text[17..19].copy_from_slice(&two(rest / 3_600));
    text[20..22].copy_from_slice(&two(rest / 60 % 60));
    text[23..25].copy_from_slice(&two(rest % 60));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: u64, expect: &str) {
        assert_eq!(std::str::from_utf8(&http_date(seconds)), Ok(expect));
    }

    #[test]
    fn dates_are_imf_fixdates() {
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT");
        check(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT");
        check(4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT");
        check(4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT");
    }

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let first = monotonic_ns();
        assert!(monotonic_ns() >= first);
    }
}
