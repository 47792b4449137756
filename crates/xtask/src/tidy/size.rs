//! Files are read whole: small ones get read.

use super::{Finding, Report};
use crate::workspace::File;

/// Notes files over the soft ceiling, fails those over the hard one.
pub(super) fn check(files: &[File], report: &mut Report) {
    for file in files {
        let is_source = SOURCE.iter().any(|ending| file.path.ends_with(ending));
        if !is_source || EXEMPT.contains(&file.path.as_str()) {
            continue;
        }
        let lines = file.text.lines().count();
        if lines > LINES_MAX {
            let message =
                format!("{lines} lines; split it by noun (limit {LINES_MAX}) or list it as a table in tidy/size.rs");
            report.findings.push(Finding::new(&file.path, 0, message));
        } else if lines > LINES_SOFT {
            report.notes.push(format!("{}: {lines} lines, over the soft ceiling of {LINES_SOFT}", file.path));
        }
    }
}

/// What counts as source.
const SOURCE: &[&str] = &[".rs", ".c", ".h", ".js", ".ts", ".sh"];

/// Tables and generated files, each with its reason.
const EXEMPT: &[&str] = &[];

const LINES_MAX: usize = 1200;
const LINES_SOFT: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let file = |path: &str, lines: usize| File { path: path.to_owned(), text: "x\n".repeat(lines) };
        let mut report = Report::default();
        check(&[file("a.rs", 600), file("b.rs", 601), file("c.rs", 1201), file("d.json", 9999)], &mut report);
        assert_eq!(report.notes, ["b.rs: 601 lines, over the soft ceiling of 600"]);
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].path, "c.rs");
    }
}
