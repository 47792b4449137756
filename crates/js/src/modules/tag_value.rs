//! Tags given by scripts: string, number or boolean values only.

use crate::embed::{Ctx, Handle, JsResult, JsString};

/// The text of a tag value, or `None` when the type is not allowed.
pub(super) fn text(ctx: Ctx, value: &Handle) -> JsResult<Option<JsString>> {
    if value.is_string() || value.is_number() || value.is_bool() || value.is_bigint() {
        value.to_js_string(ctx).map(Some)
    } else {
        Ok(None)
    }
}

/// Calls `each` with every tag of `tags`; `Err(name)` names the first with a wrong value.
pub(super) fn for_each(ctx: Ctx, tags: &Handle, mut each: impl FnMut(&str, &str)) -> JsResult<Result<(), String>> {
    for key in tags.each_key(ctx)? {
        let name = key.to_js_string(ctx)?;
        let value = tags.get(ctx, &key)?;
        match text(ctx, &value)? {
            Some(value) => each(&name.text(), &value.text()),
            None => return Ok(Err(name.text().into_owned())),
        }
    }
    Ok(Ok(()))
}

/// k6's text about a tag whose value has a type tags cannot have.
pub(super) fn complaint(tag: &str) -> String {
    format!(
        "invalid value for metric tag '{tag}': only String, Boolean and Number types are accepted as a metric tag values"
    )
}
