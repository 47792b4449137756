//! Decoders of content encodings.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::encoding::fuzz(data));
