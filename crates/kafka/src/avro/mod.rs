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
//! let bytes = to_binary(&schema, &value, &mut || Ok(()))?;
//! assert_eq!(bytes, [14]);
//! assert_eq!(from_binary(&schema, &bytes, &mut || Ok(()))?, r#"{"id":7}"#);
//! # Ok::<(), onrush_kafka::KafkaError>(())
//! ```

mod decode;
mod encode;
mod schema;

pub use self::{decode::from_binary, encode::to_binary, schema::Schema};

use crate::KafkaError;

/// What is called again and again during long work.
pub type Pause<'a> = &'a mut dyn FnMut() -> Result<(), KafkaError>;

fn invalid(text: impl std::fmt::Display) -> KafkaError {
    KafkaError::Invalid(format!("avro: {text}"))
}

/// As deep as values and schemas may go: a fiber's stack is small.
const DEPTH_MAX: usize = 64;
/// Items between two pauses: less than a millisecond.
const PAUSE_ITEMS: usize = 4_096;

#[cfg(test)]
mod tests;
