//! The built-in modules scripts import: one file or folder each.
//!
//! A module is a function that builds its default export in a realm. Every member of that object is also a named
//! export, as in k6. In the dense layout the objects are shared by all VUs of a thread, so natives find the VU that
//! calls through `vu::context` and keep no state in their objects.
#![expect(unsafe_code, reason = "QuickJS C modules and the lazy-property hook")]

mod data;
mod execution;
pub(crate) mod html;
pub(crate) mod http;
mod k6;
mod metrics;
mod secrets;
mod tag_value;
mod timers;

pub(crate) use k6::CheckCache;

use std::{cell::RefCell, ffi::CString};

use onrush_quickjs_sys as sys;

use crate::{
    embed::{Ctx, Handle, JsResult, Native, Throw, Val},
    vu::{context, modules::cjs},
};

/// Names of the modules this version provides.
pub const BUILTIN_MODULES: &[&str] =
    &["k6", "k6/data", "k6/execution", "k6/html", "k6/http", "k6/metrics", "k6/secrets", "k6/timers"];

/// The module behind the facades of CommonJS modules; scripts cannot name it.
pub(crate) const CJS_MODULE: &str = "onrush:cjs";

/// Registers the host classes of all modules in a realm.
pub(crate) fn install_classes(ctx: Ctx) -> JsResult<()> {
    http::install_classes(ctx)?;
    data::install_classes(ctx)?;
    metrics::install_classes(ctx)?;
    secrets::install_classes(ctx)?;
    execution::install_classes(ctx)
}

/// Builds the default export of a module.
fn build(ctx: Ctx, name: &str) -> JsResult {
    match name {
        "k6" => k6::build(ctx),
        "k6/data" => data::build(ctx),
        "k6/execution" => execution::build(ctx),
        "k6/html" => html::build(ctx),
        "k6/http" => http::build(ctx),
        "k6/metrics" => metrics::build(ctx),
        "k6/secrets" => secrets::build(ctx),
        "k6/timers" => timers::build(ctx),
        CJS_MODULE => {
            let exports = ctx.object()?;
            export(ctx, &exports, "cjs", 1, cjs)?;
            Ok(exports)
        }
        // The loader refuses unknown names before anything runs; this is for names computed at run time.
        other => Err(Throw::error(format!("the module \"{other}\" is not available in this version of Onrush"))),
    }
}

/// Adds an exported function: enumerable, so that it also becomes a named export.
fn export<F: Native>(ctx: Ctx, exports: &Handle, name: &str, length: i32, function: F) -> JsResult<()> {
    exports.define(ctx, name, ctx.function(name, length, function)?)
}

/// Adds an exported class.
fn export_class<F: Native>(ctx: Ctx, exports: &Handle, name: &str, prototype: &Val, constructor: F) -> JsResult<()> {
    // k6: classes of its modules can be called without `new`.
    let constructor = ctx.callable_constructor(name, 1, constructor)?;
    constructor.define_hidden(ctx, "prototype", prototype.clone())?;
    prototype.define_hidden(ctx, "constructor", constructor.clone())?;
    exports.define(ctx, name, constructor)
}

thread_local! {
    /// Exports on their way into a module that is being evaluated.
    static PENDING: RefCell<Vec<(CString, Val)>> = const { RefCell::new(Vec::new()) };
}

/// Creates and evaluates a built-in module in a realm.
pub(crate) fn create(ctx: Ctx, name: &str) -> JsResult<*mut sys::JSModuleDef> {
    let default = build(ctx, name)?;
    let mut exports = Vec::new();
    for key in default.keys(ctx)? {
        let name = CString::new(key.text(ctx)?).map_err(|_| Throw::error("export name holds a NUL character"))?;
        exports.push((name, default.get(ctx, &key)?));
    }
    exports.push((c"default".to_owned(), default));
    let c_name = CString::new(name).map_err(|_| Throw::error("module name holds a NUL character"))?;
    // SAFETY: names outlive the calls; the record lives as long as the realm.
    unsafe {
        let record = sys::JS_NewCModule(ctx.raw(), c_name.as_ptr(), fill_exports);
        if record.is_null() {
            return Err(Throw::Pending);
        }
        for (name, _) in &exports {
            if sys::JS_AddModuleExport(ctx.raw(), record, name.as_ptr()) < 0 {
                return Err(Throw::Pending);
            }
        }
        PENDING.set(exports);
        let result = Val::checked(sys::onrush_module_evaluate(ctx.raw(), record));
        PENDING.take();
        result?;
        Ok(record)
    }
}

unsafe extern "C" fn fill_exports(ctx: *mut sys::JSContext, record: *mut sys::JSModuleDef) -> i32 {
    for (name, value) in PENDING.take() {
        // SAFETY: QuickJS passes the record `create` is evaluating; ownership of the value moves into it.
        if unsafe { sys::JS_SetModuleExport(ctx, record, name.as_ptr(), value.into_raw()) } < 0 {
            return -1;
        }
    }
    0
}

/// Materialises a lazy property at its first touch.
pub(crate) unsafe extern "C" fn lazy_hook(
    ctx: *mut sys::JSContext,
    object: sys::JSValue,
    opaque: *mut std::ffi::c_void,
    which: i32,
) -> sys::JSValue {
    // The engine holds on to the property meanwhile.
    context::undivided(|| {
        // SAFETY: QuickJS passes a live context; only responses have lazy properties, and their opaque pointer is a response.
        unsafe { http::materialise(Ctx::from_raw(ctx), Handle::from_raw_ref(&object), opaque, which) }
    })
}
