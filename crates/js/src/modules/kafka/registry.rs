//! `new SchemaRegistry()`: schemas on a server with Confluent's REST API, and the bytes of values.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use onrush_fiber::Clock;
use onrush_kafka::avro::Schema;
use onrush_net::{Body, BodyMode, Request, Url};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::{
    config::Options,
    serdes::{Kind, avro_schema, from_bytes, split_number, to_bytes, with_number},
};
use crate::{
    embed::{Args, Ctx, GrowingCharge, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::vu,
};

/// A registry as scripts see it.
struct Registry {
    /// None where it only serialises.
    url: Option<String>,
    /// The line that says who one is.
    authorization: String,
    caches: bool,
    /// Answers, by path.
    known: RefCell<FxHashMap<String, Rc<Value>>>,
    known_bytes: Cell<usize>,
}

impl HostObject for Registry {
    const NAME: &'static str = "SchemaRegistry";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<Registry>::prototype(ctx)
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "getSchema", 1, get_schema)?;
    prototype.method(ctx, "createSchema", 1, create_schema)?;
    prototype.method(ctx, "getSubjectName", 1, subject_name)?;
    prototype.method(ctx, "serialize", 1, serialize)?;
    prototype.method(ctx, "deserialize", 1, deserialize)?;
    HostClass::<Registry>::set_prototype(ctx, prototype);
    Ok(())
}

/// `new SchemaRegistry({url, basicAuth, enableCaching})`, or without anything.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let mut registry = Registry {
        url: None,
        authorization: String::new(),
        caches: false,
        known: RefCell::default(),
        known_bytes: Cell::new(0),
    };
    if args.at(0).is_set() {
        let options = Options::new(ctx, "schema registry", args.at(0))?;
        let url = options.text("url")?;
        if !url.is_empty() {
            let url = if url.contains("://") { url } else { format!("http://{url}") };
            let invalid = |why: &str| Throw::error(format!("invalid URL of the schema registry: {why}"));
            if Url::parse(&url).map_err(|error| invalid(&error.message))?.host().is_empty() {
                return Err(invalid("it has no host"));
            }
            registry.url = Some(url.trim_end_matches('/').to_owned());
        }
        if let Some(auth) = options.object("basicAuth")? {
            let auth = Options::new(ctx, "schema registry", &auth)?;
            let (username, password) = (auth.text("username")?, auth.text("password")?);
            if !username.is_empty() {
                let both = STANDARD.encode(format!("{username}:{password}"));
                registry.authorization = format!("Authorization: Basic {both}\r\n");
            }
        }
        registry.caches = options.is("enableCaching")?;
    }
    HostClass::create(ctx, registry)
}

impl Registry {
    /// Asks the server. Paths are escaped by whoever makes them.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> JsResult<Value> {
        let Some(base) = &self.url else {
            return Err(Throw::error("the schema registry has no url: name it as new SchemaRegistry({url: …})"));
        };
        let url = Url::parse(&format!("{base}{path}"))
            .map_err(|error| Throw::error(format!("invalid URL of the schema registry: {}", error.message)))?;
        let head = format!(
            "Accept: application/vnd.schemaregistry.v1+json, application/json\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n{}",
            self.authorization
        );
        let body = body.map_or(Body::None, |body| Body::Bytes(Bytes::from(body.to_string())));
        let vu = vu();
        let request = Request {
            method,
            url: &url,
            head: head.as_bytes(),
            host: None,
            body: &body,
            user_agent: Some(&vu.thread.config.http.user_agent),
            is_http1: false,
        };
        let start = Clock::now();
        let deadline = start + Duration::from_secs(TIMEOUT_S);
        let answer = vu.connections.exchange(&request, BodyMode::Keep, start, Some(deadline));
        if onrush_fiber::is_cancelled() {
            return Err(Throw::Interrupted);
        }
        let answer = answer.map_err(|failure| Throw::error(failure.error.detail.clone()))?;
        if answer.body.len() > ANSWER_BYTES_MAX {
            return Err(Throw::error(format!("the schema registry's answer is longer than {ANSWER_BYTES_MAX} bytes")));
        }
        let mut charge = GrowingCharge::default();
        charge.hold(answer.body.len().saturating_mul(8))?;
        let read: Result<Value, _> = serde_json::from_slice(&answer.body);
        match read {
            Ok(value) if (200..300).contains(&answer.status) => Ok(value),
            Ok(value) => {
                let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
                let message: String = message.chars().take(SHOWN_CHARS).collect();
                Err(Throw::error(format!("the schema registry answers with status {}: {message}", answer.status)))
            }
            Err(_) => Err(Throw::error(format!(
                "the schema registry answers with status {} and something other than JSON",
                answer.status
            ))),
        }
    }

    /// The same, where the answer never changes or may be old.
    fn ask_once(&self, path: &str) -> JsResult<Rc<Value>> {
        if let Some(known) = self.known.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let mut value = self.ask("GET", path, None)?;
        if let Some(object) = value.as_object_mut() {
            object.retain(|key, _| KNOWN_FIELDS.contains(&key.as_str()));
        }
        let bytes = value.to_string().len() + path.len();
        let value = Rc::new(value);
        if self.known_bytes.get() + bytes > KNOWN_BYTES_MAX {
            self.known.borrow_mut().clear();
            self.known_bytes.set(0);
        }
        self.known_bytes.set(self.known_bytes.get() + bytes);
        self.known.borrow_mut().insert(path.to_owned(), Rc::clone(&value));
        Ok(value)
    }

    /// The texts of schemas that one refers to, the innermost first.
    fn referenced(&self, references: &Value, depth: usize, texts: &mut Vec<String>) -> JsResult<()> {
        for reference in references.as_array().into_iter().flatten() {
            if depth > REFERENCES_DEPTH_MAX || texts.len() >= REFERENCES_MAX {
                return Err(Throw::error("the schema refers to too many others"));
            }
            let Some(subject) = reference.get("subject").and_then(Value::as_str) else { continue };
            let version = reference.get("version").and_then(Value::as_i64).unwrap_or(0);
            let found = self.ask_once(&version_path(subject, version))?;
            if let Some(inner) = found.get("references") {
                self.referenced(inner, depth + 1, texts)?;
            }
            texts.extend(found.get("schema").and_then(Value::as_str).map(ToOwned::to_owned));
        }
        Ok(())
    }
}

