//! The exported `options` on their way to JSON text, which cannot hold everything a script can put there.

use crate::embed::{Ctx, Handle, JsResult};

/// Nested values below this are not looked at.
const DEPTH_MAX: usize = 16;
/// Nor are more values than this: options are small, what hangs on them for the script's own use may not be.
const VALUES_MAX: usize = 100_000;

/// What JSON would lose without a word: the first number that is none, and where it stands.
///
/// `vus: parseInt(__ENV.VUS)` without the variable is the common one. JSON has `null` for it, which is as if the option
/// were not set.
pub(super) fn lost_in_json(ctx: Ctx, options: &Handle) -> JsResult<Option<String>> {
    let mut left = VALUES_MAX;
    search(ctx, options, "", DEPTH_MAX, &mut left)
}

fn search(ctx: Ctx, value: &Handle, path: &str, depth: usize, left: &mut usize) -> JsResult<Option<String>> {
    if let Some(number) = value.as_number().filter(|number| !number.is_finite()) {
        let number = if number.is_nan() { "NaN".to_owned() } else { value.to_text(ctx)? };
        return Ok(Some(format!("error parsing script options: {path} is {number}")));
    }
    if value.is_bigint() {
        let shown = value.to_text(ctx)?;
        return Ok(Some(format!(
            "error parsing script options: {path} is the BigInt {shown}n: write {shown}, or Number({shown}n)"
        )));
    }
    // What says itself what it is in JSON, such as a date, is not looked into.
    if depth == 0 || !value.is_object() || value.is_function(ctx) || value.get(ctx, "toJSON")?.is_function(ctx) {
        return Ok(None);
    }
    for key in value.keys(ctx)? {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Ok(None);
        }
        let (item, name) = (value.get(ctx, &key)?, key.text(ctx)?);
        let path = match (value.is_array(), path) {
            (true, _) => format!("{path}[{name}]"),
            (false, "") => name,
            (false, _) => format!("{path}.{name}"),
        };
        if let Some(found) = search(ctx, &item, &path, depth - 1, left)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
