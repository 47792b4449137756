//! Messages as objects for scripts: all fields of a type, those that are not set with their zero, as k6's JSON has them.

use std::sync::Arc;

use base64::Engine as _;
use onrush_grpc::{
    message::{DecodeError, Decoder, Message, Value},
    schema::{Kind, MessageId, MessageType, Schema, Unset, WellKnown},
    well_known::{duration_text, mask_path_text, timestamp_text},
};
use onrush_net::go_quote;

use super::{problem::Problem, schemas::Schemas};
use crate::{
    embed::{Ctx, JsResult, Throw, Val},
    vu::context::pause,
};

/// A value, or why a message has no form for scripts.
type Outcome<T = Val> = Result<T, Problem>;

/// Reads a message and gives `look` the tree; others run meanwhile where it is long.
pub(super) fn read<T>(
    schema: &Schema,
    of: MessageId,
    bytes: &[u8],
    look: impl FnOnce(&Message<'_>) -> T,
) -> JsResult<Result<T, DecodeError>> {
    let mut go_on = || pause().is_ok();
    let outcome = Decoder::new(schema, TREE_BYTES_MAX, &mut go_on).message(of, bytes);
    match outcome {
        Err(DecodeError::Interrupted) => Err(Throw::Interrupted),
        Err(error) => Ok(Err(error)),
        Ok(message) => Ok(Ok(look(&message))),
    }
}

/// An object of a message.
pub(super) fn object(ctx: Ctx, schemas: &Schemas, schema: &Arc<Schema>, message: &Message<'_>) -> Outcome {
    Builder { ctx, schemas, values: 0 }.message(schema, message, DEPTH_MAX)
}

struct Builder<'a> {
    ctx: Ctx,
    schemas: &'a Schemas,
    values: u32,
}

