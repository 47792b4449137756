//! `k6/secrets`: `secrets.get(key)` and `secrets.source(name).get(key)`, which return promises.

use std::sync::Arc;

use onrush_secrets::{GetError, Secrets, SourceId};

use super::{export::export, promise::settle};
use crate::{
    embed::{Args, Ctx, HostClass, HostObject, JsResult, Throw, Val},
    vu::{Vu, context::vu, event_loop},
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
            let result = source.and_then(|source| secrets.get(source, &key)).map_err(thrown);
            settle(ctx, result.and_then(|value| Val::string(ctx, &value)), &resolve, &reject)?;
            return Ok(promise);
        }
    };
    let work = move |_: &Vu| secrets.get(source, &key).map_err(thrown);
    event_loop::start(work, move |ctx, result| {
        settle(ctx, result.and_then(|value| Val::string(ctx, &value)), &resolve, &reject)
    });
    Ok(promise)
}

fn thrown(error: GetError) -> Throw {
    match error {
        GetError::Cancelled => Throw::Interrupted,
        error => Throw::error(error.to_string()),
    }
}
