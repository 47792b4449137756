//! Cookies: reading them, and endpoints that set and delete them.

use std::borrow::Cow;

use super::request::{
    FIELDS_MAX, GET, Outcome, allow, bad_request, decode, field, fields, not_found, number_field, parse_size,
};
use crate::{head::Head, json::Json, reply::Built, response_head::is_token, routes::echo::write_fields};

/// Bytes of cookies' values in one response.
const COOKIE_BYTES_MAX: u64 = 1024 * 1024;

/// The request's cookies, in order.
pub(super) fn cookies<'a>(head: &'a Head<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    head.headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("cookie"))
        .filter_map(|header| std::str::from_utf8(header.value).ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .take(FIELDS_MAX)
}

/// The first cookie of that name.
pub(super) fn cookie<'a>(head: &'a Head<'_>, name: &str) -> Option<&'a str> {
    cookies(head).find(|(key, _)| *key == name).map(|(_, value)| value)
}

pub(super) fn show(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    let mut json = Json::new();
    json.open();
    json.key("cookies");
    let pairs = cookies(head).map(|(key, value)| (Cow::Borrowed(key), Cow::Borrowed(value)));
    write_fields(&mut json, pairs.collect());
    json.close();
    Ok(Built::json(json.finish()))
}

pub(super) fn set_all(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    let mut built = Built::empty(302).with("Location", "/cookies");
    for (name, value) in fields(head.query.as_bytes()) {
        if name != "delay_ms" {
            built.add("Set-Cookie", &set(&name, &value)?);
        }
    }
    Ok(built)
}

/// `/cookies/raw?set=…`: `Set-Cookie` lines as they are given, with any attribute.
pub(super) fn raw(head: &Head<'_>) -> Outcome {
    let mut built = Built::empty(200);
    for (name, value) in fields(head.query.as_bytes()) {
        if name == "set" {
            built.add("Set-Cookie", &value);
        }
    }
    if let Some(location) = field(head.query, "location") {
        built.status = 302;
        built.add("Location", &location);
    }
    Ok(built)
}

/// `/cookies/set/{name}/{value}`.
pub(super) fn set_one(head: &Head<'_>, rest: &str) -> Outcome {
    let (name, value) = rest.strip_prefix("set/").and_then(|pair| pair.split_once('/')).ok_or_else(not_found)?;
    allow(head, GET)?;
    let cookie = set(&decode(name), &decode(value))?;
    Ok(Built::empty(302).with("Location", "/cookies").with("Set-Cookie", &cookie))
}

pub(super) fn delete(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    let mut built = Built::empty(302).with("Location", "/cookies");
    for (name, _) in fields(head.query.as_bytes()) {
        if name != "delay_ms" {
            let gone = set(&name, "")?;
            let cookie = format!("{gone}; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
            built.add("Set-Cookie", &cookie);
        }
    }
    Ok(built)
}

/// `/cookies/many/{n}?bytes=`: so many cookies with values of so many bytes.
pub(super) fn many(head: &Head<'_>, count: &str) -> Outcome {
    allow(head, GET)?;
    let count =
        parse_size(count).filter(|count| *count <= FIELDS_MAX).ok_or_else(|| bad_request("up to 1000 cookies"))?;
    let bytes = number_field(head.query, "bytes", 1)?;
    if bytes.saturating_mul(count as u64) > COOKIE_BYTES_MAX {
        return Err(bad_request("up to 1048576 bytes of values"));
    }
    let value = "v".repeat(bytes as usize);
    let mut built = Built::empty(200);
    for number in 0..count {
        built.add("Set-Cookie", &format!("c{number}={value}; Path=/"));
    }
    Ok(built)
}

fn set(name: &str, value: &str) -> Result<String, Box<Built>> {
    let clean = value.bytes().all(|byte| byte > b' ' && byte != 0x7f && byte != b';');
    if !is_token(name.as_bytes()) || !clean {
        return Err(bad_request("not a cookie's name or value"));
    }
    Ok(format!("{name}={value}; Path=/"))
}
