//! Cookies and their dates.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::cookie::fuzz(data));
