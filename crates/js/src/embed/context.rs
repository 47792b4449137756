//! The thread's runtime and its realms.
#![expect(unsafe_code, reason = "wraps QuickJS runtime and context calls")]

use std::{
    cell::Cell,
    ffi::{CStr, CString},
    ptr::NonNull,
};

use onrush_quickjs_sys as sys;

use super::{Exception, Handle, JsResult, Throw, Val, halt, is_halted};

thread_local! {
    /// One runtime a thread: dropping a value needs it, and values do not carry it to stay at 16 bytes.
    static RUNTIME: Cell<*mut sys::JSRuntime> = const { Cell::new(std::ptr::null_mut()) };
}

/// The runtime of this thread; null before [`Runtime::new`].
pub(crate) fn runtime_ptr() -> *mut sys::JSRuntime {
    RUNTIME.get()
}

/// The only QuickJS runtime of this thread. It is never freed: a worker thread lives as long as the test, and tearing
/// down 100,000 VUs' objects one by one would only delay the exit.
pub(crate) struct Runtime {
    raw: NonNull<sys::JSRuntime>,
}

impl Runtime {
    /// Creates the thread's runtime, to be set up on the stack `[stack_top - stack_bytes, stack_top)`; scripts run on
    /// those of their fibers.
    pub(crate) fn new(stack_top: usize, stack_bytes: usize) -> Self {
        assert!(runtime_ptr().is_null(), "one runtime a thread");
        // SAFETY: plain constructor; nothing to uphold.
        let raw = unsafe { sys::JS_NewRuntime() };
        let raw = NonNull::new(raw).expect("allocating the first few kilobytes of a thread does not fail");
        RUNTIME.set(raw.as_ptr());
        // SAFETY: the runtime was just created; bounds are constants of the thread.
        unsafe {
            sys::JS_SetGCThreshold(raw.as_ptr(), usize::MAX);
            sys::onrush_set_stack(raw.as_ptr(), stack_top, stack_bytes);
        }
        Self { raw }
    }

    pub(crate) fn raw(&self) -> *mut sys::JSRuntime {
        self.raw.as_ptr()
    }

    /// A fresh realm with all standard built-ins.
    pub(crate) fn new_realm(&self) -> Ctx {
        // SAFETY: the runtime is alive.
        let raw = unsafe { sys::JS_NewContext(self.raw.as_ptr()) };
        Ctx(NonNull::new(raw).expect("a realm is created while no memory limit applies"))
    }

    /// Writes to shared built-ins seen so far, caught by the script or not.
    pub(crate) fn shared_violations(&self) -> u64 {
        // SAFETY: reads a counter.
        unsafe { sys::onrush_shared_violations(self.raw.as_ptr()) }
    }

    /// The property of the last such write.
    pub(crate) fn last_violation(&self) -> String {
        // SAFETY: the runtime owns the text until the next violation; it is copied here.
        unsafe { CStr::from_ptr(sys::onrush_last_violation(self.raw.as_ptr())).to_string_lossy().into_owned() }
    }
}

/// A realm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ctx(NonNull<sys::JSContext>);

impl Ctx {
    /// # Safety
    /// `raw` is a live context of this thread's runtime.
    pub(crate) unsafe fn from_raw(raw: *mut sys::JSContext) -> Self {
        // SAFETY: forwarded to the caller.
        Self(unsafe { NonNull::new_unchecked(raw) })
    }

    pub(crate) fn raw(self) -> *mut sys::JSContext {
        self.0.as_ptr()
    }

    /// The global object of whoever is entered: the VU's own in the dense layout.
    pub(crate) fn global(self) -> Val {
        // SAFETY: the context is alive.
        Val::from_raw(unsafe { sys::JS_GetGlobalObject(self.raw()) })
    }

    pub(crate) fn object(self) -> JsResult {
        // SAFETY: the context is alive.
        Val::checked(unsafe { sys::JS_NewObject(self.raw()) })
    }

