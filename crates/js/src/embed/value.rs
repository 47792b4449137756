//! Owned and borrowed JavaScript values.
#![expect(unsafe_code, reason = "wraps QuickJS reference counting")]

use std::{borrow::Cow, ops::Deref};

use onrush_quickjs_sys as sys;

use super::{Ctx, JsResult, Throw, runtime_ptr};

/// A borrowed JavaScript value; always behind a reference whose owner keeps it alive.
#[repr(transparent)]
pub(crate) struct Handle(sys::JSValue);

/// An owned JavaScript value: one reference count, given back on drop.
///
/// It must be dropped on the thread it was made on, while the VU that owns it is entered, so that the memory goes back
/// to that VU's account.
#[repr(transparent)]
pub(crate) struct Val(Handle);

impl Val {
    /// Takes over a reference QuickJS handed out.
    pub(crate) fn from_raw(raw: sys::JSValue) -> Self {
        Self(Handle(raw))
    }

    /// Takes over a returned value, or reports the pending exception.
    pub(crate) fn checked(raw: sys::JSValue) -> JsResult {
        if raw.is_exception() { Err(Throw::Pending) } else { Ok(Self::from_raw(raw)) }
    }

    /// Gives the reference to the callee.
    pub(crate) fn into_raw(self) -> sys::JSValue {
        let raw = self.0.0;
        std::mem::forget(self);
        raw
    }

    pub(crate) fn undefined() -> Self {
        Self::from_raw(sys::JS_UNDEFINED)
    }

    pub(crate) fn null() -> Self {
        Self::from_raw(sys::JS_NULL)
    }

    pub(crate) fn bool(value: bool) -> Self {
        Self::from_raw(sys::js_bool(value))
    }

    pub(crate) fn int(value: i32) -> Self {
        Self::from_raw(sys::js_int32(value))
    }

    /// A number; integers in range become QuickJS's compact integers.
    pub(crate) fn number(value: f64) -> Self {
        Self::from_raw(sys::js_number(value))
    }

    /// A string, from UTF-8.
    pub(crate) fn string(ctx: Ctx, text: &str) -> JsResult {
        if text.is_ascii() {
            return Self::latin1(ctx, text.as_bytes());
        }
        // SAFETY: the pointer and length describe `text`, which QuickJS copies.
        Self::checked(unsafe { sys::JS_NewStringLen(ctx.raw(), text.as_ptr().cast(), text.len()) })
    }

    /// A string from bytes that are ASCII or Latin-1.
    pub(crate) fn latin1(ctx: Ctx, bytes: &[u8]) -> JsResult {
        // SAFETY: the pointer and length describe `bytes`, which QuickJS copies.
        Self::checked(unsafe { sys::onrush_new_string_latin1(ctx.raw(), bytes.as_ptr(), bytes.len()) })
    }

    /// A string from bytes that should be UTF-8. k6: each byte that is not becomes U+FFFD.
    pub(crate) fn text(ctx: Ctx, bytes: &[u8]) -> JsResult {
        if bytes.is_ascii() {
            return Self::latin1(ctx, bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::string(ctx, text),
            Err(_) => Self::string(ctx, &with_replacements(bytes, 1)),
        }
    }
}

impl Deref for Val {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.0
    }
}

impl Clone for Val {
    fn clone(&self) -> Self {
        self.0.dup()
    }
}

impl Drop for Val {
    fn drop(&mut self) {
        if self.0.0.has_ref_count() {
            // SAFETY: this value holds one reference of the thread's only runtime.
            unsafe { sys::JS_FreeValueRT(runtime_ptr(), self.0.0) }
        }
    }
}

impl Handle {
    pub(crate) const UNDEFINED: &'static Self = &Self(sys::JS_UNDEFINED);

    /// Sees a raw value as borrowed for as long as `raw` is borrowed.
    pub(crate) fn from_raw_ref(raw: &sys::JSValue) -> &Self {
        // SAFETY: `Handle` is a transparent wrapper of `JSValue`.
        unsafe { &*std::ptr::from_ref(raw).cast::<Self>() }
    }

    /// Sees an array of raw values as borrowed.
    ///
    /// # Safety
    /// `argv` points to `argc` values that live for `'a`.
    pub(crate) unsafe fn slice<'a>(argv: *const sys::JSValue, argc: usize) -> &'a [Self] {
        if argc == 0 {
            return &[];
        }
        // SAFETY: forwarded to the caller; the wrapper is transparent.
        unsafe { std::slice::from_raw_parts(argv.cast::<Self>(), argc) }
    }

    pub(crate) fn raw(&self) -> sys::JSValue {
        self.0
    }

    /// Another owned reference to the same value.
    pub(crate) fn dup(&self) -> Val {
        // SAFETY: the value is alive and of this thread's runtime.
        Val::from_raw(unsafe { sys::js_dup(self.0) })
    }

