//! Elements: objects over one node, with a prototype for each class of elements.

use std::{rc::Rc, sync::LazyLock};

use onrush_html::{Class, Document, NodeId};

use super::{attribute, node, page::ensure_room, selection, value};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    realm::Realm,
    vu::context::vu,
};

/// A node as scripts hold it.
pub(super) struct Element {
    pub(super) document: Rc<Document>,
    pub(super) node: NodeId,
}

impl HostObject for Element {
    const NAME: &'static str = "Element";
}

impl Element {
    /// The name k6's error texts have for it.
    pub(super) fn go_type(&self) -> String {
        format!("html.{}", Class::of(self.document.tag(self.node)).map_or("Element", |(_, class)| class.name))
    }
}

/// The element behind an object, if it is one.
pub(super) fn of(value: &Handle) -> Option<&Element> {
    HostClass::<Element>::of(value)
}

pub(super) fn this_of(this: &Handle) -> JsResult<&Element> {
    HostClass::<Element>::expect(this)
}

/// A node as an object of its class.
pub(super) fn create(ctx: Ctx, document: &Rc<Document>, node: NodeId) -> JsResult {
    let object = plain(ctx, document, node)?;
    if let Some((number, _)) = Class::of(document.tag(node)) {
        object.set_prototype(ctx, &Classes::of(vu().realm())?.0[number])?;
    }
    Ok(object)
}

/// A node with only what all nodes have.
fn plain(ctx: Ctx, document: &Rc<Document>, node: NodeId) -> JsResult {
    let vu = vu();
    ensure_room(vu)?;
    Classes::of(vu.realm())?;
    HostClass::create(ctx, Element { document: document.clone(), node })
}

/// An element, or undefined.
pub(super) fn optional(ctx: Ctx, document: &Rc<Document>, node: Option<NodeId>) -> JsResult {
    node.map_or_else(|| Ok(Val::undefined()), |node| create(ctx, document, node))
}

/// An array of elements.
pub(super) fn array(ctx: Ctx, document: &Rc<Document>, nodes: &[NodeId]) -> JsResult {
    let array = ctx.array()?;
    for (index, node) in (0..).zip(nodes) {
        array.define_index(ctx, index, create(ctx, document, *node)?)?;
    }
    Ok(array)
}

/// The classes of a realm; here are the prototypes of elements, in the order of [`Class::all`].
pub(super) struct Classes(Vec<Val>);

impl Classes {
    /// Those of a realm, made at first use in that of one VU.
    pub(super) fn of(realm: &Realm) -> JsResult<&Self> {
        realm.slots.of_or_try(|| Self::install(realm.ctx))
    }

    /// Registers all classes of the module. Accessors of one name are one function for all classes of elements.
    fn install(ctx: Ctx) -> JsResult<Self> {
        selection::install_class(ctx)?;
        attribute::install_class(ctx)?;
        let base = ctx.object()?;
        node::install(ctx, &base)?;
        HostClass::<Element>::set_prototype(ctx, base.clone());
        let functions = NAMES
            .iter()
            .enumerate()
            .map(|(number, name)| ctx.numbered(name, 0, number as i16, access))
            .collect::<JsResult<Vec<Val>>>()?;
        // k6 shows what an element shares with others as properties, too.
        let itself = ctx.getter("element", |ctx, this| {
            let element = this_of(this)?;
            plain(ctx, &element.document, element.node)
        })?;
        let mixed = ctx.getter("mixin", |_, this| {
            this_of(this)?;
            Ok(this.dup())
        })?;
        let mut prototypes = Vec::with_capacity(Class::all().len());
        for class in Class::all() {
            let prototype = ctx.object()?;
            prototype.set_prototype(ctx, &base)?;
            for accessor in class.accessors() {
                let function = NAMES.iter().position(|name| *name == accessor.name).map(|number| &functions[number]);
                prototype.define_hidden(ctx, accessor.name, function.ok_or(Throw::Pending)?.clone())?;
            }
            prototype.define_getter(ctx, "element", itself.clone())?;
            if let Some(name) = class.mixin.property() {
                prototype.define_getter(ctx, name, mixed.clone())?;
            }
            prototypes.push(prototype);
        }
        Ok(Self(prototypes))
    }
}

/// The names of all accessors, each once.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<_> =
        Class::all().iter().flat_map(|class| class.accessors().map(|accessor| accessor.name)).collect();
    names.sort_unstable();
    names.dedup();
    names
});

/// The function behind all accessors.
fn access(ctx: Ctx, this: &Handle, _: Args<'_>, number: usize) -> JsResult {
    let element = this_of(this)?;
    let name = NAMES.get(number).copied().unwrap_or_default();
    let class = Class::of(element.document.tag(element.node)).map(|(_, class)| class);
    match class.and_then(|class| class.accessors().find(|accessor| accessor.name == name)) {
        Some(accessor) => {
            let given = accessor.value(&element.document, element.node);
            value::of(ctx, &element.document, element.node, given)
        }
        None => Err(Throw::type_error(format!("{} has no {name}()", element.go_type()))),
    }
}
