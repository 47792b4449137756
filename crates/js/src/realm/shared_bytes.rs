//! What `open()` gave the scripts of a thread: which buffers and texts are files, so that a request sends the file
//! itself and not a copy of what the script holds.
#![expect(unsafe_code, reason = "array buffers over shared file contents")]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ffi::c_void,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use onrush_quickjs_sys as sys;
use rustc_hash::FxHashMap;

use crate::{
    embed::{Ctx, Handle, JsResult, Throw, Val, contained},
    vu::{Vu, context},
};

/// Shorter texts are a string per VU: they cost less than looking them up would.
const SHARED_TEXT_BYTES_MIN: usize = 16 << 10;

/// The longest string QuickJS makes (`JS_STRING_LEN_MAX`).
const TEXT_BYTES_MAX: usize = (1 << 30) - 1;

/// Files as the VUs of a thread hold them. It grows with the files a script opens, not with its VUs.
#[derive(Default)]
pub(crate) struct SharedBytes {
    /// By the address of their first byte.
    files: RefCell<BTreeMap<usize, Bytes>>,
    /// One string for all VUs of the thread, by path. Kept for good, so that its address stays its own.
    texts: RefCell<FxHashMap<PathBuf, Val>>,
    /// Contents by the address of the string that shows them.
    texts_by_identity: RefCell<FxHashMap<usize, Bytes>>,
}

impl SharedBytes {
    /// An `ArrayBuffer` over a file: no copy per VU.
    ///
    /// Scripts may write into what `open(…, 'b')` gives them, and in k6 each VU has its own copy. The buffer is
    /// therefore marked immutable: reading and sending it is free, and a write throws instead of changing other VUs'
    /// data.
    pub(crate) fn buffer(&self, ctx: Ctx, content: &Arc<[u8]>) -> JsResult {
        let bytes = self.file(content);
        let (data, len) = (bytes.as_ptr().cast_mut(), bytes.len());
        let owner = Box::into_raw(Box::new(bytes));
        // SAFETY: the reference in `owner` keeps the bytes alive until QuickJS calls `release`; the buffer is immutable.
        unsafe {
            let buffer =
                Val::checked(sys::JS_NewArrayBuffer(ctx.raw(), data, len, 0, Some(release), owner.cast(), false));
            let buffer = buffer.inspect_err(|_| drop(Box::from_raw(owner)))?;
            sys::JS_SetImmutableArrayBuffer(buffer.raw(), true);
            Ok(buffer)
        }
    }

    /// A file as text: one string for all VUs of the thread.
    pub(crate) fn text(&self, ctx: Ctx, vu: &Vu, path: &Path, content: &Arc<[u8]>) -> JsResult {
        if content.len() < SHARED_TEXT_BYTES_MIN {
            return Val::text(ctx, content);
        }
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone());
        }
        if content.len() > TEXT_BYTES_MAX {
            return Err(Throw::error(format!(
                "failed to open {}: a text has at most {} MiB; open it as bytes, with open(name, 'b')",
                path.display(),
                TEXT_BYTES_MAX.div_ceil(1 << 20)
            )));
        }
        // It outlives the VU that happens to be the first, and is not that VU's memory. An exception must not stay in
        // the state that is swapped in here.
        let text = context::off_account(vu, || Val::text(ctx, content).map_err(|throw| ctx.take_exception(throw)))
            .map_err(|exception| Throw::error(exception.message))?;
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        // Where bytes were not UTF-8, the text as bytes is not the file.
        if std::str::from_utf8(content).is_ok() {
            self.texts_by_identity.borrow_mut().insert(text.identity(), self.file(content));
        }
        Ok(text)
    }

    /// What a value holds, when that is a file, a part of one, or a text that is one.
    pub(crate) fn of(&self, ctx: Ctx, value: &Handle) -> Option<Bytes> {
        if value.is_string() {
            return self.texts_by_identity.borrow().get(&value.identity()).cloned();
        }
        let held = if value.is_immutable_buffer() { value.array_buffer(ctx) } else { value.typed_array(ctx) }?;
        let address = held.as_ptr().addr();
        let files = self.files.borrow();
        let (start, file) = files.range(..=address).next_back()?;
        let offset = address - start;
        // A file of the script's own may begin where a shared one ends: it must lie within.
        let end = offset.checked_add(held.len()).filter(|end| *end <= file.len() && offset < file.len())?;
        Some(file.slice(offset..end))
    }

    fn file(&self, content: &Arc<[u8]>) -> Bytes {
        let address = content.as_ptr().addr();
        self.files.borrow_mut().entry(address).or_insert_with(|| Bytes::from_owner(content.clone())).clone()
    }
}

/// QuickJS asks to reallocate (never: the buffer has a fixed length) or, with size 0, to free.
unsafe extern "C" fn release(_: *mut sys::JSRuntime, opaque: *mut c_void, _: *mut c_void, size: usize) -> *mut c_void {
    if size == 0 {
        // SAFETY: called once when the buffer dies; the pointer came from `Box::into_raw` above.
        contained((), || drop(unsafe { Box::from_raw(opaque.cast::<Bytes>()) }));
    }
    std::ptr::null_mut()
}
