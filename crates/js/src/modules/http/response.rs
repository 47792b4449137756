//! The Response object: all fields but three are made from the exchange at their first touch.

use std::{rc::Rc, sync::Arc};

use onrush_net::{Response, SetCookie, code_of_status};

use super::{
    arguments::{Prepared, ResponseType},
    body_stream::OpenBodies,
    cookies, json,
    lists::Lists,
    ocsp, page,
    send::Exchange,
    stream_object,
};
use crate::{
    embed::{BoundMethod, Ctx, Handle, HostClass, HostObject, JsResult, LazyProperty, Template, Val},
    vu::{Vu, context},
};

impl HostObject for Exchange {
    const NAME: &'static str = "Response";
    // k6: in this order, with `status`, `error` and `error_code` in their places.
    const LAZY: &'static [LazyProperty<Self>] = &[
        ("remote_ip", remote_ip),
        ("remote_port", |_, exchange| Ok(Val::int(exchange.remote().map_or(0, |remote| i32::from(remote.port()))))),
        ("url", |ctx, exchange| Val::string(ctx, &url(exchange))),
        ("status_text", |ctx, exchange| {
            Val::string(ctx, &answer(exchange).map(|response| response.headers.status_text()).unwrap_or_default())
        }),
        ("proto", |ctx, exchange| {
            Val::string(ctx, &answer(exchange).map(|response| response.proto.text()).unwrap_or_default())
        }),
        ("headers", headers),
        ("cookies", cookies),
        ("body", body),
        ("timings", timings),
        ("tls_version", |ctx, exchange| Val::string(ctx, exchange.tls().map_or("", |tls| tls.version))),
        ("tls_cipher_suite", |ctx, exchange| Val::string(ctx, exchange.tls().map_or("", |tls| tls.cipher))),
        ("ocsp", |ctx, exchange| ocsp::object(ctx, exchange.tls())),
        ("request", request),
    ];
    // k6: in this order.
    const BOUND: &'static [BoundMethod] = &[
        ("clickLink", 1, page::click_link),
        ("html", 1, page::html),
        ("json", 1, json::json),
        ("submitForm", 1, page::submit_form),
    ];
}

/// What `res.request` is: its body becomes a string when it is read, as it may be a file of many megabytes.
struct SentRequest(Rc<Prepared>);

