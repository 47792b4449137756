//! The structs, callbacks and constants of quickjs.h that an embedder needs.

use crate::value::{JSValue, JSValueConst};
use core::ffi::{c_char, c_int, c_void};

macro_rules! opaque_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _data: [u8; 0],
            // Neither Send, Sync nor Unpin: C owns it and it stays on its thread.
            _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )*};
}

opaque_types! {
    /// One heap, on one thread.
    JSRuntime;
    /// A realm: one set of built-ins.
    JSContext;
    /// A module, or a template of one.
    JSModuleDef;
    /// An object the cycle collector sees.
    JSGCObjectHeader;
    /// Execution state of one VU; see the shim's header.
    OnrushVm;
}

/// Index of an interned string or symbol; counted like a value.
pub type JSAtom = u32;
/// Index of an object class, per runtime.
pub type JSClassID = u32;

/// No atom; what a failing function returns.
pub const JS_ATOM_NULL: JSAtom = 0;
/// No class.
pub const JS_INVALID_CLASS_ID: JSClassID = 0;

/// Property may be deleted and redefined.
pub const JS_PROP_CONFIGURABLE: c_int = 1 << 0;
/// Property may be assigned.
pub const JS_PROP_WRITABLE: c_int = 1 << 1;
/// Property is seen by enumeration.
pub const JS_PROP_ENUMERABLE: c_int = 1 << 2;
/// An ordinary property.
pub const JS_PROP_C_W_E: c_int = JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE | JS_PROP_ENUMERABLE;
/// Type bits of a descriptor's flags.
pub const JS_PROP_TMASK: c_int = 3 << 4;
/// Accessor property.
pub const JS_PROP_GETSET: c_int = 1 << 4;
/// `JS_DefineProperty`: the configurable bit is meant.
pub const JS_PROP_HAS_CONFIGURABLE: c_int = 1 << 8;
/// `JS_DefineProperty`: the writable bit is meant.
pub const JS_PROP_HAS_WRITABLE: c_int = 1 << 9;
/// `JS_DefineProperty`: the enumerable bit is meant.
pub const JS_PROP_HAS_ENUMERABLE: c_int = 1 << 10;
/// `JS_DefineProperty`: there is a getter.
pub const JS_PROP_HAS_GET: c_int = 1 << 11;
/// `JS_DefineProperty`: there is a setter.
pub const JS_PROP_HAS_SET: c_int = 1 << 12;
/// `JS_DefineProperty`: there is a value.
pub const JS_PROP_HAS_VALUE: c_int = 1 << 13;
/// Throw where `false` would be returned.
pub const JS_PROP_THROW: c_int = 1 << 14;
/// Throw where `false` would be returned in strict mode.
pub const JS_PROP_THROW_STRICT: c_int = 1 << 15;

/// Own names: strings.
pub const JS_GPN_STRING_MASK: c_int = 1 << 0;
/// Own names: symbols.
pub const JS_GPN_SYMBOL_MASK: c_int = 1 << 1;
/// Own names: private names.
pub const JS_GPN_PRIVATE_MASK: c_int = 1 << 2;
/// Own names: only enumerable ones.
pub const JS_GPN_ENUM_ONLY: c_int = 1 << 4;
/// Own names: fill in `is_enumerable`.
pub const JS_GPN_SET_ENUM: c_int = 1 << 5;

/// The runtime's flag (`onrush_rt_poke`) while the VU that runs is to end.
pub const ONRUSH_POKE_HALT: u32 = 1;

