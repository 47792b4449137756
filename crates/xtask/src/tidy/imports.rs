//! One `use` a root: what a file imports from a crate or module stands together.
//!
//! Only neighbouring items are looked at. What has an attribute stays by itself, and so does what is re-exported beside
//! what is not.

use super::{Finding, Report, Rust, scan::Source};

/// Looks for `use` items of one root in one row of `use` items.
pub(super) fn check(rust: &[Rust<'_>], report: &mut Report) {
    for Rust { file, source } in rust {
        for (line, root) in repeated(source) {
            report.findings.push(Finding::new(
                &file.path,
                line,
                format!("imports from `{root}` in a `use` of its own: join it with the one above"),
            ));
        }
    }
}

/// The line and root of each `use` whose root and visibility an earlier one of its row has.
fn repeated(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut row: Vec<(&str, String)> = Vec::new();
    let mut lines = source.lines.iter().enumerate();
    let mut has_attribute = false;
    while let Some((index, line)) = lines.next() {
        let code = line.code.trim();
        if code.is_empty() {
            continue;
        }
        if code.starts_with("#[") {
            has_attribute = true;
            continue;
        }
        let Some((visibility, path)) = item(code) else {
            row.clear();
            has_attribute = false;
            continue;
        };
        let root = root(path);
        if !code.ends_with(';') {
            // The rest of a list in braces.
            lines.by_ref().find(|(_, line)| line.code.trim_end().ends_with(';'));
        }
        if std::mem::take(&mut has_attribute) || root.is_empty() {
            continue;
        }
        if row.iter().any(|(other, known)| *other == visibility && known == root) {
            found.push((index + 1, root.to_owned()));
        }
        row.push((visibility, root.to_owned()));
    }
    found
}

/// What is in front of `use`, and the path behind it.
fn item(code: &str) -> Option<(&str, &str)> {
    if let Some(path) = code.strip_prefix("use ") {
        return Some(("", path));
    }
    let (visibility, path) = code.split_once(" use ")?;
    let is_visibility = visibility == "pub" || visibility.starts_with("pub(") && visibility.ends_with(')');
    is_visibility.then_some((visibility, path))
}

/// The first name of a path; empty for a list of roots in braces.
fn root(path: &str) -> &str {
    let path = path.trim_start_matches("::");
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
    &path[..end.unwrap_or(path.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_one_root_are_found() {
        let check = |text: &str, expect: &[usize]| {
            let lines: Vec<usize> = repeated(&Source::scan(text)).into_iter().map(|(line, _)| line).collect();
            assert_eq!(lines, expect, "{text}");
        };
        check("use std::io;\nuse std::fs;", &[2]);
        check("use std::{\n    fs,\n    io,\n};\n\nuse ::std::fmt; // why\nuse anyhow::Result;", &[6]);
        check("use crate::a;\n// why\nuse crate::b as c;\nuse crate::d;", &[3, 4]);
        check("mod tests {\n    use super::*;\n    use super::super::x;\n}", &[3]);
        check("pub(crate) use self::a::A;\npub use self::b::B;\nuse self::c::C;\npub use self::d::D;", &[4]);
        check("use std::io;\n#[cfg(unix)]\nuse std::os::unix;\nuse std::fs;", &[4]);
        check("use std::io;\nmod a;\nuse std::fs;", &[]);
        check("use std::io;\nfn f() {\n    use std::fs;\n}", &[]);
        check("use a::b;\nuse ab::c;\nlet x = \"\nuse a::c;\n\";", &[]);
    }
}
