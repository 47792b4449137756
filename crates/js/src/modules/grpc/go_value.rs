//! Script values as Go's `%#v` prints them: what k6 shows of a parameter it does not take.

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
        return Ok(quoted(&value.to_text(ctx)?));
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
        items.push(if value.is_array() { text } else { format!("{}:{text}", quoted(&key.text(ctx)?)) });
    }
    if !value.is_array() {
        items.sort();
    }
    Ok(format!("{open}{}{close}", items.join(", ")))
}

/// A text in Go's quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Members shown of an object.
const ITEMS_MAX: usize = 100;
const DEPTH_MAX: u32 = 8;

#[cfg(test)]
mod tests {
    #[test]
    fn quotes_are_gos() {
        assert_eq!(super::quoted("a\"b\\\n\u{1}é"), "\"a\\\"b\\\\\\n\\x01é\"");
    }
}
