//! Functions and classes as exports of a module.

use crate::embed::{Ctx, Handle, JsResult, Native, Val};

/// Adds an exported function: enumerable, so that it also becomes a named export.
pub(super) fn export<F: Native>(ctx: Ctx, exports: &Handle, name: &str, length: i32, function: F) -> JsResult<()> {
    exports.define(ctx, name, ctx.function(name, length, function)?)
}

/// Adds an exported class.
pub(super) fn export_class<F: Native>(
    ctx: Ctx,
    exports: &Handle,
    name: &str,
    prototype: &Val,
    constructor: F,
) -> JsResult<()> {
    // k6: classes of its modules can be called without `new`.
    let constructor = ctx.callable_constructor(name, 1, constructor)?;
    constructor.define_hidden(ctx, "prototype", prototype.clone())?;
    prototype.define_hidden(ctx, "constructor", constructor.clone())?;
    exports.define(ctx, name, constructor)
}
