//! `http.file`: a file part of a multipart body.

use onrush_fiber::Clock;

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    modules::go::go_type,
};

/// Marks an object as a file part; what it holds are ordinary properties, as in k6.
pub(super) struct FilePart;

impl HostObject for FilePart {
    const NAME: &'static str = "FileData";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    HostClass::<FilePart>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

pub(super) fn file(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let data = args.at(0);
    // k6 refuses typed arrays as well; what they hold is as plain as a buffer.
    let is_content = data.is_string() || data.array_buffer(ctx).is_some() || data.typed_array(ctx).is_some();
    if !is_content {
        return Err(Throw::error(format!("invalid type {}, expected string or ArrayBuffer", go_type(ctx, data))));
    }
    let part = HostClass::create(ctx, FilePart)?;
    let filename =
        if args.at(1).is_set() { args.at(1).to_text(ctx)? } else { Clock::unix_nanos(Clock::now()).to_string() };
    let content_type =
        if args.at(2).is_set() { args.at(2).to_text(ctx)? } else { "application/octet-stream".to_owned() };
    part.define(ctx, "data", args.at(0).dup())?;
    part.define(ctx, "filename", Val::string(ctx, &filename)?)?;
    part.define(ctx, "content_type", Val::string(ctx, &content_type)?)?;
    Ok(part)
}
