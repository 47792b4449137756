//! The decoder of chunked bodies.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::http1::fuzz_chunked(data));
