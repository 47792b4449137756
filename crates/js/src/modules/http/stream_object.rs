//! `response.body` of `responseType: 'stream'`: what the stream that scripts see asks for its pieces. The stream itself is
//! `ResponseBody` of `streams/readable.js`.

use std::rc::Rc;

use onrush_net::NetError;

use super::body_stream::{BodyStream, OpenBodies};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{promise::settle, streams},
    vu::{context::vu, event_loop},
};

struct BodySource(Rc<BodyStream>);

impl HostObject for BodySource {
    const NAME: &'static str = "Object";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "next", 0, next)?;
    prototype.method(ctx, "wait", 0, wait)?;
    prototype.method(ctx, "cancel", 0, cancel)?;
    HostClass::<BodySource>::set_prototype(ctx, prototype);
    Ok(())
}

/// A stream of what arrives.
pub(super) fn create(ctx: Ctx, stream: &Rc<BodyStream>) -> JsResult {
    let source = HostClass::create(ctx, BodySource(stream.clone()))?;
    streams::response_body(ctx, vu().realm(), &source)
}

fn stream_of(this: &Handle) -> JsResult<&Rc<BodyStream>> {
    HostClass::<BodySource>::expect(this).map(|source| &source.0)
}

/// A promise of the next piece: a child fiber waits for it.
fn next(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let stream = stream_of(this)?.clone();
    let (promise, resolve, reject) = ctx.promise()?;
    let kept = stream.clone();
    event_loop::start(
        move |vu| stream.read(vu),
        move |ctx, read| {
            let piece = read.and_then(|read| value(ctx, &kept, read));
            settle(ctx, piece, &resolve, &reject)
        },
    );
    Ok(promise)
}

/// The next piece, for which the VU waits.
fn wait(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let stream = stream_of(this)?.clone();
    let read = stream.read(vu())?;
    value(ctx, &stream, read)
}

fn value(ctx: Ctx, stream: &Rc<BodyStream>, read: Result<Option<Vec<u8>>, NetError>) -> JsResult {
    match read {
        Ok(Some(bytes)) => ctx.uint8_array(&bytes),
        Ok(None) => {
            OpenBodies::forget(vu(), stream);
            Ok(Val::undefined())
        }
        Err(error) => {
            OpenBodies::forget(vu(), stream);
            Err(Throw::error(error.detail))
        }
    }
}

fn cancel(_: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let stream = stream_of(this)?.clone();
    stream.give_up(vu());
    OpenBodies::forget(vu(), &stream);
    Ok(Val::undefined())
}
