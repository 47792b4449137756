//! Writing into typed arrays of scripts.
#![expect(unsafe_code, reason = "the memory of typed arrays")]

use onrush_quickjs_sys as sys;

use super::{Ctx, Handle, Val};

impl Handle {
    /// Whether it views a buffer that nobody may write to.
    pub(crate) fn views_immutable_buffer(&self, ctx: Ctx) -> bool {
        let (mut offset, mut length, mut width) = (0, 0, 0);
        // SAFETY: QuickJS checks that it is a typed array; the places are written to only.
        let buffer = Val::checked(unsafe {
            sys::JS_GetTypedArrayBuffer(ctx.raw(), self.raw(), &mut offset, &mut length, &mut width)
        });
        match buffer {
            Ok(buffer) => buffer.is_immutable_buffer(),
            Err(_) => {
                drop(ctx.take_exception_value());
                false
            }
        }
    }

    /// Copies `bytes` to `offset` of what a typed array views; returns how many there was room for.
    pub(crate) fn write_bytes(&self, ctx: Ctx, offset: usize, bytes: &[u8]) -> usize {
        let Some(room) = self.typed_array(ctx).and_then(|view| view.get(offset..)) else { return 0 };
        let length = room.len().min(bytes.len());
        // SAFETY: the view is alive and its memory at least `length` bytes from `offset` on, as was just looked up; no
        // script code ran since, and the shared slice is not used any more. `bytes` are not the script's: they are
        // copied with overlap allowed all the same.
        unsafe { std::ptr::copy(bytes.as_ptr(), room.as_ptr().cast_mut(), length) }
        length
    }
}
