//! From JSON to the binary form.

use serde_json::Value;

use super::{
    DEPTH_MAX, Pause, Progress, Schema, invalid,
    schema::{Field, Type},
};
use crate::{KafkaError, wire::Put};

/// The binary form of a value.
///
/// # Errors
/// Where the value does not fit the schema.
pub fn to_binary(schema: &Schema, value: &Value, pause: Pause<'_>) -> Result<Vec<u8>, KafkaError> {
    let mut encoder =
        Encoder { schema, out: Vec::new(), path: Vec::new(), progress: Progress::new(pause), attempts: 0 };
    encoder.put(schema.root, value)?;
    Ok(encoder.out)
}

struct Encoder<'a> {
    schema: &'a Schema,
    out: Vec<u8>,
    /// Where in the value it is.
    path: Vec<String>,
    progress: Progress<'a>,
    /// Types of unions that did not fit.
    attempts: usize,
}

impl Encoder<'_> {
    fn put(&mut self, at: usize, value: &Value) -> Result<(), KafkaError> {
        self.progress.step(self.out.len())?;
        let schema = self.schema;
        let found = &schema.types[at];
        match (found, value) {
            (Type::Null, Value::Null) => Ok(()),
            (Type::Boolean, Value::Bool(value)) => {
                self.out.push(u8::from(*value));
                Ok(())
            }
            (Type::Int | Type::Long, Value::Number(_)) => match whole(value, found) {
                Some(number) => {
                    self.out.put_varint(number);
                    Ok(())
                }
                None => Err(self.unfit(found, value)),
            },
            (Type::Float, Value::Number(number)) => {
                self.out.extend((number.as_f64().unwrap_or(f64::NAN) as f32).to_le_bytes());
                Ok(())
            }
            (Type::Double, Value::Number(number)) => {
                self.out.extend(number.as_f64().unwrap_or(f64::NAN).to_le_bytes());
                Ok(())
            }
            (Type::String, Value::String(text)) => {
                self.put_bytes(text.as_bytes());
                Ok(())
            }
            (Type::Bytes, _) => match bytes_of(value) {
                Some(bytes) => {
                    self.put_bytes(&bytes);
                    Ok(())
                }
                None => Err(self.unfit(found, value)),
            },
            (Type::Fixed { bytes: length, .. }, _) => match bytes_of(value) {
                Some(bytes) if bytes.len() == *length => {
                    self.out.extend(bytes);
                    Ok(())
                }
                _ => Err(self.unfit(found, value)),
            },
            (Type::Enum { symbols, .. }, Value::String(symbol)) => {
                match symbols.iter().position(|known| known == symbol) {
                    Some(index) => {
                        self.out.put_varint(index as i64);
                        Ok(())
                    }
                    None => Err(self.unfit(found, value)),
                }
            }
            (Type::Array(of), Value::Array(items)) => {
                if !items.is_empty() {
                    self.out.put_varint(items.len() as i64);
                    for (index, item) in items.iter().enumerate() {
                        self.within(|| index.to_string(), *of, item)?;
                    }
                }
                self.out.push(0);
                Ok(())
            }
            (Type::Map(of), Value::Object(items)) => {
                if !items.is_empty() {
                    self.out.put_varint(items.len() as i64);
                    for (key, item) in items {
                        self.put_bytes(key.as_bytes());
                        self.within(|| key.clone(), *of, item)?;
                    }
                }
                self.out.push(0);
                Ok(())
            }
            (Type::Record { fields, .. }, Value::Object(object)) => {
                for field in fields {
                    self.put_field(field, object.get(&field.name))?;
                }
                Ok(())
            }
            (Type::Union(branches), _) => self.put_union(branches, value),
            _ => Err(self.unfit(found, value)),
        }
    }

    fn within(&mut self, step: impl FnOnce() -> String, at: usize, value: &Value) -> Result<(), KafkaError> {
        if self.path.len() >= DEPTH_MAX {
            return Err(invalid(format_args!("the value is deeper than {DEPTH_MAX} levels")));
        }
        self.path.push(step());
        self.put(at, value)?;
        self.path.pop();
        Ok(())
    }

    fn put_field(&mut self, field: &Field, value: Option<&Value>) -> Result<(), KafkaError> {
        let schema = self.schema;
        if let Some(value) = value {
            return self.within(|| field.name.clone(), field.of, value);
        }
        match (&field.default, &schema.types[field.of]) {
            // The default of a union is one of its first type.
            (Some(default), Type::Union(branches)) => {
                self.out.put_varint(0);
                self.within(|| field.name.clone(), branches[0], default)
            }
            (Some(default), _) => self.within(|| field.name.clone(), field.of, default),
            (None, Type::Union(branches)) if self.null_of(branches).is_some() => {
                self.within(|| field.name.clone(), field.of, &Value::Null)
            }
            (None, _) => {
                self.path.push(field.name.clone());
                Err(invalid(format_args!("{} is missing", self.place())))
            }
        }
    }

    fn null_of(&self, branches: &[usize]) -> Option<usize> {
        branches.iter().position(|&branch| self.schema.types[branch] == Type::Null)
    }

    fn put_union(&mut self, branches: &[usize], value: &Value) -> Result<(), KafkaError> {
        let schema = self.schema;
        let of = |index: usize| &schema.types[branches[index]];
        // Avro's own form: the name of the type, with the value.
        if let Value::Object(object) = value
            && let (1, Some((name, inner))) = (object.len(), object.iter().next())
            && let Some(index) = (0..branches.len()).find(|&index| {
                of(index).name() == name || of(index).name().rsplit_once('.').is_some_and(|(_, short)| short == name)
            })
            && !matches!(of(index), Type::Record { fields, .. } if fields.iter().any(|field| field.name == *name))
        {
            self.out.put_varint(index as i64);
            return self.within(|| name.clone(), branches[index], inner);
        }
        let mut refused = None;
        for (index, &branch) in branches.iter().enumerate() {
            if !may_be(of(index), value) {
                continue;
            }
            let (length, depth) = (self.out.len(), self.path.len());
            self.out.put_varint(index as i64);
            match self.put(branch, value) {
                Ok(()) => return Ok(()),
                // Another type may fit.
                Err(error @ KafkaError::Invalid(_)) => {
                    self.out.truncate(length);
                    self.path.truncate(depth);
                    refused.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            // Each attempt may hold attempts of its own: what fits nowhere must not take for ever.
            self.attempts += 1;
            if self.attempts > ATTEMPTS_MAX {
                return Err(invalid("the value fits too many unions in part"));
            }
        }
        Err(refused.unwrap_or_else(|| {
            let names: Vec<_> = (0..branches.len()).map(|index| of(index).name()).collect();
            invalid(format_args!("{} must be one of {}", self.place(), names.join(", ")))
        }))
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.out.put_varint(bytes.len() as i64);
        self.out.extend_from_slice(bytes);
    }

    fn unfit(&self, found: &Type, value: &Value) -> KafkaError {
        let shown = value.to_string();
        let shown: String = shown.chars().take(SHOWN_CHARS).collect();
        invalid(format_args!("{} must be {}, not {shown}", self.place(), found.name()))
    }

    fn place(&self) -> String {
        if self.path.is_empty() { "the value".to_owned() } else { self.path.join(".") }
    }
}

/// Whether a value looks like one of a type.
fn may_be(found: &Type, value: &Value) -> bool {
    match value {
        Value::Null => *found == Type::Null,
        Value::Bool(_) => *found == Type::Boolean,
        Value::Number(_) => match found {
            Type::Int | Type::Long => whole(value, found).is_some(),
            Type::Float | Type::Double => true,
            _ => false,
        },
        Value::String(text) => match found {
            Type::Enum { symbols, .. } => symbols.contains(text),
            Type::String | Type::Bytes | Type::Fixed { .. } => true,
            _ => false,
        },
        Value::Array(_) => matches!(found, Type::Array(_) | Type::Bytes | Type::Fixed { .. }),
        Value::Object(_) => matches!(found, Type::Record { .. } | Type::Map(_)),
    }
}

/// A whole number that fits.
fn whole(value: &Value, found: &Type) -> Option<i64> {
    let number = value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() < 9.2e18).then_some(number as i64)
    })?;
    (*found == Type::Long || i32::try_from(number).is_ok()).then_some(number)
}

/// A string of bytes, or numbers of a byte each; an object with such numbers is a view that was made JSON.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
    match value {
        Value::String(text) => text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect(),
        Value::Array(items) => items.iter().map(byte).collect(),
        Value::Object(items) => items
            .iter()
            .enumerate()
            .map(|(index, (key, item))| if *key == index.to_string() { byte(item) } else { None })
            .collect(),
        _ => None,
    }
}

const SHOWN_CHARS: usize = 60;
const ATTEMPTS_MAX: usize = 16_000;
