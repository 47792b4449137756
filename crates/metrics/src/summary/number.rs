//! How the summary writes numbers: k6 writes them with JavaScript, so this follows JavaScript's rules.
//!
//! Everything here is total: NaN and infinities come out as words.

use crate::registry::Contains;

use super::trend_stat::TimeUnit;

/// Units of data in steps of a thousand.
const DATA_UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

/// Decimals of plain numbers.
const DECIMALS: usize = 6;

/// From here on JavaScript writes an exponent.
const EXPONENT_FROM: f64 = 1e21;

/// A value of a metric, as the summary writes it.
pub fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Data => data(value),
        Contains::Time => match unit {
            Some(unit) => duration_in(value, unit),
            None => duration(value),
        },
        Contains::Default => plain(value),
    }
}

/// A share of 1 as a percentage, cut to two decimals, not rounded.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", to_fixed((share * 100.0 * 100.0).trunc() / 100.0, 2))
}

/// Up to six decimals.
pub(super) fn plain(value: f64) -> String {
    let fixed = to_fixed(value, DECIMALS);
    // Rounded first and then written shortest, so no zeros trail and large numbers are not spelled out beyond their precision.
    fixed.parse::<f64>().map_or(fixed, to_js)
}

/// Bytes.
fn data(bytes: f64) -> String {
    // k6: below 10 the number is not rounded at all.
    if bytes < 10.0 || !bytes.is_finite() {
        return format!("{} B", to_js(bytes));
    }
    let mut scaled = bytes;
    let mut unit = 0;
    while scaled >= 1000.0 && unit + 1 < DATA_UNITS.len() {
        unit += 1;
        scaled = bytes / 1000_f64.powi(unit as i32);
    }
    // k6: rounded to tenths before it is decided how many decimals there are, so 999,500 is "1000 kB".
    let tenths = (scaled * 10.0 + 0.5).floor() / 10.0;
    format!("{} {}", to_fixed(tenths, if tenths < 10.0 { 1 } else { 0 }), DATA_UNITS[unit])
}

/// Milliseconds, in the unit that suits, cut and not rounded.
fn duration(ms: f64) -> String {
    if !ms.is_finite() {
        return to_js(ms);
    }
    let cut = |value: f64| to_js((value * 100.0).trunc() / 100.0);
    if ms == 0.0 {
        "0s".to_owned()
    } else if ms < 0.001 {
        // k6: negative ones end here as well.
        format!("{}ns", to_js((ms * 1_000_000.0).trunc()))
    } else if ms < 1.0 {
        format!("{}µs", cut(ms * 1000.0))
    } else if ms < 1000.0 {
        format!("{}ms", cut(ms))
    } else if ms < 60_000.0 {
        format!("{}s", cut(ms / 1000.0))
    } else {
        let seconds = (ms / 1000.0).trunc();
        let minutes = (seconds / 60.0).trunc();
        let hours = (minutes / 60.0).trunc();
        let tail = format!("{}m{}s", to_js(minutes % 60.0), to_js(seconds % 60.0));
        if hours > 0.0 { format!("{}h{tail}", to_js(hours)) } else { tail }
    }
}

/// Milliseconds in a fixed unit, rounded to two decimals.
fn duration_in(ms: f64, unit: TimeUnit) -> String {
    let (value, suffix) = match unit {
        // k6: multiplies, which differs from dividing in the last digit.
        TimeUnit::Seconds => (ms * 0.001, "s"),
        TimeUnit::Milliseconds => (ms, "ms"),
        TimeUnit::Microseconds => (ms * 1000.0, "µs"),
    };
    format!("{}{suffix}", to_fixed(value, 2))
}

/// JavaScript's `Number.prototype.toFixed`: decimal digits, ties away from zero.
fn to_fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() || value.abs() >= EXPONENT_FROM {
        return to_js(value);
    }
    let rounded = format!("{value:.decimals$}");
    // Rust rounds ties to even. Only a number with exactly one more decimal, a five, is a tie, and only multiples of
    // 2^-(decimals+1) can end so soon.
    let could_tie = (value * 2_f64.powi(decimals as i32 + 1)).fract() == 0.0;
    let text = if could_tie && format!("{value:.*}", decimals + 1).ends_with('5') {
        let away = f64::from_bits(value.to_bits() + 1);
        format!("{away:.decimals$}")
    } else {
        rounded
    };
    match text.strip_prefix('-') {
        // A negative zero has no sign; a negative number that rounds to zero keeps it.
        Some(digits) if value == 0.0 => digits.to_owned(),
        _ => text,
    }
}

