//! `new Socket()` and what can be done with it.

use std::rc::Rc;

use base64::Engine;
use onrush_metrics::TagNode;
use onrush_net::Url;

use super::socket::{Goal, On, Socket};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{
        export::export,
        go::go_type,
        promise::{named_reason, settled_later},
        tag_value,
    },
    vu::{
        Vu,
        context::{vu, with_named},
    },
};

/// A socket as scripts see it.
struct SocketObject(Rc<Socket>);

impl HostObject for SocketObject {
    const NAME: &'static str = "Socket";
}

pub(super) fn prototype(ctx: Ctx) -> Val {
    HostClass::<SocketObject>::prototype(ctx)
}

pub(in crate::modules) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    export(ctx, &prototype, "connect", 2, connect)?;
    export(ctx, &prototype, "destroy", 0, |_, this, _| {
        socket(this)?.destroy(vu());
        Ok(Val::undefined())
    })?;
    export(ctx, &prototype, "on", 2, on)?;
    export(ctx, &prototype, "setTimeout", 1, set_timeout)?;
    export(ctx, &prototype, "write", 2, write)?;
    let getter = |name: &str, getter: Val| prototype.define_getter(ctx, name, getter);
    getter("ready_state", ctx.getter("ready_state", |ctx, this| Val::string(ctx, socket(this)?.ready().text()))?)?;
    getter("connected", ctx.getter("connected", |_, this| Ok(Val::bool(socket(this)?.is_open())))?)?;
    getter("bytes_read", ctx.getter("bytes_read", |_, this| Ok(Val::number(socket(this)?.bytes_read() as f64)))?)?;
    getter(
        "bytes_written",
        ctx.getter("bytes_written", |_, this| Ok(Val::number(socket(this)?.bytes_written() as f64)))?,
    )?;
    getter("local_ip", ctx.getter("local_ip", |ctx, this| ip(ctx, socket(this)?.ends().0))?)?;
    getter("local_port", ctx.getter("local_port", |_, this| Ok(port(socket(this)?.ends().0)))?)?;
    getter("remote_ip", ctx.getter("remote_ip", |ctx, this| ip(ctx, socket(this)?.ends().1))?)?;
    getter("remote_port", ctx.getter("remote_port", |_, this| Ok(port(socket(this)?.ends().1)))?)?;
    HostClass::<SocketObject>::set_prototype(ctx, prototype);
    Ok(())
}

fn socket(this: &Handle) -> JsResult<&Rc<Socket>> {
    HostClass::<SocketObject>::expect(this).map(|object| &object.0)
}

fn ip(ctx: Ctx, address: Option<std::net::SocketAddr>) -> JsResult {
    Val::string(ctx, &address.map(|address| address.ip().to_string()).unwrap_or_default())
}

fn port(address: Option<std::net::SocketAddr>) -> Val {
    Val::int(address.map_or(0, |address| i32::from(address.port())))
}

/// `new Socket({tags})`.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    let own = args.at(0);
    let mut tags = Vec::new();
    if own.is_object() {
        tags = given_tags(ctx, own)?;
    }
    HostClass::create(ctx, SocketObject(Socket::new(vu, tags)))
}

/// The tags in an object's `tags`.
fn given_tags(ctx: Ctx, value: &Handle) -> JsResult<Vec<(String, String)>> {
    let mut tags = Vec::new();
    let given = value.get(ctx, "tags")?;
    let outcome = tag_value::for_each(ctx, &given, |name, text| {
        if tags.len() < TAGS_MAX {
            tags.push((name.to_owned(), text.to_owned()));
        }
    })?;
    outcome.map_err(|tag| Throw::error(format!("invalid socket tags: {}", tag_value::complaint(&tag))))?;
    Ok(tags)
}

fn tagged(vu: &Vu, node: TagNode, tags: &[(String, String)]) -> TagNode {
    let mut shard = vu.thread.shard.borrow_mut();
    tags.iter().fold(node, |node, (name, value)| with_named(&mut shard, node, name, value))
}

/// `connect(port, host?)` or `connect({port, host, tls, tags})`.
fn connect(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    let vu = vu();
    if vu.in_init() {
        return refused(ctx, "connect", "connect can not be used in the init context");
    }
    let first = args.at(0);
    let (port, host, is_tls, tags) = if first.is_object() {
        let is_tls = first.get(ctx, "tls")?.truthy(ctx);
        (first.get(ctx, "port")?, first.get(ctx, "host")?, is_tls, given_tags(ctx, first)?)
    } else {
        (first.dup(), args.at(1).dup(), false, Vec::new())
    };
    let Some(port) = whole_port(ctx, &port)? else {
        let shown = port.to_text(ctx)?;
        return refused(ctx, "connect", &format!("invalid port {shown}: expected a whole number from 1 to 65535"));
    };
    let host = if host.is_set() { host.to_text(ctx)? } else { "localhost".to_owned() };
    let shown = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.clone() };
    let parsed = Url::parse(&format!("{}://{shown}:{port}/", if is_tls { "https" } else { "http" }));
    let url = match parsed {
        Ok(url) if !url.host().is_empty() && url.port() == Some(port) && url.userinfo().is_none() => url,
        _ => return refused(ctx, "connect", &format!("invalid host {host:?}")),
    };
    if !socket.is_new() {
        return refused(ctx, "connect", "the socket has been connected before; use a new one");
    }
    let mut node = tagged(vu, vu.node.get(), socket.tags());
    node = tagged(vu, node, &tags);
    let port_text = port.to_string();
    let own = [("proto", "TCP"), ("host", host.as_str()), ("port", port_text.as_str())]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    node = tagged(vu, node, &own);
    socket.connect(ctx, this.dup(), Goal { url, node })
}

