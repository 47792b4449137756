//! From the wire to a tree, with limits on depth and memory.

use super::{
    Message, Value,
    wire::{Reader, wire_type},
};
use crate::schema::{Field, Kind, MessageId, Schema, Shape};

/// Bytes that are no message of their type, or too much of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// k6: Go's text.
    #[error("proto:\u{a0}cannot parse invalid wire-format data")]
    Invalid,
    /// A text of a proto3 file.
    #[error("proto:\u{a0}field {0} contains invalid UTF-8")]
    NotUtf8(String),
    /// A field of a proto2 file.
    #[error("proto:\u{a0}required field {0} not set")]
    Missing(String),
    /// Messages within messages.
    #[error("proto:\u{a0}exceeded max recursion depth")]
    TooDeep,
    /// What it would take to hold it.
    #[error("the message needs more than {} MiB of memory", .0 >> 20)]
    TooLarge(usize),
    /// The pause between two parts said so.
    #[error("interrupted")]
    Interrupted,
}

/// Reads messages.
pub struct Decoder<'s, 'p> {
    schema: &'s Schema,
    bytes_max: usize,
    bytes: usize,
    values: u32,
    pause: &'p mut dyn FnMut() -> bool,
}

impl<'s, 'p> Decoder<'s, 'p> {
    /// A decoder whose trees may take `bytes_max` bytes in all. Every few thousand values it calls `pause`, which may wait
    /// and says whether to go on.
    pub fn new(schema: &'s Schema, bytes_max: usize, pause: &'p mut dyn FnMut() -> bool) -> Self {
        Self { schema, bytes_max, bytes: 0, values: 0, pause }
    }

