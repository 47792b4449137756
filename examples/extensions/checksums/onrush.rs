//! What an extension written in Rust needs to speak with Onrush. Copy this file into yours.
//!
//! A parameter of type `string`, `bytes` or `json` arrives as two numbers, a place and a length: [`taken`] makes them a
//! `Vec`. A result of one of these types leaves as one number: [`given`] makes it.

#![expect(dead_code, reason = "an extension needs some of it")]

mod host {
    #[link(wasm_import_module = "onrush")]
    unsafe extern "C" {
        pub safe fn fail(text: *const u8, length: usize);
        pub safe fn log(level: i32, text: *const u8, length: usize);
        pub safe fn now() -> f64;
        pub safe fn random(bytes: *mut u8, length: usize);
    }
}

/// The argument at that place.
///
/// # Safety
/// The two numbers are those of one parameter of a call by Onrush, and are used once.
pub unsafe fn taken(place: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: `onrush_allocate` made room for exactly so many bytes, and nobody else has them.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(place, length)) }.into_vec()
}

/// The same for a string: Onrush writes UTF-8 only.
///
/// # Safety
/// As [`taken`].
pub unsafe fn taken_text(place: *mut u8, length: usize) -> String {
    // SAFETY: as the caller promises.
    String::from_utf8_lossy(&unsafe { taken(place, length) }).into_owned()
}

/// A result, which Onrush gives back through `onrush_release`.
pub fn given(bytes: impl Into<Vec<u8>>) -> u64 {
    let bytes = Box::leak(bytes.into().into_boxed_slice());
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}

/// Has the call throw this text when it returns; what it returns does not matter then.
pub fn fail(text: &str) {
    host::fail(text.as_ptr(), text.len());
}

/// Writes a line into the log: level 0 is debug, 1 info, 2 a warning, 3 an error.
pub fn log(level: i32, text: &str) {
    host::log(level, text.as_ptr(), text.len());
}

/// Milliseconds since the epoch.
pub fn now() -> f64 {
    host::now()
}

/// Fills `bytes`, at most 64 KiB, with random ones.
pub fn random(bytes: &mut [u8]) {
    host::random(bytes.as_mut_ptr(), bytes.len());
}

#[unsafe(no_mangle)]
extern "C" fn onrush_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn onrush_release(place: *mut u8, length: usize) {
    // SAFETY: Onrush gives back what `given` gave it, once.
    drop(unsafe { taken(place, length) });
}
