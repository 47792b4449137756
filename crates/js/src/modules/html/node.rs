//! What all elements have: the methods of nodes in a browser, as functions.

use std::rc::Rc;

use onrush_html::{Document, Namespace, NodeId, NodeKind, Selection};

use super::{
    attribute, chosen,
    element::{self, Element, this_of},
    selection,
};
use crate::embed::{Args, Ctx, Handle, JsResult, Throw, Val};

pub(super) fn install(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    install_names(ctx, prototype)?;
    install_attributes(ctx, prototype)?;
    install_relatives(ctx, prototype)?;
    install_queries(ctx, prototype)
}

/// A method without arguments.
fn read<F: Fn(Ctx, &Rc<Document>, NodeId) -> JsResult + Copy + 'static>(
    ctx: Ctx,
    prototype: &Handle,
    name: &str,
    function: F,
) -> JsResult<()> {
    prototype.method(ctx, name, 0, move |ctx, this, _| {
        let element = this_of(this)?;
        function(ctx, &element.document, element.node)
    })
}

fn install_names(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    read(ctx, prototype, "nodeName", |ctx, document, node| Val::string(ctx, node_name(document, node)))?;
    read(ctx, prototype, "nodeType", |_, document, node| {
        Ok(Val::int(match document.kind(node) {
            NodeKind::Element { .. } => 1,
            NodeKind::Text(_) => 3,
            NodeKind::Comment(_) => 8,
            NodeKind::Document => 9,
            NodeKind::Doctype { .. } => 10,
        }))
    })?;
    read(ctx, prototype, "nodeValue", |ctx, document, node| match document.kind(node) {
        NodeKind::Text(text) => Val::string(ctx, text),
        // k6: what a comment says is not shown.
        NodeKind::Comment(_) => Val::string(ctx, ""),
        _ => Ok(Val::undefined()),
    })?;
    read(ctx, prototype, "innerHTML", |ctx, document, node| Val::string(ctx, &document.inner_html(node)))?;
    read(ctx, prototype, "textContent", |ctx, document, node| Val::string(ctx, &document.text(node)))?;
    read(ctx, prototype, "toString", |ctx, document, node| {
        let name = if document.is_element(node) { "html.Node" } else { node_name(document, node) };
        Val::string(ctx, &format!("[object {name}]"))
    })?;
    read(ctx, prototype, "namespaceURI", |ctx, document, node| Val::string(ctx, document.namespace(node).uri()))?;
    read(ctx, prototype, "isDefaultNamespace", |_, document, node| {
        Ok(Val::bool(document.namespace(node) == Namespace::Html))
    })
}

fn node_name(document: &Document, node: NodeId) -> &str {
    match document.kind(node) {
        NodeKind::Document => "#document",
        NodeKind::Text(_) => "#text",
        NodeKind::Comment(_) => "#comment",
        NodeKind::Doctype { name, .. } => name,
        NodeKind::Element { .. } => document.tag(node),
    }
}

fn install_attributes(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    read(ctx, prototype, "id", |ctx, document, node| {
        Val::string(ctx, document.attribute(node, "id").unwrap_or_default())
    })?;
    read(ctx, prototype, "className", |ctx, document, node| optional_text(ctx, document.attribute(node, "class")))?;
    read(ctx, prototype, "lang", |ctx, document, node| optional_text(ctx, document.attribute(node, "lang")))?;
    read(ctx, prototype, "classList", |ctx, document, node| {
        let array = ctx.array()?;
        let classes = document.attribute(node, "class").unwrap_or_default().split_whitespace();
        for (index, class) in (0..).zip(classes) {
            array.define_index(ctx, index, Val::string(ctx, class)?)?;
        }
        Ok(array)
    })?;
    read(ctx, prototype, "hasAttributes", |_, document, node| Ok(Val::bool(!document.attributes(node).is_empty())))?;
    read(ctx, prototype, "attributes", |ctx, document, node| {
        let object = ctx.object()?;
        for attribute in document.attributes(node) {
            object.define(ctx, &*attribute.name, attribute::create(ctx, document, node, attribute)?)?;
        }
        Ok(object)
    })?;
    prototype.method(ctx, "getAttribute", 1, |ctx, this, args| {
        let Element { document, node } = this_of(this)?;
        optional_text(ctx, document.attribute(*node, &args.at(0).to_text(ctx)?))
    })?;
    prototype.method(ctx, "hasAttribute", 1, |ctx, this, args| {
        let Element { document, node } = this_of(this)?;
        Ok(Val::bool(document.attribute(*node, &args.at(0).to_text(ctx)?).is_some()))
    })?;
    prototype.method(ctx, "getAttributeNode", 1, |ctx, this, args| {
        let name = args.at(0).to_text(ctx)?;
        let Element { document, node } = this_of(this)?;
        match document.attributes(*node).iter().find(|attribute| *attribute.name == *name) {
            Some(found) => attribute::create(ctx, document, *node, found),
            None => Ok(Val::undefined()),
        }
    })
}

