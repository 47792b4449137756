//! What quickjs.h defines as `static inline` functions over the exported ones.

use crate::{
    raw::*,
    types::*,
    value::{JSValue, JSValueConst},
};
use core::ffi::{c_char, c_int};

/// `JS_NewString` for bytes that are not zero terminated; UTF-8.
///
/// # Safety
/// `ctx` is alive and used from its thread.
#[inline]
pub unsafe fn js_new_string(ctx: *mut JSContext, s: &str) -> JSValue {
    // SAFETY: pointer and length are those of a slice; the rest is the caller's promise.
    unsafe { JS_NewStringLen(ctx, s.as_ptr().cast(), s.len()) }
}

/// `JS_NewAtomLen` for a `str`.
///
/// # Safety
/// `ctx` is alive and used from its thread.
#[inline]
pub unsafe fn js_new_atom(ctx: *mut JSContext, s: &str) -> JSAtom {
    // SAFETY: pointer and length are those of a slice; the rest is the caller's promise.
    unsafe { JS_NewAtomLen(ctx, s.as_ptr().cast(), s.len()) }
}

/// `JS_ToCStringLen`: UTF-8, zero terminated, to be freed with `JS_FreeCString`; null with an
/// exception pending.
///
/// # Safety
/// `ctx` and `value` are alive and used from their thread; `len` is null or writable.
#[inline]
pub unsafe fn JS_ToCStringLen(ctx: *mut JSContext, len: *mut usize, value: JSValueConst) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { JS_ToCStringLen2(ctx, len, value, false) }
}

/// `JS_ToCString`
///
/// # Safety
/// As for [`JS_ToCStringLen`].
#[inline]
pub unsafe fn JS_ToCString(ctx: *mut JSContext, value: JSValueConst) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { JS_ToCStringLen2(ctx, core::ptr::null_mut(), value, false) }
}

/// `JS_AtomToCString`
///
/// # Safety
/// `ctx` and `atom` are alive and used from their thread.
#[inline]
pub unsafe fn JS_AtomToCString(ctx: *mut JSContext, atom: JSAtom) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { JS_AtomToCStringLen(ctx, core::ptr::null_mut(), atom) }
}

/// `JS_ToUint32`: -1 with an exception pending.
///
/// # Safety
/// `ctx` and `value` are alive and used from their thread; `result` is writable.
#[inline]
pub unsafe fn JS_ToUint32(ctx: *mut JSContext, result: *mut u32, value: JSValueConst) -> c_int {
    // SAFETY: both integers have the same size and alignment.
    unsafe { JS_ToInt32(ctx, result.cast(), value) }
}

/// `JS_NewCFunction`
///
/// # Safety
/// `ctx` is alive and used from its thread; `name` is a C string; `func` does not unwind.
#[inline]
pub unsafe fn JS_NewCFunction(ctx: *mut JSContext, func: JSCFunction, name: *const c_char, length: c_int) -> JSValue {
    // SAFETY: the caller's promise.
    unsafe { JS_NewCFunction2(ctx, func, name, length, JSCFunctionEnum::generic, 0) }
}

/// `JS_NewCFunctionMagic`; `cproto` is one of the `_magic` kinds.
///
/// # Safety
/// As for [`JS_NewCFunction`]; `cproto` is `generic_magic`, `constructor_magic` or
/// `constructor_or_func_magic`.
#[inline]
pub unsafe fn JS_NewCFunctionMagic(
    ctx: *mut JSContext,
    func: JSCFunctionMagic,
    name: *const c_char,
    length: c_int,
    cproto: JSCFunctionEnum,
    magic: c_int,
) -> JSValue {
    // SAFETY: a union of function pointers in C; `cproto` says which member it is.
    let func = unsafe { core::mem::transmute::<JSCFunctionMagic, JSCFunction>(func) };
    // SAFETY: the caller's promise.
    unsafe { JS_NewCFunction2(ctx, func, name, length, cproto, magic) }
}

/// A getter function object, for `JS_DefinePropertyGetSet`.
///
/// # Safety
/// As for [`JS_NewCFunction`].
#[inline]
pub unsafe fn js_new_getter(ctx: *mut JSContext, func: JSCGetterMagic, name: *const c_char, magic: c_int) -> JSValue {
    // SAFETY: a union of function pointers in C; the kind says which member it is.
    let func = unsafe { core::mem::transmute::<JSCGetterMagic, JSCFunction>(func) };
    // SAFETY: the caller's promise.
    unsafe { JS_NewCFunction2(ctx, func, name, 0, JSCFunctionEnum::getter_magic, magic) }
}

/// A setter function object, for `JS_DefinePropertyGetSet`.
///
/// # Safety
/// As for [`JS_NewCFunction`].
#[inline]
pub unsafe fn js_new_setter(ctx: *mut JSContext, func: JSCSetterMagic, name: *const c_char, magic: c_int) -> JSValue {
    // SAFETY: a union of function pointers in C; the kind says which member it is.
    let func = unsafe { core::mem::transmute::<JSCSetterMagic, JSCFunction>(func) };
    // SAFETY: the caller's promise.
    unsafe { JS_NewCFunction2(ctx, func, name, 1, JSCFunctionEnum::setter_magic, magic) }
}
