//! The Response object: all fields but three are made from the exchange at their first touch.
#![expect(unsafe_code, reason = "lazy properties and template cloning")]

use std::{ffi::c_void, rc::Rc, sync::Arc};

use onrush_net::{SetCookie, code_of_status};
use onrush_quickjs_sys as sys;

use super::{
    arguments::{Prepared, ResponseType},
    json, ocsp, page,
    send::Exchange,
};
use crate::{
    embed::{Ctx, Handle, HostClass, HostObject, JsResult, Val},
    vu::{Vu, context},
};

impl HostObject for Exchange {
    const NAME: &'static str = "Response";
}

/// What `res.request` is: its body becomes a string when it is read, as it may be a file of many megabytes.
struct SentRequest(Rc<Prepared>);

impl HostObject for SentRequest {
    const NAME: &'static str = "Request";
}

/// The number of `request.body` among lazy properties, beyond those of `Lazy`.
const REQUEST_BODY: i32 = 1000;

/// Lazy fields, by the number QuickJS hands back.
#[derive(Clone, Copy)]
enum Lazy {
    RemoteIp,
    RemotePort,
    Url,
    StatusText,
    Proto,
    Headers,
    Cookies,
    Body,
    Timings,
    TlsVersion,
    TlsCipherSuite,
    Ocsp,
    Request,
}

const LAZY: [(&str, Lazy); 13] = [
    ("remote_ip", Lazy::RemoteIp),
    ("remote_port", Lazy::RemotePort),
    ("url", Lazy::Url),
    ("status_text", Lazy::StatusText),
    ("proto", Lazy::Proto),
    ("headers", Lazy::Headers),
    ("cookies", Lazy::Cookies),
    ("body", Lazy::Body),
    ("timings", Lazy::Timings),
    ("tls_version", Lazy::TlsVersion),
    ("tls_cipher_suite", Lazy::TlsCipherSuite),
    ("ocsp", Lazy::Ocsp),
    ("request", Lazy::Request),
];

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "json", 1, json::json)?;
    prototype.method(ctx, "html", 1, page::html)?;
    prototype.method(ctx, "submitForm", 1, page::submit_form)?;
    prototype.method(ctx, "clickLink", 1, page::click_link)?;
    HostClass::<Exchange>::set_prototype(ctx, prototype);
    HostClass::<SentRequest>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

/// The object all Responses of a realm are cloned from: same hidden class, lazy slots included.
///
/// Made after the realm was shared: sharing materialises the lazy properties of everything that exists then.
pub(crate) fn template(ctx: Ctx) -> JsResult {
    // SAFETY: a plain object of the class without an exchange behind it; nobody but `create` sees it.
    let template = Val::checked(unsafe { sys::JS_NewObjectClass(ctx.raw(), HostClass::<Exchange>::id()) })?;
    template.define(ctx, "status", Val::int(0))?;
    template.define(ctx, "error_code", Val::int(0))?;
    template.define(ctx, "error", Val::string(ctx, "")?)?;
    for (name, lazy) in LAZY {
        template.define_lazy(ctx, name, lazy as i32)?;
    }
    Ok(template)
}

/// A Response over an exchange.
pub(super) fn create(ctx: Ctx, vu: &Vu, exchange: Box<Exchange>) -> JsResult {
    exchange.body.charge()?;
    let status = exchange.status();
    let code = exchange.error().map_or_else(|| code_of_status(status), |error| error.code);
    let mut values = [sys::js_int32(i32::from(status)), sys::js_int32(i32::from(code)), sys::JS_UNDEFINED];
    let mut count = 2;
    if let Some(error) = exchange.error() {
        values[2] = Val::string(ctx, &error.message)?.into_raw();
        count = 3;
    }
    let template = vu.realm().response_template(ctx)?;
    let opaque = Box::into_raw(exchange);
    // SAFETY: the values' references and the box move to the new object, whose finalizer drops the box.
    let object = Val::checked(unsafe {
        sys::onrush_clone_template(ctx.raw(), template.raw(), values.as_mut_ptr(), count, opaque.cast())
    });
    object.inspect_err(|_| {
        // SAFETY: without an object nobody else owns the box.
        drop(unsafe { Box::from_raw(opaque) });
    })
}

/// Makes the value of a lazy field.
///
/// # Safety
/// `opaque` is the exchange of `object`, or null for a template; of a sent request's body, the request.
pub(crate) unsafe fn materialise(ctx: Ctx, object: &Handle, opaque: *mut c_void, which: i32) -> sys::JSValue {
    if which == REQUEST_BODY {
        let body = HostClass::<SentRequest>::of(object).map(|sent| sent.0.body.to_bytes()).unwrap_or_default();
        return hand_over(ctx, Val::text(ctx, &body));
    }
    // SAFETY: forwarded to the caller; the object keeps the exchange alive.
    let Some(exchange) = (unsafe { opaque.cast::<Exchange>().as_ref() }) else { return sys::JS_UNDEFINED };
    let lazy = LAZY.iter().map(|(_, lazy)| *lazy).find(|lazy| *lazy as i32 == which);
    hand_over(ctx, lazy.map_or_else(|| Ok(Val::undefined()), |lazy| field(ctx, exchange, lazy)))
}

fn hand_over(ctx: Ctx, value: JsResult) -> sys::JSValue {
    match value {
        Ok(value) => value.into_raw(),
        Err(throw) => {
            ctx.raise(throw);
            sys::JS_EXCEPTION
        }
    }
}

