//! `k6/experimental/fs`: files that are read once a process, each VU at a place of its own.
//!
//! Contents come from the same cache as those of `open()`, so archives hold them. Nothing waits: a promise is settled as
//! soon as the microtasks that are due have run.

mod file;
mod open;

pub(super) use self::file::File;
use super::export::export;
use crate::embed::{Ctx, JsResult, Val};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    file::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "open", 1, open::open)?;
    let modes = ctx.object()?;
    for (name, mode) in [("Start", file::START), ("Current", file::CURRENT), ("End", file::END)] {
        modes.define(ctx, name, Val::int(mode))?;
    }
    exports.define(ctx, "SeekMode", modes)?;
    Ok(exports)
}
