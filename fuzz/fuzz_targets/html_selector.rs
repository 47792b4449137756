//! CSS selectors on pages.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| onrush_html::fuzz_selector(text));
