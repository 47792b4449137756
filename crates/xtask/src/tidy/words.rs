//! What must not stand in a file: promises without an issue, debugging leftovers, somebody's machine.

use super::{Finding, Report, Rust, scan::has_word};
use crate::workspace::File;

/// Checks comments of Rust files, code of Rust files, and everything in all files.
pub(super) fn check(files: &[File], rust: &[Rust<'_>], report: &mut Report) {
    for Rust { file, source } in rust {
        for (index, line) in source.lines.iter().enumerate() {
            if promises_without_issue(&line.comment) {
                let message = format!("a {MARK} needs an issue's number: `{MARK}(#12): ...`");
                report.findings.push(Finding::new(&file.path, index + 1, message));
            }
            if has_word(&line.code, "dbg!") || line.code.contains("dbg!(") {
                report.findings.push(Finding::new(&file.path, index + 1, "a debugging leftover"));
            }
        }
    }
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(word) = PLACES.iter().find(|word| names_place(line, word)) {
                report.findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    format!("names a place on one machine (`{word}`)"),
                ));
            }
            if file.path == "Cargo.lock" && line.starts_with("source = ") && line != REGISTRY {
                report.findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    "a package from somewhere else than crates.io",
                ));
            }
        }
    }
}

fn promises_without_issue(comment: &str) -> bool {
    let has_issue = |after: &str| {
        after
            .strip_prefix("(#")
            .or_else(|| after.strip_prefix(" #"))
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    has_word(comment, MARK) && !comment.match_indices(MARK).all(|(at, word)| has_issue(&comment[at + word.len()..]))
}

/// Whether an absolute path starts there; the same letters further down another path or in a URL are fine.
fn names_place(line: &str, place: &str) -> bool {
    let continues = |before: &str| {
        before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '*' | '/'))
    };
    line.match_indices(place).any(|(at, _)| !continues(&line[..at]))
}

/// Split, or this file would break its own rules.
const MARK: &str = concat!("TO", "DO");
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/tmp/", "target"), concat!("/ro", "ot/")];
const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_carry_an_issue() {
        let check = |comment: &str, expect: bool| {
            assert_eq!(promises_without_issue(&comment.replace("%", MARK)), expect, "{comment}")
        };
        check("// %: later", true);
        check("// %(#12): later", false);
        check("// % #12: later", false);
        check("// %(#12) and %", true);
        check("// %S", false);
    }

    #[test]
    fn places_are_absolute_paths() {
        let place = PLACES[0];
        assert!(names_place(&format!("see {place}x"), place));
        assert!(names_place(&format!("\"{place}x\""), place));
        assert!(!names_place(&format!("https://example.com{place}x"), place));
        assert!(!names_place(&format!("a{place}x"), place));
    }
}