fn version_path(subject: &str, version: i64) -> String {
    let version = if version > 0 { version.to_string() } else { "latest".to_owned() };
    format!("/subjects/{}/versions/{version}", escaped(subject))
}

/// A name as a part of a path.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// `getSchema({subject, version})`
fn get_schema(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let registry = HostClass::<Registry>::expect(this)?;
    let options = Options::new(ctx, "schema", args.at(0))?;
    let path = version_path(&options.text("subject")?, options.number("version", 0, 0, i64::from(i32::MAX))?);
    let caches = registry.caches || options.is("enableCaching")?;
    let found = if caches { registry.ask_once(&path) } else { registry.ask("GET", &path, None).map(Rc::new) };
    let found = found.map_err(|throw| of("Failed to get schema", throw))?;
    shown(ctx, &found, caches)
}

/// `createSchema({subject, schema, schemaType, references})`
fn create_schema(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let registry = HostClass::<Registry>::expect(this)?;
    let options = Options::new(ctx, "schema", args.at(0))?;
    let (subject, text) = (options.text("subject")?, options.text("schema")?);
    let kind = options.choice("schemaType", "AVRO", &[("AVRO", "AVRO"), ("JSON", "JSON"), ("PROTOBUF", "PROTOBUF")])?;
    let references = references(ctx, &options)?;
    let body = json!({"schema": text, "schemaType": kind, "references": references});
    let path = format!("/subjects/{}", escaped(&subject));
    let failed = |throw| of("Failed to create schema", throw);
    let id = registry.ask("POST", &format!("{path}/versions"), Some(&body)).map_err(failed)?;
    // The answer has the number alone; the version is what looking it up says.
    let mut found = registry.ask("POST", &path, Some(&body)).map_err(failed)?;
    if let (Some(object), Some(id)) = (found.as_object_mut(), id.get("id")) {
        object.insert("id".to_owned(), id.clone());
        object.insert("schemaType".to_owned(), kind.into());
    }
    shown(ctx, &found, registry.caches || options.is("enableCaching")?)
}

/// What a script says about other schemas, as JSON.
fn references(ctx: Ctx, options: &Options<'_>) -> JsResult<Value> {
    let given = options.get("references")?;
    if !given.is_array() {
        return Ok(json!([]));
    }
    let text = ctx.stringify(&given)?.unwrap_or_default();
    serde_json::from_str(&text).map_err(|error| Throw::error(format!("invalid references of the schema: {error}")))
}

/// A schema of the registry as a script gets it.
fn shown(ctx: Ctx, found: &Value, caches: bool) -> JsResult {
    let object = ctx.object()?;
    let text = |name: &str| found.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| found.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    object.define(ctx, "enableCaching", Val::bool(caches))?;
    object.define(ctx, "id", Val::number(number("id")))?;
    object.define(ctx, "schema", Val::string(ctx, text("schema"))?)?;
    let kind = if text("schemaType").is_empty() { "AVRO" } else { text("schemaType") };
    object.define(ctx, "schemaType", Val::string(ctx, kind)?)?;
    object.define(ctx, "version", Val::number(number("version")))?;
    let references = found.get("references").filter(|references| references.is_array());
    let references = references.map_or_else(|| "[]".to_owned(), Value::to_string);
    object.define(ctx, "references", ctx.parse_json(references.as_bytes())?)?;
    object.define(ctx, "subject", Val::string(ctx, text("subject"))?)?;
    Ok(object)
}

fn of(what: &str, throw: Throw) -> Throw {
    match throw {
        Throw::Error(text) => Throw::error(format!("{what}., OriginalError: {text}")),
        throw => throw,
    }
}

