//! `k6/secrets`: `secrets.get(key)` and `secrets.source(name).get(key)`, which return promises.

use std::sync::Arc;

use onrush_secrets::{GetError, Secrets, SourceId};

use super::export::export;
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::{self, vu},
};

/// What `secrets.source(name)` returns.
struct Source(SourceId);

impl HostObject for Source {
    const NAME: &'static str = "SecretSource";
}

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "get", 1, |ctx, this, args| {
        let source = HostClass::<Source>::expect(this)?.0;
        get(ctx, Ok(source), args)
    })?;
    HostClass::<Source>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "get", 1, |ctx, _, args| get(ctx, secrets().source(None), args))?;
    export(ctx, &exports, "source", 1, |ctx, _, args| {
        let name = args.at(0).to_text(ctx)?;
        let source = secrets().source(Some(&name)).map_err(|error| Throw::error(error.to_string()))?;
        HostClass::create(ctx, Source(source))
    })?;
    Ok(exports)
}

fn secrets() -> Arc<Secrets> {
    vu().script().secrets.clone()
}

/// A promise of the secret. Whatever may take time happens on a fiber of its own.
fn get(ctx: Ctx, source: Result<SourceId, GetError>, args: Args<'_>) -> JsResult {
    let key = args.at(0).to_text(ctx)?;
    let (promise, resolve, reject) = ctx.promise()?;
    let secrets = secrets();
    let source = match source {
        Ok(source) if secrets.waits(source) => source,
        source => {
            let result = source.and_then(|source| secrets.get(source, &key));
            settle(ctx, result, &resolve, &reject)?;
            return Ok(promise);
        }
    };
    let vu = vu();
    vu.event_loop.begin();
    let own = context::vu_rc();
    let fiber = onrush_fiber::spawn(None, move || {
        let result = secrets.get(source, &key);
        own.event_loop.complete(Box::new(move |ctx| settle(ctx, result, &resolve, &reject)));
        own.children.borrow_mut().retain(|child| Some(*child) != onrush_fiber::current());
        if let Some(fiber) = own.fiber.get() {
            onrush_fiber::unpark(fiber);
        }
    });
    vu.children.borrow_mut().push(fiber);
    Ok(promise)
}

fn settle(ctx: Ctx, result: Result<String, GetError>, resolve: &Handle, reject: &Handle) -> JsResult<()> {
    match result {
        Ok(value) => {
            let value = Val::string(ctx, &value)?;
            ctx.call(resolve, Handle::UNDEFINED, &[&value]).map(drop)
        }
        Err(GetError::Cancelled) => Err(Throw::Interrupted),
        Err(error) => {
            ctx.raise(Throw::error(error.to_string()));
            let reason = ctx.take_exception_value();
            ctx.call(reject, Handle::UNDEFINED, &[&reason]).map(drop)
        }
    }
}
