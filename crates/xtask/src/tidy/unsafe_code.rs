//! `unsafe` stays in the crates made for it, and every use names the invariant it rests on.

use super::{Finding, Report, Rust, scan::has_word};

/// Checks where `unsafe` is and what stands above it.
pub(super) fn check(rust: &[Rust<'_>], report: &mut Report) {
    // A guest is in a sandbox, and its memory is passed by address: that is what the engine checks.
    for Rust { file, source } in rust.iter().filter(|rust| !rust.file.path.starts_with("examples/extensions/")) {
        // Tests and examples of a raw API are unsafe from end to end: one proof for the file will do.
        let is_proved_once = ["/tests/", "/examples/"].iter().any(|part| file.path.contains(part))
            && source.lines.iter().any(|line| line.comment.starts_with("//!") && line.comment.contains("SAFETY:"));
        let allowed = file.crate_name().is_some_and(|name| ALLOWED.contains(&name));
        for (index, line) in source.lines.iter().enumerate() {
            if !has_word(&line.code, "unsafe") {
                continue;
            }
            if !allowed {
                let message = format!("`unsafe` belongs to {} only", ALLOWED.join(", "));
                report.findings.push(Finding::new(&file.path, index + 1, message));
            } else if needs_proof(&line.code) && !is_proved_once && !has_proof(source, index) {
                report.findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    "`unsafe` without a `// SAFETY:` comment right above it",
                ));
            }
        }
    }
}

/// Blocks and impls are where somebody promises something; `unsafe fn` and `unsafe extern` only ask for it.
fn needs_proof(code: &str) -> bool {
    code.match_indices("unsafe").any(|(at, word)| {
        let after = code[at + word.len()..].trim_start();
        after.is_empty() || after.starts_with('{') || after.starts_with("impl")
    })
}

/// Looks for `SAFETY:` on the line and upwards through the statement it belongs to and the comment above.
fn has_proof(source: &super::Source, index: usize) -> bool {
    let mut below_comment = false;
    for (above, line) in source.lines[..=index].iter().rev().enumerate() {
        let code = line.code.trim();
        if line.comment.contains("SAFETY:") && !line.comment.starts_with("//!") {
            return true;
        }
        // The end of another statement, or of the comment above this one.
        if above > 0
            && (below_comment && !code.is_empty()
                || code.is_empty() && line.comment.is_empty()
                || code.ends_with([';', '{', '}']))
        {
            return false;
        }
        below_comment |= code.is_empty();
    }
    false
}

const ALLOWED: &[&str] = &["fiber", "quickjs", "js"];

#[cfg(test)]
mod tests {
    use super::{super::Source, *};
    use crate::workspace::File;

    fn findings(path: &str, text: &str) -> usize {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        let mut report = Report::default();
        check(&[Rust { file: &file, source: Source::scan(text) }], &mut report);
        report.findings.len()
    }

    #[test]
    fn only_some_crates_have_it() {
        assert_eq!(findings("crates/net/src/a.rs", "// SAFETY: fine.\nunsafe { a() }"), 1);
        assert_eq!(findings("crates/net/src/a.rs", "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";"), 0);
    }

    #[test]
    fn tests_may_prove_it_once() {
        let text = "//! Tests.\n//! SAFETY: one thread.\nunsafe { a() }";
        assert_eq!((findings("crates/js/tests/a.rs", text), findings("crates/js/src/a.rs", text)), (0, 1));
    }

    #[test]
    fn every_use_is_proved() {
        let check = |text: &str, expect: usize| assert_eq!(findings("crates/js/src/a.rs", text), expect, "{text}");
        check("// SAFETY: it is alive.\nunsafe { a() }", 0);
        check("// SAFETY: it is alive,\n// and stays so.\nlet b =\n    unsafe { a() };", 0);
        check("let x = f(\n    // SAFETY: it is alive.\n    unsafe { a() },\n);", 0);
        check("b();\nunsafe { a() }", 1);
        check("// SAFETY: of something else.\nb();\nunsafe { a() }", 1);
        check("// SAFETY: of something else.\n\nunsafe { a() }", 1);
        check("unsafe impl Send for A {}", 1);
        check("unsafe fn a() {}", 0);
        check("unsafe extern \"C\" { fn a(); }", 0);
        check("type F = unsafe extern \"C\" fn();", 0);
    }
}
