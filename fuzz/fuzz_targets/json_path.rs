//! Selectors of Response.json().
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| onrush_js::fuzz_json_path(text));
