//! `k6/experimental/csv`: whole files as shared arrays, and parsers that go record by record.
//!
//! `onrush_csv` reads; here are options, errors and values. A table holds no values: a record is read again each time a
//! script asks for it, so a million of them take the file and half a byte each.

mod options;
mod parse;
mod parser;
mod rows;

pub(super) use self::rows::Rows;
use super::export::{export, export_class};
use crate::embed::{Ctx, HostClass, JsResult};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    parser::install_class(ctx)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "parse", 2, parse::parse)?;
    export_class(ctx, &exports, "Parser", &HostClass::<parser::Parser>::prototype(ctx), parser::construct)?;
    Ok(exports)
}
