//! Two pieces of Go that k6's threshold syntax and messages are made of: number text and quoting.

/// Why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatError {
    /// Malformed from this byte on.
    Syntax(usize),
    /// Well-formed, but larger than any finite `f64`.
    Range,
}

/// Parses what Go's `strconv.ParseFloat` accepts: decimals, hexadecimals with a binary exponent, underscores between
/// digits, infinities and NaN.
pub(super) fn parse_float(text: &str) -> Result<f64, FloatError> {
    if let Some(special) = parse_special(text) {
        return Ok(special);
    }
    let number = scan(text.as_bytes())?;
    let value = if number.is_hex {
        hex_value(text, number.exponent_at)
    } else {
        let digits: String = text.chars().filter(|c| *c != '_').collect();
        // The scanned grammar is a subset of what Rust accepts.
        digits.parse().unwrap_or(f64::NAN)
    };
    if value.is_infinite() { Err(FloatError::Range) } else { Ok(value) }
}

/// A string literal as Go's `%q` prints it.
pub(crate) fn go_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\0'..='\x1f' | '\x7f' => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            ' '..='~' => quoted.push(c),
            _ if is_printable(c) => quoted.push(c),
            '\u{80}'..='\u{ffff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// Go prints letters, marks, numbers, punctuation and symbols, but of spaces only U+0020.
fn is_printable(c: char) -> bool {
    // Debug escapes what is not printable, and combining marks at the start of a text, which are.
    let mut pair = ['a', c].iter().collect::<String>();
    pair.retain(|c| c != '\'');
    !c.is_whitespace() && pair.escape_debug().count() == pair.chars().count()
}

fn parse_special(text: &str) -> Option<f64> {
    let (sign, word) = match text.as_bytes().first()? {
        b'+' => (1.0, &text[1..]),
        b'-' => (-1.0, &text[1..]),
        _ if text.eq_ignore_ascii_case("nan") => return Some(f64::NAN),
        _ => (1.0, text),
    };
    (word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity")).then_some(sign * f64::INFINITY)
}

struct Number {
    is_hex: bool,
    /// Where the exponent's letter is, or the end.
    exponent_at: usize,
}

/// Checks the grammar of a finite number.
fn scan(bytes: &[u8]) -> Result<Number, FloatError> {
    let byte = |position: usize| bytes.get(position).copied().unwrap_or(0);
    let is_sign = |position: usize| matches!(byte(position), b'+' | b'-');
    let start = usize::from(is_sign(0));
    let is_hex = byte(start) == b'0' && matches!(byte(start + 1), b'x' | b'X');
    let is_digit = |position: usize| {
        if is_hex { byte(position).is_ascii_hexdigit() } else { byte(position).is_ascii_digit() }
    };

    let mut position = start + if is_hex { 2 } else { 0 };
    let (mut digits, mut points) = (0_usize, 0_usize);
    loop {
        if is_digit(position) {
            digits += 1;
        } else if byte(position) == b'.' && points == 0 {
            points = 1;
        } else if byte(position) != b'_' {
            break;
        }
        position += 1;
    }
    let exponent_at = position;
    let has_exponent =
        if is_hex { matches!(byte(position), b'p' | b'P') } else { matches!(byte(position), b'e' | b'E') };
    if digits == 0 || (is_hex && !has_exponent) {
        return Err(FloatError::Syntax(position));
    }
    if has_exponent {
        position += 1 + usize::from(is_sign(position + 1));
        if !byte(position).is_ascii_digit() {
            return Err(FloatError::Syntax(position));
        }
        while byte(position).is_ascii_digit() || byte(position) == b'_' {
            position += 1;
        }
    }
    if position < bytes.len() {
        return Err(FloatError::Syntax(position));
    }

    // An underscore stands between digits, or between a base prefix and a digit.
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_') {
        let digit_at = |at: usize| {
            if at < exponent_at { is_digit(at) } else { byte(at).is_ascii_digit() }
        };
        let after_prefix = is_hex && at == start + 2;
        if !(at > 0 && (digit_at(at - 1) || after_prefix) && digit_at(at + 1)) {
            return Err(FloatError::Syntax(at));
        }
    }
    Ok(Number { is_hex, exponent_at })
}

/// The value of a scanned hexadecimal number, rounded to nearest, ties to even.
fn hex_value(text: &str, exponent_at: usize) -> f64 {
    let negative = text.starts_with('-');
    let (digits, exponent) = text.split_at(exponent_at);
    let digits = digits.trim_start_matches(['+', '-']).get(2..).unwrap_or_default();
    let mut mantissa = 0_u64;
    let mut sticky = false;
    let mut scale = 0_i64;
    let mut after_point = false;
    for c in digits.chars() {
        let Some(digit) = c.to_digit(16) else {
            after_point |= c == '.';
            continue;
        };
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
        } else {
            sticky |= digit != 0;
            scale += 4;
        }
        scale -= if after_point { 4 } else { 0 };
    }
    if mantissa == 0 {
        return if negative { -0.0 } else { 0.0 };
    }
    let exponent: String = exponent.chars().skip(1).filter(|c| *c != '_').collect();
    // A text too long for i64 is an exponent far outside the range, on the side of its sign.
    let exponent =
        exponent.parse().unwrap_or_else(|_| if exponent.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 });
    let zeros = mantissa.leading_zeros();
    let top = scale.saturating_add(exponent).saturating_add(63 - i64::from(zeros));
    let magnitude = round_to_f64(mantissa << zeros, sticky, top);
    if negative { -magnitude } else { magnitude }
}

