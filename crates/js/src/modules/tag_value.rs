//! Tags given by scripts: string, number or boolean values only.

use crate::embed::{Ctx, Handle, JsResult, JsString, ObjectKind};

/// The text of a tag value, or `None` when the type is not allowed.
pub(super) fn text(ctx: Ctx, value: &Handle) -> JsResult<Option<JsString>> {
    if is_allowed(value) { value.to_js_string(ctx).map(Some) } else { Ok(None) }
}

/// k6: objects made with `new Number()` and `new Boolean()` are fine, those of `new String()` are not.
fn is_allowed(value: &Handle) -> bool {
    value.is_string()
        || value.is_number()
        || value.is_bool()
        || matches!(value.object_kind(), ObjectKind::Number | ObjectKind::Boolean)
}

/// Calls `each` with every tag of `tags`; `Err(name)` names the first with a wrong value. As in k6, a text has its letters
/// as tags, and other values that are no objects have none.
pub(super) fn for_each(ctx: Ctx, tags: &Handle, mut each: impl FnMut(&str, &str)) -> JsResult<Result<(), String>> {
    let spread;
    let tags = if tags.is_string() {
        spread = tags.to_object(ctx)?;
        &*spread
    } else if tags.is_object() {
        tags
    } else {
        return Ok(Ok(()));
    };
    for key in tags.each_key(ctx)? {
        let value = tags.get(ctx, &key)?;
        if !is_allowed(&value) {
            return Ok(Err(key.text(ctx)?));
        }
        value.with_text(ctx, |value| key.with_text(ctx, |name| each(name, value)))??;
    }
    Ok(Ok(()))
}

/// k6's text about a tag whose value has a type tags cannot have.
pub(super) fn complaint(tag: &str) -> String {
    format!(
        "invalid value for metric tag '{tag}': only String, Boolean and Number types are accepted as a metric tag values"
    )
}
