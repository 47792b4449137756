//! Global functions and variables k6 adds to the language.

use onrush_script::mixed_styles_message;

use super::{collation, console, encoder, files};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw, Val},
    vu::{context::vu, modules::require_function},
};

/// Adds the globals to a realm. They read the VU that runs, so the dense layout's VUs share them. Returns the stock
/// `ArrayBuffer.prototype.slice`.
pub(super) fn install(ctx: Ctx, extended_mode: bool) -> JsResult {
    let global = ctx.global();
    let reader = |name: &str, getter: Val| global.define_getter(ctx, name, getter);
    reader("__VU", ctx.getter("__VU", |_, _| Ok(Val::number(vu().id as f64)))?)?;
    reader(
        "__ITER",
        ctx.getter("__ITER", |_, _| Ok(vu().iteration.get().map_or_else(Val::undefined, |n| Val::number(n as f64))))?,
    )?;
    reader("__ENV", ctx.getter("__ENV", |_, _| vu().env())?)?;
    if extended_mode {
        reader("global", ctx.getter("global", |ctx, _| Ok(ctx.global()))?)?;
    }
    for identifier in ["module", "exports"] {
        // CommonJS wrappers have them as parameters: only an ES module gets this far.
        let getter = match identifier {
            "module" => ctx.getter(identifier, |_, _| Err(Throw::error(mixed_styles_message("module"))))?,
            _ => ctx.getter(identifier, |_, _| Err(Throw::error(mixed_styles_message("exports"))))?,
        };
        global.define_getter(ctx, identifier, getter)?;
    }
    global.define_hidden(ctx, "require", require_function(ctx, None)?)?;
    global.method(ctx, "open", 2, files::open)?;
    global.method(ctx, "setTimeout", 2, |ctx, _, args| set_timer(ctx, args, "setTimeout"))?;
    global.method(ctx, "setInterval", 2, |ctx, _, args| set_timer(ctx, args, "setInterval"))?;
    global.method(ctx, "clearTimeout", 1, clear_timer)?;
    global.method(ctx, "clearInterval", 1, clear_timer)?;
    console::install(ctx, &global)?;
    encoder::install(ctx, &global)?;
    collation::install(ctx, &global)?;
    // Absent in k6, present in QuickJS: scripts probe for them to find out where they run.
    for name in
        ["performance", "queueMicrotask", "atob", "btoa", "DOMException", "navigator", "scriptArgs", "print", "gc"]
    {
        if global.has(ctx, name)? {
            global.delete(ctx, name)?;
        }
    }
    let buffer = global.get(ctx, "ArrayBuffer")?.get(ctx, "prototype")?;
    let stock = buffer.get(ctx, "slice")?;
    buffer.method(ctx, "slice", 2, files::slice)?;
    Ok(stock)
}

/// `setTimeout` and `setInterval`.
pub(crate) fn set_timer(ctx: Ctx, args: Args<'_>, name: &str) -> JsResult {
    let callback = args.at(0);
    if !callback.is_function(ctx) {
        return Err(Throw::error(format!("{name}'s callback isn't a callable function")));
    }
    let delay_ms = if args.at(1).is_undefined() { 0.0 } else { args.at(1).to_number(ctx)? };
    let rest: Box<[Val]> = args.iter().skip(2).map(Handle::dup).collect();
    let id = vu().event_loop.add_timer(callback.dup(), rest, delay_ms, name == "setInterval")?;
    Ok(Val::number(f64::from(id)))
}

/// `clearTimeout` and `clearInterval`.
pub(crate) fn clear_timer(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if let Ok(id) = u32::try_from(args.at(0).to_i64(ctx)?) {
        vu().event_loop.clear_timer(id);
    }
    Ok(Val::undefined())
}
