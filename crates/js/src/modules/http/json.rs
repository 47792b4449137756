//! `Response.json(selector?)`.

use super::response::exchange_of;
use crate::embed::{Args, Ctx, Exception, Handle, JsResult, Throw, Val};

/// k6's text for a Response without a body.
const NO_BODY: &str = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";

pub(super) fn json(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let exchange = exchange_of(this)?;
    let is_null = exchange.response_type() == super::arguments::ResponseType::None || (exchange.error.is_some() && exchange.body.is_empty());
    if is_null {
        return Err(Throw::error(NO_BODY));
    }
    let selector = args.at(0);
    if selector.is_set() {
        let selector = selector.to_text(ctx)?;
        return select(ctx, &exchange.body, &selector);
    }
    ctx.parse_json(&exchange.body).map_err(|throw| {
        let reason = ctx.take_exception(throw);
        Throw::error(describe(&exchange.body, &reason))
    })
}

/// k6: invalid JSON and missing paths are both `undefined`.
fn select(ctx: Ctx, body: &[u8], selector: &str) -> JsResult {
    let Ok(text) = std::str::from_utf8(body) else { return Ok(Val::undefined()) };
    if !gjson::valid(text) {
        return Ok(Val::undefined());
    }
    let found = gjson::get(text, selector);
    if !found.exists() { Ok(Val::undefined()) } else { ctx.parse_json(found.json().as_bytes()) }
}

/// k6's message, with the place of the error as line and character.
fn describe(body: &[u8], reason: &Exception) -> String {
    let text = String::from_utf8_lossy(body);
    let error = serde_json::from_str::<serde_json::Value>(&text).err();
    match error {
        Some(error) => format!("cannot parse json due to an error at line {}, character {} , error: {error}", error.line(), error.column()),
        None => format!("cannot parse json due to an error: {}", reason.message),
    }
}
