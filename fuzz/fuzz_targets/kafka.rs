//! Kafka clients against brokers that answer anything, batches, Avro.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| onrush_kafka::fuzz(data));
