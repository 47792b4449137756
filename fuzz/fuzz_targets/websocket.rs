//! A server to the decoder of a WebSocket, whole and in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_net::websocket::fuzz(data));