    pub(crate) fn array(self) -> JsResult {
        // SAFETY: the context is alive.
        Val::checked(unsafe { sys::JS_NewArray(self.raw()) })
    }

    /// `new Date(ms)`
    pub(crate) fn date(self, ms: f64) -> JsResult {
        // SAFETY: the context is alive.
        Val::checked(unsafe { sys::JS_NewDate(self.raw(), ms) })
    }

    /// `Symbol(description)`
    pub(crate) fn symbol(self, description: &CStr) -> JsResult {
        // SAFETY: the context is alive and the text is copied.
        Val::checked(unsafe { sys::JS_NewSymbol(self.raw(), description.as_ptr(), false) })
    }

    /// `new Proxy(target, handler)`.
    pub(crate) fn proxy(self, target: &Handle, handler: &Handle) -> JsResult {
        // SAFETY: borrowed values stay alive over the call, which takes its own references.
        Val::checked(unsafe { sys::JS_NewProxy(self.raw(), target.raw(), handler.raw()) })
    }

    /// An `ArrayBuffer` holding a copy of `bytes`.
    pub(crate) fn array_buffer(self, bytes: &[u8]) -> JsResult {
        // SAFETY: QuickJS copies the bytes.
        Val::checked(unsafe { sys::JS_NewArrayBufferCopy(self.raw(), bytes.as_ptr(), bytes.len()) })
    }

    /// A `Uint8Array` over a copy of `bytes`.
    pub(crate) fn uint8_array(self, bytes: &[u8]) -> JsResult {
        // SAFETY: QuickJS copies the bytes.
        Val::checked(unsafe { sys::JS_NewUint8ArrayCopy(self.raw(), bytes.as_ptr(), bytes.len()) })
    }

    /// Parses JSON text. Errors are pending `SyntaxError`s.
    pub(crate) fn parse_json(self, text: &[u8]) -> JsResult {
        // QuickJS wants a terminating zero beyond the length it is given.
        let mut owned = Vec::with_capacity(text.len() + 1);
        owned.extend_from_slice(text);
        owned.push(0);
        // SAFETY: the buffer is zero terminated at `text.len()`.
        Val::checked(unsafe { sys::JS_ParseJSON(self.raw(), owned.as_ptr().cast(), text.len(), c"<json>".as_ptr()) })
    }

    /// `JSON.stringify(value)`; `None` where it gives undefined.
    pub(crate) fn stringify(self, value: &Handle) -> JsResult<Option<String>> {
        self.stringify_with(value, Handle::UNDEFINED)
    }

    /// `JSON.stringify(value, replacer)`
    pub(crate) fn stringify_with(self, value: &Handle, replacer: &Handle) -> JsResult<Option<String>> {
        // SAFETY: borrowed values stay alive over the call.
        let text =
            Val::checked(unsafe { sys::JS_JSONStringify(self.raw(), value.raw(), replacer.raw(), sys::JS_UNDEFINED) })?;
        if text.is_undefined() { Ok(None) } else { text.to_text(self).map(Some) }
    }

    /// A BigInt.
    pub(crate) fn bigint_i64(self, value: i64) -> JsResult {
        // SAFETY: makes a new value.
        Val::checked(unsafe { sys::JS_NewBigInt64(self.raw(), value) })
    }

    /// A BigInt that is not negative.
    pub(crate) fn bigint_u64(self, value: u64) -> JsResult {
        // SAFETY: makes a new value.
        Val::checked(unsafe { sys::JS_NewBigUint64(self.raw(), value) })
    }

    /// A BigInt from the bytes of a whole number, the first of which counts most.
    pub(crate) fn bigint(self, bytes: &[u8]) -> JsResult {
        let mut literal = String::with_capacity(bytes.len() * 2 + 4);
        literal.push_str("0x0");
        for byte in bytes {
            literal.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')));
        }
        literal.push('n');
        // As a literal it needs nothing that a script could have replaced.
        self.eval(&literal, "<number>", sys::JS_EVAL_TYPE_GLOBAL)
    }

