//! From the binary form to JSON.

use super::{DEPTH_MAX, PAUSE_ITEMS, Pause, Progress, Schema, invalid, schema::Type};
use crate::KafkaError;

/// The JSON form of a value, however long its arrays claim to be.
///
/// # Errors
/// Where the bytes are not a value of the schema.
pub fn from_binary(schema: &Schema, bytes: &[u8], pause: Pause<'_>) -> Result<String, KafkaError> {
    let mut decoder = Decoder { schema, rest: bytes, out: String::new(), progress: Progress::new(pause) };
    decoder.read(schema.root, 0)?;
    if decoder.rest.is_empty() {
        Ok(decoder.out)
    } else {
        Err(invalid(format_args!("there are {} bytes behind the value", decoder.rest.len())))
    }
}

struct Decoder<'a> {
    schema: &'a Schema,
    rest: &'a [u8],
    out: String,
    progress: Progress<'a>,
}

impl<'a> Decoder<'a> {
    fn read(&mut self, at: usize, depth: usize) -> Result<(), KafkaError> {
        if depth > DEPTH_MAX {
            return Err(invalid(format_args!("the value is deeper than {DEPTH_MAX} levels")));
        }
        self.progress.step(self.out.len())?;
        let schema = self.schema;
        match &schema.types[at] {
            Type::Null => self.out.push_str("null"),
            Type::Boolean => {
                let value = self.take(1)?[0] != 0;
                self.out.push_str(if value { "true" } else { "false" });
            }
            Type::Int | Type::Long => {
                let value = self.number()?;
                self.out.push_str(&value.to_string());
            }
            Type::Float => {
                let value = f32::from_le_bytes(self.array()?);
                self.push_float(f64::from(value), &value.to_string());
            }
            Type::Double => {
                let value = f64::from_le_bytes(self.array()?);
                self.push_float(value, &value.to_string());
            }
            Type::String => {
                let bytes = self.sized()?;
                self.push_text(&String::from_utf8_lossy(bytes));
            }
            Type::Bytes => {
                let bytes = self.sized()?;
                self.push_bytes(bytes)?;
            }
            Type::Fixed { bytes, .. } => {
                let bytes = self.take(*bytes)?;
                self.push_bytes(bytes)?;
            }
            Type::Enum { name, symbols } => {
                let index = self.number()?;
                let symbol = usize::try_from(index).ok().and_then(|index| symbols.get(index));
                self.push_text(symbol.ok_or_else(|| invalid(format_args!("{name} has no symbol {index}")))?);
            }
            Type::Array(of) => self.read_blocks('[', ']', |decoder| decoder.read(*of, depth + 1))?,
            Type::Map(of) => self.read_blocks('{', '}', |decoder| {
                let key = decoder.sized()?;
                decoder.push_text(&String::from_utf8_lossy(key));
                decoder.out.push(':');
                decoder.read(*of, depth + 1)
            })?,
            Type::Union(branches) => {
                let index = self.number()?;
                let branch = usize::try_from(index).ok().and_then(|index| branches.get(index));
                self.read(*branch.ok_or_else(|| invalid(format_args!("a union has no type {index}")))?, depth + 1)?;
            }
            Type::Record { fields, .. } => {
                self.out.push('{');
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.push_text(&field.name);
                    self.out.push(':');
                    self.read(field.of, depth + 1)?;
                }
                self.out.push('}');
            }
            Type::Open(name) => return Err(invalid(format_args!("{name} is not defined"))),
        }
        Ok(())
    }

    fn read_blocks(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<(), KafkaError>,
    ) -> Result<(), KafkaError> {
        self.out.push(open);
        let mut is_first = true;
        loop {
            let mut count = self.number()?;
            if count == 0 {
                break;
            }
            if count < 0 {
                // The block's bytes, for those who want to pass it by.
                self.number()?;
                count = count.checked_neg().ok_or_else(|| invalid("a block has no length"))?;
            }
            for _ in 0..count {
                if !is_first {
                    self.out.push(',');
                }
                is_first = false;
                item(self)?;
            }
        }
        self.out.push(close);
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], KafkaError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(ends)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], KafkaError> {
        self.take(N)?.try_into().map_err(|_| ends())
    }

    fn sized(&mut self) -> Result<&'a [u8], KafkaError> {
        let length = usize::try_from(self.number()?).map_err(|_| invalid("a length is negative"))?;
        self.take(length)
    }

    fn number(&mut self) -> Result<i64, KafkaError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()));
            }
        }
        Err(invalid("a number has too many bytes"))
    }

    /// JSON has no infinity, but numbers that are as large; and nothing for what is not a number.
    fn push_float(&mut self, value: f64, shown: &str) {
        if value.is_finite() {
            self.out.push_str(shown);
        } else if value.is_nan() {
            self.out.push_str("null");
        } else {
            self.out.push_str(if value > 0.0 { "1e999" } else { "-1e999" });
        }
    }

    fn push_text(&mut self, text: &str) {
        self.out.push_str(&serde_json::Value::from(text).to_string());
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), KafkaError> {
        self.out.push('[');
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.out.push_str(&byte.to_string());
            if index % PAUSE_ITEMS == PAUSE_ITEMS - 1 {
                self.progress.pause(self.out.len())?;
            }
        }
        self.out.push(']');
        Ok(())
    }
}

fn ends() -> KafkaError {
    invalid("the value ends too early")
}