    pub(crate) fn tag(&self) -> i64 {
        self.0.tag
    }

    pub(crate) fn is_undefined(&self) -> bool {
        self.tag() == sys::JS_TAG_UNDEFINED
    }

    pub(crate) fn is_null(&self) -> bool {
        self.tag() == sys::JS_TAG_NULL
    }

    /// Neither `undefined` nor `null`.
    pub(crate) fn is_set(&self) -> bool {
        !self.is_undefined() && !self.is_null()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.tag() == sys::JS_TAG_OBJECT
    }

    pub(crate) fn is_string(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_STRING | sys::JS_TAG_STRING_ROPE)
    }

    pub(crate) fn is_bool(&self) -> bool {
        self.tag() == sys::JS_TAG_BOOL
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_INT | sys::JS_TAG_FLOAT64)
    }

    pub(crate) fn is_bigint(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT)
    }

    pub(crate) fn is_symbol(&self) -> bool {
        self.tag() == sys::JS_TAG_SYMBOL
    }

    pub(crate) fn is_function(&self, ctx: Ctx) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsFunction(ctx.raw(), self.0) }
    }

    pub(crate) fn is_async_function(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::onrush_is_async_function(self.0) } != 0
    }

    pub(crate) fn is_array(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsArray(self.0) }
    }

    /// A proxy of an array, such as a `SharedArray`, is an array as well, to `Array.isArray()` too.
    pub(crate) fn is_proxied_array(&self, ctx: Ctx) -> bool {
        // SAFETY: the first only reads the value, the second returns a value of our own.
        unsafe { sys::JS_IsProxy(self.0) && Val::from_raw(sys::JS_GetProxyTarget(ctx.raw(), self.0)).is_array() }
    }

    pub(crate) fn is_error(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsError(self.0) }
    }

    pub(crate) fn is_promise(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsPromise(self.0) }
    }

    /// The object's address: equal for two handles of the same object.
    pub(crate) fn identity(&self) -> usize {
        if self.0.has_ref_count() {
            // SAFETY: counted values hold a pointer.
            unsafe { self.0.ptr() }.addr()
        } else {
            0
        }
    }

    /// The integer, when the value is one already (no conversion, no side effects).
    pub(crate) fn as_int(&self) -> Option<i32> {
        // SAFETY: the tag was checked.
        (self.tag() == sys::JS_TAG_INT).then(|| unsafe { self.0.int32() })
    }

    /// The number, when the value is one already.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self.tag() {
            // SAFETY: the tag was checked.
            sys::JS_TAG_INT => Some(f64::from(unsafe { self.0.int32() })),
            // SAFETY: the tag was checked.
            sys::JS_TAG_FLOAT64 => Some(unsafe { self.0.float64() }),
            _ => None,
        }
    }

    /// JavaScript truthiness.
    pub(crate) fn truthy(&self, ctx: Ctx) -> bool {
        match self.tag() {
            // SAFETY: the tag was checked.
            sys::JS_TAG_BOOL | sys::JS_TAG_INT => (unsafe { self.0.int32() }) != 0,
            sys::JS_TAG_NULL | sys::JS_TAG_UNDEFINED => false,
            // SAFETY: reads the value; truthiness runs no user code.
            _ => unsafe { sys::JS_ToBool(ctx.raw(), self.0) > 0 },
        }
    }

    /// JavaScript's ToNumber; may run user code.
    pub(crate) fn to_number(&self, ctx: Ctx) -> JsResult<f64> {
        if let Some(number) = self.as_number() {
            return Ok(number);
        }
        let mut number = 0.0;
        // SAFETY: `number` outlives the call.
        match unsafe { sys::JS_ToFloat64(ctx.raw(), &mut number, self.0) } {
            0 => Ok(number),
            _ => Err(Throw::Pending),
        }
    }

    /// Go's conversion of a number argument to an integer: ToNumber, truncated; NaN is 0.
    pub(crate) fn to_i64(&self, ctx: Ctx) -> JsResult<i64> {
        Ok(self.to_number(ctx)? as i64)
    }

    /// A BigInt's last 64 bits; an error for anything else.
    pub(crate) fn to_big_i64(&self, ctx: Ctx) -> JsResult<i64> {
        let mut number = 0;
        // SAFETY: `number` outlives the call.
        match unsafe { sys::JS_ToBigInt64(ctx.raw(), &mut number, self.0) } {
            0 => Ok(number),
            _ => Err(Throw::Pending),
        }
    }

    /// Calls `f` with the text of JavaScript's ToString, which may run user code. Without a copy, where it is ASCII.
    pub(crate) fn with_text<R>(&self, ctx: Ctx, f: impl FnOnce(&str) -> R) -> JsResult<R> {
        match self.ascii() {
            Some(text) => Ok(f(text)),
            None => Ok(f(&self.to_js_string(ctx)?.text())),
        }
    }

    /// JavaScript's ToString; may run user code.
    pub(crate) fn to_js_string(&self, ctx: Ctx) -> JsResult<JsString> {
        let mut len = 0;
        // SAFETY: the returned buffer is owned by `JsString`, which frees it with the same runtime.
        let ptr = unsafe { sys::JS_ToCStringLen2(ctx.raw(), &mut len, self.0, false) };
        if ptr.is_null() { Err(Throw::Pending) } else { Ok(JsString { ptr: ptr.cast(), len }) }
    }

    /// ToString as an owned Rust string; lone surrogates become U+FFFD.
    pub(crate) fn to_text(&self, ctx: Ctx) -> JsResult<String> {
        Ok(self.to_js_string(ctx)?.text().into_owned())
    }

    /// A string that is ASCII and flat, without a copy.
    pub(crate) fn ascii(&self) -> Option<&str> {
        if self.tag() != sys::JS_TAG_STRING {
            return None;
        }
        let mut len = 0;
        // SAFETY: the bytes live as long as the string, which `self` keeps alive; strings never change. All are ASCII.
        unsafe {
            let ptr = sys::onrush_string_ascii(self.0, &mut len);
            (!ptr.is_null()).then(|| std::str::from_utf8_unchecked(std::slice::from_raw_parts(ptr, len)))
        }
    }

    /// The bytes of an `ArrayBuffer`; `None` for anything else.
    ///
    /// The slice is only valid until script code runs again (it may detach or resize the buffer).
    pub(crate) fn array_buffer(&self, ctx: Ctx) -> Option<&[u8]> {
        // SAFETY: checked to be an ArrayBuffer before its memory is asked for.
        unsafe {
            if !self.is_object() || !sys::JS_IsArrayBuffer(self.0) {
                return None;
            }
            let mut len = 0;
            let ptr = sys::JS_GetArrayBuffer(ctx.raw(), &mut len, self.0);
            if ptr.is_null() {
                // A detached buffer leaves an exception behind: it reads as empty.
                drop(ctx.take_exception_value());
                return Some(&[]);
            }
            Some(std::slice::from_raw_parts(ptr, len))
        }
    }

    /// An `ArrayBuffer` that scripts cannot write to.
    pub(crate) fn is_immutable_buffer(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsImmutableArrayBuffer(self.0) } > 0
    }

    /// Whether this is a `DataView`.
    pub(crate) fn is_data_view(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsDataView(self.0) }
    }

    /// What a typed array's elements are; `None` for anything else.
    pub(crate) fn typed_array_kind(&self) -> Option<TypedArray> {
        if !self.is_object() {
            return None;
        }
        // SAFETY: only reads the value.
        Some(match unsafe { sys::JS_GetTypedArrayType(self.0) } {
            0 => TypedArray::Uint8Clamped,
            1 => TypedArray::Int8,
            2 => TypedArray::Uint8,
            3 => TypedArray::Int16,
            4 => TypedArray::Uint16,
            5 => TypedArray::Int32,
            6 => TypedArray::Uint32,
            7 => TypedArray::BigInt64,
            8 => TypedArray::BigUint64,
            9 => TypedArray::Float16,
            10 => TypedArray::Float32,
            11 => TypedArray::Float64,
            _ => return None,
        })
    }

    /// Which of the built-in kinds an object is; reads nothing that scripts could have changed.
    pub(crate) fn object_kind(&self) -> ObjectKind {
        if !self.is_object() {
            return ObjectKind::Other;
        }
        let raw = self.0;
        // SAFETY: these only read the value.
        unsafe {
            match () {
                () if sys::JS_IsProxy(raw) => ObjectKind::Proxy,
                () if sys::JS_IsArray(raw) => ObjectKind::Array,
                () if sys::JS_IsSet(raw) => ObjectKind::Set,
                () if sys::JS_IsMap(raw) => ObjectKind::Map,
                () if sys::JS_IsDate(raw) => ObjectKind::Date,
                () if sys::JS_IsPromise(raw) => ObjectKind::Promise,
                () => match sys::onrush_boxed_tag(raw) {
                    sys::JS_TAG_INT | sys::JS_TAG_FLOAT64 => ObjectKind::Number,
                    sys::JS_TAG_BOOL => ObjectKind::Boolean,
                    sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT => ObjectKind::BigInt,
                    _ => ObjectKind::Other,
                },
            }
        }
    }

    /// An `ArrayBuffer`, attached or not.
    pub(crate) fn is_array_buffer(&self) -> bool {
        // SAFETY: only reads the value.
        self.is_object() && unsafe { sys::JS_IsArrayBuffer(self.0) }
    }

    /// The bytes a typed array views; `None` for anything else. Valid until script code runs again.
    pub(crate) fn typed_array(&self, ctx: Ctx) -> Option<&[u8]> {
        let view = self.view(ctx)?;
        // SAFETY: the bytes are there, and nothing writes to them before script code runs.
        Some(unsafe { std::slice::from_raw_parts(view.bytes, view.length) })
    }

    /// Where the bytes of a typed array are; `None` for anything else. A detached or shrunk buffer has none. Valid until
    /// script code runs again.
    pub(super) fn view(&self, ctx: Ctx) -> Option<View> {
        let none = View { bytes: std::ptr::dangling_mut(), length: 0, width: 1, is_immutable: false };
        // SAFETY: checked to be a typed array first; the buffer is kept alive by the array `self` borrows.
        unsafe {
            if !self.is_object() || sys::JS_GetTypedArrayType(self.0) < 0 {
                return None;
            }
            let (mut offset, mut length, mut width) = (0, 0, 0);
            let buffer =
                Val::from_raw(sys::JS_GetTypedArrayBuffer(ctx.raw(), self.0, &mut offset, &mut length, &mut width));
            if buffer.raw().is_exception() {
                drop(ctx.take_exception_value());
                return Some(none);
            }
            let is_immutable = buffer.is_immutable_buffer();
            let mut total = 0;
            let base = sys::JS_GetArrayBuffer(ctx.raw(), &mut total, buffer.raw());
            if base.is_null() || offset.checked_add(length).is_none_or(|end| end > total) {
                drop(ctx.take_exception_value());
                return Some(View { is_immutable, ..none });
            }
            Some(View { bytes: base.add(offset), length, width: width.max(1), is_immutable })
        }
    }
}

