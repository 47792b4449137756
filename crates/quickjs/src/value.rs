//! `JSValue` and what quickjs.h does with it inline: tags, constructors, predicates and
//! reference counting. Only the 64-bit representation (a union and a tag, no NaN boxing).

use core::ffi::c_void;

/// A counted reference is owned by whoever holds the value; see [`js_dup`] and
/// [`js_free_value`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct JSValue {
    /// The payload; which member is valid follows from `tag`.
    pub u: JSValueUnion,
    /// One of the `JS_TAG_*` constants.
    pub tag: i64,
}

/// A value a function only borrows. The same type: the name documents ownership.
pub type JSValueConst = JSValue;

/// Payload of a [`JSValue`].
#[derive(Clone, Copy)]
#[repr(C)]
pub union JSValueUnion {
    /// Of `JS_TAG_INT`, `JS_TAG_BOOL` and `JS_TAG_SHORT_BIG_INT`.
    pub int32: i32,
    /// Of `JS_TAG_FLOAT64`.
    pub float64: f64,
    /// Of all negative (counted) tags.
    pub ptr: *mut c_void,
}

impl core::fmt::Debug for JSValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "JSValue {{ tag: {} }}", self.tag)
    }
}

/// The most negative tag; all counted tags are negative.
pub const JS_TAG_FIRST: i64 = -9;
/// Heap-allocated bigint.
pub const JS_TAG_BIG_INT: i64 = -9;
/// Symbol.
pub const JS_TAG_SYMBOL: i64 = -8;
/// Flat string.
pub const JS_TAG_STRING: i64 = -7;
/// Concatenation not yet flattened.
pub const JS_TAG_STRING_ROPE: i64 = -6;
/// `JSModuleDef`; never freed through its count.
pub const JS_TAG_MODULE: i64 = -3;
/// Compiled function that is not a closure yet.
pub const JS_TAG_FUNCTION_BYTECODE: i64 = -2;
/// Object.
pub const JS_TAG_OBJECT: i64 = -1;
/// 32-bit integer.
pub const JS_TAG_INT: i64 = 0;
/// Boolean.
pub const JS_TAG_BOOL: i64 = 1;
/// `null`.
pub const JS_TAG_NULL: i64 = 2;
/// `undefined`.
pub const JS_TAG_UNDEFINED: i64 = 3;
/// Internal: variable in its temporal dead zone.
pub const JS_TAG_UNINITIALIZED: i64 = 4;
/// Internal: catch offset on the interpreter's stack.
pub const JS_TAG_CATCH_OFFSET: i64 = 5;
/// An exception is pending in the context.
pub const JS_TAG_EXCEPTION: i64 = 6;
/// Bigint that fits 32 bits.
pub const JS_TAG_SHORT_BIG_INT: i64 = 7;
/// Double.
pub const JS_TAG_FLOAT64: i64 = 8;

/// `null`
pub const JS_NULL: JSValue = js_mkval(JS_TAG_NULL, 0);
/// `undefined`
pub const JS_UNDEFINED: JSValue = js_mkval(JS_TAG_UNDEFINED, 0);
/// `false`
pub const JS_FALSE: JSValue = js_mkval(JS_TAG_BOOL, 0);
/// `true`
pub const JS_TRUE: JSValue = js_mkval(JS_TAG_BOOL, 1);
/// What a function returns after throwing.
pub const JS_EXCEPTION: JSValue = js_mkval(JS_TAG_EXCEPTION, 0);
/// No value at all.
pub const JS_UNINITIALIZED: JSValue = js_mkval(JS_TAG_UNINITIALIZED, 0);
/// `NaN`
pub const JS_NAN: JSValue = js_float64(f64::NAN);

/// `JS_MKVAL`
#[must_use]
#[inline]
pub const fn js_mkval(tag: i64, value: i32) -> JSValue {
    // All eight bytes are set, so that a value can be copied as integers.
    JSValue { u: JSValueUnion { float64: f64::from_bits(value as u32 as u64) }, tag }
}

/// `JS_MKPTR`
#[must_use]
#[inline]
pub const fn js_mkptr(tag: i64, ptr: *mut c_void) -> JSValue {
    JSValue { u: JSValueUnion { ptr }, tag }
}

/// `JS_NewBool`
#[must_use]
#[inline]
pub const fn js_bool(value: bool) -> JSValue {
    js_mkval(JS_TAG_BOOL, value as i32)
}

/// `JS_NewInt32`
#[must_use]
#[inline]
pub const fn js_int32(value: i32) -> JSValue {
    js_mkval(JS_TAG_INT, value)
}

/// `JS_NewFloat64`: always a double, also when the value is integral.
#[must_use]
#[inline]
pub const fn js_float64(value: f64) -> JSValue {
    JSValue { u: JSValueUnion { float64: value }, tag: JS_TAG_FLOAT64 }
}

/// `JS_NewInt64`: an integer where it fits 32 bits, else a double (which may round).
#[must_use]
#[inline]
pub const fn js_int64(value: i64) -> JSValue {
    if value >= i32::MIN as i64 && value <= i32::MAX as i64 { js_int32(value as i32) } else { js_float64(value as f64) }
}

