//! Messages of gRPC, on the wire and as objects: the first byte says which, and of what type.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_js::fuzz_grpc(data));
