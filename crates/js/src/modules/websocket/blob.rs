//! `Blob`: bytes that do not change, with a type.

use bytes::Bytes;

use super::blob_stream;
use crate::{
    embed::{Args, Charge, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::{export::export, go::go_type},
};

/// A blob as scripts hold it. Slices of it share its bytes.
pub(super) struct Blob {
    bytes: Bytes,
    kind: String,
    _charge: Charge,
}

impl HostObject for Blob {
    const NAME: &'static str = "Blob";
}

impl Blob {
    /// The bytes of a value that is a blob.
    pub(super) fn bytes_of(value: &Handle) -> Option<Bytes> {
        HostClass::<Self>::of(value).map(|blob| blob.bytes.clone())
    }

    /// A new blob.
    pub(super) fn create(ctx: Ctx, bytes: Bytes, kind: String) -> JsResult {
        let charge = Charge::take(bytes.len() + kind.len())?;
        HostClass::create(ctx, Self { bytes, kind, _charge: charge })
    }
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.define_getter(
        ctx,
        "size",
        ctx.getter("size", |_, this| Ok(Val::number(blob(this)?.bytes.len() as f64)))?,
    )?;
    prototype.define_getter(ctx, "type", ctx.getter("type", |ctx, this| Val::string(ctx, &blob(this)?.kind))?)?;
    export(ctx, &prototype, "arrayBuffer", 0, |ctx, this, _| promised(ctx, ctx.array_buffer(&blob(this)?.bytes)?))?;
    export(ctx, &prototype, "bytes", 0, |ctx, this, _| promised(ctx, ctx.uint8_array(&blob(this)?.bytes)?))?;
    export(ctx, &prototype, "slice", 3, slice)?;
    export(ctx, &prototype, "text", 0, |ctx, this, _| promised(ctx, Val::text(ctx, &blob(this)?.bytes)?))?;
    export(ctx, &prototype, "stream", 0, |ctx, this, _| blob_stream::create(ctx, blob(this)?.bytes.clone()))?;
    HostClass::<Blob>::set_prototype(ctx, prototype);
    blob_stream::install_class(ctx)
}

fn blob(this: &Handle) -> JsResult<&Blob> {
    HostClass::<Blob>::expect(this)
}

/// A promise that is fulfilled already.
fn promised(ctx: Ctx, value: Val) -> JsResult {
    let (promise, resolve, _) = ctx.promise()?;
    ctx.call(&resolve, Handle::UNDEFINED, &[&value])?;
    Ok(promise)
}

/// `new Blob(parts?, options?)`.
pub(super) fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let bytes = if args.at(0).is_set() { joined(ctx, args.at(0))? } else { Vec::new() };
    let mut kind = String::new();
    let options = args.at(1);
    if !options.is_undefined() {
        if !options.is_object() {
            return Err(Throw::error("[options] must be an object"));
        }
        let given = options.get(ctx, "type")?;
        if given.is_set() {
            kind = given.to_text(ctx)?;
        }
    }
    Blob::create(ctx, bytes.into(), kind)
}

/// The bytes of all parts.
fn joined(ctx: Ctx, parts: &Handle) -> JsResult<Vec<u8>> {
    let failed = |reason: String| Throw::error(format!("failed to process [blobParts]: {reason}"));
    if !parts.is_object() {
        return Err(failed(format!("could not convert {} to []interface {{}}", parts.to_text(ctx)?)));
    }
    if !parts.is_array() && parts.typed_array(ctx).is_none() {
        let shown = parts.to_text(ctx)?;
        return Err(failed(format!("cannot convert {shown} to []interface {{}}: not an array or iterable")));
    }
    let mut bytes = Vec::new();
    for index in 0..parts.length(ctx)? {
        let part = parts.get_index(ctx, index)?;
        if part.is_string() {
            bytes.extend_from_slice(part.to_js_string(ctx)?.text().as_bytes());
        } else if let Some(own) = Blob::bytes_of(&part) {
            bytes.extend_from_slice(&own);
        } else if let Some(view) = super::view_bytes(ctx, &part)? {
            bytes.extend_from_slice(&view);
        } else {
            return Err(failed(format!("unsupported type: {}", go_type(ctx, &part))));
        }
        // What is put together so far has to fit, too.
        drop(Charge::take(bytes.len())?);
    }
    Ok(bytes)
}

/// `blob.slice(start?, end?, type?)`; negative positions count from the end.
fn slice(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let blob = blob(this)?;
    let len = blob.bytes.len() as i64;
    let position = |value: &Handle, default: i64| -> JsResult<usize> {
        let at = if value.is_undefined() { default } else { value.to_i64(ctx)? };
        let at = if at < 0 { len.saturating_add(at) } else { at };
        Ok(at.clamp(0, len) as usize)
    };
    let start = position(args.at(0), 0)?;
    let end = position(args.at(1), len)?.max(start);
    let kind = if args.at(2).is_set() { args.at(2).to_text(ctx)? } else { String::new() };
    Blob::create(ctx, blob.bytes.slice(start..end), kind)
}
