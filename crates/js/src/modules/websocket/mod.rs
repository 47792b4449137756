//! `k6/ws`, `k6/websockets` and `k6/experimental/websockets`.
//!
//! Both ways to a WebSocket share how it is asked for (`params`, `dial`), what is sent (`line`) and what is measured
//! (`samples`). In `legacy` the call returns when the connection is over, and the VU's fiber waits for it; in `events`
//! the event loop does, for any number of sockets. No socket has a fiber while nothing is to be sent.

mod blob;
mod blob_stream;
mod dial;
mod events;
mod legacy;
mod line;
mod params;
mod pings;
mod samples;

use std::borrow::Cow;

use super::export::export_class;
use crate::embed::{Ctx, Handle, HostClass, JsResult};

pub(super) use legacy::{build as build_legacy, install_classes as install_legacy_classes};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    blob::install_class(ctx)?;
    events::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export_class(ctx, &exports, "Blob", &HostClass::<blob::Blob>::prototype(ctx), blob::construct)?;
    export_class(ctx, &exports, "WebSocket", &events::prototype(ctx), events::construct)?;
    Ok(exports)
}

/// The bytes of an `ArrayBuffer`, or of the part of one that a typed array or `DataView` shows; `None` for anything else.
/// Valid until script code runs again.
fn view_bytes(ctx: Ctx, value: &Handle) -> JsResult<Option<Cow<'_, [u8]>>> {
    if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
        return Ok(Some(Cow::Borrowed(bytes)));
    }
    if !value.is_data_view() {
        return Ok(None);
    }
    let offset = value.get(ctx, "byteOffset")?.to_i64(ctx)?;
    let length = value.get(ctx, "byteLength")?.to_i64(ctx)?;
    // A copy: a script may have put another buffer in its place, which ends with this value.
    let buffer = value.get(ctx, "buffer")?;
    let bytes = buffer.array_buffer(ctx).unwrap_or_default();
    let range = usize::try_from(offset).ok().zip(usize::try_from(offset.saturating_add(length)).ok());
    let window = range.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default();
    Ok(Some(Cow::Owned(window.to_vec())))
}
