//! Archives of tests.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_archive::fuzz(data));
