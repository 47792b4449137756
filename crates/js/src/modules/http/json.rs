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
    for (modifier, wants_keys) in [("@keys", true), ("@values", false)] {
        if let Some(base) = selector.strip_suffix(modifier) {
            let base = base.strip_suffix(['.', '|']).unwrap_or(base);
            return match find(text, if base.is_empty() { "@this" } else { base })? {
                Some(found) => members(ctx, &found, wants_keys),
                None => Ok(Val::undefined()),
            };
        }
    }
    if let Some(base) = selector.strip_suffix("@tostr") {
        let base = base.strip_suffix(['.', '|']).unwrap_or(base);
        return match find(text, if base.is_empty() { "@this" } else { base })? {
            Some(found) if found.exists() => Val::string(ctx, found.json()),
            _ => Ok(Val::undefined()),
        };
    }
    let Some(found) = find(text, selector)?.filter(gjson::Value::exists) else { return Ok(Val::undefined()) };
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

/// Looks for a selector in a document; `None` when that is no JSON.
///
/// The library calls itself for every level of a document and for every part of a selector, so what is deep
/// enough to exhaust a stack never reaches it.
fn find<'a>(text: &'a str, selector: &'a str) -> Result<Option<gjson::Value<'a>>, Throw> {
    if nesting(text) > NESTING_MAX {
        return Err(Throw::error(format!(
            "cannot look for a selector in JSON that is nested more than {NESTING_MAX} levels deep"
        )));
    }
    let parts = selector.bytes().filter(|byte| b"{[(|.@!#".contains(byte)).count();
    if parts > SELECTOR_PARTS_MAX {
        return Err(Throw::error(format!("a JSON selector has at most {SELECTOR_PARTS_MAX} parts, this one {parts}")));
    }
    Ok(gjson::valid(text).then(|| gjson::get(text, selector)))
}

/// How deep objects and arrays are nested, whether or not the text is valid.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => _ = bytes.next(),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

/// Deeper than any document people write, and shallow enough for the stack of a VU: the library takes some 200
/// bytes of it a level.
const NESTING_MAX: usize = 500;
/// Parts of a selector, each of which may be a call of the library's.
const SELECTOR_PARTS_MAX: usize = 250;

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

/// Feeds arbitrary text to selectors: the first line is the selector, the rest the document. The entry of
/// the fuzz target: panics are findings, and so is running on and on.
pub(crate) fn fuzz(text: &str) {
    let (selector, document) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(Some(found)) = find(document, selector) {
        // Modifiers with odd arguments make texts that are no JSON; then the script gets a SyntaxError.
        let _ = (found.exists(), found.json().len(), found.str().len());
    }
}
