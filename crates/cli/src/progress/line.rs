//! Lines that fit a terminal.

/// A terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Its columns.
    pub(crate) columns: usize,
    /// Its lines.
    pub(crate) rows: usize,
    /// It shows colours.
    pub(crate) color: bool,
}

/// As many parts as fit a line, the first in any case.
pub(super) fn fitting_parts(parts: &[String], separator: &str, columns: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let more = if text.is_empty() { part.clone() } else { format!("{text}{separator}{part}") };
        if !text.is_empty() && more.chars().count() > columns {
            break;
        }
        text = more;
    }
    text
}

/// A name of at most so many characters.
pub(crate) fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max.saturating_sub(3)).chain("...".chars()).collect()
}

/// The part of a line that fits, colours not counted: a line that wraps would be left behind when the next is drawn.
pub(super) fn clip(line: String, columns: usize) -> String {
    let mut shown = 0;
    let mut in_escape = false;
    for (at, char) in line.char_indices() {
        match char {
            '\x1b' => in_escape = true,
            _ if in_escape => in_escape = !char.is_ascii_alphabetic(),
            _ => shown += 1,
        }
        if shown > columns {
            return format!("{}\x1b[0m", &line[..at]);
        }
    }
    line
}
