//! Writing to typed arrays in place.
#![expect(unsafe_code, reason = "the memory behind typed arrays")]

use onrush_quickjs_sys as sys;

use super::{Ctx, Handle, Val};

impl Handle {
    /// Lets `fill` write the elements of an array of 8, 16 or 32 bit integers; it gets their bytes, and how many an element
    /// has. `None` for anything else, and for arrays over immutable buffers.
    pub(crate) fn with_integer_elements<R>(&self, ctx: Ctx, fill: impl FnOnce(&mut [u8], usize) -> R) -> Option<R> {
        if !self.is_object() {
            return None;
        }
        // SAFETY: only reads the value.
        let kind = unsafe { sys::JS_GetTypedArrayType(self.raw()) };
        let integers = [
            sys::JSTypedArrayEnum::UINT8C,
            sys::JSTypedArrayEnum::INT8,
            sys::JSTypedArrayEnum::UINT8,
            sys::JSTypedArrayEnum::INT16,
            sys::JSTypedArrayEnum::UINT16,
            sys::JSTypedArrayEnum::INT32,
            sys::JSTypedArrayEnum::UINT32,
        ];
        if !integers.iter().any(|known| *known as i32 == kind) {
            return None;
        }
        let (mut offset, mut length, mut width) = (0, 0, 0);
        // SAFETY: a typed array, checked above; the three places outlive the call.
        let buffer = Val::from_raw(unsafe {
            sys::JS_GetTypedArrayBuffer(ctx.raw(), self.raw(), &mut offset, &mut length, &mut width)
        });
        if buffer.raw().is_exception() {
            // Its buffer is detached: there is nothing to fill.
            drop(ctx.take_exception_value());
            return Some(fill(&mut [], 1));
        }
        if buffer.is_immutable_buffer() {
            return None;
        }
        let mut total = 0;
        // SAFETY: `buffer` is an array buffer, kept alive by this reference.
        let base = unsafe { sys::JS_GetArrayBuffer(ctx.raw(), &mut total, buffer.raw()) };
        if base.is_null() || offset + length > total {
            drop(ctx.take_exception_value());
            return Some(fill(&mut [], 1));
        }
        // SAFETY: `offset + length` bytes lie within the buffer; no script runs while `fill` does, and nothing else on
        // this thread refers to them.
        Some(fill(unsafe { std::slice::from_raw_parts_mut(base.add(offset), length) }, width.max(1)))
    }
}
