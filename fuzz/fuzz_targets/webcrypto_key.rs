//! Keys of Web Crypto: the first byte says which algorithm and format, the second which curve.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_crypto::web::fuzz(data));
