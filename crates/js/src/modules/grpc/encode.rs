//! A script's object as a message on the wire, without JSON in between.
//!
//! k6 makes JSON of the object and reads that by protobuf's rules; the outcome here is the same. Values that
//! `JSON.stringify` treats in a way of their own (`toJSON`, BigInt) are left to it: see [`encode`].

mod number;
mod well_known;

use onrush_grpc::{
    call::HEAD_BYTES,
    message::Writer,
    schema::{Field, Kind, MessageId, Schema, Shape},
};
use std::sync::Arc;

use self::number::Digits;
use super::{complaint, schemas::Schemas};
use crate::{
    embed::{Ctx, GrowingCharge, Handle, JsResult, Throw, Val},
    vu::context::pause,
};

/// How numbers that JSON has no form for are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Specials {
    /// As the texts protobuf has for them: calls.
    Text,
    /// As `null`, as `JSON.stringify` does: streams.
    Null,
}

/// What is wrong with an object.
#[derive(Debug)]
pub(super) enum Problem {
    /// A getter threw, or the iteration is over.
    Throw(Throw),
    /// `JSON.stringify` has to be asked.
    Unusual,
    Wrong(Box<Wrong>),
}

/// An object that is no message: where, and why.
#[derive(Debug)]
pub(super) struct Wrong {
    /// From the inside out.
    pub(super) path: Vec<Step>,
    pub(super) reason: Reason,
}

/// One step from an object to what is in it.
#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Index(u32),
}

/// Why; the texts are in [`complaint`].
#[derive(Debug)]
pub(super) enum Reason {
    UnknownField,
    DuplicateField,
    OneofIsSet(String),
    Value {
        kind: &'static str,
        field: String,
    },
    MapKey {
        kind: &'static str,
    },
    WellKnown(&'static str),
    OutOfRange(&'static str),
    /// A required field.
    Missing(String),
    /// About a value, with nothing of it in the text.
    Text(String),
    Unexpected,
}

impl From<Throw> for Problem {
    fn from(throw: Throw) -> Self {
        Self::Throw(throw)
    }
}

type Outcome<T = ()> = Result<T, Problem>;

/// A framed message, or k6's words for what keeps the object from being one.
pub(super) fn encode(
    ctx: Ctx,
    schemas: &Schemas,
    schema: &Arc<Schema>,
    of: MessageId,
    value: &Handle,
    specials: Specials,
) -> JsResult<Result<Vec<u8>, String>> {
    let attempt = |value: &Handle| {
        let mut encoder = Encoder {
            ctx,
            schemas,
            writer: Writer::with_room(HEAD_BYTES),
            specials,
            values: 0,
            charge: Default::default(),
        };
        encoder.whole(schema, of, value, DEPTH_MAX)?;
        encoder.charge.hold(encoder.writer.len())?;
        Ok(encoder.writer.into_bytes())
    };
    // k6: a function is null, and what JSON has no value for a message without fields.
    if value.is_function(ctx) {
        return Ok(Err("syntax error (line 1:1): unexpected token null".to_owned()));
    }
    let empty;
    let value = if value.is_symbol() || value.is_bigint() {
        empty = ctx.object()?;
        &*empty
    } else {
        value
    };
    let outcome = match attempt(value) {
        Err(Problem::Unusual) => {
            let Some(text) = ctx.stringify(value)? else { return Ok(Err(String::new())) };
            attempt(&*ctx.parse_json(text.as_bytes())?)
        }
        outcome => outcome,
    };
    match outcome {
        Ok(frame) => Ok(Ok(frame)),
        Err(Problem::Throw(throw)) => Err(throw),
        // What was parsed has nothing unusual but depth.
        Err(Problem::Unusual) => Ok(Err("exceeded max recursion depth".to_owned())),
        Err(Problem::Wrong(wrong)) => {
            let json = match specials {
                Specials::Text => complaint::stringify_with_specials(ctx, value)?,
                Specials::Null => ctx.stringify(value)?,
            };
            Ok(Err(complaint::text(&json.unwrap_or_default(), &wrong)))
        }
    }
}

struct Encoder<'a> {
    ctx: Ctx,
    schemas: &'a Schemas,
    writer: Writer,
    specials: Specials,
    values: u32,
    /// For what is written.
    charge: GrowingCharge,
}

impl Encoder<'_> {
    /// The fields of a message, without a tag or length.
    fn whole(&mut self, schema: &Arc<Schema>, of: MessageId, value: &Handle, depth: u32) -> Outcome {
        self.look_up()?;
        let depth = depth.checked_sub(1).ok_or(Problem::Unusual)?;
        if schema.message(of).well_known.is_some() {
            return self.well_known(schema, of, value, depth);
        }
        self.fields(schema, of, value, depth, None)
    }

