//! `k6/data`: SharedArray.
//!
//! What scripts get is a Proxy around an empty array: `Array.isArray`, `JSON.stringify` and every method of arrays see an
//! array, whose length and elements the traps below make up from the shared text.

use super::{csv::Rows, export::export_class};
use crate::{
    embed::{Args, Atom, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    shared::Elements,
    vu::context::vu,
};

/// The proxy's handler: each access parses a fresh, deep-frozen copy of one element, as in k6.
enum SharedArray {
    /// What a function of the script returned.
    Elements(Elements),
    /// A file.
    Rows(Rows),
}

impl SharedArray {
    fn len(&self) -> usize {
        match self {
            Self::Elements(elements) => elements.len(),
            Self::Rows(rows) => rows.len(),
        }
    }
}

/// An array of the records of a file, with the same behaviour.
pub(super) fn shared_array(ctx: Ctx, rows: Rows) -> JsResult {
    proxy(ctx, SharedArray::Rows(rows))
}

fn proxy(ctx: Ctx, array: SharedArray) -> JsResult {
    ctx.proxy(&*ctx.array()?, &*HostClass::create(ctx, array)?)
}

impl HostObject for SharedArray {
    const NAME: &'static str = "SharedArray";
}

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    let handler = ctx.object()?;
    handler.method(ctx, "get", 3, get)?;
    handler.method(ctx, "has", 2, has)?;
    handler.method(ctx, "ownKeys", 1, own_keys)?;
    handler.method(ctx, "getOwnPropertyDescriptor", 2, descriptor)?;
    handler.method(ctx, "set", 4, immutable)?;
    handler.method(ctx, "defineProperty", 3, immutable)?;
    handler.method(ctx, "deleteProperty", 2, immutable)?;
    handler.method(ctx, "setPrototypeOf", 2, immutable)?;
    handler.method(ctx, "preventExtensions", 1, immutable)?;
    HostClass::<SharedArray>::set_prototype(ctx, handler);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export_class(ctx, &exports, "SharedArray", &ctx.object()?, construct)?;
    Ok(exports)
}

fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if !vu.in_init() {
        return Err(Throw::error("new SharedArray must be called in the init context"));
    }
    let name = args.at(0).to_text(ctx)?;
    if name.is_empty() {
        return Err(Throw::error("empty name provided to SharedArray's constructor"));
    }
    let make = args.at(1);
    if !make.is_function(ctx) {
        return Err(Throw::error("a function is expected as the second argument of SharedArray's constructor"));
    }
    if make.is_async_function() {
        return Err(Throw::error("SharedArray constructor does not support async functions as second argument"));
    }
    let arrays = &vu.script().shared_arrays;
    let elements = match arrays.get(&name) {
        Some(elements) => elements,
        None => arrays.insert(name, collect(ctx, make)?),
    };
    proxy(ctx, SharedArray::Elements(elements))
}

fn collect(ctx: Ctx, make: &Handle) -> JsResult<Elements> {
    let made = ctx.call(make, Handle::UNDEFINED, &[])?;
    if !made.is_array() {
        return Err(Throw::error("only arrays can be made into SharedArray"));
    }
    let length = made.length(ctx)?;
    let mut elements = Vec::with_capacity(length as usize);
    for index in 0..length {
        let element = made.get_index(ctx, index)?;
        elements.push(ctx.stringify(&element)?.unwrap_or_else(|| "null".to_owned()).into_boxed_str());
    }
    Ok(elements.into())
}

fn element(ctx: Ctx, array: &SharedArray, index: usize) -> JsResult<Option<Val>> {
    let text = match array {
        SharedArray::Elements(elements) => elements.get(index),
        SharedArray::Rows(rows) => return rows.element(ctx, index),
    };
    let Some(text) = text else { return Ok(None) };
    let value = ctx.parse_json(text.as_bytes())?;
    value.freeze_deep(ctx)?;
    Ok(Some(value))
}

/// What a property key asks of the array.
enum Asked {
    Index(usize),
    Length,
    Other,
}

fn asked(key: &Handle) -> Asked {
    match key.ascii() {
        Some("length") => Asked::Length,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_or(Asked::Other, Asked::Index)
        }
        _ => Asked::Other,
    }
}

fn get(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let array = HostClass::<SharedArray>::expect(this)?;
    match asked(args.at(1)) {
        Asked::Index(index) => Ok(element(ctx, array, index)?.unwrap_or_else(Val::undefined)),
        Asked::Length => Ok(Val::number(array.len() as f64)),
        Asked::Other => args.at(0).get(ctx, &Atom::of(ctx, args.at(1))?),
    }
}

fn has(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let array = HostClass::<SharedArray>::expect(this)?;
    Ok(Val::bool(match asked(args.at(1)) {
        Asked::Index(index) => index < array.len(),
        Asked::Length => true,
        Asked::Other => args.at(0).has(ctx, &Atom::of(ctx, args.at(1))?)?,
    }))
}

fn own_keys(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let length = HostClass::<SharedArray>::expect(this)?.len();
    let keys = ctx.array()?;
    for index in 0..length as u32 {
        keys.define_index(ctx, index, Val::string(ctx, &index.to_string())?)?;
    }
    keys.define_index(ctx, length as u32, Val::string(ctx, "length")?)?;
    Ok(keys)
}

fn descriptor(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let array = HostClass::<SharedArray>::expect(this)?;
    let (value, is_element) = match asked(args.at(1)) {
        Asked::Index(index) => match element(ctx, array, index)? {
            Some(value) => (value, true),
            None => return Ok(Val::undefined()),
        },
        Asked::Length => (Val::number(array.len() as f64), false),
        Asked::Other => return Ok(Val::undefined()),
    };
    // What a proxy reports must fit its target, an ordinary array; writes are refused all the same.
    let descriptor = ctx.object()?;
    descriptor.define(ctx, "value", value)?;
    descriptor.define(ctx, "writable", Val::bool(true))?;
    descriptor.define(ctx, "enumerable", Val::bool(is_element))?;
    descriptor.define(ctx, "configurable", Val::bool(is_element))?;
    Ok(descriptor)
}

fn immutable(_: Ctx, _: &Handle, _: Args<'_>) -> JsResult {
    Err(Throw::type_error("SharedArray is immutable"))
}