impl HostObject for SentRequest {
    const NAME: &'static str = "Request";
    const LAZY: &'static [LazyProperty<Self>] = &[("body", |ctx, sent| Val::text(ctx, &sent.0.body.to_bytes()))];
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    HostClass::<Exchange>::set_prototype(ctx, ctx.object()?);
    HostClass::<SentRequest>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

/// A Response over an exchange.
pub(super) fn create(ctx: Ctx, vu: &Vu, exchange: Rc<Exchange>) -> JsResult {
    exchange.body.charge()?;
    if let Some(stream) = &exchange.stream {
        if exchange.has_body() {
            OpenBodies::keep(vu, stream)?;
        } else {
            stream.give_up(vu);
        }
    }
    let template = vu.realm().slots.of_or_try(|| {
        let (zero, empty) = (&*Val::int(0), &*Val::string(ctx, "")?);
        Template::<Exchange>::new(
            ctx,
            &[("status", "status_text", zero), ("error", "request", empty), ("error_code", "request", zero)],
        )
    })?;
    let number = |number: u16| Val::int(i32::from(number));
    let status = exchange.status();
    let (code, text) = match exchange.error() {
        None => (code_of_status(status), ""),
        Some(error) => (error.code, error.message.as_str()),
    };
    // Errors without a code of their own have a text all the same.
    if code == 0 && text.is_empty() {
        return template.create(ctx, exchange, [number(status)]);
    }
    let text = Val::string(ctx, text)?;
    template.create(ctx, exchange, [number(status), text, number(code)])
}

/// What was received, unless the request failed.
fn answer(exchange: &Exchange) -> Option<&Response> {
    exchange.response.as_deref().filter(|_| exchange.error().is_none())
}

fn remote_ip(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let remote = exchange.remote().filter(|remote| remote.port() != 0);
    Val::string(ctx, &remote.map_or_else(String::new, |remote| remote.ip().to_string()))
}

/// The last hop's URL: as Go prints it when it was answered, else as the script wrote it.
pub(super) fn url(exchange: &Exchange) -> Arc<str> {
    match (&exchange.url, &exchange.prepared) {
        (Some(url), _) => url.clone(),
        (None, Some(prepared)) if exchange.error().is_none() => prepared.target.url.to_text(),
        (None, Some(prepared)) => prepared.target.url.shared(),
        (None, None) => "".into(),
    }
}

fn headers(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let object = ctx.object()?;
    if let Some(response) = answer(exchange) {
        for (name, value) in response.headers.joined() {
            object.define(ctx, &name, Val::string(ctx, &value)?)?;
        }
    }
    Ok(object)
}

/// `{name: [{name, value, …}]}` of the last response.
fn cookies(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let Some(response) = answer(exchange).filter(|response| response.headers.has_set_cookie()) else {
        return ctx.object();
    };
    let cookies: Vec<SetCookie> = response.headers.get_all("set-cookie").filter_map(SetCookie::parse).collect();
    let mut lists = Lists::default();
    for cookie in &cookies {
        let entry = ctx.object()?;
        entry.define(ctx, "name", Val::string(ctx, &cookie.name)?)?;
        entry.define(ctx, "value", Val::string(ctx, &cookie.value)?)?;
        entry.define(ctx, "domain", Val::string(ctx, &cookie.domain)?)?;
        entry.define(ctx, "path", Val::string(ctx, &cookie.path)?)?;
        entry.define(ctx, "http_only", Val::bool(cookie.http_only))?;
        entry.define(ctx, "secure", Val::bool(cookie.secure))?;
        entry.define(ctx, "max_age", Val::number(cookie.max_age as f64))?;
        entry.define(ctx, "expires", Val::number(cookie.expires_ms.map_or(GO_ZERO_TIME_MS, |ms| ms as f64)))?;
        lists.push(&cookie.name, entry);
    }
    lists.object(ctx)
}

/// k6 shows Go's zero time where a cookie has no expiry, as nanoseconds that do not fit 64 bits.
const GO_ZERO_TIME_MS: f64 = -6_795_364_578_871.0;

fn body(ctx: Ctx, exchange: &Exchange) -> JsResult {
    match (exchange.response_type(), &exchange.stream) {
        _ if !exchange.has_body() => Ok(Val::null()),
        (_, Some(stream)) => stream_object::create(ctx, stream),
        (ResponseType::None | ResponseType::Stream, None) => Ok(Val::null()),
        (ResponseType::Text, None) => Val::text(ctx, &exchange.body.bytes()),
        (ResponseType::Binary, None) => exchange.body.array_buffer(ctx),
    }
}

fn timings(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let object = ctx.object()?;
    let timings = &exchange.timings();
    let fields = [
        ("duration", timings.duration()),
        ("blocked", timings.blocked),
        ("looking_up", 0.0),
        ("connecting", timings.connecting),
        ("tls_handshaking", timings.tls_handshaking),
        ("sending", timings.sending),
        ("waiting", timings.waiting),
        ("receiving", timings.receiving),
    ];
    for (name, value) in fields {
        object.define(ctx, name, Val::number(value))?;
    }
    Ok(object)
}

/// The request the script made: the first hop. Null when none was made.
fn request(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let Some(prepared) = &exchange.prepared else { return Ok(Val::null()) };
    let params = &prepared.params;
    let object = HostClass::create(ctx, SentRequest(prepared.clone()))?;
    object.define(ctx, "method", Val::string(ctx, &prepared.method)?)?;
    object.define(ctx, "url", Val::string(ctx, &prepared.target.url.to_text())?)?;
    let mut headers = Lists::default();
    let option = &context::thread().config.http.user_agent;
    let user_agent = params.user_agent.as_deref().unwrap_or(option);
    for (name, value) in [("User-Agent", Some(user_agent)), ("Host", params.host.as_deref())] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            headers.push(name, Val::string(ctx, value)?);
        }
    }
    for (name, value) in params.headers.iter() {
        headers.push(name, Val::string(ctx, value)?);
    }
    let mut shown = Lists::default();
    let line = match exchange.sent_cookies.as_str() {
        "" => params.cookie_header.as_deref().unwrap_or_default(),
        sent => sent,
    };
    for (name, value) in cookies::in_header(line) {
        let entry = ctx.object()?;
        entry.define(ctx, "name", Val::string(ctx, name)?)?;
        entry.define(ctx, "value", Val::string(ctx, value)?)?;
        // k6: false whatever the parameter said.
        entry.define(ctx, "replace", Val::bool(false))?;
        shown.push(name, entry);
    }
    if !line.is_empty() {
        headers.push("Cookie", Val::string(ctx, line)?);
    }
    object.define(ctx, "headers", headers.object(ctx)?)?;
    HostClass::<SentRequest>::define_lazy(ctx, &object, "body")?;
    object.define(ctx, "cookies", shown.object(ctx)?)?;
    Ok(object)
}

/// Keeps the signature of methods in one place.
pub(super) fn exchange_of(this: &Handle) -> JsResult<&Exchange> {
    HostClass::<Exchange>::expect(this)
}
