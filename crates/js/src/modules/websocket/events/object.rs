//! `new WebSocket()` and what can be done with it.

use std::rc::Rc;

use super::{
    event::{KINDS, Kind},
    socket::{Ready, WebSocket},
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    log::Level,
    modules::{
        export::export,
        go::go_type,
        websocket::{
            blob::Blob,
            dial,
            params::{Params, Style},
            view_bytes,
        },
    },
    vu::context::vu,
};

/// A socket as scripts see it.
struct SocketObject(Rc<WebSocket>);

impl HostObject for SocketObject {
    const NAME: &'static str = "WebSocket";
}

pub(in crate::modules::websocket) fn prototype(ctx: Ctx) -> Val {
    HostClass::<SocketObject>::prototype(ctx)
}

pub(in crate::modules::websocket) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    export(ctx, &prototype, "addEventListener", 2, add_event_listener)?;
    export(ctx, &prototype, "send", 1, send)?;
    export(ctx, &prototype, "ping", 0, |ctx, this, _| socket(this)?.ping(ctx, vu()))?;
    export(ctx, &prototype, "close", 2, close)?;
    let getter = |name: &str, getter: Val| prototype.define_getter(ctx, name, getter);
    getter("url", ctx.getter("url", |ctx, this| Val::string(ctx, socket(this)?.url()))?)?;
    getter("readyState", ctx.getter("readyState", |_, this| Ok(Val::int(socket(this)?.ready() as i32)))?)?;
    getter(
        "bufferedAmount",
        ctx.getter("bufferedAmount", |_, this| Ok(Val::number(socket(this)?.buffered_bytes() as f64)))?,
    )?;
    getter("extensions", ctx.getter("extensions", extensions)?)?;
    getter("protocol", ctx.getter("protocol", |ctx, this| Val::string(ctx, &socket(this)?.protocol()))?)?;
    prototype.define_accessor(
        ctx,
        "binaryType",
        ctx.getter("binaryType", |ctx, this| Val::string(ctx, socket(this)?.binary_type()))?,
        ctx.function("binaryType", 1, set_binary_type)?,
    )?;
    for (number, kind) in KINDS.into_iter().enumerate() {
        let number = number as i16;
        let name = kind.property();
        prototype.define_accessor(
            ctx,
            name,
            ctx.numbered(name, 0, number, |_, this, _, number| Ok(socket(this)?.handler(KINDS[number])))?,
            ctx.numbered(name, 1, number, |ctx, this, args, number| set_handler(ctx, this, args, KINDS[number]))?,
        )?;
    }
    HostClass::<SocketObject>::set_prototype(ctx, prototype);
    Ok(())
}

fn socket(this: &Handle) -> JsResult<&Rc<WebSocket>> {
    HostClass::<SocketObject>::expect(this).map(|object| &object.0)
}

/// `new WebSocket(url, protocols?, params?)`.
pub(in crate::modules::websocket) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("using websockets in the init context is not supported"));
    }
    if !args.at(0).is_set() {
        return Err(Throw::error("WebSocket requires a url"));
    }
    let url = checked_url(&args.at(0).to_text(ctx)?).map_err(Throw::error)?;
    let params = Params::read(ctx, vu, args.at(2), Style::Events)?;
    let protocols = protocols(ctx, args.at(1))?;
    let socket = WebSocket::new(vu, url);
    let object = HostClass::create(ctx, SocketObject(socket.clone()))?;
    socket.connect(vu, object.clone(), params, &protocols);
    Ok(object)
}

/// The URL as it is shown; the error is k6's.
fn checked_url(text: &str) -> Result<String, String> {
    let url = dial::parse(text)
        .map_err(|reason| format!("WebSocket requires valid url, but got {text:?} which resulted in {reason}"))?;
    let scheme = url.scheme_text();
    if !matches!(&*scheme, "ws" | "wss") {
        return Err(format!("WebSocket requires url with scheme ws or wss, but got \"{scheme}\""));
    }
    if !url.fragment().is_empty() {
        return Err(format!("WebSocket requires no url fragment, but got {:?}", url.fragment()));
    }
    Ok(url.to_text().as_ref().to_owned())
}

fn protocols(ctx: Ctx, value: &Handle) -> JsResult<Vec<String>> {
    if value.is_string() {
        return Ok(vec![value.to_text(ctx)?]);
    }
    let mut protocols = Vec::new();
    if value.is_array() {
        for index in 0..value.length(ctx)?.min(PROTOCOLS_MAX) {
            protocols.push(value.get_index(ctx, index)?.to_text(ctx)?);
        }
    }
    Ok(protocols)
}

