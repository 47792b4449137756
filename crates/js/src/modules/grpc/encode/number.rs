//! Numbers and bytes as protobuf reads them from JSON.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// A number as JSON writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Digits<'a> {
    Number(f64),
    Text(&'a str),
}

impl<'a> Digits<'a> {
    pub(super) fn of(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self::Number(number))
    }

    /// A text that is one JSON number and nothing else.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
        let count =
            |from: usize| digits[from.min(digits.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = count(0);
        if whole == 0 || whole > 1 && digits[0] == b'0' {
            return None;
        }
        let mut end = whole;
        if digits.get(end) == Some(&b'.') {
            let decimals = count(end + 1);
            if decimals == 0 {
                return None;
            }
            end += 1 + decimals;
        }
        if matches!(digits.get(end), Some(b'e' | b'E')) {
            end += 1;
            if matches!(digits.get(end), Some(b'+' | b'-')) {
                end += 1;
            }
            let exponent = count(end);
            if exponent == 0 {
                return None;
            }
            end += exponent;
        }
        (end == digits.len()).then_some(Self::Text(text))
    }

    /// The integer it is, if it is one: `1.50e1` is 15.
    pub(super) fn integer(self) -> Option<i128> {
        match self {
            Self::Number(number) => (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128),
            Self::Text(text) => {
                let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
                let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
                let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
                let decimals = decimals.trim_end_matches('0');
                let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
                let mut all = format!("{whole}{decimals}");
                let shift = exponent - decimals.len() as i64;
                if all.bytes().all(|byte| byte == b'0') {
                    return Some(0);
                }
                if shift < 0 {
                    let kept = usize::try_from(all.len() as i64 + shift).ok()?;
                    if all[kept..].bytes().any(|byte| byte != b'0') {
                        return None;
                    }
                    all.truncate(kept);
                } else if shift > DIGITS_MAX {
                    return None;
                } else {
                    all.extend(std::iter::repeat_n('0', shift as usize));
                }
                let all = all.trim_start_matches('0');
                if all.len() as i64 > DIGITS_MAX {
                    return None;
                }
                all.parse::<i128>().ok().or_else(|| all.is_empty().then_some(0)).map(|value| sign * value)
            }
        }
    }

    /// The number, unless it is beyond all numbers.
    pub(super) fn floating(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

/// Bytes from base64 of either alphabet, padded or not, as Go tells them apart.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    const fn lenient(padding: DecodePaddingMode) -> GeneralPurposeConfig {
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true).with_decode_padding_mode(padding)
    }
    const PADDED: GeneralPurposeConfig = lenient(DecodePaddingMode::RequireCanonical);
    const BARE: GeneralPurposeConfig = lenient(DecodePaddingMode::RequireNone);
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let config = if text.len().is_multiple_of(4) { PADDED } else { BARE };
    GeneralPurpose::new(alphabet, config).decode(text).ok()
}

/// More than any integer has.
const DIGITS_MAX: i64 = 36;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers() {
        let check = |text: &str, expect: Option<i128>| {
            assert_eq!(Digits::parse(text).and_then(Digits::integer), expect, "{text}");
        };
        check("0", Some(0));
        check("-0.0", Some(0));
        check("12", Some(12));
        check("-12e2", Some(-1200));
        check("1.50e1", Some(15));
        check("1.5", None);
        check("150e-1", Some(15));
        check("15e-1", None);
        check("18446744073709551615", Some(u64::MAX.into()));
        check("1e400", None);
        check("0e400", Some(0));
        check("1e99999999999999999999", None);
        for wrong in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", " 1", "1 ", "0x1", "NaN"] {
            check(wrong, None);
        }
        assert_eq!(Digits::of(9_007_199_254_740_993.0).and_then(Digits::integer), Some(9_007_199_254_740_992));
        assert_eq!(Digits::of(0.5).and_then(Digits::integer), None);
    }

    #[test]
    fn both_alphabets() {
        let check = |text: &str, expect: Option<&[u8]>| assert_eq!(base64(text).as_deref(), expect, "{text}");
        check("", Some(b""));
        check("aGk=", Some(b"hi"));
        check("aGk", Some(b"hi"));
        check("-_8=", Some(&[0xfb, 0xff]));
        check("+/8", Some(&[0xfb, 0xff]));
        check("+_8=", None);
        check("a", None);
        check("aG k", None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9.eE]{0,40}") {
            let _ = Digits::parse(&text).map(|digits| (digits.integer(), digits.floating()));
        }

        #[test]
        fn integers_come_back(value: i64) {
            let text = value.to_string();
            prop_assert_eq!(Digits::parse(&text).and_then(Digits::integer), Some(i128::from(value)));
        }
    }
}
