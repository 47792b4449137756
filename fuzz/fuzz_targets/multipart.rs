//! The target's multipart reader.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_testsite::fuzz_multipart(data));