fn whole_port(ctx: Ctx, value: &Handle) -> JsResult<Option<u16>> {
    if !value.is_set() {
        return Ok(None);
    }
    let number = value.to_number(ctx)?;
    Ok((number.fract() == 0.0 && (1.0..=65535.0).contains(&number)).then_some(number as u16))
}

/// `write(data, {encoding, tags})`.
fn write(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    let (mut encoding, mut tags) = ("utf8".to_owned(), Vec::new());
    if args.at(1).is_object() {
        let given = args.at(1).get(ctx, "encoding")?;
        if given.is_set() {
            encoding = given.to_text(ctx)?;
        }
        tags = given_tags(ctx, args.at(1))?;
    }
    let data = args.at(0);
    let view = data.array_buffer(ctx).or_else(|| data.typed_array(ctx));
    let bytes = if let Some(bytes) = view {
        bytes.to_vec()
    } else if data.is_string() {
        match encoded(&data.to_text(ctx)?, &encoding) {
            Ok(bytes) => bytes,
            Err(text) => return refused(ctx, "write", &text),
        }
    } else {
        let text = format!("invalid type {}, expected string or ArrayBuffer", go_type(ctx, data));
        return refused(ctx, "write", &text);
    };
    socket.write(ctx, bytes, &|vu, node| tagged(vu, node, &tags))
}

/// The bytes a text stands for.
fn encoded(text: &str, encoding: &str) -> Result<Vec<u8>, String> {
    match encoding.to_ascii_lowercase().as_str() {
        "utf8" | "utf-8" => Ok(text.as_bytes().to_vec()),
        "ascii" | "latin1" | "binary" => text
            .chars()
            .map(|letter| u8::try_from(u32::from(letter)))
            .collect::<Result<_, _>>()
            .map_err(|_| format!("the text has letters that {encoding} does not know")),
        "base64" => base64::engine::general_purpose::STANDARD
            .decode(text)
            .map_err(|error| format!("the text is no base64: {error}")),
        "hex" => from_hex(text).ok_or_else(|| "the text is no hex: it needs pairs of 0-9 and a-f".to_owned()),
        _ => Err(format!("unknown encoding {encoding:?}: expected utf8, ascii, latin1, base64 or hex")),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map(|letter| letter.to_digit(16)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect())
}

/// `setTimeout(ms)`: an event after so long without any data; 0 for none.
fn set_timeout(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let ms = if args.at(0).is_set() { args.at(0).to_number(ctx)? } else { 0.0 };
    if ms.is_nan() || ms < 0.0 {
        return Err(Throw::error("setTimeout requires a timeout of 0 or more milliseconds"));
    }
    socket(this)?.set_timeout(ctx, vu(), this, ms)?;
    Ok(Val::undefined())
}

/// Called by the timer that [`set_timeout`] starts, with the socket.
pub(super) fn timed_out(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let object = args.at(0);
    socket(object)?.timer_is_due(ctx, vu(), object)?;
    Ok(Val::undefined())
}

fn on(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    let name = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    let Some(kind) = On::of(&name) else { return Err(Throw::error(format!("unknown event: {name}"))) };
    if !args.at(1).is_function(ctx) {
        return Err(Throw::error(format!("the handler of {name:?} must be a function")));
    }
    socket.add_handler(kind, args.at(1).dup())?;
    Ok(Val::undefined())
}

/// What a script is told about something that failed.
pub(super) fn reason(ctx: Ctx, method: &str, text: &str) -> JsResult {
    let error = named_reason(ctx, "TCPError", text)?;
    error.define(ctx, "method", Val::string(ctx, method)?)?;
    Ok(error)
}

fn refused(ctx: Ctx, method: &str, text: &str) -> JsResult {
    let reason = reason(ctx, method, text)?;
    settled_later(ctx, Err(reason))
}

/// Tags given with one call.
const TAGS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let check = |text: &str, encoding: &str, expect: Option<&[u8]>| {
            assert_eq!(encoded(text, encoding).ok().as_deref(), expect, "{encoding}");
        };
        check("é", "utf8", Some("é".as_bytes()));
        check("é", "latin1", Some(b"\xe9"));
        check("€", "latin1", None);
        check("aGk=", "base64", Some(b"hi"));
        check("a", "base64", None);
        check("00fF", "HEX", Some(b"\x00\xff"));
        check("0", "hex", None);
        check("a", "utf7", None);
    }
}