fn field(ctx: Ctx, exchange: &Exchange, lazy: Lazy) -> JsResult {
    let response = exchange.response.as_ref().filter(|_| exchange.error().is_none());
    match lazy {
        Lazy::RemoteIp => Val::string(
            ctx,
            &exchange
                .remote()
                .filter(|remote| remote.port() != 0)
                .map_or_else(String::new, |remote| remote.ip().to_string()),
        ),
        Lazy::RemotePort => Ok(Val::int(exchange.remote().map_or(0, |remote| i32::from(remote.port())))),
        Lazy::Url => Val::string(ctx, &url(exchange)),
        Lazy::StatusText => {
            Val::string(ctx, &response.map(|response| response.headers.status_text()).unwrap_or_default())
        }
        Lazy::Proto => Val::string(ctx, &response.map(|response| response.proto.text()).unwrap_or_default()),
        Lazy::Headers => headers(ctx, exchange),
        Lazy::Cookies => cookies(ctx, exchange),
        Lazy::Body => body(ctx, exchange),
        Lazy::Timings => timings(ctx, exchange),
        Lazy::TlsVersion => Val::string(ctx, exchange.tls().map_or("", |tls| tls.version)),
        Lazy::TlsCipherSuite => Val::string(ctx, exchange.tls().map_or("", |tls| tls.cipher)),
        Lazy::Ocsp => ocsp::object(ctx, exchange.tls()),
        Lazy::Request => request(ctx, exchange),
    }
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
    if let Some(response) = exchange.response.as_ref().filter(|_| exchange.error().is_none()) {
        for (name, value) in response.headers.joined() {
            object.define(ctx, &name, Val::string(ctx, &value)?)?;
        }
    }
    Ok(object)
}

/// `{name: [{name, value, …}]}` of the last response.
fn cookies(ctx: Ctx, exchange: &Exchange) -> JsResult {
    let object = ctx.object()?;
    let response = exchange.response.as_ref().filter(|_| exchange.error().is_none());
    let Some(response) = response.filter(|response| response.headers.has_set_cookie()) else {
        return Ok(object);
    };
    for cookie in response.headers.get_all("set-cookie").filter_map(SetCookie::parse) {
        let entry = ctx.object()?;
        entry.define(ctx, "name", Val::string(ctx, &cookie.name)?)?;
        entry.define(ctx, "value", Val::string(ctx, &cookie.value)?)?;
        entry.define(ctx, "domain", Val::string(ctx, &cookie.domain)?)?;
        entry.define(ctx, "path", Val::string(ctx, &cookie.path)?)?;
        entry.define(ctx, "http_only", Val::bool(cookie.http_only))?;
        entry.define(ctx, "secure", Val::bool(cookie.secure))?;
        entry.define(ctx, "max_age", Val::number(cookie.max_age as f64))?;
        entry.define(ctx, "expires", Val::number(cookie.expires_ms.map_or(GO_ZERO_TIME_MS, |ms| ms as f64)))?;
        let list = if object.has(ctx, &cookie.name)? {
            object.get(ctx, &cookie.name)?
        } else {
            let list = ctx.array()?;
            object.define(ctx, &cookie.name, list.clone())?;
            list
        };
        list.define_index(ctx, list.length(ctx)?, entry)?;
    }
    Ok(object)
}

/// k6 shows Go's zero time where a cookie has no expiry, as nanoseconds that do not fit 64 bits.
const GO_ZERO_TIME_MS: f64 = -6_795_364_578_871.0;

fn body(ctx: Ctx, exchange: &Exchange) -> JsResult {
    match exchange.response_type() {
        _ if !exchange.has_body() => Ok(Val::null()),
        ResponseType::None => Ok(Val::null()),
        ResponseType::Text => Val::text(ctx, &exchange.body.bytes()),
        ResponseType::Binary => exchange.body.array_buffer(ctx),
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
    let headers = ctx.object()?;
    let option = &context::thread().config.http.user_agent;
    let user_agent = params.user_agent.as_deref().unwrap_or(option);
    for (name, value) in [("User-Agent", Some(user_agent)), ("Host", params.host.as_deref())] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            push(ctx, &headers, name, Val::string(ctx, value)?)?;
        }
    }
    for (name, value) in params.headers.iter() {
        push(ctx, &headers, name, Val::string(ctx, value)?)?;
    }
    let cookies = ctx.object()?;
    let mut line = params.cookie_header.as_deref().unwrap_or_default().to_owned();
    for (name, value) in &exchange.sent_cookies {
        let entry = ctx.object()?;
        entry.define(ctx, "name", Val::string(ctx, name)?)?;
        entry.define(ctx, "value", Val::string(ctx, value)?)?;
        // k6: false whatever the parameter said.
        entry.define(ctx, "replace", Val::bool(false))?;
        push(ctx, &cookies, name, entry)?;
        line.push_str(if line.is_empty() { "" } else { "; " });
        line.push_str(&format!("{name}={value}"));
    }
    if !line.is_empty() {
        push(ctx, &headers, "Cookie", Val::string(ctx, &line)?)?;
    }
    object.define(ctx, "headers", headers)?;
    object.define_lazy(ctx, "body", REQUEST_BODY)?;
    object.define(ctx, "cookies", cookies)?;
    Ok(object)
}

/// Appends to the array under `name`.
fn push(ctx: Ctx, object: &Handle, name: &str, value: Val) -> JsResult<()> {
    let list = if object.has(ctx, name)? {
        object.get(ctx, name)?
    } else {
        let list = ctx.array()?;
        object.define(ctx, name, list.clone())?;
        list
    };
    list.define_index(ctx, list.length(ctx)?, value)
}

/// Keeps the signature of methods in one place.
pub(super) fn exchange_of(this: &Handle) -> JsResult<&Exchange> {
    HostClass::<Exchange>::expect(this)
}
