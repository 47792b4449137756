//! Where in the script something stands, so that what failed is shown beside the line that asked for it.

use std::{fs::File, io::Read as _};

use super::output::Finished;

/// A script that is looked into.
pub(super) struct Place {
    /// Its path as it was given.
    pub(super) file: String,
    text: String,
}

/// As much of a script is looked at.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

impl Place {
    /// The script of a run; nothing is found in one that is no file of text.
    pub(super) fn of(finished: &Finished<'_>) -> Self {
        let script = &finished.args.script;
        let mut text = Vec::new();
        // Archives and what came from elsewhere have no line here, and a pipe is read already: to open it again would wait for ever.
        let is_file = script.source.is_none()
            && script.archive.is_none()
            && std::fs::metadata(&script.file).is_ok_and(|about| about.is_file());
        if let Some(file) = is_file.then(|| File::open(&script.file).ok()).flatten() {
            // What could not be read has no lines.
            let _ = file.take(SCRIPT_BYTES_MAX).read_to_end(&mut text);
        }
        Self { file: script.file.clone(), text: String::from_utf8(text).unwrap_or_default() }
    }

    /// A script with this text.
    #[cfg(test)]
    pub(super) fn of_text(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), text: text.to_owned() }
    }

    /// The first line that has this in quotes, from 1 on.
    pub(super) fn line(&self, text: &str) -> Option<usize> {
        let is_quoted = |line: &str| {
            line.match_indices(text).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + text.len()..].chars().next();
                before.is_some_and(|sign| ['\'', '"', '`'].contains(&sign)) && before == after
            })
        };
        let line = self.text.lines().position(|line| !text.is_empty() && is_quoted(line))?;
        Some(line + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let text = "const p = 1;\n// is ok\ncheck(r, { 'is ok': f, \"it's\": g })\n";
        let place = Place::of_text("s.js", text);
        let check = |text: &str, expect: Option<usize>| assert_eq!(place.line(text), expect, "{text}");
        check("is ok", Some(3));
        check("it's", Some(3));
        check("p", None);
        check("", None);
        check("missing", None);
    }
}
