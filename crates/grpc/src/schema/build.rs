//! Descriptors as tables.

use prost_reflect::{
    DescriptorPool, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, Kind as Described, MessageDescriptor,
    ServiceDescriptor, Syntax,
    prost::Message as _,
    prost_types::{FileDescriptorProto, FileDescriptorSet},
};
use rustc_hash::FxHashMap;

use super::{EnumId, EnumType, Field, Kind, MessageId, MessageType, Method, Schema, Shape, Unset, WellKnown};

/// Descriptors that make no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// They are no descriptors.
    #[error("{0}")]
    Undecodable(String),
    /// They contradict each other, or something is missing.
    #[error("{0}")]
    Invalid(String),
}

impl Schema {
    /// From a serialised `FileDescriptorSet`, as `protoc --include_imports --descriptor_set_out` writes it.
    ///
    /// # Errors
    /// When it is none, or not complete.
    pub fn from_descriptor_set(bytes: &[u8]) -> Result<Self, SchemaError> {
        let set = FileDescriptorSet::decode(bytes).map_err(|error| SchemaError::Undecodable(error.to_string()))?;
        Self::from_files(set.file)
    }

    /// From serialised `FileDescriptorProto`s in any order, as reflection gives them. Imports that nobody has are left
    /// out where nothing needs them.
    ///
    /// # Errors
    /// When one is none, or a type that is used is missing.
    pub fn from_file_descriptors<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, SchemaError> {
        let files = files
            .into_iter()
            .map(|bytes| {
                FileDescriptorProto::decode(bytes).map_err(|error| SchemaError::Undecodable(error.to_string()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Self::from_files(files)
    }

    fn from_files(mut files: Vec<FileDescriptorProto>) -> Result<Self, SchemaError> {
        let mut seen = rustc_hash::FxHashSet::default();
        files.retain(|file| seen.insert(file.name().to_owned()));
        let known = DescriptorPool::global();
        // What every compiler brings along may be missing.
        let mut wanted: Vec<String> = files.iter().flat_map(|file| file.dependency.clone()).collect();
        while let Some(name) = wanted.pop() {
            if let Some(file) = known.get_file_by_name(&name)
                && seen.insert(name)
            {
                wanted.extend(file.file_descriptor_proto().dependency.iter().cloned());
                files.push(file.file_descriptor_proto().clone());
            }
        }
        for file in &mut files {
            file.source_code_info = None;
            drop_missing_imports(file, &seen);
        }
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(files).map_err(|error| SchemaError::Invalid(format!("{error:?}")))?;
        Ok(Self::from_pool(&pool))
    }

    pub(super) fn from_pool(pool: &DescriptorPool) -> Self {
        Builder::new(pool).build(pool)
    }
}

/// Imports whose files nobody has are forgotten; indices into the list of imports move accordingly.
fn drop_missing_imports(file: &mut FileDescriptorProto, known: &rustc_hash::FxHashSet<String>) {
    let mut moved = FxHashMap::default();
    let mut kept = Vec::with_capacity(file.dependency.len());
    for (old, name) in std::mem::take(&mut file.dependency).into_iter().enumerate() {
        if known.contains(&name) && !kept.contains(&name) {
            moved.insert(old as i32, kept.len() as i32);
            kept.push(name);
        }
    }
    file.dependency = kept;
    for list in [&mut file.public_dependency, &mut file.weak_dependency] {
        *list = list.iter().filter_map(|old| moved.get(old).copied()).collect();
    }
}

/// Gives every type its index before the fields that name it are built.
struct Builder {
    messages: FxHashMap<String, MessageId>,
    enums: FxHashMap<String, EnumId>,
}

impl Builder {
    fn new(pool: &DescriptorPool) -> Self {
        let messages =
            (0..).zip(pool.all_messages()).map(|(index, message)| (message.full_name().to_owned(), MessageId(index)));
        let enums =
            (0..).zip(pool.all_enums()).map(|(index, described)| (described.full_name().to_owned(), EnumId(index)));
        Self { messages: messages.collect(), enums: enums.collect() }
    }

    fn build(&self, pool: &DescriptorPool) -> Schema {
        let methods: Vec<Method> = pool.services().flat_map(|service| self.methods(&service)).collect();
        Schema {
            messages: pool.all_messages().map(|message| self.message(&message)).collect(),
            enums: pool.all_enums().map(|described| enumeration(&described)).collect(),
            method_by_path: (0..).zip(&methods).map(|(index, method)| (method.path.clone(), index)).collect(),
            methods,
            message_by_name: self.messages.iter().map(|(name, id)| (name.as_str().into(), *id)).collect(),
        }
    }

    fn methods(&self, service: &ServiceDescriptor) -> Vec<Method> {
        let method = |method: prost_reflect::MethodDescriptor| Method {
            path: format!("/{}/{}", service.full_name(), method.name()).into(),
            package: service.package_name().into(),
            service: service.name().into(),
            name: method.name().into(),
            input: self.messages[method.input().full_name()],
            output: self.messages[method.output().full_name()],
            is_client_stream: method.is_client_streaming(),
            is_server_stream: method.is_server_streaming(),
        };
        service.methods().map(method).collect()
    }

    fn message(&self, message: &MessageDescriptor) -> MessageType {
        let mut oneofs: Vec<Box<str>> = Vec::new();
        let mut fields: Vec<Field> = message.fields().map(|field| self.field(&field, &mut oneofs)).collect();
        fields.sort_by_key(|field| field.number);
        fields.extend(message.extensions().map(|extension| self.extension(&extension)));
        let mut by_name = FxHashMap::default();
        for (index, field) in (0..).zip(&fields) {
            by_name.insert(field.json_name.clone(), index);
        }
        for (index, field) in (0..).zip(&fields) {
            by_name.entry(field.name.clone()).or_insert(index);
        }
        let required = message.fields().filter(FieldDescriptor::is_required).map(|field| field.number());
        let required: Vec<u32> = required.collect();
        MessageType {
            required: (0..)
                .zip(&fields)
                .filter(|(_, field)| required.contains(&field.number))
                .map(|(index, _)| index)
                .collect(),
            name: message.full_name().into(),
            well_known: well_known(message.full_name()),
            by_number: (0..).zip(&fields).map(|(index, field)| (field.number, index)).collect(),
            by_name,
            fields,
            oneofs,
        }
    }

    fn field(&self, field: &FieldDescriptor, oneofs: &mut Vec<Box<str>>) -> Field {
        let proto3 = field.parent_file().syntax() == Syntax::Proto3;
        let has_presence = field.supports_presence();
        let shape = if field.is_map() {
            Shape::Map
        } else if field.is_list() {
            Shape::Many { is_packed: field.is_packed() }
        } else {
            Shape::One { has_presence }
        };
        let in_oneof = field.containing_oneof();
        let unset = match shape {
            Shape::Map => Unset::EmptyMap,
            Shape::Many { .. } => Unset::Empty,
            Shape::One { .. } if in_oneof.is_some() => Unset::Absent,
            Shape::One { has_presence: true } => Unset::Null,
            Shape::One { has_presence: false } => Unset::Zero,
        };
        let oneof = in_oneof.filter(|oneof| !oneof.is_synthetic()).map(|oneof| {
            let at = oneofs.iter().position(|known| **known == *oneof.full_name()).unwrap_or_else(|| {
                oneofs.push(oneof.full_name().into());
                oneofs.len() - 1
            });
            at as u32
        });
        Field {
            number: field.number(),
            name: field.name().into(),
            full_name: field.full_name().into(),
            json_name: field.json_name().into(),
            kind: self.kind(&field.kind()),
            shape,
            oneof,
            is_group: field.is_group(),
            unset,
            is_utf8: proto3,
        }
    }

    fn extension(&self, extension: &ExtensionDescriptor) -> Field {
        let shape = if extension.is_list() {
            Shape::Many { is_packed: extension.is_packed() }
        } else {
            Shape::One { has_presence: true }
        };
        Field {
            number: extension.number(),
            name: extension.full_name().into(),
            full_name: extension.full_name().into(),
            json_name: format!("[{}]", extension.full_name()).into(),
            kind: self.kind(&extension.kind()),
            shape,
            oneof: None,
            is_group: extension.is_group(),
            unset: Unset::Absent,
            is_utf8: extension.parent_file().syntax() == Syntax::Proto3,
        }
    }

    fn kind(&self, kind: &Described) -> Kind {
        match kind {
            Described::Double => Kind::Double,
            Described::Float => Kind::Float,
            Described::Int32 => Kind::Int32,
            Described::Int64 => Kind::Int64,
            Described::Uint32 => Kind::Uint32,
            Described::Uint64 => Kind::Uint64,
            Described::Sint32 => Kind::Sint32,
            Described::Sint64 => Kind::Sint64,
            Described::Fixed32 => Kind::Fixed32,
            Described::Fixed64 => Kind::Fixed64,
            Described::Sfixed32 => Kind::Sfixed32,
            Described::Sfixed64 => Kind::Sfixed64,
            Described::Bool => Kind::Bool,
            Described::String => Kind::String,
            Described::Bytes => Kind::Bytes,
            Described::Message(message) => Kind::Message(self.messages[message.full_name()]),
            Described::Enum(described) => Kind::Enum(self.enums[described.full_name()]),
        }
    }
}

fn enumeration(described: &EnumDescriptor) -> EnumType {
    let mut by_number: FxHashMap<i32, Box<str>> = FxHashMap::default();
    let mut by_name = FxHashMap::default();
    // Of several names of a number the first is shown. In the order of the file.
    for value in &described.enum_descriptor_proto().value {
        by_number.entry(value.number()).or_insert_with(|| value.name().into());
        by_name.insert(value.name().into(), value.number());
    }
    EnumType {
        name: described.full_name().into(),
        is_null: described.full_name() == "google.protobuf.NullValue",
        first: described.default_value().number(),
        by_number,
        by_name,
    }
}

fn well_known(name: &str) -> Option<WellKnown> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "Any" => WellKnown::Any,
        "Timestamp" => WellKnown::Timestamp,
        "Duration" => WellKnown::Duration,
        "FieldMask" => WellKnown::FieldMask,
        "Struct" => WellKnown::Struct,
        "Value" => WellKnown::Value,
        "ListValue" => WellKnown::ListValue,
        "Empty" => WellKnown::Empty,
        "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value" | "BoolValue"
        | "StringValue" | "BytesValue" => WellKnown::Wrapper,
        _ => return None,
    })
}
