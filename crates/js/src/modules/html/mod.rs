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
mod selection;
mod value;

use std::rc::Rc;

use onrush_html::{Account, Document, Limits, Selection};

pub(crate) use element::Classes;
pub(super) use selection::create as create_selection;

use super::export;
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
    vu::{
        Vu,
        context::{self, vu},
    },
};

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

/// Parses a page that came from `url`; the selection is its document node.
pub(super) fn parse(vu: &Vu, text: &str, url: &str) -> JsResult<Selection> {
    let account = vu.html.get_or_init(Account::default);
    let limit = vu.script().memory_limit_bytes;
    ensure_room(vu)?;
    let limits = Limits { bytes: Limits::BYTES.min(limit), ..Limits::default() };
    let document = Document::parse(text, url, &limits, account).map_err(|error| Throw::error(error.to_string()))?;
    Ok(Selection::of_document(&Rc::new(document)))
}

/// Refuses to go on where a VU's documents and selections take as much as its heap may.
fn ensure_room(vu: &Vu) -> JsResult<()> {
    let limit = vu.script().memory_limit_bytes;
    let is_full = || vu.html.get().is_some_and(|account| account.bytes() > limit);
    if is_full() {
        // Selections in unreachable cycles keep their documents: JavaScript does not know how large those are.
        context::collect_garbage();
        if is_full() {
            return Err(Throw::error(format!(
                "the HTML documents and selections this VU keeps take more than {} MiB: keep fewer of them, or raise --vu-memory-limit",
                limit >> 20
            )));
        }
    }
    Ok(())
}
