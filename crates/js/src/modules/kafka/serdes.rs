//! Values as bytes and back: strings, bytes, JSON and Avro, with the number of a registry's schema in front.

use std::{cell::RefCell, rc::Rc};

use onrush_kafka::{
    KafkaError,
    avro::{Pause, Schema, from_binary, to_binary},
};
use rustc_hash::FxHashMap;

use super::message::numbers;
use crate::{
    embed::{Ctx, GrowingCharge, Handle, JsResult, Throw, Val},
    modules::go::go_type,
    vu::context::{pause, thread},
};

/// How a value is turned into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Bytes,
    Json,
    Avro,
}

impl Kind {
    pub(super) fn of(name: &str) -> JsResult<Self> {
        match name {
            "STRING" => Ok(Self::Text),
            "BYTES" => Ok(Self::Bytes),
            "JSON" => Ok(Self::Json),
            "AVRO" => Ok(Self::Avro),
            "PROTOBUF" => Err(Throw::error(
                "SCHEMA_TYPE_PROTOBUF is not available in Onrush: serialize the message in the script and use SCHEMA_TYPE_BYTES",
            )),
            other => Err(Throw::error(format!(
                "unsupported schema type {other:?}: expected one of the SCHEMA_TYPE constants"
            ))),
        }
    }
}

/// The bytes of a value.
pub(super) fn to_bytes(ctx: Ctx, kind: Kind, value: &Handle, schema: Option<&Schema>) -> JsResult<Vec<u8>> {
    let unfit = |expected: &str| {
        Err(Throw::error(format!("invalid data to serialize: {expected} is expected, not {}", go_type(ctx, value))))
    };
    match kind {
        Kind::Text if value.is_string() => value.to_text(ctx).map(String::into_bytes),
        Kind::Text => unfit("a string"),
        Kind::Bytes => {
            if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
                return Ok(bytes.to_vec());
            }
            if value.is_string() {
                return value.to_text(ctx).map(String::into_bytes);
            }
            numbers(ctx, value)?.map_or_else(|| unfit("a byte array"), Ok)
        }
        Kind::Json => match ctx.stringify(value)? {
            Some(text) => Ok(text.into_bytes()),
            None => unfit("a value that JSON has"),
        },
        Kind::Avro => {
            let Some(schema) = schema else { return Err(Throw::error("serializing Avro needs a schema")) };
            let Some(text) = ctx.stringify(value)? else { return unfit("a value that JSON has") };
            if text.len() > VALUE_BYTES_MAX {
                return Err(Throw::error(format!("the value is longer than {VALUE_BYTES_MAX} bytes as JSON")));
            }
            // A tree of values takes several times its text.
            let mut charge = GrowingCharge::default();
            charge.hold(text.len().saturating_mul(TREE_FACTOR))?;
            let tree =
                serde_json::from_str(&text).map_err(|error| Throw::error(format!("the value is not JSON: {error}")))?;
            let held = text.len().saturating_mul(TREE_FACTOR);
            paid(&mut charge, held, |pause| to_binary(schema, &tree, pause))
        }
    }
}

/// The value of bytes.
pub(super) fn from_bytes(ctx: Ctx, kind: Kind, bytes: &[u8], schema: Option<&Schema>) -> JsResult {
    match kind {
        Kind::Text => Val::text(ctx, bytes),
        Kind::Bytes => ctx.uint8_array(bytes),
        Kind::Json => ctx.parse_json(String::from_utf8_lossy(bytes).as_bytes()),
        Kind::Avro => {
            let Some(schema) = schema else { return Err(Throw::error("deserializing Avro needs a schema")) };
            let mut charge = GrowingCharge::default();
            let held = bytes.len().saturating_mul(TREE_FACTOR);
            charge.hold(held)?;
            let text = paid(&mut charge, held, |pause| from_binary(schema, bytes, pause))?;
            charge.hold(held + text.len())?;
            ctx.parse_json(text.as_bytes())
        }
    }
}

/// Has Avro work while the VU pays for what is made, besides what is `held`.
fn paid<T>(
    charge: &mut GrowingCharge,
    held: usize,
    work: impl FnOnce(Pause<'_>) -> Result<T, KafkaError>,
) -> JsResult<T> {
    let mut refused = None;
    let done = work(&mut |bytes| {
        charge.hold(held.saturating_add(bytes)).and_then(|()| pause()).map_err(|throw| {
            refused = Some(throw);
            KafkaError::Cancelled
        })
    });
    done.map_err(|error| refused.unwrap_or_else(|| refusal(&error)))
}

fn refusal(error: &KafkaError) -> Throw {
    if *error == KafkaError::Cancelled { Throw::Interrupted } else { Throw::error(error.to_string()) }
}

/// Puts the number of a schema in front, as Confluent's clients do.
pub(super) fn with_number(id: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + NUMBER_BYTES);
    out.push(0);
    out.extend(id.to_be_bytes());
    out.extend_from_slice(bytes);
    out
}

/// The number of a schema, and what is behind it.
pub(super) fn split_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<NUMBER_BYTES>()?;
    let id = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    (head[0] == 0).then_some((id, rest))
}

/// Schemas that were read, shared by the VUs of a thread.
#[derive(Default)]
struct Known(RefCell<FxHashMap<String, Rc<Schema>>>);

/// Reads an Avro schema, once a thread.
pub(super) fn avro_schema(text: &str, others: &[String]) -> JsResult<Rc<Schema>> {
    let mut key = text.to_owned();
    for other in others {
        key.push('\0');
        key.push_str(other);
    }
    let known = thread().slots.of::<Known>();
    if let Some(schema) = known.0.borrow().get(&key) {
        return Ok(Rc::clone(schema));
    }
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let schema = Rc::new(Schema::parse(text, &others).map_err(|error| refusal(&error))?);
    if key.len() > KEPT_BYTES_MAX {
        return Ok(schema);
    }
    let mut known = known.0.borrow_mut();
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert(key, Rc::clone(&schema));
    Ok(schema)
}

const NUMBER_BYTES: usize = 5;
/// Kafka's messages have a megabyte by default; as much JSON is read within a slice.
const VALUE_BYTES_MAX: usize = 4 << 20;
const TREE_FACTOR: usize = 8;
/// Schemas that a thread keeps, and the longest.
const KNOWN_MAX: usize = 256;
const KEPT_BYTES_MAX: usize = 256 << 10;
