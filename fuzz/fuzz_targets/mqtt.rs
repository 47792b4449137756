//! The decoder of MQTT packets.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_mqtt::fuzz(data));
