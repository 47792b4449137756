//! Attributes as objects.

use std::rc::Rc;

use onrush_html::{Attribute, Document, Namespace, NodeId};

use super::element;
use crate::embed::{Ctx, HostClass, HostObject, JsResult, Val};

/// Where an attribute's name is from; the rest of it is in the object's own properties.
struct Named {
    name: Box<str>,
    prefix: &'static str,
}

impl HostObject for Named {
    const NAME: &'static str = "Attribute";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    prototype.method(ctx, "localName", 0, |ctx, this, _| Val::string(ctx, &HostClass::<Named>::expect(this)?.name))?;
    prototype.method(ctx, "prefix", 0, |ctx, this, _| Val::string(ctx, HostClass::<Named>::expect(this)?.prefix))?;
    // k6: whatever the element or the prefix.
    prototype.method(ctx, "namespaceURI", 0, |ctx, this, _| {
        HostClass::<Named>::expect(this)?;
        Val::string(ctx, Namespace::Html.uri())
    })?;
    HostClass::<Named>::set_prototype(ctx, prototype);
    Ok(())
}

/// An attribute of an element.
pub(super) fn create(ctx: Ctx, document: &Rc<Document>, node: NodeId, attribute: &Attribute) -> JsResult {
    let named = Named { name: (&*attribute.name).into(), prefix: attribute.namespace.prefix() };
    let object = HostClass::create(ctx, named)?;
    object.define(ctx, "owner_element", element::create(ctx, document, node)?)?;
    object.define(ctx, "name", Val::string(ctx, &attribute.name)?)?;
    object.define(ctx, "value", Val::string(ctx, &attribute.value)?)?;
    Ok(object)
}
