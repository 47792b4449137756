//! The fields of option objects: known names, right types, Go's words for others.

use crate::{
    embed::{Ctx, Handle, JsResult},
    modules::go::go_type,
};

/// What a field of an object has to be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    Number,
    Bool,
    /// Read by somebody else; its Go type.
    Object(&'static str),
    /// Whatever it is, it is read by somebody else.
    Any,
}

/// Names and kinds.
pub(super) type Table = &'static [(&'static str, Kind)];

pub(super) const SINGLE: Table = &[
    ("socket", Kind::Object("redis.socketOptions")),
    ("username", Kind::Text),
    ("password", Kind::Text),
    ("clientName", Kind::Text),
    ("database", Kind::Number),
    ("maxRetries", Kind::Number),
    ("minRetryBackoff", Kind::Number),
    ("maxRetryBackoff", Kind::Number),
];

/// Beside those of [`SINGLE`].
pub(super) const SENTINEL: Table =
    &[("masterName", Kind::Text), ("sentinelUsername", Kind::Text), ("sentinelPassword", Kind::Text)];

pub(super) const SOCKET: Table = &[
    ("host", Kind::Text),
    ("port", Kind::Number),
    ("tls", Kind::Object("redis.tlsOptions")),
    ("dialTimeout", Kind::Number),
    ("readTimeout", Kind::Number),
    ("writeTimeout", Kind::Number),
    ("poolSize", Kind::Number),
    ("minIdleConns", Kind::Number),
    ("maxConnAge", Kind::Number),
    ("poolTimeout", Kind::Number),
    ("idleTimeout", Kind::Number),
    ("idleCheckFrequency", Kind::Number),
];

pub(super) const TLS: Table = &[("ca", Kind::Any), ("cert", Kind::Text), ("key", Kind::Text)];

pub(super) const CLUSTER: Table = &[
    ("maxRedirects", Kind::Number),
    ("readOnly", Kind::Bool),
    ("routeByLatency", Kind::Bool),
    ("routeRandomly", Kind::Bool),
    ("nodes", Kind::Any),
];

/// The fields of an object, checked.
#[derive(Default)]
pub(super) struct Fields {
    texts: Vec<(&'static str, String)>,
    numbers: Vec<(&'static str, i64)>,
    yes: Vec<&'static str>,
}

impl Fields {
    /// Reads an object that is Go's type `owner`, at `path` within the options, and has the fields of those tables.
    pub(super) fn of(
        ctx: Ctx,
        object: &Handle,
        owner: &str,
        path: &str,
        tables: &[Table],
    ) -> JsResult<Result<Self, String>> {
        let mut fields = Self::default();
        for key in object.keys(ctx)? {
            let name = key.text(ctx)?;
            let Some((known, kind)) = tables.iter().copied().flatten().find(|(known, _)| *known == name) else {
                return Ok(Err(format!("json: unknown field {name:?}")));
            };
            let value = object.get(ctx, &key)?;
            if !value.is_set() {
                continue;
            }
            let wanted = match kind {
                Kind::Any => continue,
                Kind::Text if value.is_string() => {
                    fields.texts.push((known, value.to_text(ctx)?));
                    continue;
                }
                Kind::Number if value.is_number() => {
                    fields.numbers.push((known, value.to_i64(ctx)?));
                    continue;
                }
                Kind::Bool if value.is_bool() => {
                    fields.yes.extend(value.truthy(ctx).then_some(*known));
                    continue;
                }
                Kind::Object(_) if value.is_object() && !value.is_array() && !value.is_function(ctx) => continue,
                Kind::Text => "string",
                Kind::Number => "int",
                Kind::Bool => "bool",
                Kind::Object(name) => name,
            };
            return Ok(Err(wrong_type(ctx, &value, &format!("{owner}.{path}{known}"), wanted)));
        }
        Ok(Ok(fields))
    }

    pub(super) fn text(&self, key: &str) -> String {
        self.texts.iter().find(|(known, _)| *known == key).map(|(_, text)| text.clone()).unwrap_or_default()
    }

    pub(super) fn number(&self, key: &str) -> i64 {
        self.numbers.iter().find(|(known, _)| *known == key).map_or(0, |(_, number)| *number)
    }

    pub(super) fn is_yes(&self, key: &str) -> bool {
        self.yes.contains(&key)
    }
}

/// What Go says of a value that does not fit.
pub(super) fn wrong_type(ctx: Ctx, value: &Handle, field: &str, wanted: &str) -> String {
    let found = match go_type(ctx, value) {
        "int64" | "float64" => "number",
        "[]interface {}" => "array",
        "string" => "string",
        "bool" => "bool",
        _ => "object",
    };
    format!("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")
}
