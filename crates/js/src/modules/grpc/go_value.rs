//! Script values as Go's `%#v` prints them: what k6 shows of a parameter it does not take.

use onrush_net::go_quote;

use crate::{
    embed::{Ctx, Handle, JsResult},
    modules::go::go_number,
};

/// `"text"`, `1`, `true`, `map[string]interface {}{"cert":0}`.
pub(super) fn shown(ctx: Ctx, value: &Handle) -> JsResult<String> {
    shown_within(ctx, value, DEPTH_MAX)
}

fn shown_within(ctx: Ctx, value: &Handle, depth: u32) -> JsResult<String> {
    if !value.is_set() {
        // Go: within something else its type is shown.
        return Ok(if depth == DEPTH_MAX { "<nil>" } else { "interface {}(nil)" }.to_owned());
    }
    if value.is_string() {
        return Ok(go_quote(&value.to_text(ctx)?));
    }
    if let Some(number) = value.as_number() {
        return Ok(go_number(number));
    }
    if !value.is_object() {
        return value.to_text(ctx);
    }
    let (open, close) = if value.is_array() { ("[]interface {}{", "}") } else { ("map[string]interface {}{", "}") };
    let mut items = Vec::new();
    for key in value.keys(ctx)?.iter().take(ITEMS_MAX) {
        let text = match depth.checked_sub(1) {
            Some(depth) => shown_within(ctx, &*value.get(ctx, key)?, depth)?,
            None => "…".to_owned(),
        };
        items.push(if value.is_array() { text } else { format!("{}:{text}", go_quote(&key.text(ctx)?)) });
    }
    if !value.is_array() {
        items.sort();
    }
    Ok(format!("{open}{}{close}", items.join(", ")))
}

/// Members shown of an object.
const ITEMS_MAX: usize = 100;
const DEPTH_MAX: u32 = 8;
