//! Scripts compiled once a process and read back by every thread.
#![expect(unsafe_code, reason = "QuickJS bytecode serialisation")]

use std::sync::Arc;

use onrush_quickjs_sys as sys;
use onrush_script::{Module, ModuleKind, Program};

use crate::embed::{Ctx, JsResult, Val};

/// One compiled module of the program.
pub(crate) struct Compiled {
    /// The module itself: an ES module, or for CommonJS a script whose value is the wrapper function.
    pub(crate) code: Box<[u8]>,
    /// For CommonJS: the ES module that importers link to.
    pub(crate) facade: Option<Box<[u8]>>,
}

/// The whole program as bytecode, in the order of `Program::modules`.
///
/// QuickJS's bytecode format is trusted input: this only ever holds what this process compiled itself.
pub(crate) struct Bytecode {
    pub(crate) modules: Vec<Compiled>,
}

impl Bytecode {
    /// Compiles every module. Syntax errors QuickJS finds (the loader has parsed the sources already) are exceptions.
    pub(crate) fn compile(ctx: Ctx, program: &Program) -> JsResult<Arc<Self>> {
        let modules = program.modules.iter().map(|module| compile_module(ctx, module)).collect::<JsResult<_>>()?;
        Ok(Arc::new(Self { modules }))
    }
}

fn compile_module(ctx: Ctx, module: &Module) -> JsResult<Compiled> {
    match module.kind {
        ModuleKind::Esm => Ok(Compiled { code: serialise(ctx, &module.code, &module.specifier, true)?, facade: None }),
        ModuleKind::CommonJs => Ok(Compiled {
            code: serialise(ctx, &module.code, &module.specifier, false)?,
            facade: Some(serialise(ctx, &module.facade, &module.specifier, true)?),
        }),
    }
}

/// Compiles a script of ours.
pub(crate) fn compile_script(ctx: Ctx, code: &str, name: &str) -> JsResult<Box<[u8]>> {
    serialise(ctx, code, name, false)
}

/// Runs a compiled script; the result is its value.
pub(crate) fn run(ctx: Ctx, code: &[u8]) -> JsResult {
    let script = read(ctx, code)?;
    // SAFETY: the bytecode is a script; ownership of the reference moves to the call.
    Val::checked(unsafe { sys::JS_EvalFunction(ctx.raw(), script.into_raw()) })
}

fn serialise(ctx: Ctx, code: &str, name: &str, is_module: bool) -> JsResult<Box<[u8]>> {
    let compiled = ctx.compile(code, name, is_module)?;
    let mut len = 0;
    // Source text is dropped: `Function.prototype.toString` shows a placeholder, and a large bundle is not kept per thread.
    let flags = sys::JS_WRITE_OBJ_BYTECODE | sys::JS_WRITE_OBJ_STRIP_SOURCE;
    // SAFETY: the returned buffer is copied, then freed with its own allocator.
    unsafe {
        let buffer = sys::JS_WriteObject(ctx.raw(), &mut len, compiled.raw(), flags);
        if buffer.is_null() {
            return Err(crate::embed::Throw::Pending);
        }
        let bytes = std::slice::from_raw_parts(buffer, len).into();
        sys::js_free(ctx.raw(), buffer.cast());
        if is_module {
            // A compiled module stays registered in its realm by name; the copies made from bytecode are what runs.
            sys::onrush_module_detach(ctx.raw(), compiled.raw().ptr().cast());
        }
        Ok(bytes)
    }
}

/// Reads one compiled piece back into this thread's runtime: a module template or a script.
pub(crate) fn read(ctx: Ctx, code: &[u8]) -> JsResult {
    // SAFETY: the bytes come from `serialise` in this process.
    Val::checked(unsafe { sys::JS_ReadObject(ctx.raw(), code.as_ptr(), code.len(), sys::JS_READ_OBJ_BYTECODE) })
}