fn optional_text(ctx: Ctx, text: Option<&str>) -> JsResult {
    text.map_or_else(|| Ok(Val::undefined()), |text| Val::string(ctx, text))
}

fn install_relatives(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    type Relative = fn(&Document, NodeId) -> Option<NodeId>;
    const RELATIVES: [(&str, Relative); 11] = [
        ("firstChild", |document, node| document.children(node).next()),
        ("lastChild", |document, node| document.last_child(node)),
        ("firstElementChild", |document, node| document.element_children(node).next()),
        ("lastElementChild", |document, node| document.element_children(node).last()),
        ("nextSibling", |document, node| document.following(node).next()),
        ("previousSibling", |document, node| document.preceding(node).next()),
        ("nextElementSibling", |document, node| document.following(node).find(|node| document.is_element(*node))),
        ("previousElementSibling", |document, node| document.preceding(node).find(|node| document.is_element(*node))),
        ("parentNode", |document, node| document.parent(node)),
        ("parentElement", |document, node| document.parent(node).filter(|node| document.is_element(*node))),
        ("ownerDocument", |_, node| (node != NodeId::DOCUMENT).then_some(NodeId::DOCUMENT)),
    ];
    for (number, (name, _)) in RELATIVES.iter().enumerate() {
        let method = ctx.numbered(name, 0, number as i16, |ctx, this, _, number| {
            let Element { document, node } = this_of(this)?;
            element::optional(ctx, document, RELATIVES[number].1(document, *node))
        })?;
        prototype.define_hidden(ctx, *name, method)?;
    }
    read(ctx, prototype, "children", |ctx, document, node| {
        element::array(ctx, document, &document.element_children(node).collect::<Vec<_>>())
    })?;
    read(ctx, prototype, "childNodes", |ctx, document, node| {
        element::array(ctx, document, &document.children(node).collect::<Vec<_>>())
    })?;
    read(ctx, prototype, "childElementCount", |_, document, node| {
        Ok(Val::number(document.element_children(node).count() as f64))
    })?;
    read(ctx, prototype, "hasChildNodes", |_, document, node| Ok(Val::bool(document.last_child(node).is_some())))
}

fn install_queries(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    read(ctx, prototype, "selection", |ctx, document, node| {
        // k6: `end()` of it is the same node once more.
        let single = Rc::new(Selection::of_node(document, node));
        selection::create(ctx, Rc::new(single.push(vec![node])))
    })?;
    prototype.method(ctx, "querySelector", 1, |ctx, this, args| {
        let found = found(this, &args.at(0).to_text(ctx)?)?;
        element::optional(ctx, found.document(), found.first())
    })?;
    prototype.method(ctx, "querySelectorAll", 1, |ctx, this, args| all(ctx, this, &args.at(0).to_text(ctx)?))?;
    prototype.method(ctx, "getElementsByTagName", 1, |ctx, this, args| all(ctx, this, &args.at(0).to_text(ctx)?))?;
    prototype.method(ctx, "getElementsByClassName", 1, |ctx, this, args| {
        all(ctx, this, &format!(".{}", args.at(0).to_text(ctx)?))
    })?;
    prototype.method(ctx, "matches", 1, |ctx, this, args| {
        let Element { document, node } = this_of(this)?;
        let chosen = chosen::selector(&args.at(0).to_text(ctx)?);
        Ok(Val::bool(Selection::of_node(document, *node).is(&chosen)))
    })?;
    prototype.method(ctx, "contains", 1, |_, this, args| {
        let (element, other) = pair(this, args)?;
        let same = Rc::ptr_eq(&element.document, &other.document);
        Ok(Val::bool(same && element.document.contains(element.node, other.node)))
    })?;
    prototype.method(ctx, "isSameNode", 1, |_, this, args| {
        let (element, other) = pair(this, args)?;
        Ok(Val::bool(Rc::ptr_eq(&element.document, &other.document) && element.node == other.node))
    })?;
    prototype.method(ctx, "isEqualNode", 1, |_, this, args| {
        let (element, other) = pair(this, args)?;
        Ok(Val::bool(element.document.is_equal(element.node, &other.document, other.node)))
    })
}

fn found(this: &Handle, selector: &str) -> JsResult<Selection> {
    let Element { document, node } = this_of(this)?;
    Ok(Rc::new(Selection::of_node(document, *node)).find_chosen(&chosen::selector(selector)))
}

fn all(ctx: Ctx, this: &Handle, selector: &str) -> JsResult {
    let found = found(this, selector)?;
    element::array(ctx, found.document(), found.nodes())
}

fn pair<'a>(this: &'a Handle, args: Args<'a>) -> JsResult<(&'a Element, &'a Element)> {
    match element::of(args.at(0)) {
        Some(other) => Ok((this_of(this)?, other)),
        None => Err(Throw::type_error("an Element is expected as the argument")),
    }
}
