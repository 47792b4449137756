//! Schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{DEPTH_MAX, invalid};
use crate::KafkaError;

/// A schema that was read. Types refer to each other by their place in a list, so that they may be recursive.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) root: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed {
        name: String,
        bytes: usize,
    },
    Enum {
        name: String,
        symbols: Vec<String>,
    },
    Array(usize),
    Map(usize),
    Union(Vec<usize>),
    Record {
        name: String,
        fields: Vec<Field>,
    },
    /// A named type whose own definition is being read.
    Open(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) of: usize,
    pub(super) default: Option<Value>,
}

impl Type {
    /// What it is called in a union.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes => "bytes",
            Self::String => "string",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Union(_) => "union",
            Self::Fixed { name, .. } | Self::Enum { name, .. } | Self::Record { name, .. } | Self::Open(name) => name,
        }
    }
}

impl Schema {
    /// Reads a schema that may name types of others.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, others: &[&str]) -> Result<Self, KafkaError> {
        let mut parser = Parser::default();
        for other in others {
            parser.read(&json(other)?, "", 0)?;
        }
        let root = parser.read(&json(text)?, "", 0)?;
        Ok(Self { types: parser.types, root })
    }

    /// The full name of a record, enum or fixed.
    pub fn name(&self) -> Option<&str> {
        match &self.types[self.root] {
            Type::Fixed { name, .. } | Type::Enum { name, .. } | Type::Record { name, .. } => Some(name),
            _ => None,
        }
    }
}

fn json(text: &str) -> Result<Value, KafkaError> {
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(invalid(format_args!("the schema is longer than {SCHEMA_BYTES_MAX} bytes")));
    }
    // `string` for `"string"`, as registries take it.
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) if primitive(text.trim()).is_some() => Ok(Value::String(text.trim().to_owned())),
        Err(error) => Err(invalid(format_args!("the schema is not JSON: {error}"))),
    }
}

#[derive(Default)]
struct Parser {
    types: Vec<Type>,
    names: BTreeMap<String, usize>,
}

impl Parser {
    fn add(&mut self, found: Type) -> Result<usize, KafkaError> {
        if self.types.len() >= TYPES_MAX {
            return Err(invalid(format_args!("the schema has more than {TYPES_MAX} types")));
        }
        self.types.push(found);
        Ok(self.types.len() - 1)
    }

    fn read(&mut self, value: &Value, space: &str, depth: usize) -> Result<usize, KafkaError> {
        if depth > DEPTH_MAX {
            return Err(invalid(format_args!("the schema is deeper than {DEPTH_MAX} levels")));
        }
        match value {
            Value::String(name) => self.named(name, space),
            Value::Array(branches) => {
                let branches =
                    branches.iter().map(|branch| self.read(branch, space, depth + 1)).collect::<Result<Vec<_>, _>>()?;
                if branches.is_empty() {
                    return Err(invalid("a union has no types"));
                }
                self.add(Type::Union(branches))
            }
            Value::Object(object) => self.read_object(object, space, depth),
            _ => Err(invalid("a type is a name, an object or an array")),
        }
    }

    fn read_object(&mut self, object: &Map<String, Value>, space: &str, depth: usize) -> Result<usize, KafkaError> {
        let kind = object.get("type").ok_or_else(|| invalid("an object has no type"))?;
        let Value::String(kind) = kind else { return self.read(kind, space, depth + 1) };
        match kind.as_str() {
            "array" | "map" => {
                let key = if kind == "array" { "items" } else { "values" };
                let of = object.get(key).ok_or_else(|| invalid(format_args!("{kind} without {key}")))?;
                let of = self.read(of, space, depth + 1)?;
                self.add(if kind == "array" { Type::Array(of) } else { Type::Map(of) })
            }
            "record" | "error" | "enum" | "fixed" => self.read_named(kind, object, space, depth),
            name => self.named(name, space),
        }
    }

    fn read_named(
        &mut self,
        kind: &str,
        object: &Map<String, Value>,
        space: &str,
        depth: usize,
    ) -> Result<usize, KafkaError> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let own = text("name").ok_or_else(|| invalid(format_args!("{kind} without a name")))?;
        let name = full_name(own, text("namespace").unwrap_or(space));
        let space = name.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
        let at = self.add(Type::Open(name.clone()))?;
        // One that several schemas bring along is taken as it came last.
        self.names.insert(name.clone(), at);
        let missing = |key: &str| invalid(format_args!("the {kind} {name} has no {key}"));
        let found = match kind {
            "fixed" => {
                let bytes = object.get("size").and_then(Value::as_u64).ok_or_else(|| missing("size"))?;
                if bytes > FIXED_BYTES_MAX {
                    return Err(invalid(format_args!("the size of {name} is more than {FIXED_BYTES_MAX}")));
                }
                Type::Fixed { name, bytes: bytes as usize }
            }
            "enum" => {
                let symbols = object.get("symbols").and_then(Value::as_array).ok_or_else(|| missing("symbols"))?;
                let symbols = symbols.iter().filter_map(|symbol| symbol.as_str().map(ToOwned::to_owned)).collect();
                Type::Enum { name, symbols }
            }
            _ => {
                let fields = object.get("fields").and_then(Value::as_array).ok_or_else(|| missing("fields"))?;
                let mut read = Vec::new();
                for field in fields {
                    let own = field.get("name").and_then(Value::as_str).ok_or_else(|| missing("name in a field"))?;
                    let of = field.get("type").ok_or_else(|| missing("type in a field"))?;
                    let of = self.read(of, &space, depth + 1)?;
                    read.push(Field { name: own.to_owned(), of, default: field.get("default").cloned() });
                }
                Type::Record { name, fields: read }
            }
        };
        self.types[at] = found;
        Ok(at)
    }

    fn named(&mut self, name: &str, space: &str) -> Result<usize, KafkaError> {
        if let Some(primitive) = primitive(name) {
            return self.add(primitive);
        }
        let known = self.names.get(&full_name(name, space)).or_else(|| self.names.get(name));
        known.copied().ok_or_else(|| invalid(format_args!("the schema has no type {name:?}")))
    }
}

fn primitive(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "string" => Type::String,
        _ => return None,
    })
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.to_owned() } else { format!("{space}.{name}") }
}

const SCHEMA_BYTES_MAX: usize = 1 << 20;
const TYPES_MAX: usize = 20_000;
const FIXED_BYTES_MAX: u64 = 1 << 20;
