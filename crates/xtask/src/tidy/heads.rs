//! Every module says at its top what it is and what it is not.

use super::{Finding, Report, Rust};

/// Looks for a `//!` before the first item.
pub(super) fn check(rust: &[Rust<'_>], report: &mut Report) {
    for Rust { file, source } in rust {
        let mut lines = source.lines.iter().enumerate();
        let head = lines.find(|(_, line)| {
            !line.comment.is_empty() || !line.code.trim().is_empty() && !line.code.starts_with("#![")
        });
        match head {
            Some((_, line)) if line.comment.starts_with("//!") => {}
            Some((index, _)) => {
                report.findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    "has no `//!` at its top: say what the module is and is not",
                ));
            }
            None => report.findings.push(Finding::new(&file.path, 0, "is empty")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Source, *};
    use crate::workspace::File;

    #[test]
    fn wants_module_docs_first() {
        let check = |text: &str, expect: usize| {
            let file = File { path: "a.rs".to_owned(), text: text.to_owned() };
            let mut report = Report::default();
            check(&[Rust { file: &file, source: Source::scan(text) }], &mut report);
            assert_eq!(report.findings.len(), expect, "{text}");
        };
        check("//! A module.\nuse a;", 0);
        check("#![forbid(unsafe_code)]\n\n//! A module.", 0);
        check("use a;\n//! Late.", 1);
        check("// Not docs.\n//! Late.", 1);
        check("\n", 1);
    }
}