    /// An object's members as fields; one key may be passed over.
    fn fields(
        &mut self,
        schema: &Arc<Schema>,
        of: MessageId,
        value: &Handle,
        depth: u32,
        except: Option<&str>,
    ) -> Outcome {
        let ctx = self.ctx;
        self.expect_object(value)?;
        let message = schema.message(of);
        let mut seen = Seen::default();
        for key in value.each_key(ctx)? {
            let name = key.to_js_string(ctx)?;
            let name = name.text();
            if except == Some(&*name) {
                continue;
            }
            let item = value.get(ctx, &key)?;
            if is_left_out(ctx, &item) {
                continue;
            }
            let Some(index) = message.field_named(&name) else {
                return Err(at_key(&name, wrong(Reason::UnknownField)));
            };
            let field = &message.fields[index];
            if !seen.fields.insert(index) {
                return Err(at_key(&name, wrong(Reason::DuplicateField)));
            }
            if self.is_unset(schema, field, &item) {
                continue;
            }
            if let Some(oneof) = field.oneof
                && !seen.oneofs.insert(oneof)
            {
                let oneof = message.oneofs[oneof as usize].to_string();
                return Err(at_key(&name, wrong(Reason::OneofIsSet(oneof))));
            }
            self.field(schema, field, &item, depth).map_err(|problem| at_key(&name, problem))?;
            seen.set.insert(index);
        }
        match message.required.iter().find(|index| !seen.set.has(**index)) {
            None => Ok(()),
            Some(index) => Err(wrong(Reason::Missing(message.fields[*index as usize].full_name.to_string()))),
        }
    }

    /// `null` is no value, but for the types that have one.
    fn is_unset(&self, schema: &Schema, field: &Field, item: &Handle) -> bool {
        let is_null = item.is_null() || self.is_null_number(item);
        is_null && !(matches!(field.shape, Shape::One { .. }) && takes_null(schema, field.kind))
    }

    fn is_null_number(&self, item: &Handle) -> bool {
        self.specials == Specials::Null && item.as_number().is_some_and(|number| !number.is_finite())
    }

    fn field(&mut self, schema: &Arc<Schema>, field: &Field, item: &Handle, depth: u32) -> Outcome {
        match field.shape {
            Shape::One { has_presence } => {
                let before = self.writer.len();
                let is_zero = self.single(schema, field, field.number, item, depth)?;
                if is_zero && !has_presence {
                    self.writer.truncate(before);
                }
                Ok(())
            }
            Shape::Many { is_packed } => self.many(schema, field, is_packed, item, depth),
            Shape::Map => self.map(schema, field, item, depth),
        }
    }

    fn many(&mut self, schema: &Arc<Schema>, field: &Field, is_packed: bool, item: &Handle, depth: u32) -> Outcome {
        let ctx = self.ctx;
        self.expect_usual(item)?;
        if !item.is_array() {
            return Err(wrong(Reason::Unexpected));
        }
        let length = item.length(ctx)?;
        let packed = (is_packed && length > 0).then(|| self.writer.begin(field.number));
        for index in 0..length {
            let element = item.get_index(ctx, index)?;
            let is_null = is_left_out(ctx, &element) || element.is_null() || self.is_null_number(&element);
            let element = if is_null { Val::null() } else { element };
            let outcome = if packed.is_some() {
                self.scalar(schema, field, &element).map(drop)
            } else {
                self.single(schema, field, field.number, &element, depth).map(drop)
            };
            outcome.map_err(|problem| at(Step::Index(index), problem))?;
        }
        if let Some(mark) = packed {
            self.writer.end(mark);
        }
        Ok(())
    }

    fn map(&mut self, schema: &Arc<Schema>, field: &Field, item: &Handle, depth: u32) -> Outcome {
        let ctx = self.ctx;
        self.expect_object(item)?;
        let entry = schema.message(field.message().ok_or_else(|| wrong(Reason::Unexpected))?);
        let part = |number| entry.field_numbered(number).map(|index| &entry.fields[index]);
        let (Some(key_field), Some(value_field)) = (part(1), part(2)) else { return Err(wrong(Reason::Unexpected)) };
        for key in item.each_key(ctx)? {
            let name = key.to_js_string(ctx)?;
            let name = name.text();
            let value = item.get(ctx, &key)?;
            if is_left_out(ctx, &value) {
                continue;
            }
            let mark = self.writer.begin(field.number);
            self.map_key(key_field, &name).map_err(|problem| at_key(&name, problem))?;
            let is_null = value.is_null() || self.is_null_number(&value);
            let value = if is_null { Val::null() } else { value };
            let outcome = self.single(schema, value_field, value_field.number, &value, depth);
            outcome.map_err(|problem| at(Step::Key(name.to_string()), problem))?;
            self.writer.end(mark);
        }
        Ok(())
    }

