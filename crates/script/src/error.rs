//! What can go wrong while a script is loaded, and how it is shown.
//!
//! One error type for the whole crate: every failure belongs to a place in a source file (or to the file as a whole),
//! so it carries a position, the lines around it and what the user can do about it.

use std::fmt::Write as _;

use crate::position::{Lines, Position};

/// A script that could not be loaded: where, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// What kind of failure this is.
    pub kind: ErrorKind,
    /// The module the error is in (`file:///abs/path.js`). For an import that cannot be resolved: the importing module.
    pub specifier: String,
    /// 1-based line in the user's source, 0 if the error concerns the file as a whole.
    pub line: u32,
    /// 1-based column in UTF-16 units (as editors count), 0 if the error concerns the file as a whole.
    pub column: u32,
    /// One line of text. Where k6 has a text for the same failure, exactly k6's.
    pub message: String,
    /// The source lines around the position with a caret below the column; empty without a position.
    pub frame: String,
    /// What the user can do, one sentence; empty if there is nothing useful to say.
    pub hint: String,
}

/// The kinds of [`ScriptError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The source is not valid JavaScript (or TypeScript in a `.ts` file).
    Syntax,
    /// An import, `require()` or the script itself cannot be resolved to something Onrush can load.
    Resolve,
    /// A module on a server cannot be had, or what the server sent is no module.
    Fetch,
    /// The file exists but cannot be read (permissions, a directory, too large, not UTF-8).
    Read,
    /// A WebAssembly module is none, or is no extension.
    Extension,
    /// ECMAScript modules and CommonJS are mixed in one file.
    MixedStyles,
    /// A defect of Onrush itself: the compiler failed on this input.
    Internal,
}

impl ScriptError {
    /// An error about a module as a whole.
    pub(crate) fn new(kind: ErrorKind, specifier: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind,
            specifier: specifier.into(),
            line: 0,
            column: 0,
            message: message.into(),
            frame: String::new(),
            hint: String::new(),
        }
    }

    /// Adds a position in `source`, and the code frame for it. `width` is the length of the offending text in UTF-16
    /// units, at least 1.
    pub(crate) fn at(mut self, source: &str, position: Position, width: u32) -> Self {
        self.line = position.line;
        self.column = position.column;
        self.frame = frame(source, position, width);
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The whole error over several lines: position, message, code frame, hint. No trailing line break.
    pub fn render(&self) -> String {
        let mut text = self.to_string();
        if !self.frame.is_empty() {
            text.push('\n');
            text.push_str(&self.frame);
        }
        if !self.hint.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\nhint: {}", self.hint);
        }
        text
    }
}

impl std::error::Error for ScriptError {}

impl std::fmt::Display for ScriptError {
    /// One line: `file:///x.js:3:7: message`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.specifier)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Source lines shown above the offending one.
const FRAME_LINES_BEFORE: u32 = 2;
/// Characters of one source line shown in a frame: bundles have lines of megabytes.
const FRAME_COLUMNS_MAX: usize = 120;

fn frame(source: &str, at: Position, width: u32) -> String {
    let lines = Lines::new(source);
    let gutter = at.line.to_string().len();
    let first = at.line.saturating_sub(FRAME_LINES_BEFORE).max(1);
    let mut out = String::new();
    // Long lines are shown as a window around the column.
    let column = at.column.max(1) as usize - 1;
    let skip = if column > FRAME_COLUMNS_MAX * 3 / 4 { column - FRAME_COLUMNS_MAX / 2 } else { 0 };
    for number in first..=at.line {
        let text = lines.text(source, number);
        let shown = printable(text, skip);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", format!("  {number:>gutter$} | {shown}").trim_end());
    }
    let line = lines.text(source, at.line);
    let left: usize = line.encode_utf16().count().saturating_sub(column);
    let carets = (width.max(1) as usize).min(left.max(1)).min(FRAME_COLUMNS_MAX / 2);
    let pad = column - skip;
    let _ = write!(out, "  {:gutter$} | {:pad$}{}", "", "", "^".repeat(carets));
    out
}

/// A window of a source line with control characters (tabs too, so that the caret fits) replaced by spaces.
fn printable(line: &str, skip: usize) -> String {
    let mut out = String::new();
    let mut units = 0;
    for c in line.chars() {
        let at = units;
        units += c.len_utf16();
        if at < skip {
            continue;
        }
        if at >= skip + FRAME_COLUMNS_MAX {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, line: u32, column: u32, width: u32, expect: &str) {
        let error = ScriptError::new(ErrorKind::Syntax, "file:///x.js", "unexpected token")
            .at(source, Position { line, column }, width)
            .with_hint("try again");
        assert_eq!(error.render(), expect);
    }

    #[test]
    fn renders_position_frame_and_hint() {
        check(
            "let a;\n\nlet b = ;\nlet c;\n",
            3,
            9,
            1,
            "file:///x.js:3:9: unexpected token\n  1 | let a;\n  2 |\n  3 | let b = ;\n    |         ^\nhint: try again",
        );
        check(
            "\tfoo bar",
            1,
            6,
            3,
            "file:///x.js:1:6: unexpected token\n  1 |  foo bar\n    |      ^^^\nhint: try again",
        );
    }

    #[test]
    fn long_lines_are_windowed() {
        let source = format!("{}!{}", "a".repeat(5000), "b".repeat(5000));
        let position = Position { line: 1, column: 5001 };
        let text = frame(&source, position, 1);
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[0].chars().count() < 140);
        let caret = rows[1].chars().position(|c| c == '^').unwrap();
        assert_eq!(rows[0].chars().nth(caret), Some('!'));
    }

    #[test]
    fn positions_outside_the_source_do_not_panic() {
        for (line, column) in [(0, 0), (1, 99), (9, 9), (u32::MAX, u32::MAX)] {
            let _ = frame("é\n", Position { line, column }, u32::MAX);
        }
    }
}