/// Evaluate as a script.
pub const JS_EVAL_TYPE_GLOBAL: c_int = 0;
/// Evaluate as a module.
pub const JS_EVAL_TYPE_MODULE: c_int = 1;
/// Force strict mode.
pub const JS_EVAL_FLAG_STRICT: c_int = 1 << 3;
/// Compile only: the result is a `JS_TAG_FUNCTION_BYTECODE` or a `JS_TAG_MODULE`.
pub const JS_EVAL_FLAG_COMPILE_ONLY: c_int = 1 << 5;
/// Leave the frames before this evaluation out of backtraces.
pub const JS_EVAL_FLAG_BACKTRACE_BARRIER: c_int = 1 << 6;
/// Allow top-level await in a script; the result is a promise.
pub const JS_EVAL_FLAG_ASYNC: c_int = 1 << 7;

/// Write functions and modules.
pub const JS_WRITE_OBJ_BYTECODE: c_int = 1 << 0;
/// Write `SharedArrayBuffer`s by pointer.
pub const JS_WRITE_OBJ_SAB: c_int = 1 << 2;
/// Write any object graph.
pub const JS_WRITE_OBJ_REFERENCE: c_int = 1 << 3;
/// Leave the source text out.
pub const JS_WRITE_OBJ_STRIP_SOURCE: c_int = 1 << 4;
/// Leave line numbers out.
pub const JS_WRITE_OBJ_STRIP_DEBUG: c_int = 1 << 5;
/// Read functions and modules; only from bytes this process trusts.
pub const JS_READ_OBJ_BYTECODE: c_int = 1 << 0;
/// Read `SharedArrayBuffer`s by pointer; only from this process.
pub const JS_READ_OBJ_SAB: c_int = 1 << 2;
/// Read any object graph.
pub const JS_READ_OBJ_REFERENCE: c_int = 1 << 3;

/// Class call: as a constructor, `this` is then `new.target`.
pub const JS_CALL_FLAG_CONSTRUCTOR: c_int = 1 << 0;

/// A native function.
pub type JSCFunction =
    unsafe extern "C" fn(ctx: *mut JSContext, this: JSValueConst, argc: c_int, argv: *mut JSValueConst) -> JSValue;
/// A native function with a number chosen at definition.
pub type JSCFunctionMagic = unsafe extern "C" fn(
    ctx: *mut JSContext,
    this: JSValueConst,
    argc: c_int,
    argv: *mut JSValueConst,
    magic: c_int,
) -> JSValue;
/// A native function with values chosen at definition.
pub type JSCFunctionData = unsafe extern "C" fn(
    ctx: *mut JSContext,
    this: JSValueConst,
    argc: c_int,
    argv: *mut JSValueConst,
    magic: c_int,
    data: *mut JSValueConst,
) -> JSValue;
/// A native function with a pointer chosen at definition.
pub type JSCClosure = unsafe extern "C" fn(
    ctx: *mut JSContext,
    this: JSValueConst,
    argc: c_int,
    argv: *mut JSValueConst,
    magic: c_int,
    opaque: *mut c_void,
) -> JSValue;
/// Frees a closure's pointer.
pub type JSCClosureFinalizerFunc = unsafe extern "C" fn(opaque: *mut c_void);
/// A native getter.
pub type JSCGetter = unsafe extern "C" fn(ctx: *mut JSContext, this: JSValueConst) -> JSValue;
/// A native setter.
pub type JSCSetter = unsafe extern "C" fn(ctx: *mut JSContext, this: JSValueConst, value: JSValueConst) -> JSValue;
/// A native getter with a number chosen at definition.
pub type JSCGetterMagic = unsafe extern "C" fn(ctx: *mut JSContext, this: JSValueConst, magic: c_int) -> JSValue;
/// A native setter with a number chosen at definition.
pub type JSCSetterMagic =
    unsafe extern "C" fn(ctx: *mut JSContext, this: JSValueConst, value: JSValueConst, magic: c_int) -> JSValue;
