//! The `params` object of a request.

use std::{cell::OnceCell, rc::Rc};

use onrush_metrics::TagNode;
use onrush_net::{RequestHeaders, encoding};
use onrush_plan::parse_extended_duration;

use super::{
    arguments::{Auth, ParamCookie, Params, Problem, ResponseType},
    cookies, expected,
    spelled_out::SpelledOut,
};
use crate::{
    HttpDebug,
    embed::{Ctx, Handle, HostClass, JsResult, ObjectKind},
    modules::{
        go::{OBJECT, go_type},
        tag_value,
    },
    vu::{
        Vu,
        context::{pause, with_named},
    },
};

/// k6's default request timeout.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// The parameters, and the tags of the request's samples: those of the VU and those given.
pub(super) fn parse(ctx: Ctx, vu: &Vu, value: &Handle) -> Result<(Rc<Params>, TagNode), Problem> {
    if !value.is_object() {
        return Ok((shared_plain(vu), vu.node.get()));
    }
    of_literals(ctx, vu, value).unwrap_or_else(|| read(ctx, vu, value))
}

/// The parameters of an object of literals; `None` for any other. Apart, so that the 400 bytes that tell such objects
/// apart are not on the stack of a VU that waits for its response.
#[inline(never)]
fn of_literals(ctx: Ctx, vu: &Vu, value: &Handle) -> Option<Result<(Rc<Params>, TagNode), Problem>> {
    let literals = value.literals()?;
    Some(vu.thread.slots.of::<SpelledOut>().params(ctx, vu, value, &literals))
}

/// Reads the object. The parameters are made in the place where they stay. Not inlined, as the other way.
#[inline(never)]
pub(super) fn read(ctx: Ctx, vu: &Vu, value: &Handle) -> Result<(Rc<Params>, TagNode), Problem> {
    let (mut shared, mut node) = (Rc::new(plain(vu)), vu.node.get());
    let params = Rc::get_mut(&mut shared).expect("nothing else has them yet");
    for key in value.each_key(ctx)? {
        let item = value.get(ctx, &key)?;
        match key.ascii() {
            Some(name) => parameter(ctx, vu, params, &mut node, name, &item)?,
            None => parameter(ctx, vu, params, &mut node, &key.text(ctx)?, &item)?,
        }
    }
    Ok((shared, node))
}

fn parameter(
    ctx: Ctx,
    vu: &Vu,
    params: &mut Params,
    node: &mut TagNode,
    key: &str,
    item: &Handle,
) -> Result<(), Problem> {
    // k6: these mean something, or are an error, whatever they are.
    let is_judged = matches!(key, "redirects" | "responseCallback" | "timeout" | "responseType" | "compression");
    if key == "tags" {
        *node = tags(ctx, vu, params, *node, item)?;
    } else if item.is_set() || is_judged {
        apply(ctx, params, key, item)?;
    }
    Ok(())
}

/// The parameters of requests that give none: one for all VUs of a thread.
#[derive(Default)]
struct PlainParams(OnceCell<Rc<Params>>);

/// The parameters of a request that gives none, shared.
pub(super) fn shared_plain(vu: &Vu) -> Rc<Params> {
    vu.thread.slots.of::<PlainParams>().0.get_or_init(|| Rc::new(plain(vu))).clone()
}

/// The parameters of a request that gives none.
fn plain(vu: &Vu) -> Params {
    let http = &vu.thread.config.http;
    Params {
        headers: RequestHeaders::new(),
        host: None,
        user_agent: None,
        content_length: None,
        cookie_header: None,
        cookies: Vec::new(),
        jar: None,
        shown_tags: Vec::new(),
        name: None,
        timeout_ns: TIMEOUT_NS,
        has_timeout: false,
        redirects: None,
        response_type: if http.discard_response_bodies { ResponseType::None } else { ResponseType::Text },
        compression: Vec::new(),
        callback: None,
        throw: http.throw,
        auth: Auth::Header,
    }
}

fn apply(ctx: Ctx, params: &mut Params, key: &str, value: &Handle) -> Result<(), Problem> {
    match key {
        "headers" => headers(ctx, params, value)?,
        "cookies" => cookies_param(ctx, params, value)?,
        "jar" => {
            // k6 ignores what is no jar.
            params.jar = HostClass::<cookies::Jar>::of(value).map(cookies::Jar::shared);
        }
        "timeout" => {
            params.timeout_ns = timeout(ctx, value)?;
            params.has_timeout = true;
        }
        "redirects" => params.redirects = Some(value.to_i64(ctx)?.clamp(0, i64::from(u32::MAX)) as u32),
        "responseType" => params.response_type = response_type(&value.to_text(ctx)?).map_err(Problem::Refused)?,
        "responseCallback" => {
            let callback = expected::from_value(value)
                .ok_or_else(|| Problem::Refused("unsupported responseCallback".to_owned()))?;
            params.callback = Some(callback);
        }
        "compression" => {
            params.compression = encoding::parse_algorithms(&value.to_text(ctx)?).map_err(Problem::Refused)?;
        }
        "throw" => params.throw = value.truthy(ctx),
        "auth" => {
            // k6: basic is what credentials in the URL mean anyway; unknown words are ignored.
            params.auth = match value.to_text(ctx)?.as_str() {
                "digest" => Auth::Digest,
                "ntlm" => Auth::Ntlm,
                _ => Auth::Header,
            };
        }
        // k6 ignores what it does not know.
        _ => {}
    }
    Ok(())
}