    fn map_key(&mut self, field: &Field, name: &str) -> Outcome {
        let bad = || wrong(Reason::MapKey { kind: kind_name(field.kind) });
        self.writer.tag_of(field.number, field.kind);
        match field.kind {
            Kind::String => self.writer.bytes(name.as_bytes()),
            Kind::Bool => match name {
                "true" => self.writer.varint(1),
                "false" => self.writer.varint(0),
                _ => return Err(bad()),
            },
            kind => {
                let number = Digits::parse(name).and_then(Digits::integer).filter(|number| fits(kind, *number));
                self.writer.integer(kind, number.ok_or_else(bad)?);
            }
        }
        Ok(())
    }

    /// A value with its tag; whether it is its type's zero.
    fn single(&mut self, schema: &Arc<Schema>, field: &Field, number: u32, item: &Handle, depth: u32) -> Outcome<bool> {
        let Kind::Message(of) = field.kind else {
            self.writer.tag_of(number, field.kind);
            return self.scalar(schema, field, item);
        };
        if field.is_group {
            self.writer.begin_group(number);
            self.whole(schema, of, item, depth)?;
            self.writer.end_group(number);
        } else {
            let mark = self.writer.begin(number);
            self.whole(schema, of, item, depth)?;
            self.writer.end(mark);
        }
        Ok(false)
    }

    /// A value without its tag; whether it is its type's zero.
    fn scalar(&mut self, schema: &Schema, field: &Field, item: &Handle) -> Outcome<bool> {
        self.look_up()?;
        self.expect_usual(item)?;
        let ctx = self.ctx;
        let bad = || wrong(Reason::Value { kind: kind_name(field.kind), field: field.json_name.to_string() });
        match field.kind {
            Kind::Bool => {
                let value = item.is_bool().then(|| item.truthy(ctx)).ok_or_else(bad)?;
                self.writer.varint(u64::from(value));
                Ok(!value)
            }
            Kind::String => {
                if !item.is_string() {
                    return Err(bad());
                }
                let text = item.to_js_string(ctx)?;
                let text = text.text();
                self.writer.bytes(text.as_bytes());
                Ok(text.is_empty())
            }
            Kind::Bytes => {
                if !item.is_string() {
                    return Err(bad());
                }
                let text = item.to_js_string(ctx)?;
                let bytes = number::base64(&text.text()).ok_or_else(bad)?;
                self.writer.bytes(&bytes);
                Ok(bytes.is_empty())
            }
            Kind::Enum(id) => {
                let described = schema.enumeration(id);
                let number = if item.is_null() && described.is_null {
                    Some(0)
                } else if item.is_string() {
                    described.number_of(&item.to_text(ctx)?)
                } else {
                    item.as_number()
                        .and_then(Digits::of)
                        .and_then(Digits::integer)
                        .and_then(|number| i32::try_from(number).ok())
                };
                let number = number.ok_or_else(bad)?;
                self.writer.integer(Kind::Int32, number.into());
                Ok(number == 0)
            }
            Kind::Float | Kind::Double => {
                let value = self.floating(item)?.ok_or_else(bad)?;
                if field.kind == Kind::Double {
                    self.writer.double(value);
                } else if value.is_finite() && !(value as f32).is_finite() {
                    return Err(bad());
                } else {
                    self.writer.float(value as f32);
                }
                Ok(value == 0.0 && value.is_sign_positive())
            }
            kind => {
                let text;
                let digits = match item.as_number() {
                    Some(number) => Digits::of(number),
                    None if item.is_string() => {
                        text = item.to_text(ctx)?;
                        Digits::parse(&text)
                    }
                    None => None,
                };
                let number = digits.and_then(Digits::integer).filter(|number| fits(kind, *number)).ok_or_else(bad)?;
                self.writer.integer(kind, number);
                Ok(number == 0)
            }
        }
    }

