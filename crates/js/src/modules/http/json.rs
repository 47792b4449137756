//! `Response.json(selector?)`.

use super::{json_error, response::exchange_of};
use crate::embed::{Args, Ctx, Handle, JsResult, Throw, Val};

/// k6's text for a Response without a body.
const NO_BODY: &str = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";

pub(super) fn json(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let exchange = exchange_of(this)?;
    if !exchange.has_body() {
        return Err(Throw::error(NO_BODY));
    }
    if args.len() > 0 {
        // k6: also `undefined` is a selector once it is given, and names nothing.
        return select(ctx, &exchange.body, &args.at(0).to_text(ctx)?);
    }
    ctx.parse_json(&exchange.body).map_err(|throw| {
        let reason = ctx.take_exception(throw);
        let flaw = json_error::describe(&exchange.body);
        Throw::error(flaw.unwrap_or_else(|| format!("cannot parse json due to an error: {}", reason.message)))
    })
}

/// k6: invalid JSON and missing paths are both `undefined`.
fn select(ctx: Ctx, body: &[u8], selector: &str) -> JsResult {
    let Ok(text) = std::str::from_utf8(body) else { return Ok(Val::undefined()) };
    if !gjson::valid(text) {
        return Ok(Val::undefined());
    }
    for (modifier, wants_keys) in [("@keys", true), ("@values", false)] {
        if let Some(base) = selector.strip_suffix(modifier) {
            let base = base.strip_suffix(['.', '|']).unwrap_or(base);
            let found = gjson::get(text, if base.is_empty() { "@this" } else { base });
            return members(ctx, &found, wants_keys);
        }
    }
    if let Some(base) = selector.strip_suffix("@tostr") {
        let base = base.strip_suffix(['.', '|']).unwrap_or(base);
        let found = gjson::get(text, if base.is_empty() { "@this" } else { base });
        return if found.exists() { Val::string(ctx, found.json()) } else { Ok(Val::undefined()) };
    }
    let found = gjson::get(text, selector);
    if !found.exists() {
        return Ok(Val::undefined());
    }
    let value = ctx.parse_json(found.json().as_bytes())?;
    if selector.contains("{\"") || selector.contains(",\"") { without_quotes(ctx, value) } else { Ok(value) }
}

/// The library keeps the quotes of keys that a multipath gives: `{"years":age}`.
fn without_quotes(ctx: Ctx, value: Val) -> JsResult {
    if !value.is_object() || value.is_array() {
        return Ok(value);
    }
    let object = ctx.object()?;
    for key in value.keys(ctx)? {
        let name = key.text(ctx)?;
        let plain = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(&name);
        object.define(ctx, plain, value.get(ctx, &key)?)?;
    }
    Ok(object)
}

/// GJSON's `@keys` and `@values`, which the library lacks.
fn members(ctx: Ctx, found: &gjson::Value<'_>, wants_keys: bool) -> JsResult {
    let list = ctx.array()?;
    if !found.exists() {
        return Ok(list);
    }
    let object = ctx.parse_json(found.json().as_bytes())?;
    if object.is_object() {
        for (index, key) in object.keys(ctx)?.iter().enumerate() {
            let item = if wants_keys { Val::string(ctx, &key.text(ctx)?)? } else { object.get(ctx, key)? };
            list.define_index(ctx, index as u32, item)?;
        }
    }
    Ok(list)
}
