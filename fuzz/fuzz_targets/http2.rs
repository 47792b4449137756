//! A server to an HTTP/2 client, whole and in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::fuzz_http2(data));
