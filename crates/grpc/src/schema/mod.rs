//! What services and messages there are: tables made from descriptors, shared by all VUs of a process.
//!
//! [`load`] compiles `.proto` files, [`build`] turns descriptors into these tables. Messages and enums refer to each other
//! by index, because descriptors are full of cycles.

mod build;
mod load;

use rustc_hash::FxHashMap;

pub use build::SchemaError;
pub(crate) use load::built_in;
pub use load::{LoadError, Sources, descriptor_set};

/// Methods, messages and enums of one set of files.
#[derive(Debug, Default)]
pub struct Schema {
    messages: Vec<MessageType>,
    enums: Vec<EnumType>,
    methods: Vec<Method>,
    method_by_path: FxHashMap<Box<str>, u32>,
    message_by_name: FxHashMap<Box<str>, MessageId>,
}

/// A message type's place in its [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(u32);

/// An enum's place in its [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumId(u32);

/// A method of a service.
#[derive(Debug)]
pub struct Method {
    /// `/package.Service/Method`
    pub path: Box<str>,
    /// `package`
    pub package: Box<str>,
    /// `Service`
    pub service: Box<str>,
    /// `Method`
    pub name: Box<str>,
    /// What is sent.
    pub input: MessageId,
    /// What is received.
    pub output: MessageId,
    /// The client sends any number of messages.
    pub is_client_stream: bool,
    /// The server sends any number of messages.
    pub is_server_stream: bool,
}

/// A message type.
#[derive(Debug)]
pub struct MessageType {
    /// `package.Message`
    pub name: Box<str>,
    /// What JSON has instead of an object of fields, if it has.
    pub well_known: Option<WellKnown>,
    /// In the order of their numbers; known extensions last.
    pub fields: Vec<Field>,
    /// Fields that must be there, by index.
    pub required: Vec<u32>,
    /// The names of real oneofs.
    pub oneofs: Vec<Box<str>>,
    by_number: FxHashMap<u32, u32>,
    by_name: FxHashMap<Box<str>, u32>,
}

/// A field of a message, or an extension of it.
#[derive(Debug)]
pub struct Field {
    /// Its number on the wire.
    pub number: u32,
    /// As the file has it; an extension's full name.
    pub name: Box<str>,
    /// With the type it belongs to: `package.Message.field`.
    pub full_name: Box<str>,
    /// As JSON has it; `[full.name]` for an extension.
    pub json_name: Box<str>,
    /// The type of a single value.
    pub kind: Kind,
    /// How many values.
    pub shape: Shape,
    /// The oneof it belongs to.
    pub oneof: Option<u32>,
    /// On the wire between two marks instead of behind a length.
    pub is_group: bool,
    /// What JSON has for it when it is not set.
    pub unset: Unset,
    /// Strings are checked to be UTF-8.
    pub is_utf8: bool,
}

/// How many values a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One; whether a default value on the wire differs from none.
    One {
        /// It does.
        has_presence: bool,
    },
    /// Any number, in order.
    Many {
        /// On the wire in one record.
        is_packed: bool,
    },
    /// Keys and values, in messages of the kind.
    Map,
}

/// What JSON has for a field that is not set, where all fields are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// Nothing: members of oneofs, `optional` ones, extensions.
    Absent,
    /// `null`: messages, and fields of proto2.
    Null,
    /// The type's zero.
    Zero,
    /// `[]`
    Empty,
    /// `{}`
    EmptyMap,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "protobuf's own names")]
pub enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Enum(EnumId),
    Message(MessageId),
}

/// An enum.
#[derive(Debug)]
pub struct EnumType {
    /// `package.Enum`
    pub name: Box<str>,
    /// `google.protobuf.NullValue`, which is `null` in JSON.
    pub is_null: bool,
    first: i32,
    by_number: FxHashMap<i32, Box<str>>,
    by_name: FxHashMap<Box<str>, i32>,
}

/// Message types that JSON has a form of their own for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the types")]
pub enum WellKnown {
    Any,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
    /// `StringValue` and the like: JSON has the bare value.
    Wrapper,
    Empty,
}

impl Schema {
    /// A message type.
    pub fn message(&self, id: MessageId) -> &MessageType {
        &self.messages[id.0 as usize]
    }

    /// An enum.
    pub fn enumeration(&self, id: EnumId) -> &EnumType {
        &self.enums[id.0 as usize]
    }

    /// A message type by its full name.
    pub fn message_named(&self, name: &str) -> Option<MessageId> {
        self.message_by_name.get(name).copied()
    }

    /// A method by its path, `/package.Service/Method`.
    pub fn method(&self, path: &str) -> Option<&Method> {
        self.method_by_path.get(path).map(|&index| &self.methods[index as usize])
    }

    /// All methods, service by service as the files have them.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// How many message types there are.
    pub fn message_count(&self) -> usize {
        self.messages.len()
    }
}

impl MessageId {
    /// Its index among the messages of its schema.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl MessageType {
    /// The field with that number.
    #[inline]
    pub fn field_numbered(&self, number: u32) -> Option<usize> {
        // Most types number their fields from 1 on without gaps.
        let guess = (number as usize).wrapping_sub(1);
        if self.fields.get(guess).is_some_and(|field| field.number == number) {
            return Some(guess);
        }
        self.by_number.get(&number).map(|&index| index as usize)
    }

    /// The field that JSON means by a key: its JSON name, or the one in the file.
    pub fn field_named(&self, key: &str) -> Option<usize> {
        self.by_name.get(key).map(|&index| index as usize)
    }
}

impl EnumType {
    /// A number's name.
    pub fn name_of(&self, number: i32) -> Option<&str> {
        self.by_number.get(&number).map(|name| &**name)
    }

    /// A name's number.
    pub fn number_of(&self, name: &str) -> Option<i32> {
        self.by_name.get(name).copied()
    }

    /// The value of a field that is not set.
    pub fn first(&self) -> i32 {
        self.first
    }
}

impl Field {
    /// The message type of its values, or of its entries if it is a map.
    pub fn message(&self) -> Option<MessageId> {
        match self.kind {
            Kind::Message(id) => Some(id),
            _ => None,
        }
    }
}
