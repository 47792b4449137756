//! Pages, whole and in pieces, and their forms.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| onrush_html::fuzz_document(text));