/// Called with each GC object a class's object refers to.
pub type JS_MarkFunc = unsafe extern "C" fn(rt: *mut JSRuntime, header: *mut JSGCObjectHeader);
/// Frees an object's opaque pointer. Must not run JavaScript.
pub type JSClassFinalizer = unsafe extern "C" fn(rt: *mut JSRuntime, value: JSValueConst);
/// Marks the values an object's opaque pointer refers to.
pub type JSClassGCMark = unsafe extern "C" fn(rt: *mut JSRuntime, value: JSValueConst, mark: JS_MarkFunc);
/// Calls an object of a callable class.
pub type JSClassCall = unsafe extern "C" fn(
    ctx: *mut JSContext,
    function: JSValueConst,
    this: JSValueConst,
    argc: c_int,
    argv: *mut JSValueConst,
    flags: c_int,
) -> JSValue;
/// Runs at the very end of `JS_FreeRuntime`.
pub type JSRuntimeFinalizer = unsafe extern "C" fn(rt: *mut JSRuntime, arg: *mut c_void);
/// Non-zero stops the running JavaScript with an uncatchable error.
pub type JSInterruptHandler = unsafe extern "C" fn(rt: *mut JSRuntime, opaque: *mut c_void) -> c_int;
/// Told of promises rejected without a handler, and of handlers that come late.
pub type JSHostPromiseRejectionTracker = unsafe extern "C" fn(
    ctx: *mut JSContext,
    promise: JSValueConst,
    reason: JSValueConst,
    is_handled: bool,
    opaque: *mut c_void,
);
/// Told of promise life cycle events.
pub type JSPromiseHook = unsafe extern "C" fn(
    ctx: *mut JSContext,
    kind: JSPromiseHookType,
    promise: JSValueConst,
    parent: JSValueConst,
    opaque: *mut c_void,
);
/// A queued job.
pub type JSJobFunc = unsafe extern "C" fn(ctx: *mut JSContext, argc: c_int, argv: *mut JSValueConst) -> JSValue;
/// Resizes (size > 0) or frees (size 0) the memory of an external `ArrayBuffer`.
pub type JSReallocArrayBufferDataFunc =
    unsafe extern "C" fn(rt: *mut JSRuntime, opaque: *mut c_void, ptr: *mut c_void, size: usize) -> *mut c_void;
/// Resolves a specifier; returns a `js_malloc` string, or null with an exception.
pub type JSModuleNormalizeFunc = unsafe extern "C" fn(
    ctx: *mut JSContext,
    base: *const c_char,
    name: *const c_char,
    opaque: *mut c_void,
) -> *mut c_char;
/// The same, with import attributes.
pub type JSModuleNormalizeFunc2 = unsafe extern "C" fn(
    ctx: *mut JSContext,
    base: *const c_char,
    name: *const c_char,
    attributes: JSValueConst,
    opaque: *mut c_void,
) -> *mut c_char;
/// Loads a module; null with an exception.
pub type JSModuleLoaderFunc =
    unsafe extern "C" fn(ctx: *mut JSContext, name: *const c_char, opaque: *mut c_void) -> *mut JSModuleDef;
/// The same, with import attributes.
pub type JSModuleLoaderFunc2 = unsafe extern "C" fn(
    ctx: *mut JSContext,
    name: *const c_char,
    opaque: *mut c_void,
    attributes: JSValueConst,
) -> *mut JSModuleDef;
/// -1 with an exception for attributes that are not supported.
pub type JSModuleCheckSupportedImportAttributes =
    unsafe extern "C" fn(ctx: *mut JSContext, opaque: *mut c_void, attributes: JSValueConst) -> c_int;
/// Sets a native module's exports when it is evaluated; -1 with an exception.
pub type JSModuleInitFunc = unsafe extern "C" fn(ctx: *mut JSContext, module: *mut JSModuleDef) -> c_int;
/// Materialises lazy property `which` of `obj` from its opaque pointer.
pub type OnrushLazyHook =
    unsafe extern "C" fn(ctx: *mut JSContext, obj: JSValueConst, opaque: *mut c_void, which: c_int) -> JSValue;

