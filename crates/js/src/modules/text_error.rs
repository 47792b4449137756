//! Errors that callbacks of connections get: k6 hands out those of Go, whose method `error()` is their text.

use crate::embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Val};

struct TextError(Box<str>);

impl HostObject for TextError {
    const NAME: &'static str = "Error";
}

/// An error of that text.
pub(super) fn create(ctx: Ctx, text: &str) -> JsResult {
    HostClass::create(ctx, TextError(text.into()))
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "error", 0, text)?;
    prototype.method(ctx, "toString", 0, text)?;
    HostClass::<TextError>::set_prototype(ctx, prototype);
    Ok(())
}

fn text(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    Val::string(ctx, &HostClass::<TextError>::expect(this)?.0)
}
