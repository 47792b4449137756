//! `Response.json(selector?)`.

use super::{json_error, response::exchange_of, selector};
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
fn select(ctx: Ctx, body: &[u8], path: &str) -> JsResult {
    let Ok(text) = std::str::from_utf8(body) else { return Ok(Val::undefined()) };
    match find(text, path)? {
        Some(found) => ctx.parse_json(found.as_bytes()),
        None => Ok(Val::undefined()),
    }
}

/// Looks for a selector in a document; `None` when it is not there, or that is no JSON.
///
/// The library calls itself for every level of a document and for every part of a selector, so what is deep
/// enough to exhaust a stack never reaches it.
fn find(text: &str, path: &str) -> Result<Option<String>, Throw> {
    if nesting(text) > NESTING_MAX {
        return Err(Throw::error(format!(
            "cannot look for a selector in JSON that is nested more than {NESTING_MAX} levels deep"
        )));
    }
    let parts = path.bytes().filter(|byte| b"{[(|.@!#".contains(byte)).count();
    if parts > SELECTOR_PARTS_MAX {
        return Err(Throw::error(format!("a JSON selector has at most {SELECTOR_PARTS_MAX} parts, this one {parts}")));
    }
    Ok(if gjson::valid(text) { selector::select(text, path) } else { None })
}

/// How deep objects and arrays are nested, whether or not the text is valid.
pub(super) fn nesting(text: &str) -> usize {
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
pub(super) const NESTING_MAX: usize = 500;
/// Parts of a selector, each of which may be a call of the library's.
const SELECTOR_PARTS_MAX: usize = 250;

/// Feeds arbitrary text to selectors: the first line is the selector, the rest the document. The entry of
/// the fuzz target: panics are findings, and so are running on and on, and texts that are no JSON although nothing
/// in the selector makes texts.
pub(crate) fn fuzz(text: &str) {
    let (selector, document) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(Some(found)) = find(document, selector) else { return };
    // Modifiers with odd arguments make texts that are no JSON; then the script gets a SyntaxError.
    if !selector.contains(['@', '!', '{', '[']) {
        assert!(gjson::valid(&found), "{found}");
    }
}
