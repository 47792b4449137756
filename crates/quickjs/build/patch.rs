//! A strict applier for unified diffs.
//!
//! Every context and removed line must be exactly where the hunk header says: the source is pinned, so anything else
//! means the wrong source or a damaged patch. No fuzz, no offsets, no renames or binary files.

use std::{fs, path::Path};

/// Applies the unified diff `text` to files below `root` (paths as `a/name`, `b/name`). The error names the file and
/// the hunk. Nothing is written for a file with a failing hunk.
pub fn apply(root: &Path, text: &str) -> Result<(), String> {
    let mut lines = text.lines().peekable();
    let mut files = 0;
    while let Some(line) = lines.next() {
        // What precedes the first file is the description.
        let Some(old) = line.strip_prefix("--- ") else {
            continue;
        };
        let new = lines
            .next()
            .and_then(|line| line.strip_prefix("+++ "))
            .ok_or_else(|| format!("no +++ line after `{line}`"))?;
        let name = file_name(old, new)?;
        let path = root.join(name);
        let before = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let mut patched = Patched::new(&before);
        let mut hunks = 0;
        while let Some(header) = lines.next_if(|line| line.starts_with("@@ ")) {
            hunks += 1;
            let hunk = Hunk::parse(header).ok_or_else(|| format!("{name}: malformed hunk header `{header}`"))?;
            patched.hunk(&hunk, &mut lines).map_err(|error| format!("{name}: hunk {hunks} ({header}): {error}"))?;
        }
        if hunks == 0 {
            return Err(format!("{name}: no hunks"));
        }
        fs::write(&path, patched.finish()).map_err(|error| format!("{name}: {error}"))?;
        files += 1;
    }
    if files == 0 {
        return Err("no files to patch".to_owned());
    }
    Ok(())
}

/// The one name both header lines agree on.
fn file_name<'a>(old: &'a str, new: &'a str) -> Result<&'a str, String> {
    match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
        (Some(a), Some(b)) if a == b && !a.contains("..") => Ok(a),
        _ => Err(format!("unsupported file header `--- {old}` / `+++ {new}`")),
    }
}

struct Hunk {
    /// First line of the old file it covers, counted from 0.
    start: usize,
    old_count: usize,
    new_count: usize,
}

impl Hunk {
    /// From `@@ -start,count +start,count @@`; a missing count is 1.
    fn parse(header: &str) -> Option<Self> {
        let mut parts = header.strip_prefix("@@ -")?.split(' ');
        let (start, old_count) = range(parts.next()?)?;
        let (_, new_count) = range(parts.next()?.strip_prefix('+')?)?;
        // A hunk that only adds names the line it comes after.
        let start = if old_count == 0 { start } else { start.checked_sub(1)? };
        Some(Self { start, old_count, new_count })
    }
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

struct Patched<'a> {
    before: Vec<&'a str>,
    /// Lines of `before` already copied or replaced.
    done: usize,
    after: String,
}

impl<'a> Patched<'a> {
    fn new(before: &'a str) -> Self {
        Self { before: before.lines().collect(), done: 0, after: String::with_capacity(before.len() + 4096) }
    }

    fn hunk<'p>(&mut self, hunk: &Hunk, lines: &mut impl Iterator<Item = &'p str>) -> Result<(), String> {
        if hunk.start < self.done || hunk.start + hunk.old_count > self.before.len() {
            return Err("it overlaps the one before or lies outside of the file".to_owned());
        }
        while self.done < hunk.start {
            self.push(self.before[self.done]);
            self.done += 1;
        }
        let (mut old, mut new) = (0, 0);
        while old < hunk.old_count || new < hunk.new_count {
            let line = lines.next().ok_or("it ends too early")?;
            // Some editors strip the blank that marks an empty context line.
            let (kind, text) = if line.is_empty() { (" ", "") } else { line.split_at(1) };
            match kind {
                " " => {
                    self.expect(text)?;
                    self.push(text);
                    (old, new) = (old + 1, new + 1);
                }
                "-" => {
                    self.expect(text)?;
                    old += 1;
                }
                "+" => {
                    self.push(text);
                    new += 1;
                }
                _ => return Err(format!("unexpected line `{line}`")),
            }
        }
        if (old, new) == (hunk.old_count, hunk.new_count) {
            Ok(())
        } else {
            Err("it has more lines than its header says".to_owned())
        }
    }

    /// The next old line is exactly `text`.
    fn expect(&mut self, text: &str) -> Result<(), String> {
        let found = *self.before.get(self.done).ok_or("it goes past the end of the file")?;
        if found != text {
            return Err(format!("line {} is\n  `{found}`\nbut should be\n  `{text}`", self.done + 1));
        }
        self.done += 1;
        Ok(())
    }

    fn push(&mut self, line: &str) {
        self.after.push_str(line);
        self.after.push('\n');
    }

    fn finish(mut self) -> String {
        while self.done < self.before.len() {
            self.push(self.before[self.done]);
            self.done += 1;
        }
        self.after
    }
}
