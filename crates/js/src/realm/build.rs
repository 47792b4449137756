//! Building a realm from the standard library, our globals and modules, and the program's bytecode.
#![expect(unsafe_code, reason = "QuickJS module records and realm sharing")]

use std::cell::RefCell;

use onrush_quickjs_sys as sys;
use onrush_script::{ModuleKind, Target};

use super::{Realm, Template, globals};
use crate::{
    ScriptEnv,
    bytecode::{self, Bytecode},
    embed::{Exception, JsResult, Runtime, Throw, Val},
    modules as builtins,
    slots::Slots,
    vu::modules::requests,
};

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
            is_shared: false,
            slots: Slots::default(),
            stock_slice: Val::undefined(),
            create: builtins::create,
        };
        realm.fill(script, bytecode, shared).map_err(|throw| ctx.take_exception(throw))?;
        Ok(realm)
    }

    fn fill(&mut self, script: &ScriptEnv, bytecode: &Bytecode, shared: bool) -> JsResult<()> {
        let ctx = self.ctx;
        self.stock_slice = globals::install(ctx, script.extended_mode)?;
        builtins::install_classes(ctx)?;
        builtins::extension::install(self, &script.program)?;
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
            // What VUs share must be there before they do: made later, it would be one VU's, and not write-trapped.
            builtins::share_classes(self)?;
            // Others cannot be asked for any more, see `not_resolved`.
            let built: Vec<String> = self.natives.borrow().keys().cloned().collect();
            for name in built.iter().flat_map(|name| builtins::needs(name)).chain([&builtins::CJS_MODULE]) {
                self.native_exports(name)?;
            }
            self.is_shared = true;
            // SAFETY: the realm is complete and no VU runs yet.
            let flagged = unsafe { sys::onrush_share_realm(ctx.raw()) };
            if flagged < 0 {
                return Err(Throw::Pending);
            }
        }
        Ok(())
    }
}