/// JavaScript's `String(number)`: the shortest digits that give the number back.
pub(super) fn to_js(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let (digits, exponent) = shortest(value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    // `exponent` is that of the first digit.
    let whole = exponent + 1;
    let count = digits.len() as i32;
    let zeros = |count: i32| "0".repeat(count.unsigned_abs() as usize);
    match whole {
        1..=21 if whole >= count => format!("{sign}{digits}{}", zeros(whole - count)),
        1..=21 => {
            let (integer, fraction) = digits.split_at(whole as usize);
            format!("{sign}{integer}.{fraction}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", zeros(whole)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e{exponent:+}")
        }
    }
}

/// The fewest decimal digits that give a positive number back, and the exponent of the first.
fn shortest(value: f64) -> (String, i32) {
    let candidate = format!("{value:e}");
    let precision =
        candidate.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count().saturating_sub(1);
    // Of two equally short and equally close numbers Rust takes the larger, JavaScript the one with the even digit,
    // which is also how Rust rounds to a given number of digits.
    let even = format!("{value:.precision$e}");
    let chosen = if even.parse() == Ok(value) { even } else { candidate };
    let (digits, exponent) = chosen.split_once('e').unwrap_or((&chosen, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javascript_numbers() {
        let check = |value: f64, expect: &str| assert_eq!(to_js(value), expect);
        check(0.0, "0");
        check(-0.0, "0");
        check(1e20, "100000000000000000000");
        check(1e21, "1e+21");
        check(1.5e22, "1.5e+22");
        check(1e-6, "0.000001");
        check(1.5e-7, "1.5e-7");
        check(-1e-7, "-1e-7");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e+308");
        check(1e15 + 0.3, "1000000000000000.2");
        check(-123.456, "-123.456");
        check(1234500.0, "1234500");
        check(0.1 + 0.2, "0.30000000000000004");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Infinity");
    }

    #[test]
    fn fixed_decimals() {
        let check =
            |value: f64, decimals: usize, expect: &str| assert_eq!(to_fixed(value, decimals), expect, "{value}");
        check(1.0 / 128.0, 6, "0.007813");
        check(5.0 / 128.0, 6, "0.039063");
        check(-5.0 / 128.0, 6, "-0.039063");
        check(0.1234565, 6, "0.123456");
        check(2.5, 0, "3");
        check(0.5, 0, "1");
        check(-0.5, 0, "-1");
        check(10.45, 1, "10.4");
        check(1e300, 6, "1e+300");
        check(-0.0, 2, "0.00");
        check(f64::NAN, 2, "NaN");
    }

    #[test]
    fn bytes() {
        // Captured from k6 v1.8.1.
        let check = |bytes: f64, expect: &str| assert_eq!(data(bytes), expect, "{bytes}");
        check(0.0, "0 B");
        check(3.630523365247848, "3.630523365247848 B");
        check(9.837344776369253, "9.837344776369253 B");
        check(10.40762563297037, "10 B");
        check(62.0, "62 B");
        check(889.0674726584742, "889 B");
        check(999.0, "999 B");
        check(1000.0, "1.0 kB");
        check(1049.0, "1.0 kB");
        check(1050.0, "1.1 kB");
        check(1949.0, "1.9 kB");
        check(1950.0, "2.0 kB");
        check(9499.0, "9.5 kB");
        check(9949.0, "9.9 kB");
        check(9950.0, "10 kB");
        check(10_049.0, "10 kB");
        check(10_500.0, "11 kB");
        check(99_499.0, "100 kB");
        check(499_500.0, "500 kB");
        check(999_499.0, "1000 kB");
        check(999_999.0, "1000 kB");
        check(1_000_000.0, "1.0 MB");
        check(1_049_999.0, "1.0 MB");
        check(1_050_000.0, "1.1 MB");
        check(9_949_999.0, "9.9 MB");
        check(12_345_678.0, "12 MB");
        check(224586908.30466408, "225 MB");
        // Not captured.
        check(1e9, "1.0 GB");
        check(1e30, "1000000 YB");
        check(-5.0, "-5 B");
        check(f64::NAN, "NaN B");
        check(f64::INFINITY, "Infinity B");
    }

    #[test]
    fn durations() {
        let check = |ms: f64, expect: &str| assert_eq!(duration(ms), expect, "{ms}");
        check(0.0, "0s");
        check(0.0000016, "1ns");
        check(-1.0, "-1000000ns");
        check(0.00112, "1.11µs");
        check(0.999999, "999.99µs");
        check(2.3, "2.29ms");
        check(999.999, "999.99ms");
        check(59_999.9, "59.99s");
        check(60_000.5, "1m0s");
        check(3_661_999.0, "1h1m1s");
        check(1e21, "277777777777777h46m40s");
        check(f64::NAN, "NaN");
        check(f64::INFINITY, "Infinity");
        assert_eq!(duration_in(6.0, TimeUnit::Seconds), "0.01s");
        assert_eq!(duration_in(1005.0, TimeUnit::Seconds), "1.01s");
        assert_eq!(duration_in(0.00012, TimeUnit::Microseconds), "0.12µs");
        assert_eq!(duration_in(f64::INFINITY, TimeUnit::Milliseconds), "Infinityms");
    }

    #[test]
    fn percentages_are_cut() {
        assert_eq!(percent(2.0 / 3.0), "66.66%");
        assert_eq!(percent(0.99999), "99.99%");
        assert_eq!(percent(1.0), "100.00%");
        // k6: binary fractions show.
        assert_eq!(percent(0.29), "28.99%");
    }

    proptest::proptest! {
        #[test]
        fn written_numbers_give_the_number_back(value in proptest::prelude::any::<f64>()) {
            let text = to_js(value);
            let same = text.parse::<f64>().is_ok_and(|parsed| parsed == value) || value.is_nan();
            proptest::prop_assert!(same, "{value:?} became {text}");
        }

        #[test]
        fn six_decimals_are_within_half_of_the_last(value in -1e9..1e9) {
            let shown: f64 = plain(value).parse().map_err(|_| proptest::test_runner::TestCaseError::fail("no number"))?;
            proptest::prop_assert!((shown - value).abs() <= 0.500_001e-6 + value.abs() * f64::EPSILON);
        }
    }
}
