//! The types that JSON has a form of its own for.

use std::sync::Arc;

use onrush_grpc::{
    schema::{MessageId, Schema, WellKnown},
    well_known::{is_duration, parse_duration, parse_mask_path, parse_timestamp},
};
use onrush_net::go_quote;

use super::{Encoder, Outcome, Problem, Reason, at_key, is_left_out, wrong};
use crate::embed::Handle;

impl Encoder<'_> {
    pub(super) fn well_known(&mut self, schema: &Arc<Schema>, of: MessageId, value: &Handle, depth: u32) -> Outcome {
        let Some(kind) = schema.message(of).well_known else { return self.fields(schema, of, value, depth, None) };
        match kind {
            WellKnown::Any => self.any(value, depth),
            WellKnown::Timestamp => {
                let (seconds, nanos) = self.text_of(value, "google.protobuf.Timestamp", parse_timestamp)?;
                self.moment(seconds, nanos);
                Ok(())
            }
            WellKnown::Duration => {
                let (seconds, nanos) = self.text_of(value, "google.protobuf.Duration", parse_duration)?;
                if !is_duration(seconds) {
                    return Err(wrong(Reason::OutOfRange("google.protobuf.Duration")));
                }
                self.moment(seconds, nanos);
                Ok(())
            }
            WellKnown::FieldMask => self.mask(value),
            WellKnown::Struct => {
                let Some(field) = schema.message(of).field_numbered(1) else { return Ok(()) };
                self.expect_object(value)?;
                self.field(schema, &schema.message(of).fields[field], value, depth)
            }
            WellKnown::ListValue => {
                let Some(field) = schema.message(of).field_numbered(1) else { return Ok(()) };
                self.field(schema, &schema.message(of).fields[field], value, depth)
            }
            WellKnown::Value => self.json_value(schema, of, value, depth),
            WellKnown::Wrapper => {
                let Some(field) = schema.message(of).field_numbered(1) else { return Ok(()) };
                let field = &schema.message(of).fields[field];
                let before = self.writer.len();
                if self.single(schema, field, field.number, value, depth)? {
                    self.writer.truncate(before);
                }
                Ok(())
            }
            WellKnown::Empty => self.fields(schema, of, value, depth, None),
        }
    }

    /// `null`, a number, a text, a bool, an object or a list.
    fn json_value(&mut self, schema: &Arc<Schema>, of: MessageId, value: &Handle, depth: u32) -> Outcome {
        self.expect_usual(value)?;
        let number = if value.is_null() {
            1
        } else if let Some(number) = value.as_number() {
            // JSON has no others; `NaN` has become a text on its way.
            if number.is_finite() { 2 } else { 3 }
        } else if value.is_string() {
            3
        } else if value.is_bool() {
            4
        } else if value.is_array() {
            6
        } else if value.is_object() {
            5
        } else {
            return Err(wrong(Reason::Unexpected));
        };
        let message = schema.message(of);
        let Some(field) = message.field_numbered(number).map(|index| &message.fields[index]) else { return Ok(()) };
        if number == 3 && !value.is_string() {
            let text = value.to_js_string(self.ctx)?;
            self.writer.bytes_field(3, text.bytes());
            return Ok(());
        }
        self.single(schema, field, number, value, depth).map(drop)
    }

    /// An object whose `@type` says what the rest is.
    fn any(&mut self, value: &Handle, depth: u32) -> Outcome {
        let ctx = self.ctx;
        self.expect_object(value)?;
        let type_url = value.get(ctx, TYPE)?;
        if is_left_out(ctx, &type_url) {
            // An empty object is an empty Any.
            let is_empty = value.each_key(ctx)?.next().is_none();
            return if is_empty { Ok(()) } else { Err(wrong(Reason::Text("missing \"@type\" field".to_owned()))) };
        }
        if !type_url.is_string() {
            return Err(at_key(
                TYPE,
                wrong(Reason::Text(format!("@type field value is not a string: {}", type_url.to_text(ctx)?))),
            ));
        }
        let url = type_url.to_text(ctx)?;
        if url.is_empty() {
            return Err(at_key(TYPE, wrong(Reason::Text("@type field contains empty value".to_owned()))));
        }
        let name = url.rsplit_once('/').map_or(url.as_str(), |(_, name)| name);
        let schemas = self.schemas;
        let Some((schema, of)) = schemas.message(name) else {
            let text = format!("unable to resolve {}: \"not found\"", go_quote(&url));
            return Err(at_key(TYPE, wrong(Reason::Text(text))));
        };
        let schema = schema.clone();
        self.writer.bytes_field(1, url.as_bytes());
        let before = self.writer.len();
        let mark = self.writer.begin(2);
        let start = self.writer.len();
        if schema.message(of).well_known.is_some_and(|kind| kind != WellKnown::Empty) {
            for key in value.each_key(ctx)? {
                let key = key.text(ctx)?;
                if key != TYPE && key != VALUE {
                    return Err(at_key(&key, wrong(Reason::UnknownField)));
                }
            }
            let inner = value.get(ctx, VALUE)?;
            if is_left_out(ctx, &inner) {
                return Err(wrong(Reason::Text("missing \"value\" field".to_owned())));
            }
            self.whole(&schema, of, &inner, depth).map_err(|problem| at_key(VALUE, problem))?;
        } else {
            let depth = depth.checked_sub(1).ok_or(Problem::Unusual)?;
            self.fields(&schema, of, value, depth, Some(TYPE))?;
        }
        if self.writer.len() == start {
            self.writer.truncate(before);
        } else {
            self.writer.end(mark);
        }
        Ok(())
    }

    fn mask(&mut self, value: &Handle) -> Outcome {
        if !value.is_string() {
            return Err(wrong(Reason::Unexpected));
        }
        let text = value.to_text(self.ctx)?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        for path in text.split(',') {
            let path = parse_mask_path(path).ok_or_else(|| {
                wrong(Reason::Text(format!(
                    "google.protobuf.FieldMask.paths contains invalid path: {}",
                    go_quote(path)
                )))
            })?;
            self.writer.bytes_field(1, path.as_bytes());
        }
        Ok(())
    }

    fn text_of<T>(&mut self, value: &Handle, name: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Outcome<T> {
        self.expect_usual(value)?;
        if !value.is_string() {
            return Err(wrong(Reason::Unexpected));
        }
        parse(&value.to_text(self.ctx)?).ok_or_else(|| wrong(Reason::WellKnown(name)))
    }

    fn moment(&mut self, seconds: i64, nanos: i32) {
        if seconds != 0 {
            self.writer.varint_field(1, seconds as u64);
        }
        if nanos != 0 {
            self.writer.varint_field(2, i64::from(nanos) as u64);
        }
    }
}

const TYPE: &str = "@type";
const VALUE: &str = "value";
