//! Wall-clock times as text, in the zone of the machine (`TZ`, `/etc/localtime`), as Go's RFC 3339 layouts have them.

use std::sync::LazyLock;

use jiff::{Timestamp, tz::TimeZone};

/// The machine's zone; UTC where it has none.
static LOCAL: LazyLock<TimeZone> = LazyLock::new(|| TimeZone::try_system().unwrap_or(TimeZone::UTC));

/// `2026-08-21T10:00:00Z` from nanoseconds since 1970.
pub fn rfc3339(unix_ns: i128) -> String {
    let mut clock = WallClock::local();
    let mut text = Vec::new();
    clock.write(unix_ns, false, &mut text);
    into_text(text)
}

/// `2026-08-21T10:00:00.123456789Z`, zeros at the end of the fraction left out.
pub fn rfc3339_nanos(unix_ns: i128) -> String {
    let mut clock = WallClock::local();
    let mut text = Vec::new();
    clock.write(unix_ns, true, &mut text);
    into_text(text)
}

fn into_text(bytes: Vec<u8>) -> String {
    // Only ASCII is ever written.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Writes times that come mostly in order: what they share with the one before is not computed again.
pub(crate) struct WallClock {
    zone: TimeZone,
    second: i64,
    /// `2026-08-21T10:00:00` of that second.
    prefix: String,
    /// `Z` or `+02:00`.
    suffix: String,
}

impl WallClock {
    /// A clock for the zone of the machine.
    pub(crate) fn local() -> Self {
        Self::new(LOCAL.clone())
    }

    #[cfg(test)]
    pub(crate) fn utc() -> Self {
        Self::new(TimeZone::UTC)
    }

    fn new(zone: TimeZone) -> Self {
        let mut clock = Self { zone, second: 0, prefix: String::new(), suffix: String::new() };
        clock.turn_to(0);
        clock
    }

    /// Appends a time, with its fraction of a second or without.
    pub(crate) fn write(&mut self, unix_ns: i128, fraction: bool, out: &mut Vec<u8>) {
        // The cast cannot truncate before the year 292,000,000,000.
        let second = unix_ns.div_euclid(NANOS) as i64;
        if second != self.second {
            self.turn_to(second);
        }
        out.extend_from_slice(self.prefix.as_bytes());
        let mut nanos = unix_ns.rem_euclid(NANOS) as u32;
        if fraction && nanos != 0 {
            let mut digits = [b'0'; 10];
            digits[0] = b'.';
            for digit in digits[1..].iter_mut().rev() {
                *digit = b'0' + (nanos % 10) as u8;
                nanos /= 10;
            }
            let end = digits.iter().rposition(|digit| *digit != b'0').unwrap_or(0);
            out.extend_from_slice(&digits[..=end]);
        }
        out.extend_from_slice(self.suffix.as_bytes());
    }

    fn turn_to(&mut self, second: i64) {
        let at = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
        let offset = self.zone.to_offset(at);
        let local = offset.to_datetime(at);
        self.second = second;
        self.prefix = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            local.year(),
            local.month(),
            local.day(),
            local.hour(),
            local.minute(),
            local.second()
        );
        // Go shows whole minutes, whatever the zone did before 1900.
        let minutes = offset.seconds() / 60;
        self.suffix = match minutes {
            0 => "Z".to_owned(),
            _ => format!(
                "{}{:02}:{:02}",
                if minutes < 0 { '-' } else { '+' },
                minutes.unsigned_abs() / 60,
                minutes.unsigned_abs() % 60
            ),
        };
    }
}

const NANOS: i128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(zone: &TimeZone, unix_ns: i128, expect: &str) {
        let mut text = Vec::new();
        WallClock::new(zone.clone()).write(unix_ns, true, &mut text);
        assert_eq!(into_text(text), expect);
    }

    #[test]
    fn times() {
        let utc = TimeZone::UTC;
        check(&utc, 0, "1970-01-01T00:00:00Z");
        check(&utc, 951_782_400 * NANOS, "2000-02-29T00:00:00Z");
        check(&utc, 4_107_542_400 * NANOS + 1, "2100-03-01T00:00:00.000000001Z");
        check(&utc, 1_786_000_000 * NANOS + 120_000_000, "2026-08-06T07:06:40.12Z");
        check(&utc, -1, "1969-12-31T23:59:59.999999999Z");
        let kolkata = TimeZone::fixed(jiff::tz::Offset::from_seconds(19_800).expect("in range"));
        check(&kolkata, 1_786_000_000 * NANOS, "2026-08-06T12:36:40+05:30");
        let west = TimeZone::fixed(jiff::tz::Offset::from_seconds(-12_600).expect("in range"));
        check(&west, 1_786_000_000 * NANOS, "2026-08-06T03:36:40-03:30");
    }

    #[test]
    fn a_zone_with_summer_time() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let mut clock = WallClock::new(berlin);
        let mut text = Vec::new();
        // The second before and the second of the change.
        for second in [1_774_745_999, 1_774_746_000] {
            clock.write(second * NANOS, false, &mut text);
            text.push(b' ');
        }
        assert_eq!(into_text(text), "2026-03-29T01:59:59+01:00 2026-03-29T03:00:00+02:00 ");
    }
}
