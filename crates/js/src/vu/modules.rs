//! A VU's own instances of the program's modules, and how imports, `require` and `import()` find them.
#![expect(unsafe_code, reason = "QuickJS module records")]

use std::ffi::{CStr, CString, c_char, c_void};

use onrush_quickjs_sys as sys;
use onrush_script::{Computed, ImportKind, ModuleIndex, ModuleKind, Resolved, Target};

use super::{Vu, context, instances::CommonJs};
use crate::{
    Isolation,
    embed::{Atom, Ctx, Handle, JsResult, PromiseState, Throw, Val, guarded},
    modules as builtins,
    realm::{Template, not_resolved},
};

impl Vu {
    /// The module record of this VU for a program module, made (with all it imports) at first use.
    fn record(&self, index: ModuleIndex) -> JsResult<*mut sys::JSModuleDef> {
        let slot = index.0 as usize;
        {
            let mut instances = self.instances.borrow_mut();
            if instances.esm.is_empty() {
                instances.esm.resize_with(self.script().program.modules.len(), || None);
            }
            if let Some(record) = instances.esm[slot] {
                return Ok(record);
            }
        }
        let realm = self.realm();
        let ctx = realm.ctx;
        let Some(Template { record: template, requests }) = realm.templates.get(slot) else {
            return Err(Throw::error("module is not part of the program"));
        };
        // SAFETY: the template belongs to this realm and was never linked.
        let record = unsafe { sys::onrush_module_clone(ctx.raw(), *template) };
        if record.is_null() {
            return Err(Throw::Pending);
        }
        // Registered before its imports are followed: cyclic imports end here.
        self.instances.borrow_mut().esm[slot] = Some(record);
        let filled = self.fill_record(record, index, requests);
        if filled.is_err() {
            // Half made: whoever asks again gets a new one. This one stays where it may be referred to, in the VM.
            self.instances.borrow_mut().esm[slot] = None;
        }
        filled.map(|()| record)
    }

    /// Links a new record to those it imports, and makes its `import.meta`.
    fn fill_record(&self, record: *mut sys::JSModuleDef, index: ModuleIndex, requests: &[Target]) -> JsResult<()> {
        for (position, target) in requests.iter().enumerate() {
            let dependency = match target {
                Target::Module(index) => self.record(*index)?,
                Target::Builtin(name) => self.realm().native(name)?,
                Target::Missing(error) => return Err(Throw::error(error.to_string())),
            };
            // SAFETY: both records are alive; `position` is below the request count the template was read with.
            unsafe { sys::onrush_module_set_request(record, position as i32, dependency) };
        }
        if self.script().program.modules[index.0 as usize].uses_import_meta {
            self.fill_import_meta(record, index)?;
        }
        Ok(())
    }

    /// `import.meta.url` and `import.meta.resolve()`.
    fn fill_import_meta(&self, record: *mut sys::JSModuleDef, index: ModuleIndex) -> JsResult<()> {
        let ctx = self.ctx();
        // SAFETY: the record is alive; the object is created at first use.
        let meta = Val::checked(unsafe { sys::JS_GetImportMeta(ctx.raw(), record) })?;
        meta.define(ctx, "url", Val::string(ctx, &self.script().program.modules[index.0 as usize].specifier)?)?;
        let resolve = ctx.function("resolve", 1, import_meta_resolve)?;
        let bind = resolve.get(ctx, "bind")?;
        let bound = ctx.call(&bind, &resolve, &[&Val::int(index.0 as i32)])?;
        meta.define(ctx, "resolve", bound)
    }

    /// Evaluates the script, runs the event loop until that has settled, and returns its namespace.
    pub(crate) fn import_entry(&self, index: ModuleIndex) -> JsResult {
        let record = self.record(index)?;
        let evaluation = self.evaluate_record(record)?;
        self.settle(evaluation)?;
        self.namespace(record)
    }

    /// `require()` of an ES module. k6: what it exports after a top-level `await` is not there yet.
    fn require_esm(&self, index: ModuleIndex) -> JsResult {
        let record = self.record(index)?;
        let evaluation = self.within_require(|| self.evaluate_record(record))?;
        let ctx = self.ctx();
        // No microtask may run here: the module that asks is being evaluated itself.
        if let PromiseState::Rejected(reason) = ctx.promise_state(&evaluation) {
            ctx.mark_handled(&evaluation);
            self.event_loop.forget_rejection(&evaluation);
            return Err(ctx.throw_value(reason));
        }
        self.namespace(record)
    }

