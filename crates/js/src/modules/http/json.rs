//! `Response.json(selector?)`.

use super::{json_error, response::exchange_of, selector};
use crate::embed::{Args, Ctx, Handle, JsResult, Throw, Val};

/// k6's text for a Response without a body.
const NO_BODY: &str = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";

pub(super) fn json(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let body = exchange_of(this)?.whole_body(NO_BODY)?;
    if args.len() > 0 {
        // k6: also `undefined` is a selector once it is given, and names nothing.
        return select(ctx, &body, &args.at(0).to_text(ctx)?);
    }
    ctx.parse_json(&body).map_err(|throw| {
        let reason = ctx.take_exception(throw);
        let flaw = json_error::describe(&body);
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
fn find(text: &str, path: &str) -> Result<Option<String>, Throw> {
    let parts = path.bytes().filter(|byte| b"{[(|.@!#".contains(byte)).count();
    if parts > SELECTOR_PARTS_MAX {
        return Err(Throw::error(format!("a JSON selector has at most {SELECTOR_PARTS_MAX} parts, this one {parts}")));
    }
    selector::find(text, path).map_err(|error| Throw::error(error.to_string()))
}

/// Parts of a selector, for each of which the library may call itself.
const SELECTOR_PARTS_MAX: usize = 250;

/// Feeds arbitrary text to selectors: the first line is the selector, the rest the document. The entry of the fuzz
/// target: panics are findings, and so are running on and on, and texts that are no JSON although nothing in the
/// selector makes texts.
pub(crate) fn fuzz(text: &str) {
    let (selector, document) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(Some(found)) = find(document, selector) else { return };
    // Modifiers with odd arguments make texts that are no JSON; then the script gets a SyntaxError.
    if !selector.contains(['@', '!', '{', '[']) {
        assert!(gjson::valid(&found), "{found}");
    }
}
