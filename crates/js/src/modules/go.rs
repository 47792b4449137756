//! Script values as Go names and prints them: k6's texts contain that, and some of what it sends.

use crate::embed::{Ctx, Handle, JsResult, ObjectKind, TypedArray};

/// The type of an object that is nothing special.
pub(super) const OBJECT: &str = "map[string]interface {}";

/// What Go calls the type a script value is exported as; k6's texts name it.
pub(super) fn go_type(ctx: Ctx, value: &Handle) -> &'static str {
    if !value.is_set() {
        "<nil>"
    } else if value.is_string() {
        "string"
    } else if value.is_bool() {
        "bool"
    } else if let Some(number) = value.as_number() {
        go_number_type(number)
    } else if value.is_bigint() {
        "*big.Int"
    } else if value.is_function(ctx) {
        "func(sobek.FunctionCall) sobek.Value"
    } else if let Some(kind) = value.typed_array_kind() {
        match kind {
            TypedArray::Uint8 | TypedArray::Uint8Clamped => "[]uint8",
            TypedArray::Int8 => "[]int8",
            TypedArray::Int16 => "[]int16",
            TypedArray::Uint16 => "[]uint16",
            TypedArray::Int32 => "[]int32",
            TypedArray::Uint32 => "[]uint32",
            TypedArray::BigInt64 => "[]int64",
            TypedArray::BigUint64 => "[]uint64",
            // k6 has no halves.
            TypedArray::Float16 | TypedArray::Float32 => "[]float32",
            TypedArray::Float64 => "[]float64",
        }
    } else {
        match value.object_kind() {
            ObjectKind::Array | ObjectKind::Set => "[]interface {}",
            ObjectKind::Map => "[][2]interface {}",
            ObjectKind::Date => "time.Time",
            ObjectKind::Promise => "*sobek.Promise",
            ObjectKind::Proxy => "sobek.Proxy",
            ObjectKind::Boolean => "bool",
            ObjectKind::BigInt => "*big.Int",
            ObjectKind::Number => go_number_type(value.to_number(ctx).unwrap_or(f64::NAN)),
            ObjectKind::Other => OBJECT,
        }
    }
}

/// k6: a whole number is an integer, whatever it was computed from.
fn go_number_type(value: f64) -> &'static str {
    let is_whole =
        value == value.trunc() && value.abs() < 2.0_f64.powi(63) && !(value == 0.0 && value.is_sign_negative());
    if is_whole { "int64" } else { "float64" }
}

/// How Go prints a value that should have been a URL, roughly.
pub(super) fn go_text(ctx: Ctx, value: &Handle) -> JsResult<String> {
    if !value.is_set() {
        return Ok("<nil>".to_owned());
    }
    if !value.is_object() {
        return value.to_text(ctx);
    }
    let (open, close) = if value.is_array() { ("[", "]") } else { ("map[", "]") };
    let mut items = Vec::new();
    for key in value.keys(ctx)?.iter().take(GO_ITEMS_MAX) {
        let item = value.get(ctx, key)?;
        let text = if item.is_object() { "…".to_owned() } else { go_text(ctx, &item)? };
        items.push(if value.is_array() { text } else { format!("{}:{text}", key.text(ctx)?) });
    }
    Ok(format!("{open}{}{close}", items.join(" ")))
}

/// Members shown of an object that is no URL.
const GO_ITEMS_MAX: usize = 10;

/// A number as Go prints it: `1e-07` where JavaScript has `1e-7`, `1e-05` where it has `0.00001`.
pub(super) fn go_number(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        return if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        }
        .to_owned();
    }
    if magnitude != 0.0 && !(1e-4..1e21).contains(&magnitude) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{value}")
}

/// Go's query escaping: all but letters, digits and `-_.~`; a blank is `+`.
pub(super) fn escape(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.extend([
                '%',
                char::from(DIGITS[usize::from(byte >> 4)]),
                char::from(DIGITS[usize::from(byte & 15)]),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_gos() {
        let check = |value: f64, expect: &str| assert_eq!(go_number(value), expect);
        check(1.0, "1");
        check(-0.0, "-0");
        check(0.1, "0.1");
        check(1_000_000.0, "1000000");
        check(123_456_789_012.0, "123456789012");
        check(1e-7, "1e-07");
        check(0.00001, "1e-05");
        check(0.0001, "0.0001");
        check(1.5e300, "1.5e+300");
        check(1e21, "1e+21");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Inf");
    }
}
