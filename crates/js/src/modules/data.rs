//! `k6/data`: SharedArray.
#![expect(unsafe_code, reason = "exotic property methods")]

use onrush_quickjs_sys as sys;

use super::export_class;
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    realm::shared_array::Elements,
    vu::context::vu,
};

/// A VU's view of a shared array: each access parses a fresh, deep-frozen copy of one element, as in k6.
struct SharedArray(Elements);

impl HostObject for SharedArray {
    const NAME: &'static str = "SharedArray";

    fn exotic() -> Option<&'static sys::JSClassExoticMethods> {
        Some(&EXOTIC)
    }
}

static EXOTIC: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: Some(get_own_property_names),
    delete_property: Some(delete_property),
    define_own_property: Some(define_own_property),
    has_property: None,
    get_property: None,
    set_property: Some(set_property),
};

pub(super) fn install_classes(ctx: Ctx) -> JsResult<()> {
    // Array's methods are generic: length and indexed reads are all they need.
    let array = ctx.global().get(ctx, "Array")?.get(ctx, "prototype")?;
    let prototype = ctx.object()?;
    prototype.set_prototype(ctx, &array)?;
    HostClass::<SharedArray>::set_prototype(ctx, prototype);
    Ok(())
}

pub(super) fn build(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export_class(ctx, &exports, "SharedArray", &HostClass::<SharedArray>::prototype(ctx), construct)?;
    Ok(exports)
}

fn construct(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = vu();
    if !vu.in_init() {
        return Err(Throw::error("new SharedArray must be called in the init context"));
    }
    let name = if args.at(0).is_set() { args.at(0).to_text(ctx)? } else { String::new() };
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
    HostClass::create(ctx, SharedArray(elements))
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

/// Freezes a parsed value all the way down. JSON has no cycles, and QuickJS bounds the depth it parses.
fn deep_freeze(ctx: Ctx, value: &Handle) -> JsResult<()> {
    if !value.is_object() {
        return Ok(());
    }
    for key in value.keys(ctx)? {
        let item = value.get(ctx, &key)?;
        deep_freeze(ctx, &item)?;
    }
    value.freeze(ctx)
}

fn element(ctx: Ctx, array: &SharedArray, index: usize) -> JsResult<Option<Val>> {
    let Some(text) = array.0.get(index) else { return Ok(None) };
    let value = ctx.parse_json(text.as_bytes())?;
    deep_freeze(ctx, &value)?;
    Ok(Some(value))
}

/// What a property key asks of the array.
enum Asked {
    Index(usize),
    Length,
    Other,
}

unsafe fn asked(ctx: Ctx, property: sys::JSAtom) -> Asked {
    // SAFETY: the atom is alive during the exotic call.
    let key = Val::from_raw(unsafe { sys::JS_AtomToValue(ctx.raw(), property) });
    if let Some(index) = key.as_int() {
        return usize::try_from(index).map_or(Asked::Other, Asked::Index);
    }
    match key.ascii() {
        Some(b"length") => Asked::Length,
        Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).map_or(Asked::Other, Asked::Index)
        }
        _ => Asked::Other,
    }
}

unsafe extern "C" fn get_own_property(ctx: *mut sys::JSContext, descriptor: *mut sys::JSPropertyDescriptor, object: sys::JSValue, property: sys::JSAtom) -> i32 {
    // SAFETY: QuickJS passes a live context, object and atom; the descriptor may be null.
    unsafe {
        let ctx = Ctx::from_raw(ctx);
        let Some(array) = HostClass::<SharedArray>::of(Handle::from_raw_ref(&object)) else { return 0 };
        let found = match asked(ctx, property) {
            Asked::Length => Ok(Some((Val::number(array.0.len() as f64), false))),
            Asked::Index(index) if descriptor.is_null() => return i32::from(index < array.0.len()),
            Asked::Index(index) => element(ctx, array, index).map(|value| value.map(|value| (value, true))),
            Asked::Other => Ok(None),
        };
        match found {
            Ok(None) => 0,
            Ok(Some((value, enumerable))) => {
                if let Some(descriptor) = descriptor.as_mut() {
                    // Reported as writable so that the engine's proxy invariants never get in the way; writes are refused below.
                    descriptor.flags = if enumerable { sys::JS_PROP_C_W_E } else { sys::JS_PROP_WRITABLE };
                    descriptor.value = value.into_raw();
                    descriptor.getter = sys::JS_UNDEFINED;
                    descriptor.setter = sys::JS_UNDEFINED;
                }
                1
            }
            Err(throw) => {
                ctx.raise(throw);
                -1
            }
        }
    }
}

unsafe extern "C" fn get_own_property_names(ctx: *mut sys::JSContext, table: *mut *mut sys::JSPropertyEnum, count: *mut u32, object: sys::JSValue) -> i32 {
    // SAFETY: QuickJS passes a live context and object, and frees the table it is given with js_free.
    unsafe {
        let length = HostClass::<SharedArray>::of(Handle::from_raw_ref(&object)).map_or(0, |array| array.0.len());
        let Ok(length32) = u32::try_from(length) else { return -1 };
        let entries: *mut sys::JSPropertyEnum = sys::js_malloc(ctx, (length.max(1)) * size_of::<sys::JSPropertyEnum>()).cast();
        if entries.is_null() {
            return -1;
        }
        for index in 0..length32 {
            entries.add(index as usize).write(sys::JSPropertyEnum { is_enumerable: true, atom: sys::JS_NewAtomUInt32(ctx, index) });
        }
        *table = entries;
        *count = length32;
        0
    }
}

fn immutable(ctx: *mut sys::JSContext) -> i32 {
    // SAFETY: called by QuickJS with a live context.
    unsafe { Ctx::from_raw(ctx) }.raise(Throw::type_error("SharedArray is immutable"));
    -1
}

unsafe extern "C" fn delete_property(ctx: *mut sys::JSContext, _: sys::JSValue, _: sys::JSAtom) -> i32 {
    immutable(ctx)
}

unsafe extern "C" fn define_own_property(
    ctx: *mut sys::JSContext,
    _: sys::JSValue,
    _: sys::JSAtom,
    _: sys::JSValue,
    _: sys::JSValue,
    _: sys::JSValue,
    _: i32,
) -> i32 {
    immutable(ctx)
}

unsafe extern "C" fn set_property(ctx: *mut sys::JSContext, _: sys::JSValue, _: sys::JSAtom, _: sys::JSValue, _: sys::JSValue, _: i32) -> i32 {
    immutable(ctx)
}