fn add_event_listener(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    let name = if args.at(0).is_undefined() { String::new() } else { args.at(0).to_text(ctx)? };
    if !args.at(1).is_function(ctx) {
        return Err(Throw::error(format!("handler for event type {name:?} isn't a callable function")));
    }
    match Kind::of(&name) {
        Some(kind) => socket.add_handler(kind, args.at(1).dup())?,
        None => vu().log(Level::Warn, format!("can't add event handler: unknown event type: {name}")),
    }
    Ok(Val::undefined())
}

fn set_handler(ctx: Ctx, this: &Handle, args: Args<'_>, kind: Kind) -> JsResult {
    let socket = socket(this)?;
    let value = args.at(0);
    if !value.is_set() {
        socket.set_handler(kind, None);
    } else if value.is_function(ctx) {
        socket.set_handler(kind, Some(value.dup()));
    } else {
        return Err(Throw::error(format!("a value for '{}' should be callable", kind.property())));
    }
    Ok(Val::undefined())
}

fn set_binary_type(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    let given = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    match given.as_str() {
        "blob" => socket.set_array_buffers(false),
        "arraybuffer" => socket.set_array_buffers(true),
        other => {
            return Err(Throw::error(format!(
                "unknown binaryType {other}, the supported ones are \"blob\" and \"arraybuffer\""
            )));
        }
    }
    Ok(Val::undefined())
}

fn extensions(ctx: Ctx, this: &Handle) -> JsResult {
    let list = ctx.array()?;
    for (index, extension) in (0..).zip(socket(this)?.extensions()) {
        list.define_index(ctx, index, Val::string(ctx, &extension)?)?;
    }
    Ok(list)
}

fn send(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    if socket.ready() != Ready::Open {
        return Err(invalid_state());
    }
    let vu = vu();
    let value = args.at(0);
    if value.is_string() || value.is_symbol() {
        match value.ascii() {
            Some(text) => socket.send(vu, true, text.as_bytes())?,
            None => socket.send(vu, true, value.to_js_string(ctx)?.text().as_bytes())?,
        }
    } else if let Some(bytes) = Blob::bytes_of(value) {
        socket.send(vu, false, &bytes)?;
    } else if let Some(bytes) = view_bytes(ctx, value)? {
        socket.send(vu, false, &bytes)?;
    } else {
        return Err(Throw::error(format!("unsupported send type {}", go_type(ctx, value))));
    }
    Ok(Val::undefined())
}

/// `close(code?, reason?)`.
fn close(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let socket = socket(this)?;
    if matches!(socket.ready(), Ready::Closing | Ready::Closed) {
        return Ok(Val::undefined());
    }
    let code = if args.at(0).is_set() { args.at(0).to_i64(ctx)? } else { 0 };
    let reason = if args.at(1).is_set() { args.at(1).to_text(ctx)? } else { String::new() };
    let code = match code {
        0 => 1000,
        1000 | 3000..=4999 => code as u16,
        other => {
            return Err(Throw::error(format!(
                "InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or between 3000 and 4999. {other} is neither"
            )));
        }
    };
    if reason.len() > REASON_BYTES_MAX {
        return Err(Throw::error(
            "SyntaxError: Failed to execute 'close' on 'WebSocket': The message must not be greater than 123 bytes",
        ));
    }
    socket.close(vu(), code, &reason)?;
    Ok(Val::undefined())
}

/// What k6 throws for something that an open socket can do only.
pub(super) fn invalid_state() -> Throw {
    Throw::error("InvalidStateError")
}

/// What a close frame has room for.
const REASON_BYTES_MAX: usize = 123;
/// Protocols that are offered; further ones are left out.
const PROTOCOLS_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_checked() {
        let check = |text: &str, expect: &str| assert_eq!(checked_url(text).unwrap_or_else(|error| error), expect);
        check("WS://host/a", "ws://host/a");
        check("", "WebSocket requires url with scheme ws or wss, but got \"\"");
        check("http://a", "WebSocket requires url with scheme ws or wss, but got \"http\"");
        check("ws://a/#b", "WebSocket requires no url fragment, but got \"b\"");
        check(
            "ws://%zz",
            "WebSocket requires valid url, but got \"ws://%zz\" which resulted in parse \"ws://%zz\": invalid URL escape \"%zz\"",
        );
    }
}
