//! Threshold expressions and metric selectors.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| onrush_metrics::fuzz_threshold(text));
