//! Records and tables of CSV files.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| onrush_csv::fuzz(input));