/// How a native function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are those of quickjs.h")]
pub enum JSCFunctionEnum {
    generic,
    generic_magic,
    constructor,
    constructor_magic,
    constructor_or_func,
    constructor_or_func_magic,
    f_f,
    f_f_f,
    getter,
    setter,
    getter_magic,
    setter_magic,
    iterator_next,
}

/// Element type of a typed array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are those of quickjs.h")]
pub enum JSTypedArrayEnum {
    UINT8C = 0,
    INT8,
    UINT8,
    INT16,
    UINT16,
    INT32,
    UINT32,
    BIG_INT64,
    BIG_UINT64,
    FLOAT16,
    FLOAT32,
    FLOAT64,
}

/// State of a promise; [`JS_PROMISE_NOT_A_PROMISE`] for anything else.
pub type JSPromiseStateEnum = c_int;
/// Not a promise.
pub const JS_PROMISE_NOT_A_PROMISE: JSPromiseStateEnum = -1;
/// Not settled yet.
pub const JS_PROMISE_PENDING: JSPromiseStateEnum = 0;
/// Fulfilled.
pub const JS_PROMISE_FULFILLED: JSPromiseStateEnum = 1;
/// Rejected.
pub const JS_PROMISE_REJECTED: JSPromiseStateEnum = 2;

/// Event of a promise hook: init 0, before 1, after 2, resolve 3.
pub type JSPromiseHookType = c_int;

/// The allocator of a runtime.
#[derive(Clone, Copy)]
#[repr(C)]
#[expect(missing_docs, reason = "the names are those of libc")]
pub struct JSMallocFunctions {
    pub js_calloc: unsafe extern "C" fn(opaque: *mut c_void, count: usize, size: usize) -> *mut c_void,
    pub js_malloc: unsafe extern "C" fn(opaque: *mut c_void, size: usize) -> *mut c_void,
    pub js_free: unsafe extern "C" fn(opaque: *mut c_void, ptr: *mut c_void),
    pub js_realloc: unsafe extern "C" fn(opaque: *mut c_void, ptr: *mut c_void, size: usize) -> *mut c_void,
    pub js_malloc_usable_size: Option<unsafe extern "C" fn(ptr: *const c_void) -> usize>,
}

/// What `JS_ComputeMemoryUsage` fills in; sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[expect(missing_docs, reason = "the names are those of quickjs.h")]
pub struct JSMemoryUsage {
    pub malloc_size: i64,
    pub malloc_limit: i64,
    pub memory_used_size: i64,
    pub malloc_count: i64,
    pub memory_used_count: i64,
    pub atom_count: i64,
    pub atom_size: i64,
    pub str_count: i64,
    pub str_size: i64,
    pub obj_count: i64,
    pub obj_size: i64,
    pub prop_count: i64,
    pub prop_size: i64,
    pub shape_count: i64,
    pub shape_size: i64,
    pub js_func_count: i64,
    pub js_func_size: i64,
    pub js_func_code_size: i64,
    pub js_func_pc2line_count: i64,
    pub js_func_pc2line_size: i64,
    pub c_func_count: i64,
    pub array_count: i64,
    pub fast_array_count: i64,
    pub fast_array_elements: i64,
    pub binary_object_count: i64,
    pub binary_object_size: i64,
}

/// One own property name.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JSPropertyEnum {
    /// Only with `JS_GPN_SET_ENUM`.
    pub is_enumerable: bool,
    /// Counted.
    pub atom: JSAtom,
}

/// An own property; the values are counted.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JSPropertyDescriptor {
    /// `JS_PROP_*`
    pub flags: c_int,
    /// Of a data property.
    pub value: JSValue,
    /// Of an accessor property.
    pub getter: JSValue,
    /// Of an accessor property.
    pub setter: JSValue,
}

