//! `Blob.stream()`: a blob piece by piece, as a `ReadableStream` of `k6/experimental/streams`.

use std::cell::Cell;

use bytes::Bytes;

use crate::{
    embed::{Args, Charge, Ctx, Handle, HostClass, HostObject, JsResult, Val},
    modules::streams,
    vu::context,
};

/// What the stream asks for pieces.
struct Source {
    bytes: Bytes,
    at: Cell<usize>,
    _charge: Charge,
}

impl HostObject for Source {
    const NAME: &'static str = "Object";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "pull", 1, pull)?;
    HostClass::<Source>::set_prototype(ctx, prototype);
    Ok(())
}

/// A stream of these bytes, which the blob has as well.
pub(super) fn create(ctx: Ctx, bytes: Bytes) -> JsResult {
    let charge = Charge::take(bytes.len())?;
    let source = HostClass::create(ctx, Source { bytes, at: Cell::new(0), _charge: charge })?;
    streams::readable(ctx, context::vu().realm(), &source)
}

/// k6: pieces are texts, and an empty one comes last.
fn pull(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let source = HostClass::<Source>::expect(this)?;
    let rest = &source.bytes[source.at.get()..];
    let piece = &rest[..rest.len().min(PIECE_BYTES)];
    source.at.set(source.at.get() + piece.len());
    let controller = args.at(0);
    let enqueue = controller.get(ctx, "enqueue")?;
    let text = Val::text(ctx, piece)?;
    ctx.call(&enqueue, controller, &[&text])?;
    if piece.is_empty() {
        let close = controller.get(ctx, "close")?;
        ctx.call(&close, controller, &[])?;
    }
    Ok(Val::undefined())
}

/// k6: its number.
const PIECE_BYTES: usize = 1024;
