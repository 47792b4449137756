//! What Rust knows of the engine's numbers: checked against the declarations of this crate here, and against the
//! engine by the C compiler.
//!
//! `build.rs` reads this file and turns each line into a `_Static_assert` of `onrush_layout.h`, so a tag that is
//! renumbered, or a struct that grows, in a newer engine is an error of the build, on whichever side it is.

/// One `assert!` for each line. Lines are plain enough for `build.rs` to read: NAME = NUMBER.
macro_rules! layout {
    (constants { $($constant:ident = $number:literal;)* }) => {
        $(const _: () = assert!(crate::$constant as i64 == $number, stringify!($constant));)*
    };
    (variants { $($name:ident::$variant:ident $c:ident = $number:literal;)* }) => {
        $(const _: () = assert!(crate::$name::$variant as i64 == $number, stringify!($c));)*
    };
    (structs { $($name:ident $size:literal { $($field:ident = $offset:literal;)* })* }) => {
        $(
            const _: () = assert!(size_of::<crate::$name>() == $size, stringify!($name));
            $(const _: () = assert!(core::mem::offset_of!(crate::$name, $field) == $offset, stringify!($field));)*
        )*
    };
    (engine { $($line:tt)* }) => {};
}

layout!(constants {
    JS_TAG_FIRST = -9;
    JS_TAG_BIG_INT = -9;
    JS_TAG_SYMBOL = -8;
    JS_TAG_STRING = -7;
    JS_TAG_STRING_ROPE = -6;
    JS_TAG_MODULE = -3;
    JS_TAG_FUNCTION_BYTECODE = -2;
    JS_TAG_OBJECT = -1;
    JS_TAG_INT = 0;
    JS_TAG_BOOL = 1;
    JS_TAG_NULL = 2;
    JS_TAG_UNDEFINED = 3;
    JS_TAG_UNINITIALIZED = 4;
    JS_TAG_CATCH_OFFSET = 5;
    JS_TAG_EXCEPTION = 6;
    JS_TAG_SHORT_BIG_INT = 7;
    JS_TAG_FLOAT64 = 8;
    JS_ATOM_NULL = 0;
    ONRUSH_POKE_HALT = 1;
    JS_INVALID_CLASS_ID = 0;
    JS_PROP_CONFIGURABLE = 1;
    JS_PROP_WRITABLE = 2;
    JS_PROP_ENUMERABLE = 4;
    JS_PROP_C_W_E = 7;
    JS_PROP_TMASK = 48;
    JS_PROP_GETSET = 16;
    JS_PROP_HAS_CONFIGURABLE = 256;
    JS_PROP_HAS_WRITABLE = 512;
    JS_PROP_HAS_ENUMERABLE = 1024;
    JS_PROP_HAS_GET = 2048;
    JS_PROP_HAS_SET = 4096;
    JS_PROP_HAS_VALUE = 8192;
    JS_PROP_THROW = 16384;
    JS_PROP_THROW_STRICT = 32768;
    JS_GPN_STRING_MASK = 1;
    JS_GPN_SYMBOL_MASK = 2;
    JS_GPN_PRIVATE_MASK = 4;
    JS_GPN_ENUM_ONLY = 16;
    JS_GPN_SET_ENUM = 32;
    JS_EVAL_TYPE_GLOBAL = 0;
    JS_EVAL_TYPE_MODULE = 1;
    JS_EVAL_FLAG_STRICT = 8;
    JS_EVAL_FLAG_COMPILE_ONLY = 32;
    JS_EVAL_FLAG_BACKTRACE_BARRIER = 64;
    JS_EVAL_FLAG_ASYNC = 128;
    JS_WRITE_OBJ_BYTECODE = 1;
    JS_WRITE_OBJ_SAB = 4;
    JS_WRITE_OBJ_REFERENCE = 8;
    JS_WRITE_OBJ_STRIP_SOURCE = 16;
    JS_WRITE_OBJ_STRIP_DEBUG = 32;
    JS_READ_OBJ_BYTECODE = 1;
    JS_READ_OBJ_SAB = 4;
    JS_READ_OBJ_REFERENCE = 8;
    JS_CALL_FLAG_CONSTRUCTOR = 1;
    JS_PROMISE_NOT_A_PROMISE = -1;
    JS_PROMISE_PENDING = 0;
    JS_PROMISE_FULFILLED = 1;
    JS_PROMISE_REJECTED = 2;
    JS_EVAL_OPTIONS_VERSION = 1;
});

