//! `http.CookieJar` and the VU's own jar.

use std::{cell::RefCell, rc::Rc};

use onrush_fiber::Clock;
use onrush_net::{CookieJar, HeaderBlock, SetCookie, Url, cookie::parse_http_date, header};

use super::{
    lists::Lists,
    state::{HttpState, SharedJar},
    url_template::parse_url,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::{Vu, context::vu},
};

/// A jar as scripts hold it.
pub(super) struct Jar(Rc<RefCell<CookieJar>>);

impl HostObject for Jar {
    const NAME: &'static str = "CookieJar";
}

impl Jar {
    pub(super) fn shared(&self) -> Rc<RefCell<CookieJar>> {
        self.0.clone()
    }
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "cookiesForURL", 1, cookies_for_url)?;
    prototype.method(ctx, "set", 4, set)?;
    prototype.method(ctx, "clear", 1, clear)?;
    prototype.method(ctx, "delete", 2, delete)?;
    HostClass::<Jar>::set_prototype(ctx, prototype);
    Ok(())
}

fn in_vu_context() -> JsResult<()> {
    if vu().in_init() { Err(Throw::error("Making cookie jars in the init context is not supported")) } else { Ok(()) }
}

pub(super) fn construct(ctx: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    HostClass::create(ctx, Jar(Rc::default()))
}

/// `http.cookieJar()`: the jar this iteration's requests use.
pub(super) fn vu_jar(ctx: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    in_vu_context()?;
    let vu = vu();
    HostClass::create(ctx, Jar(HttpState::of(vu).jar_or_new(vu)))
}

/// Wall-clock milliseconds, for cookies' expiry.
pub(super) fn now_ms() -> i64 {
    Clock::unix_ms(Clock::now()) as i64
}

/// The jar a script gives, if it is one.
pub(in crate::modules) fn given_jar(value: &Handle) -> Option<SharedJar> {
    HostClass::<Jar>::of(value).map(Jar::shared)
}

/// The jar this call's requests use, made if there is none.
pub(in crate::modules) fn own_jar(vu: &Vu) -> SharedJar {
    HttpState::of(vu).jar_or_new(vu)
}

/// What a jar has for a URL, as a `Cookie` header has it.
pub(in crate::modules) fn cookie_header(jar: &SharedJar, url: &Url) -> Option<String> {
    let jar = jar.borrow();
    let mut line = Vec::new();
    for cookie in jar.for_url(url, now_ms()) {
        if !line.is_empty() {
            line.extend_from_slice(b"; ");
        }
        push_cookie(&mut line, cookie.name, cookie.value, cookie.quoted);
    }
    (!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned())
}

/// Keeps the cookies of a response's headers.
pub(in crate::modules) fn store_cookies(jar: &SharedJar, url: &Url, headers: &HeaderBlock) {
    if headers.has_set_cookie() {
        jar.borrow_mut().store(url, headers.get_all("set-cookie"), now_ms());
    }
}

/// The names and values in a `Cookie` header, as Go reads them: what cannot be a cookie is left out.
pub(super) fn in_header(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split(';').filter_map(|part| {
        let part = part.trim();
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        let is_name = !name.is_empty() && name.bytes().all(header::is_token_byte);
        (is_name && value.bytes().all(is_value_byte)).then_some((name, value))
    })
}

/// What may be in the value of a cookie.
fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b';' | b'\\')
}

/// Appends a cookie as Go writes it.
pub(super) fn push_cookie(line: &mut Vec<u8>, name: &str, value: &str, is_quoted: bool) {
    line.extend(name.bytes().map(|byte| if matches!(byte, b'\r' | b'\n' | 0) { b'-' } else { byte }));
    line.push(b'=');
    // Go: quotes around values with blanks or commas, and no bytes that would end a value.
    let quote: &[u8] = if is_quoted || value.contains([' ', ',']) { b"\"" } else { b"" };
    line.extend_from_slice(quote);
    line.extend(value.bytes().filter(|&byte| is_value_byte(byte)));
    line.extend_from_slice(quote);
}

fn url(ctx: Ctx, value: &Handle) -> JsResult<Url> {
    // k6: without what requests say in front of it.
    parse_url(&value.to_text(ctx)?)
        .map_err(|error| Throw::error(error.message.trim_start_matches("invalid URL: ").to_owned()))
}

fn cookies_for_url(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let url = url(ctx, args.at(0))?;
    // Making values may suspend this VU, and its own requests that run meanwhile store cookies: nothing is borrowed then.
    let found: Vec<(String, String)> = {
        let jar = HostClass::<Jar>::expect(this)?.0.borrow();
        jar.for_url(&url, now_ms())
            .into_iter()
            .map(|cookie| (cookie.name.to_owned(), cookie.value.to_owned()))
            .collect()
    };
    let mut lists = Lists::default();
    for (name, value) in &found {
        lists.push(name, Val::string(ctx, value)?);
    }
    lists.object(ctx)
}

fn set(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let url = url(ctx, args.at(0))?;
    let mut cookie =
        SetCookie { name: args.at(1).to_text(ctx)?, value: args.at(2).to_text(ctx)?, ..SetCookie::default() };
    let options = args.at(3);
    if options.is_object() {
        let text = |key: &str| -> JsResult<Option<String>> {
            let value = options.get(ctx, key)?;
            if value.is_set() { value.to_text(ctx).map(Some) } else { Ok(None) }
        };
        cookie.path = text("path")?.unwrap_or_default();
        cookie.domain = text("domain")?.unwrap_or_default();
        cookie.secure = options.get(ctx, "secure")?.truthy(ctx);
        cookie.http_only = options.get(ctx, "http_only")?.truthy(ctx);
        let max_age = options.get(ctx, "max_age")?;
        if max_age.is_set() {
            cookie.max_age = max_age.to_i64(ctx)?;
        }
        if let Some(date) = text("expires")?.filter(|date| !date.is_empty()) {
            let parsed = parse_http_date(&date).ok_or_else(|| {
                Throw::error(format!(
                    "unable to parse \"expires\" date string \"{date}\": use the form Mon, 02 Jan 2006 15:04:05 GMT"
                ))
            })?;
            cookie.expires_ms = Some(parsed);
        }
    }
    HostClass::<Jar>::expect(this)?.0.borrow_mut().set(&url, &cookie, now_ms());
    Ok(Val::bool(true))
}

fn clear(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let url = url(ctx, args.at(0))?;
    HostClass::<Jar>::expect(this)?.0.borrow_mut().clear(&url, now_ms());
    Ok(Val::undefined())
}

fn delete(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let url = url(ctx, args.at(0))?;
    let name = args.at(1).to_text(ctx)?;
    HostClass::<Jar>::expect(this)?.0.borrow_mut().delete(&url, &name);
    Ok(Val::undefined())
}