/// `JS_NewUint32`
#[must_use]
#[inline]
pub const fn js_uint32(value: u32) -> JSValue {
    js_int64(value as i64)
}

/// `JS_NewUint64`: rounds beyond 2^53.
#[must_use]
#[inline]
pub const fn js_uint64(value: u64) -> JSValue {
    if value <= i32::MAX as u64 { js_int32(value as i32) } else { js_float64(value as f64) }
}

/// `JS_NewNumber`: the integer representation where the value allows (not for -0).
#[must_use]
#[inline]
pub fn js_number(value: f64) -> JSValue {
    let int = value as i32;
    if f64::from(int).to_bits() == value.to_bits() { js_int32(int) } else { js_float64(value) }
}

impl JSValue {
    /// `JS_VALUE_HAS_REF_COUNT`
    #[must_use]
    #[inline]
    pub const fn has_ref_count(self) -> bool {
        self.tag < 0
    }

    /// `JS_VALUE_GET_INT`
    ///
    /// # Safety
    /// The tag is `JS_TAG_INT`, `JS_TAG_BOOL` or `JS_TAG_SHORT_BIG_INT`.
    #[must_use]
    #[inline]
    pub const unsafe fn int32(self) -> i32 {
        // SAFETY: the caller checked the tag.
        unsafe { self.u.int32 }
    }

    /// `JS_VALUE_GET_FLOAT64`
    ///
    /// # Safety
    /// The tag is `JS_TAG_FLOAT64`.
    #[must_use]
    #[inline]
    pub const unsafe fn float64(self) -> f64 {
        // SAFETY: the caller checked the tag.
        unsafe { self.u.float64 }
    }

    /// `JS_VALUE_GET_PTR`
    ///
    /// # Safety
    /// The tag is negative.
    #[must_use]
    #[inline]
    pub const unsafe fn ptr(self) -> *mut c_void {
        // SAFETY: the caller checked the tag.
        unsafe { self.u.ptr }
    }

    /// An int or a double.
    #[must_use]
    #[inline]
    pub const fn is_number(self) -> bool {
        self.tag == JS_TAG_INT || self.tag == JS_TAG_FLOAT64
    }

    /// A bigint of either representation.
    #[must_use]
    #[inline]
    pub const fn is_big_int(self) -> bool {
        self.tag == JS_TAG_BIG_INT || self.tag == JS_TAG_SHORT_BIG_INT
    }

    /// A boolean.
    #[must_use]
    #[inline]
    pub const fn is_bool(self) -> bool {
        self.tag == JS_TAG_BOOL
    }

    /// `null`
    #[must_use]
    #[inline]
    pub const fn is_null(self) -> bool {
        self.tag == JS_TAG_NULL
    }

    /// `undefined`
    #[must_use]
    #[inline]
    pub const fn is_undefined(self) -> bool {
        self.tag == JS_TAG_UNDEFINED
    }

    /// `null` or `undefined`
    #[must_use]
    #[inline]
    pub const fn is_nullish(self) -> bool {
        self.is_null() || self.is_undefined()
    }

    /// The mark of a pending exception.
    #[must_use]
    #[inline]
    pub const fn is_exception(self) -> bool {
        self.tag == JS_TAG_EXCEPTION
    }

    /// No value at all.
    #[must_use]
    #[inline]
    pub const fn is_uninitialized(self) -> bool {
        self.tag == JS_TAG_UNINITIALIZED
    }

    /// A string, flat or a rope.
    #[must_use]
    #[inline]
    pub const fn is_string(self) -> bool {
        self.tag == JS_TAG_STRING || self.tag == JS_TAG_STRING_ROPE
    }

    /// A symbol.
    #[must_use]
    #[inline]
    pub const fn is_symbol(self) -> bool {
        self.tag == JS_TAG_SYMBOL
    }

    /// An object of any class.
    #[must_use]
    #[inline]
    pub const fn is_object(self) -> bool {
        self.tag == JS_TAG_OBJECT
    }

    /// A module definition.
    #[must_use]
    #[inline]
    pub const fn is_module(self) -> bool {
        self.tag == JS_TAG_MODULE
    }
}

/// Another counted reference to the same value; what `JS_DupValue` does, inline.
///
/// # Safety
/// The value is alive and belongs to a runtime of this thread.
#[must_use]
#[inline]
pub unsafe fn js_dup(value: JSValueConst) -> JSValue {
    if value.has_ref_count() {
        // SAFETY: the count is the `int` right before the payload of a counted value; the
        // shim asserts that at compile time.
        unsafe { *value.u.ptr.cast::<i32>().sub(1) += 1 };
    }
    value
}

/// Gives one counted reference back; what `JS_FreeValue` does, inline until the last one.
///
/// # Safety
/// The caller owns a reference to the value; `ctx` is a realm of its runtime and no other
/// thread uses that runtime.
#[inline]
pub unsafe fn js_free_value(ctx: *mut crate::JSContext, value: JSValue) {
    if value.has_ref_count() {
        // SAFETY: as in `js_dup`; the last reference is left to the engine.
        unsafe {
            let count = value.u.ptr.cast::<i32>().sub(1);
            if *count > 1 {
                *count -= 1;
            } else {
                crate::JS_FreeValue(ctx, value);
            }
        }
    }
}