    /// What its trees take, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// When the bytes are none, or one too deep or too large.
    pub fn message<'a>(&mut self, of: MessageId, bytes: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let mut message = Message::empty(of);
        self.merge(&mut message, &mut Reader::new(bytes), None, DEPTH_MAX)?;
        Ok(message)
    }

    /// Adds records to a message, up to the end of the bytes or of the group with that number.
    fn merge<'a>(
        &mut self,
        message: &mut Message<'a>,
        reader: &mut Reader<'a>,
        group: Option<u32>,
        depth: u32,
    ) -> Result<(), DecodeError> {
        let schema = self.schema;
        let of = schema.message(message.of);
        while !reader.is_empty() {
            let (number, wire_type) = reader.tag().ok_or(DecodeError::Invalid)?;
            if wire_type == wire_type::GROUP_END {
                return if group == Some(number) { self.expect_required(message) } else { Err(DecodeError::Invalid) };
            }
            let known = of.field_numbered(number).map(|index| (index, &of.fields[index]));
            match known {
                Some((index, field)) if fits(field, wire_type) => {
                    self.record(message, index, field, reader, wire_type, depth)?;
                }
                _ => reader.skip(number, wire_type, depth).ok_or(DecodeError::Invalid)?,
            }
        }
        if group.is_some() { Err(DecodeError::Invalid) } else { self.expect_required(message) }
    }

    /// k6: a message that lacks what it must have is none.
    fn expect_required(&self, message: &Message<'_>) -> Result<(), DecodeError> {
        let of = self.schema.message(message.of);
        match of.required.iter().find(|index| message.field(**index as usize).is_none()) {
            None => Ok(()),
            Some(index) => Err(DecodeError::Missing(of.fields[*index as usize].full_name.to_string())),
        }
    }

    fn record<'a>(
        &mut self,
        message: &mut Message<'a>,
        index: usize,
        field: &Field,
        reader: &mut Reader<'a>,
        wire_type: u8,
        depth: u32,
    ) -> Result<(), DecodeError> {
        match field.shape {
            Shape::One { .. } => {
                if let Kind::Message(of) = field.kind {
                    self.one_message(message, index, field, of, reader, depth)?;
                } else {
                    let value = self.value(field, field.kind, reader, depth)?;
                    self.put(message, index, value)?;
                }
                if let Some(oneof) = field.oneof {
                    // The last member counts.
                    let fields = &self.schema.message(message.of).fields;
                    message
                        .fields
                        .retain(|(other, _)| *other as usize == index || fields[*other as usize].oneof != Some(oneof));
                }
                Ok(())
            }
            Shape::Many { .. } => {
                let packed = wire_type == wire_type::LENGTH && is_packable(field.kind);
                self.ensure(message, index, || Value::Many(Vec::new()))?;
                if packed {
                    let mut inner = Reader::new(reader.bytes().ok_or(DecodeError::Invalid)?);
                    while !inner.is_empty() {
                        self.push(message, index, field, &mut inner, depth)?;
                    }
                    return Ok(());
                }
                self.push(message, index, field, reader, depth)
            }
            Shape::Map => {
                let Kind::Message(entry) = field.kind else { return Err(DecodeError::Invalid) };
                let bytes = reader.bytes().ok_or(DecodeError::Invalid)?;
                let pair = self.entry(entry, bytes, depth)?;
                self.ensure(message, index, || Value::Map(Vec::new()))?;
                if let (Some(pair), Some(Value::Map(pairs))) = (pair, slot(message, index)) {
                    grow(pairs);
                    pairs.push(pair);
                }
                Ok(())
            }
        }
    }

    fn push<'a>(
        &mut self,
        message: &mut Message<'a>,
        index: usize,
        field: &Field,
        reader: &mut Reader<'a>,
        depth: u32,
    ) -> Result<(), DecodeError> {
        let value = self.value(field, field.kind, reader, depth)?;
        if let Some(Value::Many(values)) = slot(message, index) {
            grow(values);
            values.push(value);
        }
        Ok(())
    }

    /// A message field that comes twice is merged.
    fn one_message<'a>(
        &mut self,
        message: &mut Message<'a>,
        index: usize,
        field: &Field,
        of: MessageId,
        reader: &mut Reader<'a>,
        depth: u32,
    ) -> Result<(), DecodeError> {
        self.ensure(message, index, || Value::Message(Box::new(Message::empty(of))))?;
        let Some(Value::Message(inner)) = slot(message, index) else { return Err(DecodeError::Invalid) };
        self.nested(inner, field, reader, depth)
    }

    fn nested<'a>(
        &mut self,
        inner: &mut Message<'a>,
        field: &Field,
        reader: &mut Reader<'a>,
        depth: u32,
    ) -> Result<(), DecodeError> {
        let depth = depth.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        if field.is_group {
            return self.merge(inner, reader, Some(field.number), depth);
        }
        let bytes = reader.bytes().ok_or(DecodeError::Invalid)?;
        self.merge(inner, &mut Reader::new(bytes), None, depth)
    }

    /// An entry of a map: a key and a value, either of which may be missing.
    fn entry<'a>(
        &mut self,
        of: MessageId,
        bytes: &'a [u8],
        depth: u32,
    ) -> Result<Option<(Value<'a>, Value<'a>)>, DecodeError> {
        let schema = self.schema;
        let mut entry = Message::empty(of);
        let depth = depth.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        self.merge(&mut entry, &mut Reader::new(bytes), None, depth)?;
        let fields = &schema.message(of).fields;
        let mut take = |number: u32| {
            let index = schema.message(of).field_numbered(number)?;
            let kind = fields[index].kind;
            match entry.fields.iter().position(|(at, _)| *at as usize == index) {
                Some(at) => Some(entry.fields.swap_remove(at).1),
                None => kind.zero(schema).or_else(|| match kind {
                    Kind::Message(of) => Some(Value::Message(Box::new(Message::empty(of)))),
                    _ => None,
                }),
            }
        };
        Ok(take(1).zip(take(2)))
    }

    /// A single value.
    fn value<'a>(
        &mut self,
        field: &Field,
        kind: Kind,
        reader: &mut Reader<'a>,
        depth: u32,
    ) -> Result<Value<'a>, DecodeError> {
        self.count(size_of::<Value<'_>>())?;
        let invalid = DecodeError::Invalid;
        let varint = |reader: &mut Reader<'a>| reader.varint().ok_or(DecodeError::Invalid);
        Ok(match kind {
            Kind::Double => Value::Double(f64::from_le_bytes(reader.fixed64().ok_or(invalid)?)),
            Kind::Float => Value::Float(f32::from_le_bytes(reader.fixed32().ok_or(invalid)?)),
            Kind::Int32 => Value::Int32(varint(reader)? as i32),
            Kind::Int64 => Value::Int64(varint(reader)? as i64),
            Kind::Uint32 => Value::Uint32(varint(reader)? as u32),
            Kind::Uint64 => Value::Uint64(varint(reader)?),
            Kind::Sint32 => {
                let raw = varint(reader)? as u32;
                Value::Int32((raw >> 1) as i32 ^ -((raw & 1) as i32))
            }
            Kind::Sint64 => {
                let raw = varint(reader)?;
                Value::Int64((raw >> 1) as i64 ^ -((raw & 1) as i64))
            }
            Kind::Fixed32 => Value::Uint32(u32::from_le_bytes(reader.fixed32().ok_or(invalid)?)),
            Kind::Fixed64 => Value::Uint64(u64::from_le_bytes(reader.fixed64().ok_or(invalid)?)),
            Kind::Sfixed32 => Value::Int32(i32::from_le_bytes(reader.fixed32().ok_or(invalid)?)),
            Kind::Sfixed64 => Value::Int64(i64::from_le_bytes(reader.fixed64().ok_or(invalid)?)),
            Kind::Bool => Value::Bool(varint(reader)? != 0),
            Kind::String => {
                let bytes = reader.bytes().ok_or(invalid)?;
                if field.is_utf8 && std::str::from_utf8(bytes).is_err() {
                    return Err(DecodeError::NotUtf8(field.full_name.to_string()));
                }
                Value::String(bytes)
            }
            Kind::Bytes => Value::Bytes(reader.bytes().ok_or(invalid)?),
            Kind::Enum(_) => Value::Enum(varint(reader)? as i32),
            Kind::Message(of) => {
                self.count(size_of::<Message<'_>>())?;
                let mut inner = Message::empty(of);
                self.nested(&mut inner, field, reader, depth)?;
                Value::Message(Box::new(inner))
            }
        })
    }

    fn put<'a>(&mut self, message: &mut Message<'a>, index: usize, value: Value<'a>) -> Result<(), DecodeError> {
        match place(message, index) {
            Ok(at) => message.fields[at].1 = value,
            Err(at) => self.insert(message, at, index, value)?,
        }
        Ok(())
    }

    /// Has a field be there.
    fn ensure<'a>(
        &mut self,
        message: &mut Message<'a>,
        index: usize,
        make: impl FnOnce() -> Value<'a>,
    ) -> Result<(), DecodeError> {
        match place(message, index) {
            Ok(_) => Ok(()),
            Err(at) => self.insert(message, at, index, make()),
        }
    }

    fn insert<'a>(
        &mut self,
        message: &mut Message<'a>,
        at: usize,
        index: usize,
        value: Value<'a>,
    ) -> Result<(), DecodeError> {
        self.count(size_of::<(u32, Value<'_>)>() + size_of::<Message<'_>>())?;
        if message.fields.len() == message.fields.capacity() {
            let more = message.fields.len().max(2);
            message.fields.reserve_exact(more);
        }
        message.fields.insert(at, (index as u32, value));
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), DecodeError> {
        self.bytes += bytes;
        if self.bytes > self.bytes_max {
            return Err(DecodeError::TooLarge(self.bytes_max));
        }
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(VALUES_PER_PAUSE) && !(self.pause)() {
            return Err(DecodeError::Interrupted);
        }
        Ok(())
    }
}

