//! Arguments that say which nodes are meant: selectors, selections, elements.

use std::rc::Rc;

use onrush_html::{Chosen, Selection, Selector};

use super::{element, selection};
use crate::{
    embed::{Args, Ctx, Handle, JsResult, Throw},
    log::Level,
    modules::go::go_type,
    vu::context::vu,
};

/// A selector; one that cannot be read matches nothing, as in k6, but is reported.
pub(super) fn selector(text: &str) -> Chosen {
    match Selector::parse(text) {
        Ok(selector) => Chosen::Matching(Some(selector)),
        Err(error) => {
            vu().log(Level::Warn, format!("k6/html: {error}: it matches nothing"));
            Chosen::Matching(None)
        }
    }
}

/// A selector, a selection or an element.
pub(super) fn any(ctx: Ctx, this: &Rc<Selection>, value: &Handle) -> JsResult<Chosen> {
    match element::of(value) {
        Some(element) if Rc::ptr_eq(&element.document, this.document()) => Ok(Chosen::Nodes(vec![element.node])),
        Some(_) => Ok(Chosen::Nodes(Vec::new())),
        None => text_or_selection(ctx, this, value)?.ok_or_else(|| refused(ctx, value)),
    }
}

/// Where a way ends: a selector or a selection; nothing is nowhere.
pub(super) fn until(ctx: Ctx, this: &Rc<Selection>, value: &Handle) -> JsResult<Option<Chosen>> {
    if !value.is_set() {
        return Ok(None);
    }
    text_or_selection(ctx, this, value)?.map(Some).ok_or_else(|| refused(ctx, value))
}

/// The argument of `filter()` and `is()`.
pub(super) fn filter(ctx: Ctx, this: &Rc<Selection>, value: &Handle, method: &str) -> JsResult<Chosen> {
    text_or_selection(ctx, this, value)?.ok_or_else(|| {
        Throw::error(format!("the argument to {method}() must be a function, a selector or a selection"))
    })
}

/// An optional selector. k6: whatever is given is taken as its text.
pub(super) fn text(ctx: Ctx, args: Args<'_>, index: usize) -> JsResult<Option<Chosen>> {
    if args.len() > index { args.at(index).to_text(ctx).map(|text| Some(selector(&text))) } else { Ok(None) }
}

fn text_or_selection(ctx: Ctx, this: &Rc<Selection>, value: &Handle) -> JsResult<Option<Chosen>> {
    if value.is_string() {
        return value.to_text(ctx).map(|text| Some(selector(&text)));
    }
    Ok(selection::of(value).map(|other| Chosen::Nodes(this.common(other))))
}

fn refused(ctx: Ctx, value: &Handle) -> Throw {
    let kind = element::of(value).map_or_else(|| go_type(ctx, value).to_owned(), element::Element::go_type);
    Throw::error(format!("invalid argument, cannot use a '{kind}' as a selector"))
}
