//! Challenges of digest and NTLM.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::auth::fuzz(data));
