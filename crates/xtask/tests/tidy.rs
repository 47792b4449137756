//! The habits of this repository, as a test.

use xtask::{tidy, workspace};

#[test]
fn tidy() {
    let report = tidy::check(&workspace::root()).expect("the workspace can be read");
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}
