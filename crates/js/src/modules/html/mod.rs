//! `k6/html`: documents, selections and elements for scripts, over `onrush_html`.
//!
//! A document lives as long as some selection or element of it does. What all of a VU's documents hold is kept in an
//! account of the VU, next to its JavaScript heap and under the same limit.
//!
//! Unlike those of other modules the classes are made at their first use where a VU has a realm of its own: some two
//! hundred functions are too much for scripts that look at no page.

mod address;
mod attribute;
mod chosen;
mod element;
mod node;
mod page;
mod selection;
mod value;

use std::rc::Rc;

pub(super) use page::parse;
pub(super) use selection::create as create_selection;

use super::export::export;
use crate::{
    embed::{Args, Ctx, Handle, JsResult},
    realm::Realm,
    vu::context::vu,
};

/// Makes the classes in a realm that VUs are about to share.
pub(super) fn share(realm: &Realm) -> JsResult<()> {
    element::Classes::of(realm).map(drop)
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "parseHTML", 1, parse_html)?;
    Ok(exports)
}

fn parse_html(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    // k6: nothing is an empty page.
    let text = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
    create_selection(ctx, Rc::new(parse(vu(), &text, "")?))
}
