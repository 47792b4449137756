//! Parsing pages, and the room that a VU's documents and selections may take.

use std::rc::Rc;

use onrush_html::{Account, Document, Limits, ParseError, Selection};

use crate::{
    embed::{JsResult, Throw},
    vu::{Vu, context},
};

/// Parses a page that came from `url`; the selection is its document node.
pub(crate) fn parse(vu: &Vu, text: &str, url: &str) -> JsResult<Selection> {
    let account = vu.slots.of::<Account>();
    let limit = vu.script().memory_limit_bytes;
    ensure_room(vu)?;
    let limits = Limits { bytes: Limits::BYTES.min(limit), go_on, ..Limits::default() };
    let document = Document::parse(text, url, &limits, account).map_err(|error| match error {
        ParseError::Ended => Throw::Interrupted,
        error => Throw::error(error.to_string()),
    })?;
    Ok(Selection::of_document(&Rc::new(document)))
}

/// Lets others run. What is asked of a document never changes it, and who asks holds it.
fn go_on() -> bool {
    context::pause().is_ok()
}

/// Refuses to go on where a VU's documents and selections take as much as its heap may.
pub(super) fn ensure_room(vu: &Vu) -> JsResult<()> {
    let limit = vu.script().memory_limit_bytes;
    let is_full = || vu.slots.find::<Account>().is_some_and(|account| account.bytes() > limit);
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
