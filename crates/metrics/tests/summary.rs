//! Holds the summary's renderers to what k6 itself printed for the same samples.
//!
//! `summary/*.txt` is k6's output, `summary/*.json` the samples of that very
//! run; `summary/capture.py` made both and says how.

#[path = "summary/reference.rs"]
mod reference;

use onrush_metrics::summary::{self, SummaryMode, SummaryModel, TextOptions};
use reference::Reference;

#[test]
fn mixed_compact() {
    check_text("mixed.compact");
}

#[test]
fn mixed_full() {
    check_text("mixed.full");
}

#[test]
fn mixed_legacy() {
    check_text("mixed.legacy");
}

#[test]
fn mixed_full_in_colour() {
    check_text("mixed.full.ansi");
}

#[test]
fn mixed_legacy_in_colour() {
    check_text("mixed.legacy.ansi");
}

#[test]
fn numbers() {
    check_text("numbers.compact");
}

#[test]
fn numbers_in_microseconds() {
    check_text("numbers.legacy");
}

#[test]
fn numbers_in_seconds() {
    check_text("numbers.full");
}

#[test]
fn scenarios() {
    check_text("scenarios.compact");
    check_text("scenarios.full");
    check_text("scenarios.legacy");
}

#[test]
fn handle_summary_data() {
    for case in ["mixed.compact", "mixed.legacy", "scenarios.full", "numbers.compact"] {
        let reference = Reference::load(case);
        let data = summary::handle_summary(&SummaryModel::new(reference.input()));
        reference::assert_same(&data, reference.handle_summary_data(), case);
    }
}

#[test]
fn summary_export() {
    for case in ["mixed.compact", "scenarios.full", "numbers.compact"] {
        let reference = Reference::load(case);
        let data = summary::summary_export(&SummaryModel::new(reference.input()));
        reference::assert_same(&data, reference.summary_export(), case);
    }
}

/// Renders the samples of a case and compares with what k6 printed for them.
fn check_text(case: &str) {
    let reference = Reference::load(case);
    let model = SummaryModel::new(reference.input());
    let mode = SummaryMode::parse(reference.mode()).expect("a mode of k6");
    let text = summary::render(&model, &TextOptions { mode, color: reference.is_coloured(), ..TextOptions::default() });
    reference::assert_same_text(&summary::to_stdout(&text), reference.text(), case);
}
