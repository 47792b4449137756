//! Columns, which the server sends as text, as values of the types Go's driver gives.

use crate::{time::ms_of_text, value::Value};

/// A column of the type with that number.
pub(super) fn column(kind: u32, bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes);
    let known = text.ok().and_then(|text| match kind {
        BOOL => Some(Value::Boolean(text == "t")),
        INT8 | INT2 | INT4 => text.parse().ok().map(Value::Integer),
        FLOAT4 | FLOAT8 => text.parse().ok().map(Value::Float),
        BYTEA => text.strip_prefix("\\x").and_then(unhex).map(Value::Bytes),
        TEXT | VARCHAR | BPCHAR | CHAR | NAME => Some(Value::Text(text.to_owned())),
        DATE | TIMESTAMP | TIMESTAMPTZ => ms_of_text(text).map(Value::Time),
        _ => None,
    });
    known.unwrap_or_else(|| Value::Bytes(bytes.to_vec()))
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some((value(*high)? * 16 + value(*low)?) as u8)).collect()
}

/// Bytes as the server reads them.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = "\\x".to_owned();
    for byte in bytes {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)])));
    }
    text
}

// Numbers of types, from pg_type.
const BOOL: u32 = 16;
const BYTEA: u32 = 17;
const CHAR: u32 = 18;
const NAME: u32 = 19;
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const TEXT: u32 = 25;
const FLOAT4: u32 = 700;
const FLOAT8: u32 = 701;
const BPCHAR: u32 = 1042;
const VARCHAR: u32 = 1043;
const DATE: u32 = 1082;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;