impl Builder<'_> {
    fn message(&mut self, schema: &Arc<Schema>, message: &Message<'_>, depth: u32) -> Outcome {
        let of = schema.message(message.of);
        let depth = depth.checked_sub(1).ok_or_else(|| problem("exceeded max recursion depth"))?;
        if let Some(kind) = of.well_known.filter(|kind| *kind != WellKnown::Empty) {
            return self.well_known(schema, of, kind, message, depth);
        }
        let object = self.ctx.object()?;
        self.fill(&object, schema, of, message, depth)?;
        Ok(object)
    }

    fn fill(
        &mut self,
        object: &Val,
        schema: &Arc<Schema>,
        of: &MessageType,
        message: &Message<'_>,
        depth: u32,
    ) -> Outcome<()> {
        let ctx = self.ctx;
        let mut present = message.fields.iter().peekable();
        for (index, field) in (0_u32..).zip(&of.fields) {
            let value = match present.next_if(|(at, _)| *at == index) {
                Some((_, value)) => self.value(schema, field.kind, value, depth)?,
                None => match field.unset {
                    Unset::Absent => continue,
                    Unset::Null => Val::null(),
                    Unset::Empty => ctx.array()?,
                    Unset::EmptyMap => ctx.object()?,
                    Unset::Zero => match field.kind.zero(schema) {
                        Some(zero) => self.value(schema, field.kind, &zero, depth)?,
                        None => Val::null(),
                    },
                },
            };
            object.define(ctx, &*field.json_name, value)?;
        }
        Ok(())
    }

    fn value(&mut self, schema: &Arc<Schema>, kind: Kind, value: &Value<'_>, depth: u32) -> Outcome {
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(VALUES_PER_LOOK) {
            pause()?;
        }
        let ctx = self.ctx;
        Ok(match value {
            Value::Bool(value) => Val::bool(*value),
            Value::Int32(value) => Val::int(*value),
            Value::Uint32(value) => Val::number(f64::from(*value)),
            Value::Int64(value) => Val::string(ctx, &value.to_string())?,
            Value::Uint64(value) => Val::string(ctx, &value.to_string())?,
            // As short as the number is told apart from its neighbours, as JSON has it.
            Value::Float(value) => special(ctx, f64::from(*value), || value.to_string().parse().unwrap_or_default())?,
            Value::Double(value) => special(ctx, *value, || *value)?,
            Value::String(bytes) => Val::text(ctx, bytes)?,
            Value::Bytes(bytes) => {
                Val::latin1(ctx, base64::engine::general_purpose::STANDARD.encode(bytes).as_bytes())?
            }
            Value::Enum(number) => {
                let Kind::Enum(id) = kind else { return Ok(Val::int(*number)) };
                let described = schema.enumeration(id);
                match described.name_of(*number) {
                    _ if described.is_null => Val::null(),
                    Some(name) => Val::string(ctx, name)?,
                    None => Val::int(*number),
                }
            }
            Value::Message(message) => self.message(schema, message, depth)?,
            Value::Many(values) => {
                let array = ctx.array()?;
                for (index, value) in (0..).zip(values) {
                    array.define_index(ctx, index, self.value(schema, kind, value, depth)?)?;
                }
                array
            }
            Value::Map(pairs) => {
                let object = ctx.object()?;
                let value_kind = match kind {
                    Kind::Message(entry) => {
                        let entry = schema.message(entry);
                        entry.field_numbered(2).map_or(kind, |index| entry.fields[index].kind)
                    }
                    other => other,
                };
                for (key, value) in pairs {
                    let value = self.value(schema, value_kind, value, depth)?;
                    object.define(ctx, &key_text(key), value)?;
                }
                object
            }
        })
    }

    fn well_known(
        &mut self,
        schema: &Arc<Schema>,
        of: &MessageType,
        kind: WellKnown,
        message: &Message<'_>,
        depth: u32,
    ) -> Outcome {
        let ctx = self.ctx;
        let moment = || (message.integer(schema, 1), message.integer(schema, 2) as i32);
        match kind {
            WellKnown::Any => self.any(schema, message, depth),
            WellKnown::Timestamp => {
                let (seconds, nanos) = moment();
                let text = timestamp_text(seconds, nanos);
                let text = text.ok_or_else(|| problem("google.protobuf.Timestamp: value out of range"))?;
                Ok(Val::string(ctx, &text)?)
            }
            WellKnown::Duration => {
                let (seconds, nanos) = moment();
                let text = duration_text(seconds, nanos);
                let text = text.ok_or_else(|| problem("google.protobuf.Duration: value out of range"))?;
                Ok(Val::string(ctx, &text)?)
            }
            WellKnown::FieldMask => {
                let mut paths = Vec::new();
                if let Some(Value::Many(values)) = message.numbered(schema, 1) {
                    for value in values {
                        let Value::String(path) = value else { continue };
                        let path = String::from_utf8_lossy(path);
                        paths.push(mask_path_text(&path).ok_or_else(|| {
                            problem(&format!(
                                "google.protobuf.FieldMask.paths contains irreversible value {}",
                                go_quote(&*path)
                            ))
                        })?);
                    }
                }
                Ok(Val::string(ctx, &paths.join(","))?)
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                let Some(index) = of.field_numbered(1) else { return Ok(Val::null()) };
                let field_kind = of.fields[index].kind;
                match message.field(index) {
                    Some(value) => self.value(schema, field_kind, value, depth),
                    None if kind == WellKnown::Struct => Ok(ctx.object()?),
                    None if kind == WellKnown::ListValue => Ok(ctx.array()?),
                    None => match field_kind.zero(schema) {
                        Some(zero) => self.value(schema, field_kind, &zero, depth),
                        None => Ok(Val::null()),
                    },
                }
            }
            WellKnown::Value => match message.fields.first() {
                None => Err(problem("google.protobuf.Value: none of the oneof fields is set")),
                Some((_, Value::Double(number))) if !number.is_finite() => {
                    let shown = if number.is_nan() {
                        "NaN"
                    } else if *number > 0.0 {
                        "+Inf"
                    } else {
                        "-Inf"
                    };
                    Err(problem(&format!("google.protobuf.Value.number_value cannot have {shown}")))
                }
                Some((index, value)) => self.value(schema, of.fields[*index as usize].kind, value, depth),
            },
            WellKnown::Empty => Ok(ctx.object()?),
        }
    }

    /// The message in an `Any`, with its type beside its fields.
    fn any(&mut self, schema: &Arc<Schema>, message: &Message<'_>, depth: u32) -> Outcome {
        let ctx = self.ctx;
        let url = String::from_utf8_lossy(message.bytes(schema, 1)).into_owned();
        let bytes = message.bytes(schema, 2);
        let object = ctx.object()?;
        if url.is_empty() {
            if bytes.is_empty() {
                return Ok(object);
            }
            return Err(problem("google.protobuf.Any: empty type URL"));
        }
        let name = url.rsplit_once('/').map_or(url.as_str(), |(_, name)| name);
        let schemas = self.schemas;
        let Some((schema, of)) = schemas.message(name) else {
            return Err(problem(&format!("google.protobuf.Any: unable to resolve {}: \"not found\"", go_quote(&url))));
        };
        object.define(ctx, "@type", Val::string(ctx, &url)?)?;
        let described = schema.message(of);
        let built = read(schema, of, bytes, |inner| {
            if described.well_known.is_some() {
                let value = self.message(schema, inner, depth)?;
                object.define(ctx, "value", value)?;
                return Ok(());
            }
            let depth = depth.checked_sub(1).ok_or_else(|| problem("exceeded max recursion depth"))?;
            self.fill(&object, schema, described, inner, depth)
        })?;
        match built {
            Ok(outcome) => outcome.map(|()| object),
            Err(error) => {
                Err(problem(&format!("google.protobuf.Any: unable to unmarshal {}: {error}", go_quote(name))))
            }
        }
    }
}

fn special(ctx: Ctx, value: f64, finite: impl FnOnce() -> f64) -> JsResult {
    if value.is_nan() {
        Val::latin1(ctx, b"NaN")
    } else if value.is_infinite() {
        Val::latin1(ctx, if value > 0.0 { b"Infinity" } else { b"-Infinity" })
    } else {
        Ok(Val::number(finite()))
    }
}

fn key_text(key: &Value<'_>) -> String {
    match key {
        Value::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int32(value) => value.to_string(),
        Value::Int64(value) => value.to_string(),
        Value::Uint32(value) => value.to_string(),
        Value::Uint64(value) => value.to_string(),
        _ => String::new(),
    }
}

#[cold]
fn problem(text: &str) -> Problem {
    Problem::Text(text.to_owned())
}

/// A tree takes about twelve times what the smallest fields take on the wire; messages have 4 MiB by default.
const TREE_BYTES_MAX: usize = 256 << 20;
/// Messages within messages, those in an `Any` included.
const DEPTH_MAX: u32 = 120;
const VALUES_PER_LOOK: u32 = 2048;