/// The bytes behind a typed array.
pub(super) struct View {
    pub(super) bytes: *mut u8,
    pub(super) length: usize,
    /// Of one element.
    pub(super) width: usize,
    pub(super) is_immutable: bool,
}

/// The built-in kinds of objects that k6 tells apart. `Number`, `Boolean` and `BigInt` are what `Object(1)` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Array,
    Set,
    Map,
    Date,
    Promise,
    Proxy,
    Number,
    Boolean,
    BigInt,
    Other,
}

/// The kinds of typed arrays, by their numbers in QuickJS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypedArray {
    Uint8Clamped,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    BigInt64,
    BigUint64,
    Float16,
    Float32,
    Float64,
}

/// A string's UTF-8 form, owned by QuickJS.
pub(crate) struct JsString {
    ptr: *const u8,
    len: usize,
}

impl JsString {
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: QuickJS keeps the buffer until it is freed in `drop`.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }

    pub(crate) fn text(&self) -> Cow<'_, str> {
        match std::str::from_utf8(self.bytes()) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(with_replacements(self.bytes(), HALF_PAIR_BYTES)),
        }
    }
}

impl Drop for JsString {
    fn drop(&mut self) {
        // SAFETY: the pointer came from JS_ToCStringLen2 of this thread's runtime.
        unsafe { sys::JS_FreeCStringRT(runtime_ptr(), self.ptr.cast()) }
    }
}

