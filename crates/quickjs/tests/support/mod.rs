//! A small host for the tests: an engine that runs script files in a plain realm or in a shared one, with `print`, `gc`
//! and file modules. Not an embedding, see the `js` crate.
//!
//! SAFETY: an engine lives and dies on one test's thread; every value it hands out is freed once, before it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use onrush_quickjs_sys::*;
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::Path,
    ptr::null_mut,
};

/// How the realm a test runs in is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A realm nobody shares; stock behaviour.
    Plain,
    /// A flagged realm, with the test in a VU of its own.
    Shared,
}

pub struct Engine {
    pub rt: *mut JSRuntime,
    pub ctx: *mut JSContext,
    vm: *mut OnrushVm,
}

/// The stack a test thread can be trusted to have; see `run_with_stack`.
const STACK: usize = 4 * 1024 * 1024;

/// Runs `f` on a thread with a stack that recursion tests can exhaust in an orderly way.
pub fn with_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK + 1024 * 1024)
            .spawn_scoped(scope, f)
            .expect("threads can be started")
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Engine {
    pub fn new(layout: Layout) -> Self {
        unsafe {
            let rt = JS_NewRuntime();
            JS_SetMaxStackSize(rt, STACK);
            let ctx = JS_NewContext(rt);
            JS_SetModuleLoaderFunc(rt, None, load_module, null_mut());
            let global = JS_GetGlobalObject(ctx);
            for (name, function, length) in [
                (c"print", print as JSCFunction, 1),
                (c"gc", gc as JSCFunction, 0),
                (c"isShared", is_shared as JSCFunction, 1),
                (c"sharedViolations", shared_violations as JSCFunction, 0),
            ] {
                JS_SetPropertyStr(ctx, global, name.as_ptr(), JS_NewCFunction(ctx, function, name.as_ptr(), length));
            }
            let qjs = JS_NewObject(ctx);
            let function = JS_NewCFunction(ctx, string_kind, c"getStringKind".as_ptr(), 1);
            JS_SetPropertyStr(ctx, qjs, c"getStringKind".as_ptr(), function);
            JS_SetPropertyStr(ctx, global, c"qjs".as_ptr(), qjs);
            let layout_name = if layout == Layout::Shared { "shared" } else { "plain" };
            JS_SetPropertyStr(ctx, global, c"layout".as_ptr(), js_new_string(ctx, layout_name));
            JS_FreeValue(ctx, global);
            let mut vm = null_mut();
            if layout == Layout::Shared {
                assert!(onrush_share_realm(ctx) > 500);
                vm = onrush_vm_new(rt, ctx, 0, 256 * 1024, 1);
                assert!(!vm.is_null());
                onrush_vm_swap(rt, vm);
            }
            Self { rt, ctx, vm }
        }
    }

    /// Evaluates source text; a module if `module`. The value as text, or the error.
    pub fn eval(&self, name: &str, source: &str, module: bool) -> Result<String, String> {
        unsafe {
            let kind = if module { JS_EVAL_TYPE_MODULE } else { JS_EVAL_TYPE_GLOBAL };
            let text = CString::new(source).map_err(|error| error.to_string())?;
            let name = CString::new(name).map_err(|error| error.to_string())?;
            let value = JS_Eval(self.ctx, text.as_ptr(), source.len(), name.as_ptr(), kind);
            let value = self.settle(value)?;
            let result = self.text(value);
            JS_FreeValue(self.ctx, value);
            Ok(result)
        }
    }

    /// Bytes on the account of what runs.
    pub fn memory_used(&self) -> usize {
        unsafe { onrush_rt_memory_used(self.rt) }
    }

    /// Evaluates a file's text, as a module if it looks like one.
    pub fn eval_source(&self, path: &Path, source: &str) -> Result<String, String> {
        let module = source.lines().any(|line| {
            line.starts_with("import ")
                || line.starts_with("export ")
                || line.starts_with("const") && line.contains("= await")
        });
        self.eval(&path.to_string_lossy(), source, module)
    }

    /// Runs all jobs; a promise becomes what it settled to.
    unsafe fn settle(&self, value: JSValue) -> Result<JSValue, String> {
        unsafe {
            if value.is_exception() {
                return Err(self.take_exception());
            }
            let mut job_ctx = null_mut();
            while JS_IsJobPending(self.rt) {
                if JS_ExecutePendingJob(self.rt, &mut job_ctx) < 0 {
                    let error = self.take_exception();
                    JS_FreeValue(self.ctx, value);
                    return Err(error);
                }
            }
            match JS_PromiseState(self.ctx, value) {
                JS_PROMISE_PENDING => {
                    JS_FreeValue(self.ctx, value);
                    Err("the promise never settles".to_owned())
                }
                state @ (JS_PROMISE_FULFILLED | JS_PROMISE_REJECTED) => {
                    let result = JS_PromiseResult(self.ctx, value);
                    JS_FreeValue(self.ctx, value);
                    if state == JS_PROMISE_FULFILLED {
                        return Ok(result);
                    }
                    JS_Throw(self.ctx, result);
                    Err(self.take_exception())
                }
                _ => Ok(value),
            }
        }
    }

    unsafe fn text(&self, value: JSValueConst) -> String {
        unsafe { text(self.ctx, value) }
    }

    unsafe fn take_exception(&self) -> String {
        unsafe {
            let error = JS_GetException(self.ctx);
            let mut result = self.text(error);
            if error.is_object() {
                let stack = JS_GetPropertyStr(self.ctx, error, c"stack".as_ptr());
                if stack.is_string() {
                    result = format!("{result}\n{}", self.text(stack));
                }
                JS_FreeValue(self.ctx, stack);
            }
            JS_FreeValue(self.ctx, error);
            result
        }
    }

    pub fn violations(&self) -> u64 {
        unsafe { onrush_shared_violations(self.rt) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        unsafe {
            if !self.vm.is_null() {
                onrush_vm_swap(self.rt, self.vm);
                onrush_vm_free(self.rt, self.vm);
            }
            JS_FreeContext(self.ctx);
            JS_FreeRuntime(self.rt);
        }
    }
}

unsafe fn text(ctx: *mut JSContext, value: JSValueConst) -> String {
    unsafe {
        let mut len = 0;
        let bytes = JS_ToCStringLen(ctx, &mut len, value);
        if bytes.is_null() {
            JS_FreeValue(ctx, JS_GetException(ctx));
            return "?".to_owned();
        }
        let result = String::from_utf8_lossy(std::slice::from_raw_parts(bytes.cast(), len)).into_owned();
        JS_FreeCString(ctx, bytes);
        result
    }
}

unsafe extern "C" fn print(ctx: *mut JSContext, _this: JSValueConst, argc: c_int, argv: *mut JSValueConst) -> JSValue {
    for i in 0..argc as usize {
        println!("{}", unsafe { text(ctx, *argv.add(i)) });
    }
    JS_UNDEFINED
}

unsafe extern "C" {
    /// QuickJS-ng's integration point for its own tools.
    fn js_std_cmd(command: c_int, ...) -> usize;
}

unsafe extern "C" fn string_kind(
    ctx: *mut JSContext,
    _: JSValueConst,
    argc: c_int,
    argv: *mut JSValueConst,
) -> JSValue {
    const GET_STRING_KIND: c_int = 3;
    if argc < 1 { JS_UNDEFINED } else { js_uint64(unsafe { js_std_cmd(GET_STRING_KIND, ctx, argv) } as u64) }
}

unsafe extern "C" fn gc(ctx: *mut JSContext, _: JSValueConst, _: c_int, _: *mut JSValueConst) -> JSValue {
    unsafe { JS_RunGC(JS_GetRuntime(ctx)) };
    JS_UNDEFINED
}

unsafe extern "C" fn is_shared(_: *mut JSContext, _: JSValueConst, argc: c_int, argv: *mut JSValueConst) -> JSValue {
    js_bool(argc > 0 && unsafe { onrush_is_shared(*argv) } != 0)
}

unsafe extern "C" fn shared_violations(
    ctx: *mut JSContext,
    _: JSValueConst,
    _: c_int,
    _: *mut JSValueConst,
) -> JSValue {
    js_uint64(unsafe { onrush_shared_violations(JS_GetRuntime(ctx)) })
}

/// The little of QuickJS's own libraries that its tests use.
const STD: &str = "export const gc = globalThis.gc; export const platform = 'linux';";

unsafe extern "C" fn load_module(ctx: *mut JSContext, name: *const c_char, _: *mut c_void) -> *mut JSModuleDef {
    unsafe {
        let path = CStr::from_ptr(name).to_string_lossy();
        let source = if matches!(&*path, "qjs:std" | "qjs:os") {
            STD.to_owned()
        } else {
            match std::fs::read_to_string(&*path) {
                Ok(source) => source,
                Err(_) => {
                    JS_ThrowReferenceError(ctx, c"could not load module '%s'".as_ptr(), name);
                    return null_mut();
                }
            }
        };
        let Ok(text) = CString::new(source.as_str()) else {
            JS_ThrowSyntaxError(ctx, c"NUL in '%s'".as_ptr(), name);
            return null_mut();
        };
        let flags = JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY;
        let value = JS_Eval(ctx, text.as_ptr(), source.len(), name, flags);
        if value.is_exception() {
            return null_mut();
        }
        // The module stays on the list of loaded modules.
        let module = value.ptr().cast();
        JS_FreeValue(ctx, value);
        module
    }
}
