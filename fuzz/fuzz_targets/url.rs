//! URLs and references.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| onrush_net::url::fuzz(text));