    /// Evaluates a module unless that has begun before; the promise of its evaluation.
    fn evaluate_record(&self, record: *mut sys::JSModuleDef) -> JsResult {
        // SAFETY: the record and all it requests are alive and linked to records of this realm.
        Val::checked(unsafe { sys::onrush_module_evaluate(self.ctx().raw(), record) })
    }

    fn namespace(&self, record: *mut sys::JSModuleDef) -> JsResult {
        // SAFETY: the record is alive and has been linked.
        Val::checked(unsafe { sys::onrush_module_namespace(self.ctx().raw(), record) })
    }

    /// The exports of a program module as `require` returns them.
    pub(crate) fn require(&self, index: ModuleIndex) -> JsResult {
        match self.script().program.modules[index.0 as usize].kind {
            ModuleKind::Esm => self.require_esm(index),
            ModuleKind::CommonJs => self.module_object(index)?.get(self.ctx(), "exports"),
        }
    }

    /// Runs a CommonJS module once in this VU; a cycle sees the unfinished `module` object, as in Node.
    fn module_object(&self, index: ModuleIndex) -> JsResult {
        let slot = index.0 as usize;
        {
            let mut instances = self.instances.borrow_mut();
            if instances.cjs.is_empty() {
                instances.cjs.resize_with(self.script().program.modules.len(), || None);
            }
            if let Some(CommonJs { module, thrown }) = instances.cjs[slot].clone() {
                return match thrown {
                    Some(thrown) => Err(self.ctx().throw_value(thrown)),
                    None => Ok(module),
                };
            }
        }
        let ctx = self.ctx();
        let module = ctx.object()?;
        let exports = ctx.object()?;
        module.set(ctx, "exports", exports.clone())?;
        self.instances.borrow_mut().cjs[slot] = Some(CommonJs { module: module.clone(), thrown: None });
        let code = self.realm().scripts[slot].as_ref().ok_or_else(|| Throw::error("not a CommonJS module"))?.clone();
        // SAFETY: the bytecode is a script; ownership of this reference moves to the call.
        let wrapper = Val::checked(unsafe { sys::JS_EvalFunction(ctx.raw(), code.into_raw()) })?;
        let require = require_function(ctx, Some(index))?;
        let result = self.within_require(|| ctx.call(&wrapper, &exports, &[&module, &exports, &require]));
        let Err(throw) = result else { return Ok(module) };
        if self.is_halted.get() {
            return Err(throw);
        }
        ctx.raise(throw);
        let thrown = ctx.take_exception_value();
        if let Some(started) = self.instances.borrow_mut().cjs.get_mut(slot) {
            *started = Some(CommonJs { module, thrown: Some(thrown.clone()) });
        }
        Err(ctx.throw_value(thrown))
    }

    /// Runs a module that is required: its code is where a look for the module being evaluated ends.
    fn within_require<R>(&self, body: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Vu, *const c_void);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.requiring.set(self.1);
            }
        }
        // SAFETY: reads a pointer of a live runtime.
        let frame = unsafe { sys::onrush_stack_frame(self.ctx().raw()) };
        let _restore = Restore(self, self.requiring.replace(frame));
        body()
    }

    /// The specifiers of the code that runs and of the module being evaluated: that of the outermost code, or of the
    /// outermost since the last `require()`. `None` for code that is in no file, made by `eval()`.
    pub(crate) fn running_files(&self) -> JsResult<(Option<String>, Option<String>)> {
        let ctx = self.ctx();
        let (mut caller, mut outermost) = (sys::JS_ATOM_NULL, sys::JS_ATOM_NULL);
        // SAFETY: walks the frames of the code that runs; the names are new references.
        let [caller, outermost] = unsafe {
            sys::onrush_script_files(ctx.raw(), self.requiring.get(), &mut caller, &mut outermost);
            [caller, outermost].map(Atom::from_raw)
        };
        let known = |atom: Atom| -> JsResult<Option<String>> {
            if atom.raw() == sys::JS_ATOM_NULL {
                return Ok(None);
            }
            let name = atom.text(ctx)?;
            Ok(self.script().program.find(&name).map(|_| name))
        };
        Ok((known(caller)?, known(outermost)?))
    }

    /// Frees the module records that nothing can refer to any more: `import()` and `require()` are refused after init.
    /// Functions and live bindings stay alive through the closures and namespaces that use them.
    pub(crate) fn release_records(&self) {
        self.instances.borrow_mut().clear();
        // SAFETY: no record is used after this: the table is empty, and `normalize` refuses what would look for one. Where
        // an evaluation has not ended, or memory has, all records stay.
        unsafe { sys::onrush_modules_release(self.ctx().raw()) };
    }
}

