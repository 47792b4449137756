//! The `params` object of a request.

use onrush_net::{RequestHeaders, encoding};
use onrush_plan::parse_extended_duration;

use super::{
    arguments::{ParamCookie, Params, ResponseType},
    cookies,
    expected,
};
use crate::{
    embed::{Ctx, Handle, HostClass, JsResult, Throw},
    log::Level,
    modules::tag_value,
    vu::Vu,
};

/// k6's default request timeout.
const TIMEOUT_NS: u64 = 60_000_000_000;

pub(super) fn parse(ctx: Ctx, vu: &Vu, value: &Handle) -> JsResult<Params> {
    let http = &vu.thread.config.http;
    let mut params = Params {
        headers: RequestHeaders::new(),
        host: None,
        user_agent: None,
        cookies: Vec::new(),
        jar: None,
        tags: Vec::new(),
        name: None,
        timeout_ns: TIMEOUT_NS,
        redirects: None,
        response_type: if http.discard_bodies { ResponseType::None } else { ResponseType::Text },
        compression: Vec::new(),
        callback: None,
        throw: http.throw,
        node: vu.node.get(),
    };
    if !value.is_object() {
        return Ok(params);
    }
    for key in value.keys(ctx)? {
        let item = value.get(ctx, &key)?;
        if item.is_set() || key.text(ctx)? == "responseCallback" {
            apply(ctx, vu, &mut params, &key.text(ctx)?, &item)?;
        }
    }
    Ok(params)
}

fn apply(ctx: Ctx, vu: &Vu, params: &mut Params, key: &str, value: &Handle) -> JsResult<()> {
    match key {
        "headers" => headers(ctx, vu, params, value)?,
        "cookies" => cookies_param(ctx, params, value)?,
        "jar" => {
            let jar = HostClass::<cookies::Jar>::of(value).ok_or_else(|| Throw::type_error("params.jar must be an http.CookieJar"))?;
            params.jar = Some(jar.shared());
        }
        "tags" => tags(ctx, params, value)?,
        "timeout" => params.timeout_ns = timeout(ctx, value)?,
        "redirects" => params.redirects = Some(value.to_i64(ctx)?.clamp(0, i64::from(u32::MAX)) as u32),
        "responseType" => params.response_type = response_type(&value.to_text(ctx)?)?,
        "responseCallback" => params.callback = Some(expected::from_value(value)?),
        "compression" => {
            params.compression = encoding::parse_algorithms(&value.to_text(ctx)?).map_err(Throw::error)?;
        }
        "throw" => params.throw = value.truthy(ctx),
        "auth" => match value.to_text(ctx)?.as_str() {
            // k6: basic is what credentials in the URL mean anyway; unknown words are ignored.
            scheme @ ("digest" | "ntlm") => {
                return Err(Throw::error(format!("params.auth '{scheme}' is not available in this version of Onrush; use basic authentication or set the Authorization header")));
            }
            _ => {}
        },
        // k6 ignores what it does not know.
        _ => {}
    }
    Ok(())
}

fn headers(ctx: Ctx, vu: &Vu, params: &mut Params, value: &Handle) -> JsResult<()> {
    if !value.is_object() {
        return Ok(());
    }
    for key in value.keys(ctx)? {
        let name = key.text(ctx)?;
        let text = value.get(ctx, &key)?.to_text(ctx)?;
        match name.to_ascii_lowercase().as_str() {
            "host" => params.host = Some(text.into()),
            "user-agent" => params.user_agent = Some(text.into()),
            "content-length" => vu.log(
                Level::Warn,
                format!("The specified Content-Length header \"{text}\" is ignored: the length of the body is sent instead"),
            ),
            _ => params.headers.set(&name, &text),
        }
    }
    Ok(())
}

fn cookies_param(ctx: Ctx, params: &mut Params, value: &Handle) -> JsResult<()> {
    if !value.is_object() {
        return Ok(());
    }
    for key in value.keys(ctx)? {
        let name = key.text(ctx)?;
        let item = value.get(ctx, &key)?;
        let (value, replace) = if item.is_object() {
            (item.get(ctx, "value")?.to_text(ctx)?, item.get(ctx, "replace")?.truthy(ctx))
        } else {
            (item.to_text(ctx)?, false)
        };
        params.cookies.push(ParamCookie { name: name.into(), value: value.into(), replace });
    }
    Ok(())
}

fn tags(ctx: Ctx, params: &mut Params, value: &Handle) -> JsResult<()> {
    if !value.is_object() {
        return Err(Throw::error("invalid HTTP request metric tags: tags must be an object"));
    }
    let mut given: Vec<(Box<str>, Box<str>)> = Vec::new();
    let outcome = tag_value::for_each(ctx, value, |name, text| given.push((Box::from(name), Box::from(text))))?;
    if let Err(name) = outcome {
        return Err(Throw::error(format!(
            "invalid HTTP request metric tags: invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
        )));
    }
    for (name, text) in given {
        if &*name == "name" {
            params.name = Some((&*text).into());
        } else {
            params.tags.push((name, text));
        }
    }
    Ok(())
}

fn timeout(ctx: Ctx, value: &Handle) -> JsResult<u64> {
    if value.is_number() {
        return Ok((value.to_number(ctx)?.max(0.0) * 1e6).min(u64::MAX as f64) as u64);
    }
    let text = value.to_text(ctx)?;
    let duration = parse_extended_duration(&text).map_err(|error| Throw::error(format!("invalid timeout value: {error}")))?;
    Ok(duration.as_ns())
}

fn response_type(text: &str) -> JsResult<ResponseType> {
    match text {
        "text" | "" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => Err(Throw::error(format!("{other} is not a valid response type, use 'text', 'binary' or 'none'"))),
    }
}