    /// Compiles without running; the result is bytecode to serialise or evaluate.
    pub(crate) fn compile(self, code: &str, name: &str, module: bool) -> JsResult {
        let kind = if module { sys::JS_EVAL_TYPE_MODULE } else { sys::JS_EVAL_TYPE_GLOBAL };
        self.eval(code, name, kind | sys::JS_EVAL_FLAG_COMPILE_ONLY)
    }

    pub(super) fn eval(self, code: &str, name: &str, flags: i32) -> JsResult {
        let source = CString::new(code).map_err(|_| Throw::error("source text holds a NUL character"))?;
        let name = CString::new(name).map_err(|_| Throw::error("module name holds a NUL character"))?;
        // SAFETY: both texts are zero terminated and outlive the call.
        Val::checked(unsafe { sys::JS_Eval(self.raw(), source.as_ptr(), code.len(), name.as_ptr(), flags) })
    }

    /// Calls a function.
    pub(crate) fn call(self, function: &Handle, this: &Handle, args: &[&Handle]) -> JsResult {
        const INLINE: usize = 4;
        let mut inline = [sys::JS_UNDEFINED; INLINE];
        let spilled: Vec<sys::JSValue>;
        let argv = if args.len() <= INLINE {
            for (slot, arg) in inline.iter_mut().zip(args) {
                *slot = arg.raw();
            }
            &inline[..args.len()]
        } else {
            spilled = args.iter().map(|arg| arg.raw()).collect();
            &spilled[..]
        };
        // SAFETY: all values are borrowed for the length of the call; QuickJS takes its own references.
        let result = unsafe {
            sys::JS_Call(self.raw(), function.raw(), this.raw(), argv.len() as i32, argv.as_ptr().cast_mut())
        };
        Val::checked(result)
    }

    /// The pending exception's value, cleared; undefined when there is none.
    pub(crate) fn take_exception_value(self) -> Val {
        // SAFETY: moves the pending exception out of the runtime.
        Val::from_raw(unsafe { sys::JS_GetException(self.raw()) })
    }

    /// Turns what a call gave back into something to report. Clears the pending exception.
    pub(crate) fn take_exception(self, throw: Throw) -> Exception {
        if !matches!(throw, Throw::Pending) {
            self.raise(throw);
        }
        let thrown = self.take_exception_value();
        let described = Exception::describe(self, &thrown);
        if described.interrupted {
            // SAFETY: clears the mark of a value we own, so that later code in this realm is catchable again.
            unsafe { sys::JS_ClearUncatchableError(self.raw(), thrown.raw()) };
        }
        described
    }

    /// Whether a thrown value is one scripts cannot catch.
    pub(crate) fn is_uncatchable(self, thrown: &Handle) -> bool {
        // SAFETY: only reads the value.
        thrown.is_object() && unsafe { sys::JS_IsUncatchableError(thrown.raw()) }
    }

