//! `k6/x/sse`: server-sent events, and any response that is read as it arrives.
//!
//! `sse.open()` waits on the VU's fiber until the stream is over. `client` is what its callback gets, `stream` reads the
//! response and finds events in it. What goes over the wire is `k6/http`'s (`http::streamed`).

mod client;
mod stream;

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::{Contains, MetricKind};
use onrush_net::HeaderBlock;

use self::{client::Client, stream::Stream};
use super::{
    export::export,
    http::{Ask, Lost},
    own_metrics::{self, OwnMetric},
};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::{Vu, context::vu},
};

pub(super) use client::install_classes;

/// Events received, as in the extension of k6.
const EVENTS: OwnMetric = ("sse_event", MetricKind::Counter, Contains::Default);
/// From the request to the first event.
const FIRST_EVENT: OwnMetric = ("sse_time_to_first_event", MetricKind::Trend, Contains::Time);
/// From one event to the next.
const INTERVAL: OwnMetric = ("sse_event_interval", MetricKind::Trend, Contains::Time);

pub(super) fn build(ctx: Ctx) -> JsResult {
    own_metrics::declare("k6/x/sse", &[EVENTS, FIRST_EVENT, INTERVAL])?;
    let exports = ctx.object()?;
    export(ctx, &exports, "open", 3, open)?;
    Ok(exports)
}

/// `sse.open(url, params?, setup)`.
fn open(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if vu.in_init() {
        return Err(Throw::error("using sse in the init context is not supported"));
    }
    if !(2..=3).contains(&args.len()) {
        return Err(Throw::error("invalid number of arguments to sse.open"));
    }
    let setup = args.at(args.len() - 1);
    if !setup.is_function(ctx) {
        return Err(Throw::error("last argument to sse.open must be a function"));
    }
    let params = if args.len() == 3 { args.at(1) } else { Handle::UNDEFINED };
    let url = args.at(0).to_text(ctx)?;
    match begin(ctx, vu, args.at(0), params)? {
        Ok(stream) => run(ctx, vu, setup, &url, stream),
        Err(lost) => refused(ctx, setup, &url, lost),
    }
}

/// Sends the request. What is needed for that only is gone while the stream is read: the fiber's stack is copied whenever
/// it waits.
#[inline(never)]
fn begin(ctx: Ctx, vu: &Vu, url: &Handle, params: &Handle) -> JsResult<Result<Box<Stream>, Lost>> {
    let member = |name: &str| if params.is_object() { params.get(ctx, name) } else { Ok(Val::undefined()) };
    let (mut method, body, timeout) = (member("method")?, member("body")?, member("timeout")?);
    if !method.is_set() {
        method = Val::string(ctx, "GET")?;
    }
    let ask = match Ask::read(ctx, vu, &method, url, &body, params, DEFAULT_HEADERS)? {
        Ok(ask) => ask,
        Err(lost) => return Ok(Err(lost)),
    };
    let start = Clock::now();
    let after = |ns: u64| Some(Nanos(start.0.saturating_add(ns)));
    // Without a timeout a stream may take for ever, but a server that does not answer may not.
    let deadline = if timeout.is_set() && ask.timeout_ns() > 0 { after(ask.timeout_ns()) } else { None };
    let answer = ask.send(vu, deadline.or_else(|| after(HEAD_TIMEOUT_NS)))?;
    Ok(match answer {
        Ok(response) => Ok(Box::new(Stream::new(vu, response, start, deadline)?)),
        Err(lost) => Err(lost),
    })
}

/// Calls `setup` and what it asks for until the stream is over.
fn run(ctx: Ctx, vu: &Vu, setup: &Handle, url: &str, mut stream: Box<Stream>) -> JsResult {
    let (client, object) = Client::create(ctx)?;
    let ran = stream.run(ctx, vu, setup, &client, &object);
    client.close();
    client.handlers.forget();
    let (status, headers) = (stream.status(), stream.headers().clone());
    let error = stream.end(vu, &ran);
    ran?;
    result(ctx, url, status, Some(&headers), &error)
}

/// There is no response: `error` callbacks are told.
fn refused(ctx: Ctx, setup: &Handle, url: &str, lost: Lost) -> JsResult {
    if lost.throws {
        return Err(Throw::error(lost.text));
    }
    let (client, object) = Client::create(ctx)?;
    let told = ctx.call(setup, Handle::UNDEFINED, &[&object]).and_then(|_| client.emit_error(ctx, &lost.text));
    client.close();
    client.handlers.forget();
    told?;
    result(ctx, url, 0, None, &lost.text)
}

/// What `open()` returns.
fn result(ctx: Ctx, url: &str, status: u16, headers: Option<&HeaderBlock>, error: &str) -> JsResult {
    let object = ctx.object()?;
    object.define(ctx, "url", Val::string(ctx, url)?)?;
    object.define(ctx, "status", Val::int(i32::from(status)))?;
    let members = ctx.object()?;
    for (name, value) in headers.map(HeaderBlock::joined).unwrap_or_default() {
        members.define(ctx, &name, Val::string(ctx, &value)?)?;
    }
    object.define(ctx, "headers", members)?;
    object.define(ctx, "error", Val::string(ctx, error)?)?;
    Ok(object)
}

/// What browsers send with such a request.
const DEFAULT_HEADERS: &[(&str, &str)] = &[("Accept", "text/event-stream"), ("Cache-Control", "no-cache")];
/// How long the head of a response may take where the script says nothing: as for requests.
const HEAD_TIMEOUT_NS: u64 = 60_000_000_000;
