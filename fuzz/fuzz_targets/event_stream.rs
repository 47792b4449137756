//! The decoder of server-sent events.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::event_stream::fuzz(data));