/// `getSubjectName({schema, topic, element, subjectNameStrategy})`
fn subject_name(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let options = Options::new(ctx, "subject name", args.at(0))?;
    let (topic, schema) = (options.text("topic")?, options.text("schema")?);
    let record = || {
        let schema = avro_schema(&schema, &[])?;
        let unnamed = || Throw::error("the strategy needs a schema with a name: a record, an enum or a fixed");
        schema.name().map(ToOwned::to_owned).ok_or_else(unnamed)
    };
    let name = match options.text("subjectNameStrategy")?.as_str() {
        "" | "TopicNameStrategy" => {
            let element = options.text("element")?.to_lowercase();
            if !matches!(element.as_str(), "key" | "value") {
                return Err(Throw::error(format!("unknown element {element:?}: expected KEY or VALUE")));
            }
            format!("{topic}-{element}")
        }
        "RecordNameStrategy" => record()?,
        "TopicRecordNameStrategy" => format!("{topic}-{}", record()?),
        other => return Err(Throw::error(format!("unknown subject name strategy {other:?}"))),
    };
    Val::string(ctx, &name)
}

/// What a script says about the schema of a value.
struct Named {
    id: u32,
    avro: Option<Rc<Schema>>,
}

impl Registry {
    /// The schema that comes with a value. `default` is its number where the script names none.
    fn schema_of(&self, ctx: Ctx, options: &Options<'_>, kind: Kind) -> JsResult<Named> {
        let Some(schema) = options.object("schema")? else { return Ok(Named { id: 0, avro: None }) };
        let schema = Options::new(ctx, "schema", &schema)?;
        let id = schema.number("id", 0, 0, i64::from(u32::MAX))? as u32;
        if kind != Kind::Avro {
            return Ok(Named { id, avro: None });
        }
        let text = schema.text("schema")?;
        if text.is_empty() {
            return Err(Throw::error("the schema has no text: set schema"));
        }
        let mut others = Vec::new();
        self.referenced(&references(ctx, &schema)?, 0, &mut others)?;
        Ok(Named { id, avro: Some(avro_schema(&text, &others)?) })
    }
}

/// `serialize({data, schema, schemaType})`
fn serialize(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let registry = HostClass::<Registry>::expect(this)?;
    let options = Options::new(ctx, "value to serialize", args.at(0))?;
    let kind = Kind::of(&options.text("schemaType")?)?;
    let schema = registry.schema_of(ctx, &options, kind)?;
    let bytes = to_bytes(ctx, kind, &*options.get("data")?, schema.avro.as_deref());
    let bytes = bytes.map_err(|throw| of("Failed to serialize data", throw))?;
    let is_numbered = schema.id > 0 && matches!(kind, Kind::Avro | Kind::Json);
    if is_numbered { ctx.uint8_array(&with_number(schema.id, &bytes)) } else { ctx.uint8_array(&bytes) }
}

/// `deserialize({data, schema, schemaType})`
fn deserialize(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let registry = HostClass::<Registry>::expect(this)?;
    let options = Options::new(ctx, "value to deserialize", args.at(0))?;
    let kind = Kind::of(&options.text("schemaType")?)?;
    let data = options.get("data")?;
    let bytes = to_bytes(ctx, Kind::Bytes, &data, None).map_err(|throw| of("Failed to deserialize data", throw))?;
    let mut schema = registry.schema_of(ctx, &options, kind)?;
    let mut rest = bytes.as_slice();
    let has_number = matches!(kind, Kind::Avro | Kind::Json);
    if let Some((id, behind)) = split_number(&bytes).filter(|_| has_number) {
        // Avro's own bytes may begin like a number: it is one if it is the schema's, or nobody says what the schema is.
        if id == schema.id && id > 0 {
            rest = behind;
        } else if kind == Kind::Avro && schema.avro.is_none() {
            let found = registry.ask_once(&format!("/schemas/ids/{id}"));
            let found = found.map_err(|throw| of("Failed to get schema", throw))?;
            let mut others = Vec::new();
            registry.referenced(found.get("references").unwrap_or(&Value::Null), 0, &mut others)?;
            let text = found.get("schema").and_then(Value::as_str).unwrap_or_default();
            schema.avro = Some(avro_schema(text, &others)?);
            rest = behind;
        } else if kind == Kind::Json {
            // JSON never begins with a zero byte.
            rest = behind;
        }
    }
    let value = from_bytes(ctx, kind, rest, schema.avro.as_deref());
    value.map_err(|throw| of("Failed to deserialize data", throw))
}

const TIMEOUT_S: u64 = 30;
const ANSWER_BYTES_MAX: usize = 2 << 20;
/// Answers that one registry's object keeps.
const KNOWN_BYTES_MAX: usize = 1 << 20;
/// What is ever asked of them.
const KNOWN_FIELDS: [&str; 6] = ["id", "references", "schema", "schemaType", "subject", "version"];
const REFERENCES_DEPTH_MAX: usize = 16;
const REFERENCES_MAX: usize = 256;
const SHOWN_CHARS: usize = 500;