/// Headers after which the thread's other VUs may have their turn.
const HEADERS_PER_PAUSE: usize = 256;

/// Headers and cookies may be given as any value that is set; as an object, a text has its letters.
fn headers(ctx: Ctx, params: &mut Params, value: &Handle) -> JsResult<()> {
    let value = value.to_object(ctx)?;
    for (index, key) in value.each_key(ctx)?.enumerate() {
        if index % HEADERS_PER_PAUSE == HEADERS_PER_PAUSE - 1 {
            pause()?;
        }
        value.get(ctx, &key)?.with_text(ctx, |text| {
            key.with_text(ctx, |name| match special_header(params, name) {
                Some(place) => *place = Some(text.into()),
                None => params.headers.set(name, text),
            })
        })??;
    }
    Ok(())
}

/// Where a header goes that the request itself writes, or looks at.
fn special_header<'a>(params: &'a mut Params, name: &str) -> Option<&'a mut Option<Box<str>>> {
    match name {
        _ if name.eq_ignore_ascii_case("host") => Some(&mut params.host),
        _ if name.eq_ignore_ascii_case("user-agent") => Some(&mut params.user_agent),
        _ if name.eq_ignore_ascii_case("cookie") => Some(&mut params.cookie_header),
        _ if name.eq_ignore_ascii_case("content-length") => Some(&mut params.content_length),
        _ => None,
    }
}

fn cookies_param(ctx: Ctx, params: &mut Params, value: &Handle) -> JsResult<()> {
    let value = value.to_object(ctx)?;
    for key in value.keys(ctx)? {
        let name = key.text(ctx)?;
        let item = value.get(ctx, &key)?;
        if !item.is_set() {
            // k6 leaves it out.
            continue;
        }
        // k6: what is a list, a date, a number ... is a value itself; other objects contain one, or are empty.
        let (value, replace) = if go_type(ctx, &item) == OBJECT {
            let has_value = item.has(ctx, "value")?;
            let value = if has_value { item.get(ctx, "value")?.to_text(ctx)? } else { String::new() };
            (value, item.get(ctx, "replace")?.truthy(ctx))
        } else {
            (item.to_text(ctx)?, false)
        };
        params.cookies.push(ParamCookie { name: name.into(), value: value.into(), replace });
    }
    Ok(())
}

/// Adds the tags given to those of `node`.
fn tags(ctx: Ctx, vu: &Vu, params: &mut Params, node: TagNode, value: &Handle) -> Result<TagNode, Problem> {
    let mut node = node;
    let is_shown = vu.thread.config.http.debug != HttpDebug::Off;
    let outcome = tag_value::for_each(ctx, value, |name, text| {
        if name == "name" {
            params.name = Some(text.into());
            return;
        }
        node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, text);
        if is_shown {
            params.shown_tags.push((name.into(), text.into()));
        }
    })?;
    if let Err(name) = outcome {
        return Err(Problem::Refused(format!("invalid HTTP request metric tags: {}", tag_value::complaint(&name))));
    }
    Ok(node)
}

fn timeout(ctx: Ctx, value: &Handle) -> Result<u64, Problem> {
    let refused = |problem: String| Problem::Refused(format!("invalid timeout value: {problem}"));
    if value.is_number() || value.object_kind() == ObjectKind::Number {
        // k6: zero and less have passed already.
        return Ok((value.to_number(ctx)?.max(0.0) * 1e6).min(u64::MAX as f64) as u64);
    }
    if !value.is_string() {
        return Err(refused(format!("unable to use type {} as a duration value", go_type(ctx, value))));
    }
    let text = value.to_text(ctx)?;
    let duration = parse_extended_duration(&text).map_err(|error| refused(error.to_string()))?;
    Ok(duration.as_ns())
}

fn response_type(text: &str) -> Result<ResponseType, String> {
    match text {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        "stream" => Ok(ResponseType::Stream),
        other => Err(format!("{other} does not belong to ResponseType values")),
    }
}
