//! Writing into typed arrays of scripts.
#![expect(unsafe_code, reason = "the memory of typed arrays")]

use super::{Ctx, Handle, TypedArray};

impl Handle {
    /// Whether it views a buffer that nobody may write to.
    pub(crate) fn views_immutable_buffer(&self, ctx: Ctx) -> bool {
        self.view(ctx).is_some_and(|view| view.is_immutable)
    }

    /// Copies `bytes` to `offset` of what a typed array views; returns how many there was room for: none in a buffer that
    /// nobody may write to.
    pub(crate) fn write_bytes(&self, ctx: Ctx, offset: usize, bytes: &[u8]) -> usize {
        let Some(view) = self.view(ctx).filter(|view| !view.is_immutable) else { return 0 };
        let length = view.length.saturating_sub(offset).min(bytes.len());
        if length > 0 {
            // SAFETY: the view is alive and its memory at least `length` bytes from `offset` on, as was just looked up; no
            // script code ran since. `bytes` are not the script's: they are copied with overlap allowed all the same.
            unsafe { std::ptr::copy(bytes.as_ptr(), view.bytes.add(offset), length) }
        }
        length
    }

    /// Lets `fill` write the elements of an array of 8, 16 or 32 bit integers; it gets their bytes, and how many an element
    /// has. `None` for anything else, and for arrays over immutable buffers.
    pub(crate) fn with_integer_elements<R>(&self, ctx: Ctx, fill: impl FnOnce(&mut [u8], usize) -> R) -> Option<R> {
        let is_integers = matches!(
            self.typed_array_kind()?,
            TypedArray::Uint8Clamped
                | TypedArray::Int8
                | TypedArray::Uint8
                | TypedArray::Int16
                | TypedArray::Uint16
                | TypedArray::Int32
                | TypedArray::Uint32
        );
        let view = self.view(ctx).filter(|view| is_integers && !view.is_immutable)?;
        // SAFETY: the bytes lie within the buffer, which `self` keeps alive; no script runs while `fill` does, and nothing
        // else on this thread refers to them.
        Some(fill(unsafe { std::slice::from_raw_parts_mut(view.bytes, view.length) }, view.width))
    }
}
