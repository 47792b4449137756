//! The HTTP/1.1 response parser, fed whole and in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::http1::fuzz(data));