layout!(variants {
    JSCFunctionEnum::generic JS_CFUNC_generic = 0;
    JSCFunctionEnum::generic_magic JS_CFUNC_generic_magic = 1;
    JSCFunctionEnum::constructor JS_CFUNC_constructor = 2;
    JSCFunctionEnum::constructor_magic JS_CFUNC_constructor_magic = 3;
    JSCFunctionEnum::constructor_or_func JS_CFUNC_constructor_or_func = 4;
    JSCFunctionEnum::constructor_or_func_magic JS_CFUNC_constructor_or_func_magic = 5;
    JSCFunctionEnum::f_f JS_CFUNC_f_f = 6;
    JSCFunctionEnum::f_f_f JS_CFUNC_f_f_f = 7;
    JSCFunctionEnum::getter JS_CFUNC_getter = 8;
    JSCFunctionEnum::setter JS_CFUNC_setter = 9;
    JSCFunctionEnum::getter_magic JS_CFUNC_getter_magic = 10;
    JSCFunctionEnum::setter_magic JS_CFUNC_setter_magic = 11;
    JSCFunctionEnum::iterator_next JS_CFUNC_iterator_next = 12;
    JSTypedArrayEnum::UINT8C JS_TYPED_ARRAY_UINT8C = 0;
    JSTypedArrayEnum::INT8 JS_TYPED_ARRAY_INT8 = 1;
    JSTypedArrayEnum::UINT8 JS_TYPED_ARRAY_UINT8 = 2;
    JSTypedArrayEnum::INT16 JS_TYPED_ARRAY_INT16 = 3;
    JSTypedArrayEnum::UINT16 JS_TYPED_ARRAY_UINT16 = 4;
    JSTypedArrayEnum::INT32 JS_TYPED_ARRAY_INT32 = 5;
    JSTypedArrayEnum::UINT32 JS_TYPED_ARRAY_UINT32 = 6;
    JSTypedArrayEnum::BIG_INT64 JS_TYPED_ARRAY_BIG_INT64 = 7;
    JSTypedArrayEnum::BIG_UINT64 JS_TYPED_ARRAY_BIG_UINT64 = 8;
    JSTypedArrayEnum::FLOAT16 JS_TYPED_ARRAY_FLOAT16 = 9;
    JSTypedArrayEnum::FLOAT32 JS_TYPED_ARRAY_FLOAT32 = 10;
    JSTypedArrayEnum::FLOAT64 JS_TYPED_ARRAY_FLOAT64 = 11;
});

layout!(structs {
    JSMallocFunctions 40 {
        js_calloc = 0;
        js_malloc = 8;
        js_free = 16;
        js_realloc = 24;
        js_malloc_usable_size = 32;
    }
    JSMemoryUsage 208 {
        malloc_size = 0;
        malloc_limit = 8;
        memory_used_size = 16;
        malloc_count = 24;
        memory_used_count = 32;
        atom_count = 40;
        atom_size = 48;
        str_count = 56;
        str_size = 64;
        obj_count = 72;
        obj_size = 80;
        prop_count = 88;
        prop_size = 96;
        shape_count = 104;
        shape_size = 112;
        js_func_count = 120;
        js_func_size = 128;
        js_func_code_size = 136;
        js_func_pc2line_count = 144;
        js_func_pc2line_size = 152;
        c_func_count = 160;
        array_count = 168;
        fast_array_count = 176;
        fast_array_elements = 184;
        binary_object_count = 192;
        binary_object_size = 200;
    }
    JSPropertyEnum 8 {
        is_enumerable = 0;
        atom = 4;
    }
    JSPropertyDescriptor 56 {
        flags = 0;
        value = 8;
        getter = 24;
        setter = 40;
    }
    JSClassExoticMethods 56 {
        get_own_property = 0;
        get_own_property_names = 8;
        delete_property = 16;
        define_own_property = 24;
        has_property = 32;
        get_property = 40;
        set_property = 48;
    }
    JSClassDef 40 {
        class_name = 0;
        finalizer = 8;
        gc_mark = 16;
        call = 24;
        exotic = 32;
    }
    JSEvalOptions 24 {
        version = 0;
        eval_flags = 4;
        filename = 8;
        line_num = 16;
    }
    JSSABTab 16 {
        tab = 0;
        len = 8;
    }
    JSSharedArrayBufferFunctions 32 {
        sab_alloc = 0;
        sab_free = 8;
        sab_dup = 16;
        sab_opaque = 24;
    }
    JSValue 16 {
        u = 0;
        tag = 8;
    }
});

// Of the engine alone. New state in JSRuntime or JSContext may belong to a VU, and a new class may have state that VUs
// share: docs/design/003-patched-quickjs.md says what to look at before a number is changed here.
layout!(engine {
    sizeof(JSRuntime) = 3688;
    sizeof(JSContext) = 600;
    JS_CLASS_INIT_COUNT = 67;
    JS_AUTOINIT_ID_HOST = 4;
    JS_ATOM_END = 242;
});