/// A `require` that resolves from `base`; when `None`, from the module that calls it.
pub(crate) fn require_function(ctx: Ctx, base: Option<ModuleIndex>) -> JsResult {
    let function = ctx.function("require", 1, require)?;
    let Some(base) = base else { return Ok(function) };
    // Binding the module's index as `this` keeps the native free of captured state.
    let bind = function.get(ctx, "bind")?;
    ctx.call(&bind, &function, &[&Val::int(base.0 as i32)])
}

fn require(ctx: Ctx, this: &Handle, args: crate::embed::Args<'_>) -> JsResult {
    let vu = context::vu();
    let specifier = args.at(0);
    if !specifier.is_string() {
        return Err(Throw::type_error("require() expects the name of a module"));
    }
    let specifier = specifier.to_text(ctx)?;
    if specifier.is_empty() {
        return Err(Throw::error("require() can't be used with an empty specifier"));
    }
    if !vu.in_init() {
        return Err(Throw::error(
            "the \"require\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information",
        ));
    }
    let program = &vu.script().program;
    let base = match this.as_int() {
        Some(index) => ModuleIndex(index as u32),
        None => {
            let (caller, outermost) = vu.running_files()?;
            caller.or(outermost).and_then(|name| program.find(&name)).unwrap_or(program.entry)
        }
    };
    match target(vu, base, &specifier, ImportKind::Require)? {
        Target::Module(index) => vu.require(index),
        Target::Builtin(name) => vu.realm().native_exports(&name),
        // Its stack says where.
        Target::Missing(error) => Err(Throw::error(error.message.clone())),
    }
}

/// `import.meta.resolve(specifier)`: the URL it stands for, whether or not such a module exists.
fn import_meta_resolve(ctx: Ctx, this: &Handle, args: crate::embed::Args<'_>) -> JsResult {
    let base = ModuleIndex(this.as_int().unwrap_or_default() as u32);
    let request = args.at(0).to_text(ctx)?;
    match context::vu().script().program.resolve(base, &request) {
        Ok(Resolved::Builtin(name)) => Val::string(ctx, &name),
        Ok(Resolved::File { specifier, .. } | Resolved::Remote { specifier }) => Val::string(ctx, &specifier),
        Err(error) => Err(Throw::error(error.message)),
    }
}

/// What a request of module `base` stands for, found when loading or (for computed names) now.
fn target(vu: &Vu, base: ModuleIndex, request: &str, kind: ImportKind) -> JsResult<Target> {
    let program = &vu.script().program;
    let import = program.module(base).and_then(|module| module.imports.iter().find(|import| import.request == request));
    if let Some(import) = import {
        return Ok(import.target.clone());
    }
    let target = program.target(base, request);
    let is_there = match &target {
        Ok(Target::Builtin(name)) => program.asks_for(name),
        found => found.is_ok(),
    };
    if !is_there
        && vu.thread.config.init_pass
        && vu.script().accepts_computed
        && program.resolve(base, request).is_ok()
        && let Some(importer) = program.module(base)
    {
        // The pass ends here, and is repeated with the module. No script can catch that.
        let wanted = Computed { importer: importer.specifier.clone(), request: request.to_owned(), kind };
        vu.script().wanted.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(wanted);
        return Err(Throw::Interrupted);
    }
    match target {
        Ok(Target::Builtin(name)) if !is_there => Err(not_resolved(&name)),
        target => target.map_err(|error| Throw::error(error.message)),
    }
}

/// `cjs("<specifier>")` of the facade modules: a CommonJS module's exports, for ES modules that import it.
pub(crate) fn cjs(ctx: Ctx, _: &Handle, args: crate::embed::Args<'_>) -> JsResult {
    let specifier = args.at(0).to_text(ctx)?;
    let vu = context::vu();
    let index =
        vu.script().program.find(&specifier).ok_or_else(|| Throw::error(format!("unknown module {specifier}")))?;
    vu.module_object(index)?.get(ctx, "exports")
}

