//! Arguments and rows of prepared statements, which go as bytes and not as text.

use super::{
    Column, kind,
    packet::{Reader, malformed},
};
use crate::{
    SqlError,
    time::{ms_of_text, text_of_ms},
    value::{Rows, Value},
};

/// The body of the command that runs a prepared statement.
pub(super) fn execution(id: u32, arguments: &[Value]) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    // No cursor; run once.
    body.extend([0, 1, 0, 0, 0]);
    let mut nulls = vec![0_u8; arguments.len().div_ceil(8)];
    for (index, _) in arguments.iter().enumerate().filter(|(_, value)| **value == Value::Null) {
        nulls[index / 8] |= 1 << (index % 8);
    }
    body.extend_from_slice(&nulls);
    // Types follow.
    body.push(1);
    for value in arguments {
        body.extend(match value {
            Value::Null => [kind::NULL, 0],
            Value::Boolean(_) => [kind::TINY, 0],
            Value::Integer(_) => [kind::LONGLONG, 0],
            Value::Float(_) => [kind::DOUBLE, 0],
            Value::Text(_) | Value::Bytes(_) | Value::Time(_) => [kind::STRING, 0],
        });
    }
    for value in arguments {
        match value {
            Value::Null => {}
            Value::Boolean(is_true) => body.push((*is_true).into()),
            Value::Integer(number) => body.extend(number.to_le_bytes()),
            Value::Float(number) => body.extend(number.to_le_bytes()),
            Value::Text(text) => put(&mut body, text.as_bytes()),
            Value::Bytes(bytes) => put(&mut body, bytes),
            Value::Time(ms) => put(&mut body, text_of_ms(*ms, ' ').as_bytes()),
        }
    }
    body
}

/// Bytes with their length before them.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = bytes.len() as u64;
    let (mark, width) = match length {
        0..=0xFA => (length as u8, 0),
        0xFB..=0xFFFF => (0xFC, 2),
        0x1_0000..=0xFF_FFFF => (0xFD, 3),
        _ => (0xFE, 8),
    };
    out.push(mark);
    out.extend_from_slice(&length.to_le_bytes()[..width]);
    out.extend_from_slice(bytes);
}

/// Adds a row.
pub(super) fn row(packet: &[u8], columns: &[Column], parses_time: bool, rows: &mut Rows) -> Result<(), SqlError> {
    let mut reader = Reader::new(packet);
    if reader.byte()? != 0 {
        return Err(malformed());
    }
    let nulls = reader.bytes((columns.len() + 2).div_ceil(8))?;
    for (index, column) in columns.iter().enumerate() {
        let bit = index + 2;
        let is_null = nulls[bit / 8] >> (bit % 8) & 1 == 1;
        rows.push(if is_null { Value::Null } else { value(&mut reader, column, parses_time)? })?;
    }
    Ok(())
}

fn value(reader: &mut Reader<'_>, column: &Column, parses_time: bool) -> Result<Value, SqlError> {
    let bytes = match column.kind {
        kind::NULL => return Ok(Value::Null),
        kind::TINY => 1,
        kind::SHORT | kind::YEAR => 2,
        kind::INT24 | kind::LONG => 4,
        kind::LONGLONG => 8,
        kind::FLOAT => return Ok(Value::Float(f32::from_bits(reader.number(4)? as u32).into())),
        kind::DOUBLE => return Ok(Value::Float(f64::from_bits(reader.number(8)?))),
        kind::DATE | kind::DATETIME | kind::TIMESTAMP => {
            let text = date(reader, column.kind == kind::DATE)?;
            let time = parses_time.then(|| ms_of_text(&text)).flatten();
            return Ok(time.map_or_else(|| Value::Bytes(text.into_bytes()), Value::Time));
        }
        kind::TIME => return time(reader).map(|text| Value::Bytes(text.into_bytes())),
        _ => return reader.text().map(|text| Value::Bytes(text.to_vec())),
    };
    let number = reader.number(bytes)?;
    let unused = 64 - 8 * bytes as u32;
    Ok(if column.is_unsigned {
        i64::try_from(number).map_or(Value::Float(number as f64), Value::Integer)
    } else {
        Value::Integer((number << unused).cast_signed() >> unused)
    })
}

/// The parts of a time that are there; the others are 0.
fn part(parts: &mut Reader<'_>, bytes: usize) -> Result<u64, SqlError> {
    if parts.rest().is_empty() { Ok(0) } else { parts.number(bytes) }
}

fn date(reader: &mut Reader<'_>, is_date: bool) -> Result<String, SqlError> {
    let parts = &mut Reader::new(reader.text()?);
    let (year, month, day) = (part(parts, 2)?, part(parts, 1)?, part(parts, 1)?);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if is_date {
        return Ok(date);
    }
    Ok(format!("{date} {}", clock(parts, 0)?))
}

fn time(reader: &mut Reader<'_>) -> Result<String, SqlError> {
    let parts = &mut Reader::new(reader.text()?);
    let sign = if part(parts, 1)? == 1 { "-" } else { "" };
    let days = part(parts, 4)?;
    Ok(format!("{sign}{}", clock(parts, days)?))
}

fn clock(parts: &mut Reader<'_>, days: u64) -> Result<String, SqlError> {
    let (hour, minute, second) = (part(parts, 1)? + days * 24, part(parts, 1)?, part(parts, 1)?);
    let fraction = part(parts, 4)?;
    let fraction = if fraction > 0 { format!(".{fraction:06}") } else { String::new() };
    Ok(format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}
