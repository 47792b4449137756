//! The target's multipart reader.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_target::fuzz_multipart(data));