    fn floating(&self, item: &Handle) -> Outcome<Option<f64>> {
        if let Some(number) = item.as_number() {
            return Ok(Some(number));
        }
        if !item.is_string() {
            return Ok(None);
        }
        let text = item.to_text(self.ctx)?;
        Ok(match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => Digits::parse(&text).and_then(Digits::floating),
        })
    }

    fn expect_object(&self, value: &Handle) -> Outcome {
        self.expect_usual(value)?;
        if value.is_object() && !value.is_array() { Ok(()) } else { Err(wrong(Reason::Unexpected)) }
    }

    /// Whether `JSON.stringify` would look at it as we do.
    fn expect_usual(&self, value: &Handle) -> Outcome {
        if value.is_bigint() {
            return Err(Problem::Unusual);
        }
        if value.is_object() && value.get(self.ctx, "toJSON")?.is_function(self.ctx) {
            return Err(Problem::Unusual);
        }
        Ok(())
    }

    /// Counts what was written so far, and lets others run after a while.
    fn look_up(&mut self) -> Outcome {
        self.charge.hold(self.writer.len())?;
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(VALUES_PER_LOOK) {
            pause()?;
        }
        Ok(())
    }
}

/// What has been read of an object.
#[derive(Default)]
struct Seen {
    fields: Marks,
    /// Those that were more than a key.
    set: Marks,
    oneofs: Marks,
}

/// A set of small numbers.
#[derive(Default)]
struct Marks {
    first: u64,
    rest: Vec<u64>,
}

trait Number: Copy {
    fn number(self) -> usize;
}

impl Number for usize {
    fn number(self) -> usize {
        self
    }
}

impl Number for u32 {
    fn number(self) -> usize {
        self as usize
    }
}

impl Marks {
    fn has(&self, number: impl Number) -> bool {
        let (word, bit) = (number.number() / 64, 1 << (number.number() % 64));
        let word = word.checked_sub(1).map_or(Some(&self.first), |word| self.rest.get(word));
        word.is_some_and(|word| word & bit != 0)
    }

    /// Whether it is new.
    fn insert(&mut self, number: impl Number) -> bool {
        let (word, bit) = (number.number() / 64, 1 << (number.number() % 64));
        let word = match word.checked_sub(1) {
            None => &mut self.first,
            Some(word) => {
                if self.rest.len() <= word {
                    self.rest.resize(word + 1, 0);
                }
                &mut self.rest[word]
            }
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// Members that JSON leaves out.
fn is_left_out(ctx: Ctx, value: &Handle) -> bool {
    value.is_undefined() || value.is_symbol() || value.is_function(ctx)
}

/// Types that have a value for `null`.
fn takes_null(schema: &Schema, kind: Kind) -> bool {
    match kind {
        Kind::Enum(id) => schema.enumeration(id).is_null,
        Kind::Message(id) => schema.message(id).well_known == Some(onrush_grpc::schema::WellKnown::Value),
        _ => false,
    }
}

fn fits(kind: Kind, number: i128) -> bool {
    match kind {
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32::try_from(number).is_ok(),
        Kind::Uint32 | Kind::Fixed32 => u32::try_from(number).is_ok(),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64::try_from(number).is_ok(),
        _ => u64::try_from(number).is_ok(),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Double => "double",
        Kind::Float => "float",
        Kind::Int32 => "int32",
        Kind::Int64 => "int64",
        Kind::Uint32 => "uint32",
        Kind::Uint64 => "uint64",
        Kind::Sint32 => "sint32",
        Kind::Sint64 => "sint64",
        Kind::Fixed32 => "fixed32",
        Kind::Fixed64 => "fixed64",
        Kind::Sfixed32 => "sfixed32",
        Kind::Sfixed64 => "sfixed64",
        Kind::Bool => "bool",
        Kind::String => "string",
        Kind::Bytes => "bytes",
        Kind::Enum(_) => "enum",
        Kind::Message(_) => "message",
    }
}

#[cold]
fn wrong(reason: Reason) -> Problem {
    Problem::Wrong(Box::new(Wrong { path: Vec::new(), reason }))
}

#[cold]
fn at(step: Step, problem: Problem) -> Problem {
    match problem {
        Problem::Wrong(mut wrong) => {
            wrong.path.push(step);
            Problem::Wrong(wrong)
        }
        other => other,
    }
}

#[cold]
fn at_key(name: &str, problem: Problem) -> Problem {
    at(Step::Key(name.to_owned()), problem)
}

/// As deep as messages are read: see `onrush_grpc::message`.
const DEPTH_MAX: u32 = 100;
/// About half a millisecond.
const VALUES_PER_LOOK: u32 = 2048;
