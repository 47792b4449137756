//! Promises of operations, at once or in the background, and what they are rejected with.

use crate::{
    embed::{Ctx, Handle, JsResult, Throw, Val},
    vu::event_loop,
};

/// A promise that the event loop settles after the microtasks that are due, as k6 does with work of its background.
pub(super) fn settled_later(ctx: Ctx, result: Result<Val, Val>) -> JsResult {
    let (promise, resolve, reject) = ctx.promise()?;
    event_loop::later(move |ctx| {
        let (settle, value) = match &result {
            Ok(value) => (&resolve, value),
            Err(reason) => (&reject, reason),
        };
        ctx.call(settle, Handle::UNDEFINED, &[value]).map(drop)
    });
    Ok(promise)
}

/// Settles a promise with what an operation of the background came to. One that was cut short settles nothing.
pub(super) fn settle(ctx: Ctx, result: JsResult, resolve: &Handle, reject: &Handle) -> JsResult<()> {
    match result {
        Ok(value) => ctx.call(resolve, Handle::UNDEFINED, &[&value]).map(drop),
        Err(Throw::Interrupted) => Err(Throw::Interrupted),
        Err(throw) => ctx.call(reject, Handle::UNDEFINED, &[&reason(ctx, throw)]).map(drop),
    }
}

/// The value `throw` throws.
pub(super) fn reason(ctx: Ctx, throw: Throw) -> Val {
    ctx.raise(throw);
    ctx.take_exception_value()
}

/// An error that is its text alone: k6 rejects with errors of Go, which have no name.
pub(super) fn plain_reason(ctx: Ctx, text: &str) -> JsResult {
    let error = reason(ctx, Throw::error(text));
    error.define_hidden(ctx, "name", Val::string(ctx, "")?)?;
    Ok(error)
}

/// An error that has a name and a message, and is written as JSON with both.
pub(super) fn named_reason(ctx: Ctx, name: &str, message: &str) -> JsResult {
    let error = reason(ctx, Throw::error(message));
    error.delete(ctx, "name")?;
    error.delete(ctx, "message")?;
    error.define(ctx, "name", Val::string(ctx, name)?)?;
    error.define(ctx, "message", Val::string(ctx, message)?)?;
    Ok(error)
}
