//! Answers of proxies, HTTP and SOCKS, whole and in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::fuzz_proxy(data));
