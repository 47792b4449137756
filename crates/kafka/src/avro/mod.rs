//! Avro: schemas, and values between JSON and the binary form.
//!
//! A value of a union is the value itself, or an object with the name of its type, as in Avro's own JSON. Bytes are a
//! string of characters up to U+00FF or an array of numbers, and come back as the latter. Logical types are what they are
//! made of.
//!
//! ```
//! use onrush_kafka::avro::{Schema, from_binary, to_binary};
//!
//! let schema = Schema::parse(r#"{"type": "record", "name": "User", "fields": [{"name": "id", "type": "long"}]}"#, &[])?;
//! let value = serde_json::json!({"id": 7});
//! let bytes = to_binary(&schema, &value, &mut |_| Ok(()))?;
//! assert_eq!(bytes, [14]);
//! assert_eq!(from_binary(&schema, &bytes, &mut |_| Ok(()))?, r#"{"id":7}"#);
//! # Ok::<(), onrush_kafka::KafkaError>(())
//! ```

mod decode;
mod encode;
mod schema;

pub use self::{decode::from_binary, encode::to_binary, schema::Schema};

use crate::KafkaError;

/// What is called again and again during long work, with the bytes that were made so far.
pub type Pause<'a> = &'a mut dyn FnMut(usize) -> Result<(), KafkaError>;

/// How far the work on a value is. A few bytes of a schema or value can stand for any number of items.
struct Progress<'a> {
    items: usize,
    /// What had been made at the last pause.
    bytes: usize,
    pause: Pause<'a>,
}

impl<'a> Progress<'a> {
    fn new(pause: Pause<'a>) -> Self {
        Self { items: 0, bytes: 0, pause }
    }

    /// One item more; `bytes` were made before it.
    fn step(&mut self, bytes: usize) -> Result<(), KafkaError> {
        self.items += 1;
        if self.items > ITEMS_MAX || bytes > BYTES_MAX {
            return Err(KafkaError::TooLarge(format!(
                "avro: the value has more than {ITEMS_MAX} items or {BYTES_MAX} bytes"
            )));
        }
        if self.items.is_multiple_of(PAUSE_ITEMS) || bytes.abs_diff(self.bytes) >= PAUSE_BYTES {
            self.pause(bytes)?;
        }
        Ok(())
    }

    fn pause(&mut self, bytes: usize) -> Result<(), KafkaError> {
        self.bytes = bytes;
        (self.pause)(bytes)
    }
}

fn invalid(text: impl std::fmt::Display) -> KafkaError {
    KafkaError::Invalid(format!("avro: {text}"))
}

/// As deep as values and schemas may go: a fiber's stack is small.
const DEPTH_MAX: usize = 64;
/// Items between two pauses: less than a millisecond.
const PAUSE_ITEMS: usize = 4_096;
const PAUSE_BYTES: usize = 256 << 10;
/// What a value may have, in either form: bytes are those of what is made.
const ITEMS_MAX: usize = 4_000_000;
const BYTES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests;