/// Where a field is, or belongs. Records come in the order of their fields from most programs.
fn place(message: &Message<'_>, index: usize) -> Result<usize, usize> {
    let index = index as u32;
    match message.fields.last() {
        None => Err(0),
        Some((last, _)) if *last == index => Ok(message.fields.len() - 1),
        Some((last, _)) if *last < index => Err(message.fields.len()),
        _ => message.fields.binary_search_by_key(&index, |(index, _)| *index),
    }
}

fn slot<'m, 'a>(message: &'m mut Message<'a>, index: usize) -> Option<&'m mut Value<'a>> {
    let at = place(message, index).ok()?;
    Some(&mut message.fields[at].1)
}

/// Room for more, by half as much again: what is not used was counted nowhere.
fn grow<T>(values: &mut Vec<T>) {
    if values.len() == values.capacity() {
        values.reserve_exact((values.len() / 2).max(4));
    }
}

fn is_packable(kind: Kind) -> bool {
    !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_))
}

/// Whether a record of that wire type can be a value of the field; others are unknown fields.
fn fits(field: &Field, wire_type: u8) -> bool {
    let expected = match field.kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => wire_type::FIXED64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => wire_type::FIXED32,
        Kind::Message(_) if field.is_group => wire_type::GROUP,
        Kind::String | Kind::Bytes | Kind::Message(_) => wire_type::LENGTH,
        _ => wire_type::VARINT,
    };
    wire_type == expected
        || (wire_type == wire_type::LENGTH && matches!(field.shape, Shape::Many { .. }) && is_packable(field.kind))
}

/// Messages within messages. Protobuf's libraries for C++ and Java have the same limit, Go's takes 10,000; each level is
/// a few hundred bytes of a fiber's stack.
pub(crate) const DEPTH_MAX: u32 = 100;
/// About a third of a millisecond.
const VALUES_PER_PAUSE: u32 = 4096;