/// A text from bytes of which some are no UTF-8. As in Go, each of these becomes U+FFFD; but of the bytes that stand for half
/// of a surrogate pair, `half_bytes` together become one.
fn with_replacements(bytes: &[u8], half_bytes: usize) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    let mut rest = bytes;
    while let Some(chunk) = rest.utf8_chunks().next() {
        text.push_str(chunk.valid());
        rest = &rest[chunk.valid().len()..];
        let count = if matches!(rest, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..]) { half_bytes } else { 1 };
        if let Some(after) = rest.get(count..) {
            text.push(char::REPLACEMENT_CHARACTER);
            rest = after;
        }
    }
    text
}

/// QuickJS writes half of a pair like any character of its size.
const HALF_PAIR_BYTES: usize = 3;

#[cfg(test)]
mod tests {
    use super::with_replacements;

    #[test]
    fn bytes_that_are_no_text() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(with_replacements(bytes, 3), expect, "{bytes:x?}");
        check(b"", "");
        check(b"a\xffb", "a\u{fffd}b");
        check(b"\xe2\x82", "\u{fffd}\u{fffd}");
        check(b"\xf0\x9f\x98x", "\u{fffd}\u{fffd}\u{fffd}x");
        check(b"\xed\xa0\x80a", "\u{fffd}a");
        check(b"\xed\xa0a", "\u{fffd}\u{fffd}a");
        assert_eq!(with_replacements(b"\xed\xa0\x80a", 1), "\u{fffd}\u{fffd}\u{fffd}a");
        check("é\u{fffd}日".as_bytes(), "é\u{fffd}日");
    }
}