/// Overrides how the properties of a class's objects work; all results are -1 for an exception, else 0 or 1.
#[derive(Clone, Copy)]
#[repr(C)]
#[expect(missing_docs, reason = "the names are those of quickjs.h")]
pub struct JSClassExoticMethods {
    pub get_own_property: Option<
        unsafe extern "C" fn(
            ctx: *mut JSContext,
            desc: *mut JSPropertyDescriptor,
            obj: JSValueConst,
            prop: JSAtom,
        ) -> c_int,
    >,
    pub get_own_property_names: Option<
        unsafe extern "C" fn(
            ctx: *mut JSContext,
            ptab: *mut *mut JSPropertyEnum,
            plen: *mut u32,
            obj: JSValueConst,
        ) -> c_int,
    >,
    pub delete_property: Option<unsafe extern "C" fn(ctx: *mut JSContext, obj: JSValueConst, prop: JSAtom) -> c_int>,
    pub define_own_property: Option<
        unsafe extern "C" fn(
            ctx: *mut JSContext,
            this: JSValueConst,
            prop: JSAtom,
            value: JSValueConst,
            getter: JSValueConst,
            setter: JSValueConst,
            flags: c_int,
        ) -> c_int,
    >,
    pub has_property: Option<unsafe extern "C" fn(ctx: *mut JSContext, obj: JSValueConst, atom: JSAtom) -> c_int>,
    pub get_property: Option<
        unsafe extern "C" fn(ctx: *mut JSContext, obj: JSValueConst, atom: JSAtom, receiver: JSValueConst) -> JSValue,
    >,
    pub set_property: Option<
        unsafe extern "C" fn(
            ctx: *mut JSContext,
            obj: JSValueConst,
            atom: JSAtom,
            value: JSValueConst,
            receiver: JSValueConst,
            flags: c_int,
        ) -> c_int,
    >,
}

impl JSClassExoticMethods {
    /// Overrides nothing.
    pub const NONE: Self = Self {
        get_own_property: None,
        get_own_property_names: None,
        delete_property: None,
        define_own_property: None,
        has_property: None,
        get_property: None,
        set_property: None,
    };
}

/// Definition of a class; the runtime copies it, but keeps the pointer to `exotic`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct JSClassDef {
    /// ASCII.
    pub class_name: *const c_char,
    /// Frees the opaque pointer.
    pub finalizer: Option<JSClassFinalizer>,
    /// Marks what the opaque pointer refers to.
    pub gc_mark: Option<JSClassGCMark>,
    /// Makes objects of the class callable.
    pub call: Option<JSClassCall>,
    /// Null for ordinary properties.
    pub exotic: *const JSClassExoticMethods,
}

/// Options of `JS_Eval2`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JSEvalOptions {
    /// [`JS_EVAL_OPTIONS_VERSION`]
    pub version: c_int,
    /// `JS_EVAL_*`
    pub eval_flags: c_int,
    /// For stack traces.
    pub filename: *const c_char,
    /// Of the first line, from 1.
    pub line_num: c_int,
}

/// The only version so far.
pub const JS_EVAL_OPTIONS_VERSION: c_int = 1;

/// `SharedArrayBuffer`s met by `JS_WriteObject2` and `JS_ReadObject2`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JSSABTab {
    /// `js_malloc` array.
    pub tab: *mut *mut u8,
    /// Its length.
    pub len: usize,
}

/// Memory of `SharedArrayBuffer`s.
#[derive(Clone, Copy)]
#[repr(C)]
#[expect(missing_docs, reason = "the names are those of quickjs.h")]
pub struct JSSharedArrayBufferFunctions {
    pub sab_alloc: Option<unsafe extern "C" fn(opaque: *mut c_void, size: usize) -> *mut c_void>,
    pub sab_free: Option<unsafe extern "C" fn(opaque: *mut c_void, ptr: *mut c_void)>,
    pub sab_dup: Option<unsafe extern "C" fn(opaque: *mut c_void, ptr: *mut c_void)>,
    pub sab_opaque: *mut c_void,
}