/// QuickJS normalises the names of dynamic imports with this: the importing module's table decides. What it refuses is
/// not looked for among the VU's records.
pub(crate) unsafe extern "C" fn normalize(
    ctx: *mut sys::JSContext,
    base: *const c_char,
    name: *const c_char,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: QuickJS passes a live context and two zero-terminated texts.
    let (ctx, base, name) =
        unsafe { (Ctx::from_raw(ctx), CStr::from_ptr(base).to_string_lossy(), CStr::from_ptr(name).to_string_lossy()) };
    guarded(ctx, std::ptr::null_mut(), || {
        let resolved = match running() {
            Some(vu) => resolve(vu, &base, &name)?,
            None => UNLINKED.to_owned(),
        };
        let resolved = CString::new(resolved).map_err(|_| Throw::error("module name holds a NUL character"))?;
        // SAFETY: the text is zero terminated; QuickJS frees the copy.
        Ok(unsafe { sys::js_strdup(ctx.raw(), resolved.as_ptr()) })
    })
}

/// Stands for every import while modules are compiled and read: templates are linked in no realm.
const UNLINKED: &str = "onrush:unlinked";

/// The VU whose code runs. `None` while code is only compiled or read back, which for a VU with a realm of its own
/// happens when the VU has been entered already.
fn running() -> Option<&'static Vu> {
    context::try_vu().filter(|vu| vu.thread.config.isolation == Isolation::Dense || vu.own_realm.get().is_some())
}

/// The name of the module that `import(name)` in module `base` stands for.
fn resolve(vu: &Vu, base: &str, name: &str) -> JsResult<String> {
    if !vu.in_init() && !sys::planted("records") {
        return Err(Throw::error("import() is only available in the init stage"));
    }
    let program = &vu.script().program;
    // Code made from text, by `eval()` or `Function()`, belongs to no module.
    let base = program.find(base).unwrap_or(program.entry);
    match target(vu, base, name, ImportKind::Dynamic)? {
        Target::Module(index) => program
            .module(index)
            .map(|module| module.specifier.clone())
            .ok_or_else(|| Throw::error(format!("unknown module {name}"))),
        Target::Builtin(name) => Ok(name),
        Target::Missing(error) => Err(Throw::error(error.message.clone())),
    }
}

/// QuickJS loads the target of a dynamic import with this: the VU's own record, never a shared one.
pub(crate) unsafe extern "C" fn load(
    ctx: *mut sys::JSContext,
    name: *const c_char,
    _: *mut c_void,
) -> *mut sys::JSModuleDef {
    let Some(vu) = running() else {
        // QuickJS wants every import resolved when it compiles a module or reads one; what runs later are clones linked
        // to a VU's own records.
        // SAFETY: both pointers come from QuickJS; a realm has one placeholder, found by its name after the first import.
        return unsafe { sys::JS_NewCModule(ctx, name, placeholder) };
    };
    // SAFETY: QuickJS passes a zero-terminated text and a live context.
    let (ctx, name) = unsafe { (Ctx::from_raw(ctx), CStr::from_ptr(name).to_string_lossy()) };
    guarded(ctx, std::ptr::null_mut(), || {
        let program = &vu.script().program;
        match program.find(&name) {
            Some(index) => vu.record(index),
            None if builtins::BUILTIN_MODULES.contains(&&*name) => vu.realm().native(&name),
            None => Err(Throw::error(format!("the module \"{name}\" was not loaded with the script"))),
        }
    })
}

unsafe extern "C" fn placeholder(_: *mut sys::JSContext, _: *mut sys::JSModuleDef) -> i32 {
    0
}

/// Reads the request names of a template into program targets.
pub(crate) fn requests(
    ctx: Ctx,
    record: *mut sys::JSModuleDef,
    imports: &[onrush_script::Import],
) -> JsResult<Vec<Target>> {
    // SAFETY: the record is alive; names are new references that are freed here.
    unsafe {
        (0..sys::onrush_module_request_count(record))
            .map(|position| {
                let atom = Atom::from_raw(sys::onrush_module_request_name(ctx.raw(), record, position));
                let name = atom.text(ctx)?;
                if name == builtins::CJS_MODULE {
                    return Ok(Target::Builtin(name));
                }
                let import = imports.iter().find(|import| import.request == name);
                import
                    .map(|import| import.target.clone())
                    .ok_or_else(|| Throw::error(format!("import of {name} was not resolved")))
            })
            .collect()
    }
}
