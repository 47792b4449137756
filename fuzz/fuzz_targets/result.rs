//! Result files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_results::fuzz(data));
