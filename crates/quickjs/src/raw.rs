//! The functions of quickjs.h, under their C names; its own comments apply. A parameter of type `JSValue` is consumed,
//! one of type `JSValueConst` is borrowed, a returned `JSValue` is owned. -1, null, `JS_ATOM_NULL` or `JS_EXCEPTION`
//! mean that an exception is pending.

use crate::{
    types::*,
    value::{JSValue, JSValueConst},
};
use core::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    pub fn JS_NewRuntime() -> *mut JSRuntime;
    pub fn JS_SetRuntimeInfo(rt: *mut JSRuntime, info: *const c_char);
    pub fn JS_SetMemoryLimit(rt: *mut JSRuntime, limit: usize);
    pub fn JS_SetDumpFlags(rt: *mut JSRuntime, flags: u64);
    pub fn JS_GetDumpFlags(rt: *mut JSRuntime) -> u64;
    pub fn JS_GetGCThreshold(rt: *mut JSRuntime) -> usize;
    pub fn JS_SetGCThreshold(rt: *mut JSRuntime, gc_threshold: usize);
    pub fn JS_SetMaxStackSize(rt: *mut JSRuntime, stack_size: usize);
    pub fn JS_UpdateStackTop(rt: *mut JSRuntime);
    pub fn JS_NewRuntime2(mf: *const JSMallocFunctions, opaque: *mut c_void) -> *mut JSRuntime;
    pub fn JS_FreeRuntime(rt: *mut JSRuntime);
    pub fn JS_GetRuntimeOpaque(rt: *mut JSRuntime) -> *mut c_void;
    pub fn JS_SetRuntimeOpaque(rt: *mut JSRuntime, opaque: *mut c_void);
    pub fn JS_AddRuntimeFinalizer(rt: *mut JSRuntime, finalizer: JSRuntimeFinalizer, arg: *mut c_void) -> c_int;
    pub fn JS_MarkValue(rt: *mut JSRuntime, val: JSValueConst, mark_func: JS_MarkFunc);
    pub fn JS_RunGC(rt: *mut JSRuntime);
    pub fn JS_IsLiveObject(rt: *mut JSRuntime, obj: JSValueConst) -> bool;
    pub fn JS_NewContext(rt: *mut JSRuntime) -> *mut JSContext;
    pub fn JS_FreeContext(s: *mut JSContext);
    pub fn JS_DupContext(ctx: *mut JSContext) -> *mut JSContext;
    pub fn JS_GetContextOpaque(ctx: *mut JSContext) -> *mut c_void;
    pub fn JS_SetContextOpaque(ctx: *mut JSContext, opaque: *mut c_void);
    pub fn JS_GetRuntime(ctx: *mut JSContext) -> *mut JSRuntime;
    pub fn JS_SetClassProto(ctx: *mut JSContext, class_id: JSClassID, obj: JSValue);
    pub fn JS_GetClassProto(ctx: *mut JSContext, class_id: JSClassID) -> JSValue;
    pub fn JS_GetFunctionProto(ctx: *mut JSContext) -> JSValue;
    pub fn JS_NewContextRaw(rt: *mut JSRuntime) -> *mut JSContext;
    pub fn JS_AddIntrinsicBaseObjects(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicDate(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicEval(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicRegExpCompiler(ctx: *mut JSContext);
    pub fn JS_AddIntrinsicRegExp(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicJSON(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicProxy(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicMapSet(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicTypedArrays(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicPromise(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicBigInt(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicWeakRef(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddPerformance(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicDOMException(ctx: *mut JSContext) -> c_int;
    pub fn JS_AddIntrinsicAToB(ctx: *mut JSContext) -> c_int;
    pub fn JS_IsEqual(ctx: *mut JSContext, op1: JSValueConst, op2: JSValueConst) -> c_int;
    pub fn JS_IsStrictEqual(ctx: *mut JSContext, op1: JSValueConst, op2: JSValueConst) -> bool;
    pub fn JS_IsSameValue(ctx: *mut JSContext, op1: JSValueConst, op2: JSValueConst) -> bool;
    pub fn JS_IsSameValueZero(ctx: *mut JSContext, op1: JSValueConst, op2: JSValueConst) -> bool;
    pub fn js_calloc_rt(rt: *mut JSRuntime, count: usize, size: usize) -> *mut c_void;
    pub fn js_malloc_rt(rt: *mut JSRuntime, size: usize) -> *mut c_void;
    pub fn js_free_rt(rt: *mut JSRuntime, ptr: *mut c_void);
    pub fn js_realloc_rt(rt: *mut JSRuntime, ptr: *mut c_void, size: usize) -> *mut c_void;
    pub fn js_malloc_usable_size_rt(rt: *mut JSRuntime, ptr: *const c_void) -> usize;
    pub fn js_mallocz_rt(rt: *mut JSRuntime, size: usize) -> *mut c_void;
    pub fn js_calloc(ctx: *mut JSContext, count: usize, size: usize) -> *mut c_void;
    pub fn js_malloc(ctx: *mut JSContext, size: usize) -> *mut c_void;
    pub fn js_free(ctx: *mut JSContext, ptr: *mut c_void);
    pub fn js_realloc(ctx: *mut JSContext, ptr: *mut c_void, size: usize) -> *mut c_void;
    pub fn js_malloc_usable_size(ctx: *mut JSContext, ptr: *const c_void) -> usize;
    pub fn js_mallocz(ctx: *mut JSContext, size: usize) -> *mut c_void;
    pub fn js_strdup(ctx: *mut JSContext, s: *const c_char) -> *mut c_char;
    pub fn js_strndup(ctx: *mut JSContext, s: *const c_char, n: usize) -> *mut c_char;
    pub fn JS_ComputeMemoryUsage(rt: *mut JSRuntime, s: *mut JSMemoryUsage);
    pub fn JS_NewAtomLen(ctx: *mut JSContext, s: *const c_char, len: usize) -> JSAtom;
    pub fn JS_NewAtom(ctx: *mut JSContext, s: *const c_char) -> JSAtom;
    pub fn JS_NewAtomUInt32(ctx: *mut JSContext, n: u32) -> JSAtom;
    pub fn JS_DupAtom(ctx: *mut JSContext, v: JSAtom) -> JSAtom;
    pub fn JS_DupAtomRT(rt: *mut JSRuntime, v: JSAtom) -> JSAtom;
    pub fn JS_FreeAtom(ctx: *mut JSContext, v: JSAtom);
    pub fn JS_FreeAtomRT(rt: *mut JSRuntime, v: JSAtom);
    pub fn JS_AtomToValue(ctx: *mut JSContext, atom: JSAtom) -> JSValue;
    pub fn JS_AtomToString(ctx: *mut JSContext, atom: JSAtom) -> JSValue;
    pub fn JS_AtomToCStringLen(ctx: *mut JSContext, plen: *mut usize, atom: JSAtom) -> *const c_char;
    pub fn JS_ValueToAtom(ctx: *mut JSContext, val: JSValueConst) -> JSAtom;
    pub fn JS_NewClassID(rt: *mut JSRuntime, pclass_id: *mut JSClassID) -> JSClassID;
    pub fn JS_GetClassID(v: JSValueConst) -> JSClassID;
    pub fn JS_NewClass(rt: *mut JSRuntime, class_id: JSClassID, class_def: *const JSClassDef) -> c_int;
    pub fn JS_IsRegisteredClass(rt: *mut JSRuntime, class_id: JSClassID) -> bool;
    pub fn JS_GetClassName(rt: *mut JSRuntime, class_id: JSClassID) -> JSAtom;
    pub fn JS_NewNumber(ctx: *mut JSContext, d: f64) -> JSValue;
    pub fn JS_NewBigInt64(ctx: *mut JSContext, v: i64) -> JSValue;
    pub fn JS_NewBigUint64(ctx: *mut JSContext, v: u64) -> JSValue;
    pub fn JS_Throw(ctx: *mut JSContext, obj: JSValue) -> JSValue;
    pub fn JS_GetException(ctx: *mut JSContext) -> JSValue;
    pub fn JS_HasException(ctx: *mut JSContext) -> bool;
    pub fn JS_IsError(val: JSValueConst) -> bool;
    pub fn JS_IsUncatchableError(val: JSValueConst) -> bool;
    pub fn JS_SetUncatchableError(ctx: *mut JSContext, val: JSValueConst);
    pub fn JS_ClearUncatchableError(ctx: *mut JSContext, val: JSValueConst);
    pub fn JS_ResetUncatchableError(ctx: *mut JSContext);
    pub fn JS_NewError(ctx: *mut JSContext) -> JSValue;
    pub fn JS_NewInternalError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_NewPlainError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_NewRangeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_NewReferenceError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_NewSyntaxError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_NewTypeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowInternalError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowPlainError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowRangeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowReferenceError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowSyntaxError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowTypeError(ctx: *mut JSContext, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowDOMException(ctx: *mut JSContext, name: *const c_char, fmt: *const c_char, ...) -> JSValue;
    pub fn JS_ThrowOutOfMemory(ctx: *mut JSContext) -> JSValue;
    pub fn JS_FreeValue(ctx: *mut JSContext, v: JSValue);
    pub fn JS_FreeValueRT(rt: *mut JSRuntime, v: JSValue);
    pub fn JS_DupValue(ctx: *mut JSContext, v: JSValueConst) -> JSValue;
    pub fn JS_DupValueRT(rt: *mut JSRuntime, v: JSValueConst) -> JSValue;
    pub fn JS_ToBool(ctx: *mut JSContext, val: JSValueConst) -> c_int;
    pub fn JS_ToNumber(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_ToInt32(ctx: *mut JSContext, pres: *mut i32, val: JSValueConst) -> c_int;
    pub fn JS_ToInt64(ctx: *mut JSContext, pres: *mut i64, val: JSValueConst) -> c_int;
    pub fn JS_ToIndex(ctx: *mut JSContext, plen: *mut u64, val: JSValueConst) -> c_int;
    pub fn JS_ToFloat64(ctx: *mut JSContext, pres: *mut f64, val: JSValueConst) -> c_int;
    pub fn JS_ToBigInt64(ctx: *mut JSContext, pres: *mut i64, val: JSValueConst) -> c_int;
    pub fn JS_ToBigUint64(ctx: *mut JSContext, pres: *mut u64, val: JSValueConst) -> c_int;
    pub fn JS_ToInt64Ext(ctx: *mut JSContext, pres: *mut i64, val: JSValueConst) -> c_int;
    pub fn JS_NewStringLen(ctx: *mut JSContext, str1: *const c_char, len1: usize) -> JSValue;
    pub fn JS_NewStringUTF16(ctx: *mut JSContext, buf: *const u16, len: usize) -> JSValue;
    pub fn JS_NewAtomString(ctx: *mut JSContext, s: *const c_char) -> JSValue;
    pub fn JS_ToString(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_ToPropertyKey(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_ToCStringLen2(ctx: *mut JSContext, plen: *mut usize, val1: JSValueConst, cesu8: bool) -> *const c_char;
    pub fn JS_ToCStringLenUTF16(ctx: *mut JSContext, plen: *mut usize, val1: JSValueConst) -> *const u16;
    pub fn JS_FreeCString(ctx: *mut JSContext, ptr: *const c_char);
    pub fn JS_FreeCStringRT(rt: *mut JSRuntime, ptr: *const c_char);
    pub fn JS_FreeCStringUTF16(ctx: *mut JSContext, ptr: *const u16);
    pub fn JS_FreeCStringRT_UTF16(rt: *mut JSRuntime, ptr: *const u16);
    pub fn JS_NewObjectProtoClass(ctx: *mut JSContext, proto: JSValueConst, class_id: JSClassID) -> JSValue;
    pub fn JS_NewObjectClass(ctx: *mut JSContext, class_id: JSClassID) -> JSValue;
    pub fn JS_NewObjectProto(ctx: *mut JSContext, proto: JSValueConst) -> JSValue;
    pub fn JS_NewObject(ctx: *mut JSContext) -> JSValue;
    pub fn JS_NewObjectFrom(ctx: *mut JSContext, count: c_int, props: *const JSAtom, values: *const JSValue)
    -> JSValue;
    pub fn JS_NewObjectFromStr(
        ctx: *mut JSContext,
        count: c_int,
        props: *const *const c_char,
        values: *const JSValue,
    ) -> JSValue;
    pub fn JS_ToObject(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_ToObjectString(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_IsFunction(ctx: *mut JSContext, val: JSValueConst) -> bool;
    pub fn JS_IsAsyncFunction(val: JSValueConst) -> bool;
    pub fn JS_IsConstructor(ctx: *mut JSContext, val: JSValueConst) -> bool;
    pub fn JS_SetConstructorBit(ctx: *mut JSContext, func_obj: JSValueConst, val: bool) -> bool;
    pub fn JS_IsRegExp(val: JSValueConst) -> bool;
    pub fn JS_IsMap(val: JSValueConst) -> bool;
    pub fn JS_IsSet(val: JSValueConst) -> bool;
    pub fn JS_IsWeakRef(val: JSValueConst) -> bool;
    pub fn JS_IsWeakSet(val: JSValueConst) -> bool;
    pub fn JS_IsWeakMap(val: JSValueConst) -> bool;
    pub fn JS_IsDataView(val: JSValueConst) -> bool;
    pub fn JS_NewArray(ctx: *mut JSContext) -> JSValue;
    pub fn JS_NewArrayFrom(ctx: *mut JSContext, count: c_int, values: *const JSValue) -> JSValue;
    pub fn JS_IsArray(val: JSValueConst) -> bool;
    pub fn JS_IsProxy(val: JSValueConst) -> bool;
    pub fn JS_GetProxyTarget(ctx: *mut JSContext, proxy: JSValueConst) -> JSValue;
    pub fn JS_GetProxyHandler(ctx: *mut JSContext, proxy: JSValueConst) -> JSValue;
    pub fn JS_NewProxy(ctx: *mut JSContext, target: JSValueConst, handler: JSValueConst) -> JSValue;
    pub fn JS_NewDate(ctx: *mut JSContext, epoch_ms: f64) -> JSValue;
    pub fn JS_IsDate(v: JSValueConst) -> bool;
    pub fn JS_GetProperty(ctx: *mut JSContext, this_obj: JSValueConst, prop: JSAtom) -> JSValue;
    pub fn JS_GetPropertyUint32(ctx: *mut JSContext, this_obj: JSValueConst, idx: u32) -> JSValue;
    pub fn JS_GetPropertyInt64(ctx: *mut JSContext, this_obj: JSValueConst, idx: i64) -> JSValue;
    pub fn JS_GetPropertyStr(ctx: *mut JSContext, this_obj: JSValueConst, prop: *const c_char) -> JSValue;
    pub fn JS_SetProperty(ctx: *mut JSContext, this_obj: JSValueConst, prop: JSAtom, val: JSValue) -> c_int;
    pub fn JS_SetPropertyUint32(ctx: *mut JSContext, this_obj: JSValueConst, idx: u32, val: JSValue) -> c_int;
    pub fn JS_SetPropertyInt64(ctx: *mut JSContext, this_obj: JSValueConst, idx: i64, val: JSValue) -> c_int;
    pub fn JS_SetPropertyStr(ctx: *mut JSContext, this_obj: JSValueConst, prop: *const c_char, val: JSValue) -> c_int;
    pub fn JS_HasProperty(ctx: *mut JSContext, this_obj: JSValueConst, prop: JSAtom) -> c_int;
    pub fn JS_IsExtensible(ctx: *mut JSContext, obj: JSValueConst) -> c_int;
    pub fn JS_PreventExtensions(ctx: *mut JSContext, obj: JSValueConst) -> c_int;
    pub fn JS_DeleteProperty(ctx: *mut JSContext, obj: JSValueConst, prop: JSAtom, flags: c_int) -> c_int;
    pub fn JS_SetPrototype(ctx: *mut JSContext, obj: JSValueConst, proto_val: JSValueConst) -> c_int;
    pub fn JS_GetPrototype(ctx: *mut JSContext, val: JSValueConst) -> JSValue;
    pub fn JS_GetLength(ctx: *mut JSContext, obj: JSValueConst, pres: *mut i64) -> c_int;
    pub fn JS_SetLength(ctx: *mut JSContext, obj: JSValueConst, len: i64) -> c_int;
    pub fn JS_SealObject(ctx: *mut JSContext, obj: JSValueConst) -> c_int;
    pub fn JS_FreezeObject(ctx: *mut JSContext, obj: JSValueConst) -> c_int;
    pub fn JS_GetOwnPropertyNames(
        ctx: *mut JSContext,
        ptab: *mut *mut JSPropertyEnum,
        plen: *mut u32,
        obj: JSValueConst,
        flags: c_int,
    ) -> c_int;
    pub fn JS_GetOwnProperty(
        ctx: *mut JSContext,
        desc: *mut JSPropertyDescriptor,
        obj: JSValueConst,
        prop: JSAtom,
    ) -> c_int;
    pub fn JS_FreePropertyEnum(ctx: *mut JSContext, tab: *mut JSPropertyEnum, len: u32);
    pub fn JS_Call(
        ctx: *mut JSContext,
        func_obj: JSValueConst,
        this_obj: JSValueConst,
        argc: c_int,
        argv: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_Invoke(
        ctx: *mut JSContext,
        this_val: JSValueConst,
        atom: JSAtom,
        argc: c_int,
        argv: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_CallConstructor(
        ctx: *mut JSContext,
        func_obj: JSValueConst,
        argc: c_int,
        argv: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_CallConstructor2(
        ctx: *mut JSContext,
        func_obj: JSValueConst,
        new_target: JSValueConst,
        argc: c_int,
        argv: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_DetectModule(input: *const c_char, input_len: usize) -> bool;
    pub fn JS_Eval(
        ctx: *mut JSContext,
        input: *const c_char,
        input_len: usize,
        filename: *const c_char,
        eval_flags: c_int,
    ) -> JSValue;
    pub fn JS_Eval2(
        ctx: *mut JSContext,
        input: *const c_char,
        input_len: usize,
        options: *mut JSEvalOptions,
    ) -> JSValue;
    pub fn JS_EvalThis(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        input: *const c_char,
        input_len: usize,
        filename: *const c_char,
        eval_flags: c_int,
    ) -> JSValue;
    pub fn JS_EvalThis2(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        input: *const c_char,
        input_len: usize,
        options: *mut JSEvalOptions,
    ) -> JSValue;
    pub fn JS_GetGlobalObject(ctx: *mut JSContext) -> JSValue;
    pub fn JS_IsInstanceOf(ctx: *mut JSContext, val: JSValueConst, obj: JSValueConst) -> c_int;
    pub fn JS_DefineProperty(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        prop: JSAtom,
        val: JSValueConst,
        getter: JSValueConst,
        setter: JSValueConst,
        flags: c_int,
    ) -> c_int;
    pub fn JS_DefinePropertyValue(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        prop: JSAtom,
        val: JSValue,
        flags: c_int,
    ) -> c_int;
    pub fn JS_DefinePropertyValueUint32(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        idx: u32,
        val: JSValue,
        flags: c_int,
    ) -> c_int;
    pub fn JS_DefinePropertyValueStr(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        prop: *const c_char,
        val: JSValue,
        flags: c_int,
    ) -> c_int;
    pub fn JS_DefinePropertyGetSet(
        ctx: *mut JSContext,
        this_obj: JSValueConst,
        prop: JSAtom,
        getter: JSValue,
        setter: JSValue,
        flags: c_int,
    ) -> c_int;
    pub fn JS_SetOpaque(obj: JSValueConst, opaque: *mut c_void) -> c_int;
    pub fn JS_GetOpaque(obj: JSValueConst, class_id: JSClassID) -> *mut c_void;
    pub fn JS_GetOpaque2(ctx: *mut JSContext, obj: JSValueConst, class_id: JSClassID) -> *mut c_void;
    pub fn JS_GetAnyOpaque(obj: JSValueConst, class_id: *mut JSClassID) -> *mut c_void;
    pub fn JS_ParseJSON(ctx: *mut JSContext, buf: *const c_char, buf_len: usize, filename: *const c_char) -> JSValue;
    pub fn JS_JSONStringify(
        ctx: *mut JSContext,
        obj: JSValueConst,
        replacer: JSValueConst,
        space0: JSValueConst,
    ) -> JSValue;
    pub fn JS_NewArrayBuffer(
        ctx: *mut JSContext,
        buf: *mut u8,
        len: usize,
        max_len: usize,
        realloc_func: Option<JSReallocArrayBufferDataFunc>,
        opaque: *mut c_void,
        is_shared: bool,
    ) -> JSValue;
    pub fn JS_NewArrayBufferCopy(ctx: *mut JSContext, buf: *const u8, len: usize) -> JSValue;
    pub fn JS_DetachArrayBuffer(ctx: *mut JSContext, obj: JSValueConst);
    pub fn JS_GetArrayBuffer(ctx: *mut JSContext, psize: *mut usize, obj: JSValueConst) -> *mut u8;
    pub fn JS_IsArrayBuffer(obj: JSValueConst) -> bool;
    pub fn JS_IsImmutableArrayBuffer(obj: JSValueConst) -> c_int;
    pub fn JS_SetImmutableArrayBuffer(obj: JSValueConst, immutable: bool) -> c_int;
    pub fn JS_GetUint8Array(ctx: *mut JSContext, psize: *mut usize, obj: JSValueConst) -> *mut u8;
    pub fn JS_NewTypedArray(
        ctx: *mut JSContext,
        argc: c_int,
        argv: *mut JSValueConst,
        array_type: JSTypedArrayEnum,
    ) -> JSValue;
    pub fn JS_GetTypedArrayBuffer(
        ctx: *mut JSContext,
        obj: JSValueConst,
        pbyte_offset: *mut usize,
        pbyte_length: *mut usize,
        pbytes_per_element: *mut usize,
    ) -> JSValue;
    pub fn JS_NewUint8Array(
        ctx: *mut JSContext,
        buf: *mut u8,
        len: usize,
        realloc_func: Option<JSReallocArrayBufferDataFunc>,
        opaque: *mut c_void,
        is_shared: bool,
    ) -> JSValue;
    pub fn JS_GetTypedArrayType(obj: JSValueConst) -> c_int;
    pub fn JS_NewUint8ArrayCopy(ctx: *mut JSContext, buf: *const u8, len: usize) -> JSValue;
    pub fn JS_SetSharedArrayBufferFunctions(rt: *mut JSRuntime, sf: *const JSSharedArrayBufferFunctions);
    pub fn JS_NewPromiseCapability(ctx: *mut JSContext, resolving_funcs: *mut JSValue) -> JSValue;
    pub fn JS_PromiseThen(
        ctx: *mut JSContext,
        promise: JSValueConst,
        on_fulfilled: JSValueConst,
        on_rejected: JSValueConst,
    ) -> JSValue;
    pub fn JS_PromiseState(ctx: *mut JSContext, promise: JSValueConst) -> JSPromiseStateEnum;
    pub fn JS_PromiseResult(ctx: *mut JSContext, promise: JSValueConst) -> JSValue;
    pub fn JS_IsPromise(val: JSValueConst) -> bool;
    pub fn JS_PromiseMarkAsHandled(ctx: *mut JSContext, promise: JSValueConst);
    pub fn JS_NewSettledPromise(ctx: *mut JSContext, is_reject: bool, value: JSValueConst) -> JSValue;
    pub fn JS_NewSymbol(ctx: *mut JSContext, description: *const c_char, is_global: bool) -> JSValue;
    pub fn JS_SetPromiseHook(rt: *mut JSRuntime, promise_hook: Option<JSPromiseHook>, opaque: *mut c_void);
    pub fn JS_SetHostPromiseRejectionTracker(
        rt: *mut JSRuntime,
        cb: Option<JSHostPromiseRejectionTracker>,
        opaque: *mut c_void,
    );
    pub fn JS_SetInterruptHandler(rt: *mut JSRuntime, cb: Option<JSInterruptHandler>, opaque: *mut c_void);
    pub fn JS_SetCanBlock(rt: *mut JSRuntime, can_block: bool);
    pub fn JS_SetModuleLoaderFunc(
        rt: *mut JSRuntime,
        module_normalize: Option<JSModuleNormalizeFunc>,
        module_loader: JSModuleLoaderFunc,
        opaque: *mut c_void,
    );
    pub fn JS_SetModuleLoaderFunc2(
        rt: *mut JSRuntime,
        module_normalize: Option<JSModuleNormalizeFunc>,
        module_loader: JSModuleLoaderFunc2,
        module_check_attrs: Option<JSModuleCheckSupportedImportAttributes>,
        opaque: *mut c_void,
    );
    pub fn JS_SetModuleNormalizeFunc2(rt: *mut JSRuntime, module_normalize: Option<JSModuleNormalizeFunc2>);
    pub fn JS_GetImportMeta(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSValue;
    pub fn JS_GetModuleName(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSAtom;
    pub fn JS_GetModuleNamespace(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSValue;
    pub fn JS_SetModulePrivateValue(ctx: *mut JSContext, m: *mut JSModuleDef, val: JSValue) -> c_int;
    pub fn JS_GetModulePrivateValue(ctx: *mut JSContext, m: *mut JSModuleDef) -> JSValue;
    pub fn JS_EnqueueJob(ctx: *mut JSContext, job_func: JSJobFunc, argc: c_int, argv: *mut JSValueConst) -> c_int;
    pub fn JS_IsJobPending(rt: *mut JSRuntime) -> bool;
    pub fn JS_GetPendingJobContext(rt: *mut JSRuntime) -> *mut JSContext;
    pub fn JS_ExecutePendingJob(rt: *mut JSRuntime, pctx: *mut *mut JSContext) -> c_int;
    pub fn JS_WriteObject(ctx: *mut JSContext, psize: *mut usize, obj: JSValueConst, flags: c_int) -> *mut u8;
    pub fn JS_WriteObject2(
        ctx: *mut JSContext,
        psize: *mut usize,
        obj: JSValueConst,
        flags: c_int,
        psab_tab: *mut JSSABTab,
    ) -> *mut u8;
    pub fn JS_ReadObject(ctx: *mut JSContext, buf: *const u8, buf_len: usize, flags: c_int) -> JSValue;
    pub fn JS_ReadObject2(
        ctx: *mut JSContext,
        buf: *const u8,
        buf_len: usize,
        flags: c_int,
        psab_tab: *mut JSSABTab,
    ) -> JSValue;
    pub fn JS_EvalFunction(ctx: *mut JSContext, fun_obj: JSValue) -> JSValue;
    pub fn JS_ResolveModule(ctx: *mut JSContext, obj: JSValueConst) -> c_int;
    pub fn JS_NewCFunction2(
        ctx: *mut JSContext,
        func: JSCFunction,
        name: *const c_char,
        length: c_int,
        cproto: JSCFunctionEnum,
        magic: c_int,
    ) -> JSValue;
    pub fn JS_NewCFunction3(
        ctx: *mut JSContext,
        func: JSCFunction,
        name: *const c_char,
        length: c_int,
        cproto: JSCFunctionEnum,
        magic: c_int,
        proto_val: JSValueConst,
        n_fields: c_int,
    ) -> JSValue;
    pub fn JS_NewCFunctionData(
        ctx: *mut JSContext,
        func: JSCFunctionData,
        length: c_int,
        magic: c_int,
        data_len: c_int,
        data: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_NewCFunctionData2(
        ctx: *mut JSContext,
        func: JSCFunctionData,
        name: *const c_char,
        length: c_int,
        magic: c_int,
        data_len: c_int,
        data: *mut JSValueConst,
    ) -> JSValue;
    pub fn JS_NewCClosure(
        ctx: *mut JSContext,
        func: JSCClosure,
        name: *const c_char,
        opaque_finalize: Option<JSCClosureFinalizerFunc>,
        length: c_int,
        magic: c_int,
        opaque: *mut c_void,
    ) -> JSValue;
    pub fn JS_SetConstructor(ctx: *mut JSContext, func_obj: JSValueConst, proto: JSValueConst) -> c_int;
    pub fn JS_NewCModule(ctx: *mut JSContext, name_str: *const c_char, func: JSModuleInitFunc) -> *mut JSModuleDef;
    pub fn JS_AddModuleExport(ctx: *mut JSContext, m: *mut JSModuleDef, name_str: *const c_char) -> c_int;
    pub fn JS_SetModuleExport(
        ctx: *mut JSContext,
        m: *mut JSModuleDef,
        export_name: *const c_char,
        val: JSValue,
    ) -> c_int;
    pub fn JS_GetVersion() -> *const c_char;
}
