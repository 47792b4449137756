//! Numbers and texts as Go's standard library writes them, because k6's files are made by it.

use std::io::Write as _;

/// `strconv` with format `g` and the shortest digits: `1.5`, `1e+06`, `1e-07`.
pub(crate) fn number(value: f64, out: &mut Vec<u8>) {
    // Most values are small whole numbers. Negative zero keeps its sign.
    if value.fract() == 0.0 && value.abs() < 1e6 && (value != 0.0 || value.is_sign_positive()) {
        let _ = write!(out, "{}", value as i64);
        return;
    }
    if !value.is_finite() {
        out.extend_from_slice(infinite(value));
        return;
    }
    // Writing to a vector cannot fail, here and below.
    if value == 0.0 || (1e-4..1e6).contains(&value.abs()) {
        let _ = write!(out, "{value}");
        return;
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    let _ = write!(out, "{digits}e{sign}{exponent:0>2}");
}

/// `%f`: six decimals.
pub(crate) fn fixed(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        let _ = write!(out, "{value:.6}");
    } else {
        out.extend_from_slice(infinite(value));
    }
}

fn infinite(value: f64) -> &'static [u8] {
    match (value.is_nan(), value.is_sign_positive()) {
        (true, _) => b"NaN",
        (_, true) => b"+Inf",
        (_, false) => b"-Inf",
    }
}

/// A JSON string with what could end a script element escaped.
pub(crate) fn json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for char in text.chars() {
        match char {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '<' | '>' | '&' | '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", char as u32);
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A field of a line of CSV.
pub(crate) fn csv_field(text: &str, out: &mut Vec<u8>) {
    let needs_quotes = text == "\\."
        || text.starts_with(char::is_whitespace)
        || text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'));
    if !needs_quotes {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts were printed by k6 1.8.1.
    #[test]
    fn numbers() {
        let check = |value: f64, short: &str, long: &str| {
            let (mut g, mut f) = (Vec::new(), Vec::new());
            number(value, &mut g);
            fixed(value, &mut f);
            assert_eq!((String::from_utf8_lossy(&g), String::from_utf8_lossy(&f)), (short.into(), long.into()));
        };
        check(1.0, "1", "1.000000");
        check(-2.0, "-2", "-2.000000");
        check(-0.0, "-0", "-0.000000");
        check(100_000.0, "100000", "100000.000000");
        check(1e6, "1e+06", "1000000.000000");
        check(123_456.0, "123456", "123456.000000");
        check(1_234_567.0, "1.234567e+06", "1234567.000000");
        check(12_345_678.5, "1.23456785e+07", "12345678.500000");
        check(1e20, "1e+20", "100000000000000000000.000000");
        check(1e-4, "0.0001", "0.000100");
        check(1e-5, "1e-05", "0.000010");
        check(1.0 / 3.0, "0.3333333333333333", "0.333333");
        check(99_999.5, "99999.5", "99999.500000");
        check(123_456_789.123, "1.23456789123e+08", "123456789.123000");
        check(0.000_123_456_789, "0.000123456789", "0.000123");
        check(5e-324, "5e-324", "0.000000");
        check(f64::INFINITY, "+Inf", "+Inf");
    }

    #[test]
    fn texts() {
        let check = |text: &str, json: &str, csv: &str| {
            let (mut j, mut c) = (Vec::new(), Vec::new());
            json_string(text, &mut j);
            csv_field(text, &mut c);
            assert_eq!((String::from_utf8_lossy(&j), String::from_utf8_lossy(&c)), (json.into(), csv.into()));
        };
        check("plain", "\"plain\"", "plain");
        check("a&b<c>", "\"a\\u0026b\\u003cc\\u003e\"", "a&b<c>");
        check("say \"hi\"", "\"say \\\"hi\\\"\"", "\"say \"\"hi\"\"\"");
        check("one\ntwo", "\"one\\ntwo\"", "\"one\ntwo\"");
        check(" lead", "\" lead\"", "\" lead\"");
        check("\u{2028}\u{1}\u{7f}é", "\"\\u2028\\u0001\u{7f}é\"", "\"\u{2028}\u{1}\u{7f}é\"");
        check("", "\"\"", "");
        check("\\.", "\"\\\\.\"", "\"\\.\"");
        check("a,b", "\"a,b\"", "\"a,b\"");
    }
}
