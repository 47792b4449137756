//! Numbers as short JSON.

use std::fmt::Write as _;

/// Writes a number. JSON has no infinities: what is beyond all numbers is the largest, and what is none is `null`.
pub(crate) fn push(text: &mut String, value: f64) {
    /// Up to here every whole number has an `f64` of its own.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if value.is_nan() {
        return text.push_str("null");
    }
    let value = value.clamp(f64::MIN, f64::MAX);
    let magnitude = value.abs();
    // Writing to a String cannot fail.
    let _ = if value.fract() == 0.0 && magnitude <= WHOLE_MAX {
        // The cast is exact, and makes both zeros one.
        write!(text, "{}", value as i64)
    } else if (1e-5..1e17).contains(&magnitude) {
        write!(text, "{value}")
    } else {
        write!(text, "{value:e}")
    };
}

/// Milliseconds.
pub(crate) fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_as_they_were() {
        let check = |value: f64, expect: &str| {
            let mut text = String::new();
            push(&mut text, value);
            assert_eq!(text, expect);
            let read: Option<f64> = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(read.filter(|_| value.is_finite()), Some(value).filter(|value| value.is_finite()));
        };
        check(17.0, "17");
        check(-0.0, "0");
        check(0.1, "0.1");
        check(36.625, "36.625");
        check(1e300, "1e300");
        check(-1.5e-7, "-1.5e-7");
        check(f64::INFINITY, "1.7976931348623157e308");
        check(f64::NAN, "null");
    }
}
