//! Messages made into objects and back, from any bytes: the entry of the fuzz target.

use std::{rc::Rc, sync::Arc};

use onrush_grpc::{
    Schema,
    call::HEAD_BYTES,
    schema::{MessageId, Sources},
};

use super::{
    decode::{self, object},
    encode::{Specials, encode},
    problem::Problem,
    schemas::Schemas,
};
use crate::embed::{Ctx, JsResult, Runtime, Throw, Val};

const FILES: [(&str, &str); 2] =
    [("fuzz.proto", include_str!("fuzz.proto")), ("fuzz_old.proto", include_str!("fuzz_old.proto"))];

/// The types that messages are of: for each also a number in an input's first byte.
const TYPES: [&str; 8] = [
    "fuzz.Scalars",
    "fuzz.Many",
    "fuzz.WellKnown",
    "fuzz.Old",
    "google.protobuf.Value",
    "google.protobuf.Any",
    "google.protobuf.Struct",
    "google.protobuf.Timestamp",
];

/// Reads any bytes. The first one says what type they are of, and whether the rest is a message or a script's object as
/// JSON.
///
/// # Panics
/// If an object that was made of a message makes no message, or one that is read as another object; and if an object makes a
/// message that is none.
pub(crate) fn fuzz(input: &[u8]) {
    thread_local! {
        static LAB: Lab = Lab::new();
    }
    let [kind, rest @ ..] = input else { return };
    LAB.with(|lab| {
        let of = lab.types[usize::from(kind >> 2) % TYPES.len()];
        if kind & 1 == 0 { lab.message(of, rest, false) } else { lab.object(of, rest, kind & 2 != 0) }
    });
}

/// A realm on this thread, and what the types are.
struct Lab {
    ctx: Ctx,
    schema: Arc<Schema>,
    schemas: Schemas,
    types: [MessageId; TYPES.len()],
    _runtime: Runtime,
}

impl Lab {
    fn new() -> Self {
        let here = 0_u8;
        let runtime = Runtime::new(std::ptr::from_ref(&here).addr(), 0);
        let schema =
            Schema::compile(Rc::new(Files), &FILES.map(|(name, _)| name.to_owned())).expect("the files are valid");
        let schema = Arc::new(schema);
        let mut schemas = Schemas::default();
        schemas.add(schema.clone());
        let types = TYPES.map(|name| schema.message_named(name).expect("a type of the files"));
        Self { ctx: runtime.new_realm(), schema, schemas, types, _runtime: runtime }
    }

    /// A message on the wire. It must be one if `is_ours`.
    fn message(&self, of: MessageId, bytes: &[u8], is_ours: bool) {
        let object = match self.read(of, bytes) {
            Ok(object) => object,
            Err(why) if is_ours => panic!("{bytes:02x?} was written and cannot be read: {why}"),
            Err(_) => return,
        };
        let seen = self.shown(&object);
        let again = match self.write(of, &object, Specials::Text) {
            Ok(bytes) => bytes,
            Err(why) => panic!("{seen} was read and cannot be written: {why}"),
        };
        let again = self.read(of, &again).unwrap_or_else(|why| panic!("{seen} is no message again: {why}"));
        assert_eq!(self.shown(&again), seen);
    }

    /// What a script gives, as JSON.
    fn object(&self, of: MessageId, text: &[u8], as_stream: bool) {
        match self.ctx.parse_json(text) {
            Ok(object) => {
                let specials = if as_stream { Specials::Null } else { Specials::Text };
                if let Ok(bytes) = self.write(of, &object, specials) {
                    self.message(of, &bytes, true);
                }
            }
            Err(throw) => drop(self.ctx.take_exception(throw)),
        }
    }

    fn read(&self, of: MessageId, bytes: &[u8]) -> Result<Val, String> {
        let made =
            decode::read(&self.schema, of, bytes, |message| object(self.ctx, &self.schemas, &self.schema, message));
        match self.caught(made)?.map_err(|error| error.to_string())? {
            Ok(object) => Ok(object),
            Err(Problem::Text(text)) => Err(text),
            Err(Problem::Throw(throw)) => self.caught(Err(throw)),
        }
    }

    fn write(&self, of: MessageId, object: &Val, specials: Specials) -> Result<Vec<u8>, String> {
        let written = encode(self.ctx, &self.schemas, &self.schema, of, object, specials);
        self.caught(written)?.map(|frame| frame[HEAD_BYTES..].to_vec())
    }

    fn shown(&self, object: &Val) -> String {
        self.caught(self.ctx.stringify(object)).ok().flatten().unwrap_or_default()
    }

    fn caught<T>(&self, result: JsResult<T>) -> Result<T, String> {
        result.map_err(|throw: Throw| self.ctx.take_exception(throw).message)
    }
}

struct Files;

impl Sources for Files {
    fn read(&self, _: usize, name: &str) -> Result<Option<String>, String> {
        Ok(FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
    }

    fn import_paths(&self) -> usize {
        1
    }
}
