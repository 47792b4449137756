//! A realm: globals, built-in modules and the program's module templates. `build` makes one.
#![expect(unsafe_code, reason = "QuickJS module records")]

mod build;
mod collation;
pub(crate) mod console;
mod encoder;
pub(crate) mod files;
pub(crate) mod globals;
pub(crate) mod shared_bytes;
pub(crate) mod throttle;

use std::cell::RefCell;

use onrush_quickjs_sys as sys;
use onrush_script::Target;
use rustc_hash::FxHashMap;

use crate::{
    embed::{Ctx, JsResult, Throw, Val},
    slots::Slots,
};

/// A module as read from bytecode, never linked: VUs clone it.
pub(crate) struct Template {
    pub(crate) record: *mut sys::JSModuleDef,
    /// What each of its imports refers to, in the record's order.
    pub(crate) requests: Vec<Target>,
}

/// Creates and evaluates the built-in module of that name in a realm.
pub(crate) type CreateModule = fn(Ctx, &str) -> JsResult<*mut sys::JSModuleDef>;

/// k6's text for a module that a VU asks for, and init code did not when it first ran.
pub(crate) fn not_resolved(name: &str) -> Throw {
    Throw::error(format!("the module \"{name}\" was not previously resolved during initialization (__VU==0)"))
}

/// One realm with everything VUs in it share.
pub(crate) struct Realm {
    pub(crate) ctx: Ctx,
    /// By module index; for CommonJS modules the facade that ES modules import.
    pub(crate) templates: Vec<Template>,
    /// By module index: the wrapper script of CommonJS modules.
    pub(crate) scripts: Vec<Option<Val>>,
    natives: RefCell<FxHashMap<String, *mut sys::JSModuleDef>>,
    native_exports: RefCell<FxHashMap<String, Val>>,
    /// VUs share all that is in it: a module that is not there now never will be.
    is_shared: bool,
    /// What modules keep for all VUs in it.
    pub(crate) slots: Slots,
    stock_slice: Val,
    /// Creates and evaluates a built-in module.
    create: CreateModule,
}

impl Realm {
    /// `ArrayBuffer.prototype.slice` as QuickJS has it.
    pub(crate) fn stock_slice(&self) -> &Val {
        &self.stock_slice
    }

    /// The evaluated record of a built-in module, made at first use.
    pub(crate) fn native(&self, name: &str) -> JsResult<*mut sys::JSModuleDef> {
        if let Some(record) = self.natives.borrow().get(name) {
            return Ok(*record);
        }
        if self.is_shared {
            return Err(not_resolved(name));
        }
        let record = (self.create)(self.ctx, name)?;
        self.natives.borrow_mut().insert(name.to_owned(), record);
        Ok(record)
    }

    /// What `require` returns for a built-in module. k6: its default export.
    pub(crate) fn native_exports(&self, name: &str) -> JsResult {
        if let Some(exports) = self.native_exports.borrow().get(name) {
            return Ok(exports.clone());
        }
        let exports = self.default_export(self.native(name)?)?;
        self.native_exports.borrow_mut().insert(name.to_owned(), exports.clone());
        Ok(exports)
    }

    fn default_export(&self, record: *mut sys::JSModuleDef) -> JsResult {
        // SAFETY: the record is linked and evaluated.
        let namespace = Val::checked(unsafe { sys::onrush_module_namespace(self.ctx.raw(), record) })?;
        namespace.get(self.ctx, "default")
    }
}
