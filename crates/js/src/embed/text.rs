//! Long texts in pieces: the characters of a string as the engine holds them, and strings that are written piece by piece.
//!
//! Short ones are [`Handle::ascii`], [`super::JsString`] and [`Val::latin1`].
#![expect(unsafe_code, reason = "the memory of QuickJS's strings")]

use onrush_quickjs_sys as sys;

use super::{Ctx, Handle, JsResult, Throw, Val};

/// A string in one piece. Strings never change: its characters may be looked at across suspensions.
pub(crate) struct FlatText(Val);

/// The characters of a string.
#[derive(Clone, Copy)]
pub(crate) enum Units<'a> {
    /// One byte each.
    Latin1(&'a [u8]),
    /// UTF-16, possibly with surrogates that have no other half.
    Wide(&'a [u16]),
}

impl FlatText {
    /// What JavaScript's ToString gives; may run user code.
    pub(crate) fn of(ctx: Ctx, value: &Handle) -> JsResult<Self> {
        // SAFETY: the value is alive over the call, which joins the parts of a concatenated string.
        Ok(Self(Val::checked(unsafe { sys::JS_ToString(ctx.raw(), value.raw()) })?))
    }

    pub(crate) fn units(&self) -> Units<'_> {
        let (mut len, mut is_wide) = (0, 0);
        // SAFETY: the characters live as long as the string, which `self` keeps alive, and QuickJS aligns them.
        unsafe {
            let units = sys::onrush_string_units(self.0.raw(), &mut len, &mut is_wide);
            if units.is_null() {
                Units::Latin1(&[])
            } else if is_wide == 0 {
                Units::Latin1(std::slice::from_raw_parts(units.cast(), len))
            } else {
                Units::Wide(std::slice::from_raw_parts(units.cast(), len))
            }
        }
    }
}

/// A string of known length whose Latin-1 characters come in pieces. No script sees it before it is whole.
pub(crate) struct TextBuilder {
    text: Val,
    units: *mut u8,
    len: usize,
    written: usize,
}

impl TextBuilder {
    pub(crate) fn new(ctx: Ctx, len: usize) -> JsResult<Self> {
        let mut units = std::ptr::null_mut();
        // SAFETY: `units` outlives the call.
        let text = Val::checked(unsafe { sys::onrush_begin_string_latin1(ctx.raw(), len, &mut units) })?;
        Ok(Self { text, units, len, written: 0 })
    }

    /// Appends characters; what is beyond the length is dropped.
    pub(crate) fn write(&mut self, characters: &[u8]) {
        let count = characters.len().min(self.len - self.written);
        // SAFETY: `units` has room for `len` characters while `text` lives, nobody else looks at them, and those of a
        // script's string are never these.
        unsafe { std::ptr::copy_nonoverlapping(characters.as_ptr(), self.units.add(self.written), count) }
        self.written += count;
    }

    /// The string.
    ///
    /// # Errors
    ///
    /// Throws if it was not filled.
    pub(crate) fn finish(self) -> JsResult {
        if self.written == self.len { Ok(self.text) } else { Err(Throw::error("a text ended early")) }
    }
}