    /// Makes `throw` the pending exception.
    pub(crate) fn raise(self, throw: Throw) {
        let mut name = None;
        let mut stack = None;
        let (constructor, message) = match throw {
            Throw::Pending => return,
            Throw::Error(message) => {
                name = Some("GoError");
                (sys::JS_NewPlainError as ErrorConstructor, message)
            }
            Throw::Type(message) => (sys::JS_NewTypeError as ErrorConstructor, message),
            Throw::Range(message) => (sys::JS_NewRangeError as ErrorConstructor, message),
            Throw::Uncaught(exception) => {
                // k6's line is no error's text: it begins with this, whatever was thrown.
                name = Some("");
                stack = Some(exception.stack);
                (sys::JS_NewPlainError as ErrorConstructor, format!("Uncaught (in promise) {}", exception.message))
            }
            Throw::Interrupted => {
                halt();
                (sys::JS_NewInternalError as ErrorConstructor, INTERRUPTED.to_owned())
            }
        };
        // QuickJS formats into a small buffer and stops at NUL: a message of any text is set afterwards.
        // SAFETY: the runtime is alive, and gets back below what it is lent; the format has no arguments.
        let error = unsafe {
            sys::onrush_rt_lend(runtime_ptr());
            Val::from_raw(constructor(self.raw(), c"".as_ptr()))
        };
        for (key, text) in [("message", Some(message.as_str())), ("name", name), ("stack", stack.as_deref())] {
            // An error that cannot be named (its text is too long for the memory that is left) is still thrown.
            let named = text.is_none_or(|text| {
                Val::string(self, text).and_then(|text| error.define_hidden(self, key, text)).is_ok()
            });
            if !named {
                drop(self.take_exception_value());
            }
        }
        // SAFETY: as above; ownership of the error moves to the runtime; the mark is set on a live value.
        unsafe {
            sys::onrush_rt_return(runtime_ptr());
            if is_halted() {
                sys::JS_SetUncatchableError(self.raw(), error.raw());
            }
            sys::JS_Throw(self.raw(), error.into_raw());
        }
    }

    /// Runs at most one pending job. `Ok(false)` when none was left.
    pub(crate) fn run_job(self) -> JsResult<bool> {
        let mut realm = std::ptr::null_mut();
        // SAFETY: the runtime is alive; `realm` outlives the call.
        match unsafe { sys::JS_ExecutePendingJob(runtime_ptr(), &mut realm) } {
            0 => Ok(false),
            n if n > 0 => Ok(true),
            _ => Err(Throw::Pending),
        }
    }

    /// A promise and the functions that settle it: (promise, resolve, reject).
    pub(crate) fn promise(self) -> JsResult<(Val, Val, Val)> {
        let mut settle = [sys::JS_UNDEFINED; 2];
        // SAFETY: `settle` has room for the two functions.
        let promise = Val::checked(unsafe { sys::JS_NewPromiseCapability(self.raw(), settle.as_mut_ptr()) })?;
        Ok((promise, Val::from_raw(settle[0]), Val::from_raw(settle[1])))
    }

    /// State and result of a promise.
    pub(crate) fn promise_state(self, promise: &Handle) -> PromiseState {
        // SAFETY: only reads the promise.
        unsafe {
            match sys::JS_PromiseState(self.raw(), promise.raw()) {
                sys::JS_PROMISE_FULFILLED => {
                    PromiseState::Fulfilled(Val::from_raw(sys::JS_PromiseResult(self.raw(), promise.raw())))
                }
                sys::JS_PROMISE_REJECTED => {
                    PromiseState::Rejected(Val::from_raw(sys::JS_PromiseResult(self.raw(), promise.raw())))
                }
                _ => PromiseState::Pending,
            }
        }
    }

    /// Keeps the rejection tracker quiet about a promise whose failure is reported elsewhere.
    pub(crate) fn mark_handled(self, promise: &Handle) {
        // SAFETY: sets a flag of the promise.
        unsafe { sys::JS_PromiseMarkAsHandled(self.raw(), promise.raw()) }
    }

    /// Rethrows a value as the pending exception.
    pub(crate) fn throw_value(self, value: Val) -> Throw {
        // SAFETY: ownership of the value moves to the runtime.
        unsafe { sys::JS_Throw(self.raw(), value.into_raw()) };
        Throw::Pending
    }
}

type ErrorConstructor = unsafe extern "C" fn(*mut sys::JSContext, *const std::ffi::c_char, ...) -> sys::JSValue;

/// What an uncatchable exception says, should anybody see it.
const INTERRUPTED: &str = "the iteration was interrupted";

/// Where a promise stands.
pub(crate) enum PromiseState {
    Pending,
    Fulfilled(Val),
    Rejected(Val),
}