/// `mantissa` / 2^63 * 2^`top`, where the mantissa's first bit is set and `sticky` tells of bits after it.
fn round_to_f64(mantissa: u64, sticky: bool, top: i64) -> f64 {
    if top > 1_023 {
        return f64::INFINITY;
    }
    // Bits that fit: 53, fewer for a subnormal.
    let kept = 53 - (-1_022 - top).max(0);
    if kept < 0 {
        return 0.0;
    }
    let dropped = (64 - kept) as u32;
    let whole = mantissa.checked_shr(dropped).unwrap_or(0);
    let rest = mantissa << (64 - dropped);
    let half = 1 << 63;
    let up = rest > half || (rest == half && (sticky || whole & 1 == 1));
    let rounded = whole + u64::from(up);
    // As bits: a carry out of the mantissa moves into the exponent by itself, up to infinity.
    let biased = (top.max(-1_022) + 1_022) as u64;
    f64::from_bits((biased << 52) + rounded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<f64, FloatError>) {
        let actual = parse_float(text);
        let same = match (actual, expect) {
            (Ok(actual), Ok(expect)) => actual.to_bits() == expect.to_bits() || (actual.is_nan() && expect.is_nan()),
            (actual, expect) => actual == expect,
        };
        assert!(same, "{text:?}: {actual:?} instead of {expect:?}");
    }

    #[test]
    fn numbers() {
        use FloatError::{Range, Syntax};
        check("500", Ok(500.0));
        check("-1", Ok(-1.0));
        check("+.5", Ok(0.5));
        check("5.", Ok(5.0));
        check("1e3", Ok(1_000.0));
        check("1_000", Ok(1_000.0));
        check("1e1_0", Ok(1e10));
        check("00012", Ok(12.0));
        check("-0", Ok(-0.0));
        check("1e-400", Ok(0.0));
        check("nan", Ok(f64::NAN));
        check("+iNfinity", Ok(f64::INFINITY));
        check("-INF", Ok(f64::NEG_INFINITY));
        check("0x1p3", Ok(8.0));
        check("0X.8P1", Ok(1.0));
        check("-0x1p-2", Ok(-0.25));
        check("0x_1p0", Ok(1.0));
        check("0x1.fffffffffffffp1023", Ok(f64::MAX));
        check("0x1p-1074", Ok(5e-324));
        check("0x0.8p-1074", Ok(0.0));
        check("0x0.80000000000000000001p-1074", Ok(5e-324));
        check("0x1p-999999999999999999999", Ok(0.0));
        check("0x1.00000000000008p0", Ok(1.0));
        check("0x1.000000000000080000001p0", Ok(1.0_f64.next_up()));
        check("0x1.fffffffffffff8p-1023", Ok(f64::MIN_POSITIVE));
        check("0x1.ffffffffffffffp1023", Err(Range));
        check("0x1p999999999999999999999", Err(Range));
        check("1e400", Err(Range));
        check("", Err(Syntax(0)));
        check("5ms", Err(Syntax(1)));
        check("5 6", Err(Syntax(1)));
        check("0x10", Err(Syntax(4)));
        check("0x1p", Err(Syntax(4)));
        check("0b1", Err(Syntax(1)));
        check("1p3", Err(Syntax(1)));
        check("1e", Err(Syntax(2)));
        check("1e+", Err(Syntax(3)));
        check("1.5.2", Err(Syntax(3)));
        check(".", Err(Syntax(1)));
        check("+", Err(Syntax(1)));
        check("+nan", Err(Syntax(1)));
        check("infi", Err(Syntax(0)));
        check("_1", Err(Syntax(0)));
        check("1__0", Err(Syntax(1)));
        check("1_", Err(Syntax(1)));
        check("1_.5", Err(Syntax(1)));
        check("1e_5", Err(Syntax(2)));
        check("0_x1p1", Err(Syntax(2)));
        check("१", Err(Syntax(0)));
    }

    #[test]
    fn quoting() {
        let check = |text: &str, expect: &str| assert_eq!(go_quote(text), expect);
        check("p(95)<5", "\"p(95)<5\"");
        check("a\"\\\n\t", "\"a\\\"\\\\\\n\\t\"");
        check("av\x01g<5e\u{301}é\u{200b}", "\"av\\x01g<5e\u{301}é\\u200b\"");
        check("\x7f\u{a0}\u{10ffff}'", "\"\\x7f\\u00a0\\U0010ffff'\"");
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,30}") {
            let _ = parse_float(&text);
            let _ = go_quote(&text);
        }

        #[test]
        fn never_panics_on_almost_numbers(text in "[-+]?(0[xX])?[0-9a-fA-F_.pPeE+-]{0,40}") {
            let _ = parse_float(&text);
        }

        #[test]
        fn decimals_round_trip(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
            prop_assert_eq!(parse_float(&format!("{value:e}")), Ok(value));
        }

        #[test]
        fn hexadecimals_round_trip(mantissa in 0_u64..1 << 53, exponent in -1_074_i32..900) {
            let mut expect = mantissa as f64;
            expect *= 2_f64.powi(exponent / 2);
            expect *= 2_f64.powi(exponent - exponent / 2);
            // Products of subnormals round too, but then once as well.
            prop_assume!(expect == 0.0 || expect >= f64::MIN_POSITIVE || exponent == -1_074);
            prop_assert_eq!(parse_float(&format!("0x{mantissa:x}p{exponent}")), Ok(expect));
        }
    }
}
