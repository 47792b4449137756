//! Values of documents as JavaScript values.

use std::rc::Rc;

use onrush_html::{DataValue, Document, FieldValue, NodeId, Value};

use super::{address, element};
use crate::embed::{Ctx, JsResult, Val};

/// What an accessor of an element gives.
pub(super) fn of(ctx: Ctx, document: &Rc<Document>, node: NodeId, value: Value) -> JsResult {
    match value {
        Value::Undefined => Ok(Val::undefined()),
        Value::Text(text) => Val::string(ctx, &text),
        Value::Int(number) => Ok(Val::number(number as f64)),
        Value::Float(number) => Ok(Val::number(number)),
        Value::Bool(value) => Ok(Val::bool(value)),
        Value::Node(node) => element::optional(ctx, document, node),
        Value::Nodes(nodes) => element::array(ctx, document, &nodes),
        Value::Texts(texts) => array(ctx, &texts),
        Value::Address(written) => Val::string(ctx, &address::absolute(document, written)),
        Value::Url(part) => Val::string(ctx, &address::part(document, document.attribute(node, "href"), part)),
    }
}

/// What a control holds.
pub(super) fn field(ctx: Ctx, value: Option<&FieldValue>) -> JsResult {
    match value {
        None => Ok(Val::undefined()),
        Some(FieldValue::Text(text)) => Val::string(ctx, text),
        Some(FieldValue::Texts(texts)) => array(ctx, texts),
    }
}

/// The texts a control sends.
pub(super) fn texts(value: &FieldValue) -> &[String] {
    match value {
        FieldValue::Text(text) => std::slice::from_ref(text),
        FieldValue::Texts(texts) => texts,
    }
}

fn array(ctx: Ctx, texts: &[String]) -> JsResult {
    let array = ctx.array()?;
    for (index, text) in (0..).zip(texts) {
        array.define_index(ctx, index, Val::string(ctx, text)?)?;
    }
    Ok(array)
}

/// A `data-…` attribute's value.
pub(super) fn data(ctx: Ctx, value: &DataValue) -> JsResult {
    match value {
        DataValue::Undefined => Ok(Val::undefined()),
        DataValue::Bool(value) => Ok(Val::bool(*value)),
        DataValue::Number(number) => Ok(Val::number(*number)),
        DataValue::Text(text) => Val::string(ctx, text),
        DataValue::Json(text) => ctx.parse_json(text.as_bytes()).or_else(|throw| {
            // Not JSON after all.
            let exception = ctx.take_exception(throw);
            if exception.interrupted { Err(crate::embed::Throw::Interrupted) } else { Val::string(ctx, text) }
        }),
    }
}
