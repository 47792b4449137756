//! Messages: read from the wire as trees, written to it piece by piece.
//!
//! What JavaScript or JSON make of a value is not decided here.

mod decode;
mod wire;

pub use decode::{DecodeError, Decoder};
pub use wire::{Mark, Writer};

use crate::schema::{Kind, MessageId, Schema};

/// A message as it came. Strings and bytes are those of the bytes it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'a> {
    /// Its type.
    pub of: MessageId,
    /// The fields that were there, by their index in the type, in that order. Unknown ones are left out.
    pub fields: Vec<(u32, Value<'a>)>,
}

/// A value of a field.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "protobuf's own names")]
pub enum Value<'a> {
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Uint32(u32),
    Uint64(u64),
    Float(f32),
    Double(f64),
    /// UTF-8 in proto3; in proto2 whatever was sent.
    String(&'a [u8]),
    Bytes(&'a [u8]),
    Enum(i32),
    Message(Box<Message<'a>>),
    Many(Vec<Value<'a>>),
    /// In the order they came; of equal keys the last counts.
    Map(Vec<(Value<'a>, Value<'a>)>),
}

impl<'a> Message<'a> {
    /// A message without fields.
    pub fn empty(of: MessageId) -> Self {
        Self { of, fields: Vec::new() }
    }

    /// The value of a field, if it was there.
    pub fn field(&self, index: usize) -> Option<&Value<'a>> {
        let index = u32::try_from(index).ok()?;
        self.fields.binary_search_by_key(&index, |(index, _)| *index).ok().map(|at| &self.fields[at].1)
    }

    /// The value of the field with that number, if it was there.
    pub fn numbered(&self, schema: &Schema, number: u32) -> Option<&Value<'a>> {
        self.field(schema.message(self.of).field_numbered(number)?)
    }

    /// An integer field by its number; 0 if it was not there.
    pub fn integer(&self, schema: &Schema, number: u32) -> i64 {
        match self.numbered(schema, number) {
            Some(Value::Int64(value)) => *value,
            Some(Value::Int32(value) | Value::Enum(value)) => i64::from(*value),
            _ => 0,
        }
    }

    /// A string or bytes field by its number; empty if it was not there.
    pub fn bytes(&self, schema: &Schema, number: u32) -> &'a [u8] {
        match self.numbered(schema, number) {
            Some(Value::String(value) | Value::Bytes(value)) => value,
            _ => &[],
        }
    }
}

impl Kind {
    /// The value of a field of this kind that is not set, if it is no message.
    pub fn zero<'a>(self, schema: &Schema) -> Option<Value<'a>> {
        Some(match self {
            Self::Double => Value::Double(0.0),
            Self::Float => Value::Float(0.0),
            Self::Int32 | Self::Sint32 | Self::Sfixed32 => Value::Int32(0),
            Self::Int64 | Self::Sint64 | Self::Sfixed64 => Value::Int64(0),
            Self::Uint32 | Self::Fixed32 => Value::Uint32(0),
            Self::Uint64 | Self::Fixed64 => Value::Uint64(0),
            Self::Bool => Value::Bool(false),
            Self::String => Value::String(b""),
            Self::Bytes => Value::Bytes(b""),
            Self::Enum(id) => Value::Enum(schema.enumeration(id).first()),
            Self::Message(_) => return None,
        })
    }
}
