//! What `fs.open()` resolves to.

use std::{cell::Cell, path::Path, sync::Arc};

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, TypedArray, Val},
    modules::promise::{named_reason, settled_later},
    vu::context::pause,
};

/// `SeekMode.Start`.
pub(super) const START: i32 = 0;
/// `SeekMode.Current`.
pub(super) const CURRENT: i32 = 1;
/// `SeekMode.End`.
pub(super) const END: i32 = 2;

/// Bytes copied between two looks at whether others want to run: some 0.1 ms.
const PIECE_BYTES: usize = 1 << 20;

/// A file and a place in it.
pub(in crate::modules) struct File {
    content: Arc<[u8]>,
    path: Arc<Path>,
    position: Cell<usize>,
}

impl HostObject for File {
    const NAME: &'static str = "File";
}

impl File {
    pub(super) fn create(ctx: Ctx, path: &Path, content: Arc<[u8]>) -> JsResult {
        let file = HostClass::create(ctx, Self { content, path: path.into(), position: Cell::new(0) })?;
        file.define(ctx, "path", Val::string(ctx, &path.to_string_lossy())?)?;
        Ok(file)
    }

    /// All of it.
    pub(in crate::modules) fn content(&self) -> &Arc<[u8]> {
        &self.content
    }

    pub(in crate::modules) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Where the next `read()` starts; never past the end.
    pub(in crate::modules) fn position(&self) -> usize {
        self.position.get()
    }
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "read", 1, read)?;
    prototype.method(ctx, "seek", 2, seek)?;
    prototype.method(ctx, "stat", 0, stat)?;
    HostClass::<File>::set_prototype(ctx, prototype);
    Ok(())
}

fn stat(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let file = HostClass::<File>::expect(this)?;
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let stat = ctx.object()?;
    stat.define(ctx, "name", Val::string(ctx, &name)?)?;
    stat.define(ctx, "size", Val::number(file.content.len() as f64))?;
    settled_later(ctx, Ok(stat))
}

fn read(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let file = HostClass::<File>::expect(this)?;
    let into = args.at(0);
    let refused = if !into.is_set() {
        Some("into argument cannot be null or undefined")
    } else if !matches!(into.typed_array_kind(), Some(TypedArray::Uint8)) {
        Some("into argument must be a Uint8Array")
    } else if into.views_immutable_buffer(ctx) {
        Some("into argument must be a Uint8Array that can be written to")
    } else {
        None
    };
    if let Some(reason) = refused {
        let reason = named_reason(ctx, "TypeError", &format!("read() failed; reason: {reason}"))?;
        return settled_later(ctx, Err(reason));
    }
    let rest = &file.content[file.position.get()..];
    if rest.is_empty() {
        return settled_later(ctx, Ok(Val::null()));
    }
    let mut count = 0;
    for piece in rest.chunks(PIECE_BYTES) {
        let written = into.write_bytes(ctx, count, piece);
        count += written;
        if written < piece.len() {
            break;
        }
        pause()?;
    }
    file.position.set(file.position.get() + count);
    settled_later(ctx, Ok(Val::number(count as f64)))
}

fn seek(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let file = HostClass::<File>::expect(this)?;
    let result = match place(file, args.at(0), args.at(1)) {
        Ok(position) => {
            file.position.set(position);
            Ok(Val::number(position as f64))
        }
        Err(message) => Err(named_reason(ctx, "TypeError", &message)?),
    };
    settled_later(ctx, result)
}

fn place(file: &File, offset: &Handle, whence: &Handle) -> Result<usize, String> {
    let whole = |value: &Handle, name: &str| {
        let failed = |what: &str| format!("seek() failed; reason: the {name} argument {what}");
        if !value.is_set() {
            return Err(failed("cannot be null or undefined"));
        }
        // k6: only what its engine holds as an integer.
        value
            .as_number()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0)
            .map(|number| number as i64)
            .ok_or_else(|| failed("must be a number"))
    };
    let (offset, whence) = (whole(offset, "offset")?, whole(whence, "whence")?);
    let size = file.content.len() as i64;
    let position = match i32::try_from(whence) {
        Ok(START) if offset < 0 => return Err("offset cannot be negative when using SeekModeStart".to_owned()),
        Ok(START) => offset,
        Ok(CURRENT) => file.position.get() as i64 + offset,
        Ok(END) if offset > 0 => return Err("offset cannot be positive when using SeekModeEnd".to_owned()),
        // k6: the end is the last byte, not the place after it.
        Ok(END) => size - 1 + offset,
        _ => return Err("seek() failed; reason: the whence argument must be a SeekMode".to_owned()),
    };
    if position < 0 {
        return Err("seeking before start of file".to_owned());
    }
    if position > size {
        return Err("seeking beyond end of file".to_owned());
    }
    Ok(position as usize)
}
