//! Time comes from the fiber crate's clock, so that schedules can be tested without waiting.

use super::{Finding, Report, Rust};

/// Looks for readings of the system's clocks outside the crate that owns them.
pub(super) fn check(rust: &[Rust<'_>], report: &mut Report) {
    for Rust { file, source } in rust {
        // Developers' tools and hostile peers measure real time; so may tests and examples.
        let exempt_crate = matches!(file.crate_name(), None | Some("fiber" | "xtask" | "testkit"));
        let exempt_path = ["/tests/", "/examples/", "/benches/"].iter().any(|part| file.path.contains(part))
            || file.path.ends_with("/tests.rs");
        if exempt_crate || exempt_path {
            continue;
        }
        for (index, line) in source.lines.iter().enumerate().filter(|(_, line)| !line.is_test) {
            for (banned, instead) in BANNED {
                if line.code.contains(banned) {
                    report.findings.push(Finding::new(&file.path, index + 1, format!("`{banned}`: use {instead}")));
                }
            }
        }
    }
}

const BANNED: &[(&str, &str)] = &[
    ("Instant::now", "onrush_fiber::Clock"),
    ("SystemTime::now", "onrush_fiber::Clock"),
    // A sleeping thread stops all its VUs.
    ("thread::sleep", "onrush_fiber::sleep_until"),
];

#[cfg(test)]
mod tests {
    use super::{super::Source, *};
    use crate::workspace::File;

    #[test]
    fn only_fiber_and_tests_read_clocks() {
        let check = |path: &str, text: &str, expect: usize| {
            let file = File { path: path.to_owned(), text: text.to_owned() };
            let mut report = Report::default();
            check(&[Rust { file: &file, source: Source::scan(text) }], &mut report);
            assert_eq!(report.findings.len(), expect, "{path} {text}");
        };
        check("crates/net/src/a.rs", "let a = Instant::now();", 1);
        check("crates/net/src/a.rs", "// Instant::now()\n#[cfg(test)]\nmod tests { fn a() { SystemTime::now() } }", 0);
        check("crates/fiber/src/a.rs", "let a = Instant::now();", 0);
        check("crates/net/tests/a.rs", "let a = Instant::now();", 0);
    }
}
