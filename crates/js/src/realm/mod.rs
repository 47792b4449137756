//! A realm: globals, built-in modules and the program's module templates.
#![expect(unsafe_code, reason = "QuickJS module records and realm sharing")]

mod collation;
pub(crate) mod console;
mod encoder;
pub(crate) mod files;
pub(crate) mod globals;
pub(crate) mod shared_array;
pub(crate) mod shared_bytes;
pub(crate) mod throttle;

use std::cell::{OnceCell, RefCell};

use onrush_quickjs_sys as sys;
use onrush_script::{ModuleKind, Target};
use rustc_hash::FxHashMap;

use crate::{
    ScriptEnv,
    bytecode::{self, Bytecode},
    embed::{Ctx, Exception, JsResult, Runtime, Throw, Val},
    modules as builtins,
    vu::modules::requests,
};

/// A module as read from bytecode, never linked: VUs clone it.
pub(crate) struct Template {
    pub(crate) record: *mut sys::JSModuleDef,
    /// What each of its imports refers to, in the record's order.
    pub(crate) requests: Vec<Target>,
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
    response_template: OnceCell<Val>,
    html_classes: OnceCell<builtins::html::Classes>,
    stock_slice: Val,
}

impl Realm {
    /// Builds a realm. With `shared` every object in it is then write-trapped.
    pub(crate) fn new(
        runtime: &Runtime,
        script: &ScriptEnv,
        bytecode: &Bytecode,
        shared: bool,
    ) -> Result<Self, Exception> {
        let ctx = runtime.new_realm();
        let mut realm = Self {
            ctx,
            templates: Vec::new(),
            scripts: Vec::new(),
            natives: RefCell::default(),
            native_exports: RefCell::default(),
            response_template: OnceCell::new(),
            html_classes: OnceCell::new(),
            stock_slice: Val::undefined(),
        };
        realm.fill(script, bytecode, shared).map_err(|throw| ctx.take_exception(throw))?;
        Ok(realm)
    }

    fn fill(&mut self, script: &ScriptEnv, bytecode: &Bytecode, shared: bool) -> JsResult<()> {
        let ctx = self.ctx;
        self.stock_slice = globals::install(ctx, script.extended_mode)?;
        builtins::install_classes(ctx)?;
        for (module, compiled) in script.program.modules.iter().zip(&bytecode.modules) {
            let code = compiled.facade.as_ref().unwrap_or(&compiled.code);
            let value = bytecode::read(ctx, code)?;
            // SAFETY: reading a compiled module gives a module value.
            let record: *mut sys::JSModuleDef = unsafe { value.raw().ptr() }.cast();
            // The record is kept for the realm's life: its one reference is given to the template.
            std::mem::forget(value);
            // SAFETY: a record just read and registered by name; lookups by name must not find it.
            unsafe { sys::onrush_module_detach(ctx.raw(), record) };
            let requests = requests(ctx, record, &module.imports)?;
            for target in &requests {
                if let Target::Builtin(name) = target {
                    self.native(name)?;
                }
            }
            for import in &module.imports {
                if let Target::Builtin(name) = &import.target {
                    self.native_exports(name)?;
                }
            }
            self.templates.push(Template { record, requests });
            self.scripts.push(if module.kind == ModuleKind::CommonJs {
                Some(bytecode::read(ctx, &compiled.code)?)
            } else {
                None
            });
        }
        if shared {
            // What VUs share must be there before they do.
            self.html_classes(ctx)?;
            // SAFETY: the realm is complete and no VU runs yet.
            let flagged = unsafe { sys::onrush_share_realm(ctx.raw()) };
            if flagged < 0 {
                return Err(Throw::Pending);
            }
        }
        Ok(())
    }

    /// `ArrayBuffer.prototype.slice` as QuickJS has it.
    pub(crate) fn stock_slice(&self) -> &Val {
        &self.stock_slice
    }

    /// What Response objects are cloned from, made at first use.
    pub(crate) fn response_template(&self, ctx: Ctx) -> JsResult<&Val> {
        if self.response_template.get().is_none() {
            let template = builtins::http::response_template(ctx)?;
            let _ = self.response_template.set(template);
        }
        self.response_template.get().ok_or(Throw::Pending)
    }

    /// The classes of `k6/html`, made at first use in a realm of one VU.
    pub(crate) fn html_classes(&self, ctx: Ctx) -> JsResult<&builtins::html::Classes> {
        if self.html_classes.get().is_none() {
            let classes = builtins::html::Classes::install(ctx)?;
            let _ = self.html_classes.set(classes);
        }
        self.html_classes.get().ok_or(Throw::Pending)
    }

    /// The evaluated record of a built-in module, made at first use.
    pub(crate) fn native(&self, name: &str) -> JsResult<*mut sys::JSModuleDef> {
        if let Some(record) = self.natives.borrow().get(name) {
            return Ok(*record);
        }
        let record = builtins::create(self.ctx, name)?;
        self.natives.borrow_mut().insert(name.to_owned(), record);
        Ok(record)
    }

    /// What `require` returns for a built-in module: an object with its named exports, `default` and `__esModule`.
    pub(crate) fn native_exports(&self, name: &str) -> JsResult {
        if let Some(exports) = self.native_exports.borrow().get(name) {
            return Ok(exports.clone());
        }
        let record = self.native(name)?;
        let ctx = self.ctx;
        // SAFETY: the record is linked and evaluated.
        let namespace = Val::checked(unsafe { sys::onrush_module_namespace(ctx.raw(), record) })?;
        let exports = ctx.object()?;
        for key in namespace.keys(ctx)? {
            exports.define(ctx, &key, namespace.get(ctx, &key)?)?;
        }
        exports.define_hidden(ctx, "__esModule", Val::bool(true))?;
        self.native_exports.borrow_mut().insert(name.to_owned(), exports.clone());
        Ok(exports)
    }
}
