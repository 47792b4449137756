//! Replies of a Redis server.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| onrush_redis::fuzz(input));
