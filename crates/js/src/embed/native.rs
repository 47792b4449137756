//! Rust functions as JavaScript functions.
#![expect(unsafe_code, reason = "extern \"C\" trampolines around safe functions")]

use std::{
    ffi::{CString, c_int},
    panic::{AssertUnwindSafe, catch_unwind},
};

use onrush_quickjs_sys as sys;

use super::{Ctx, Handle, JsResult, Throw, Val, is_halted};

/// The arguments of a call; missing ones read as undefined.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [Handle]);

impl<'a> Args<'a> {
    pub(crate) fn at(self, index: usize) -> &'a Handle {
        self.0.get(index).unwrap_or(Handle::UNDEFINED)
    }

    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(self) -> std::slice::Iter<'a, Handle> {
        self.0.iter()
    }
}

/// A Rust function scripts can call: `this` first, then the arguments. In constructors `this` is `new.target`.
///
/// Implemented by function items and captureless closures only: they have no size, so the trampoline needs no place to
/// keep them, and a native module is a static table shared by all VUs.
pub(crate) trait Native: Fn(Ctx, &Handle, Args<'_>) -> JsResult + Copy + 'static {}
impl<F: Fn(Ctx, &Handle, Args<'_>) -> JsResult + Copy + 'static> Native for F {}

/// A property reader.
pub(crate) trait Getter: Fn(Ctx, &Handle) -> JsResult + Copy + 'static {}
impl<F: Fn(Ctx, &Handle) -> JsResult + Copy + 'static> Getter for F {}

/// A [`Native`] that also gets the number it was made with: one function for many methods.
pub(crate) trait Numbered: Fn(Ctx, &Handle, Args<'_>, usize) -> JsResult + Copy + 'static {}
impl<F: Fn(Ctx, &Handle, Args<'_>, usize) -> JsResult + Copy + 'static> Numbered for F {}

impl Ctx {
    /// A function that is told `number` at each call; QuickJS keeps 16 bits of it.
    pub(crate) fn numbered<F: Numbered>(self, name: &str, length: i32, number: i16, _: F) -> JsResult {
        let name = CString::new(name).expect("native functions have literal names");
        // SAFETY: with `generic_magic` QuickJS calls the function with the number as a fifth argument, which the
        // trampoline takes; the name is copied.
        Val::checked(unsafe {
            let function = std::mem::transmute::<NumberedFunction, sys::JSCFunction>(numbered_trampoline::<F>);
            sys::JS_NewCFunction2(
                self.raw(),
                function,
                name.as_ptr(),
                length,
                sys::JSCFunctionEnum::generic_magic,
                i32::from(number),
            )
        })
    }

    /// A function whose `this` is always the given one, and that is told `number` at each call; QuickJS keeps 16 bits of it.
    pub(crate) fn bound<F: Numbered>(self, name: &str, length: i32, number: usize, _: F, this: &Handle) -> JsResult {
        let name = CString::new(name).expect("native functions have literal names");
        let mut data = this.raw();
        // SAFETY: the trampoline matches the signature and takes one value, which is copied as the name is.
        Val::checked(unsafe {
            let function = bound_trampoline::<F>;
            sys::JS_NewCFunctionData2(self.raw(), function, name.as_ptr(), length, number as c_int, 1, &mut data)
        })
    }

    pub(crate) fn function<F: Native>(self, name: &str, length: i32, _: F) -> JsResult {
        self.native(name, length, trampoline::<F>, sys::JSCFunctionEnum::generic)
    }

    /// A class constructor: callable only with `new`.
    pub(crate) fn constructor<F: Native>(self, name: &str, length: i32, _: F) -> JsResult {
        self.native(name, length, trampoline::<F>, sys::JSCFunctionEnum::constructor)
    }

    /// A constructor that may be called without `new`; it finds no target, then.
    pub(crate) fn callable_constructor<F: Native>(self, name: &str, length: i32, _: F) -> JsResult {
        self.native(name, length, trampoline::<F>, sys::JSCFunctionEnum::constructor_or_func)
    }

    pub(crate) fn getter<F: Getter>(self, name: &str, _: F) -> JsResult {
        self.native(name, 0, getter_trampoline::<F>, sys::JSCFunctionEnum::generic)
    }

    fn native(self, name: &str, length: i32, function: sys::JSCFunction, kind: sys::JSCFunctionEnum) -> JsResult {
        let name = CString::new(name).expect("native functions have literal names");
        // SAFETY: the trampoline matches QuickJS's generic signature; the name is copied.
        Val::checked(unsafe { sys::JS_NewCFunction2(self.raw(), function, name.as_ptr(), length, kind, 0) })
    }
}

/// The zero-sized function behind a trampoline.
fn conjure<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "natives are function items or captureless closures") };
    // SAFETY: a zero-sized Copy type has exactly one value and reading it touches no memory.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

unsafe extern "C" fn trampoline<F: Native>(
    ctx: *mut sys::JSContext,
    this: sys::JSValue,
    argc: c_int,
    argv: *mut sys::JSValue,
) -> sys::JSValue {
    // SAFETY: QuickJS passes a live context and `argc` live arguments.
    let (ctx, args) = unsafe { (Ctx::from_raw(ctx), Handle::slice(argv, argc.max(0) as usize)) };
    finish(ctx, || conjure::<F>()(ctx, Handle::from_raw_ref(&this), Args(args)))
}

type NumberedFunction =
    unsafe extern "C" fn(*mut sys::JSContext, sys::JSValue, c_int, *mut sys::JSValue, c_int) -> sys::JSValue;

unsafe extern "C" fn numbered_trampoline<F: Numbered>(
    ctx: *mut sys::JSContext,
    this: sys::JSValue,
    argc: c_int,
    argv: *mut sys::JSValue,
    number: c_int,
) -> sys::JSValue {
    // SAFETY: QuickJS passes a live context and `argc` live arguments.
    let (ctx, args) = unsafe { (Ctx::from_raw(ctx), Handle::slice(argv, argc.max(0) as usize)) };
    finish(ctx, || conjure::<F>()(ctx, Handle::from_raw_ref(&this), Args(args), number.max(0) as usize))
}

unsafe extern "C" fn bound_trampoline<F: Numbered>(
    ctx: *mut sys::JSContext,
    _: sys::JSValue,
    argc: c_int,
    argv: *mut sys::JSValue,
    number: c_int,
    data: *mut sys::JSValue,
) -> sys::JSValue {
    // SAFETY: QuickJS passes a live context, `argc` live arguments and the value the function was made with.
    let (ctx, args, this) = unsafe { (Ctx::from_raw(ctx), Handle::slice(argv, argc.max(0) as usize), *data) };
    finish(ctx, || conjure::<F>()(ctx, Handle::from_raw_ref(&this), Args(args), number.max(0) as usize))
}

unsafe extern "C" fn getter_trampoline<F: Getter>(
    ctx: *mut sys::JSContext,
    this: sys::JSValue,
    _: c_int,
    _: *mut sys::JSValue,
) -> sys::JSValue {
    // SAFETY: QuickJS passes a live context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    finish(ctx, || conjure::<F>()(ctx, Handle::from_raw_ref(&this)))
}

/// Runs a native and hands its result, error or panic to the script.
pub(super) fn finish(ctx: Ctx, body: impl FnOnce() -> JsResult) -> sys::JSValue {
    // Promises turn even uncatchable exceptions into rejections, after which script code runs on: it gets no further
    // than its next call of ours.
    if is_halted() {
        ctx.raise(Throw::Interrupted);
        return sys::JS_EXCEPTION;
    }
    guarded(ctx, sys::JS_EXCEPTION, || body().map(Val::into_raw))
}

/// Runs what QuickJS calls back where nothing can be thrown, such as a finalizer. A panic was reported when it happened,
/// and `otherwise` is the result.
pub(crate) fn contained<R>(otherwise: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Runs what QuickJS calls back. An error becomes the pending exception and the result `failed`, and so does a panic,
/// which must not unwind into QuickJS's frames.
pub(crate) fn guarded<R>(ctx: Ctx, failed: R, body: impl FnOnce() -> JsResult<R>) -> R {
    let throw = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(result)) => return result,
        Ok(Err(throw)) => throw,
        Err(panic) => Throw::panic(&*panic),
    };
    ctx.raise(throw);
    failed
}
