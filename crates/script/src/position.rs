//! Lines and columns.
//!
//! Three units meet here: oxc's spans are byte offsets, QuickJS reports 1-based byte columns, source maps and editors
//! count UTF-16 units. Everything that leaves the crate is 1-based lines and 1-based UTF-16 columns.

/// A place in a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column in UTF-16 units.
    pub column: u32,
}

/// Where each line of a text begins. Only `\n` ends a line, as in QuickJS.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Byte offsets; the first is 0.
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
            }
        }
        Self { starts }
    }

    /// The text of a 1-based line without its line break; empty if there is no such line.
    pub(crate) fn text<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let Some(index) = (line as usize).checked_sub(1) else {
            return "";
        };
        let Some(&start) = self.starts.get(index) else {
            return "";
        };
        let end = self.starts.get(index + 1).map_or(text.len(), |next| *next as usize - 1);
        text.get(start as usize..end).unwrap_or("").trim_end_matches('\r')
    }

    /// The position of a byte offset; offsets past the end or inside a character are moved back.
    pub(crate) fn position(&self, text: &str, offset: u32) -> Position {
        let index = self.starts.partition_point(|start| *start <= offset) - 1;
        let line = &text[self.starts[index] as usize..];
        let bytes = (offset - self.starts[index]) as usize;
        Position { line: u32::try_from(index + 1).unwrap_or(u32::MAX), column: utf16_len(line, bytes) + 1 }
    }

    /// Turns a 1-based byte column of a line into a 1-based UTF-16 column.
    pub(crate) fn utf16_column(&self, text: &str, line: u32, byte_column: u32) -> u32 {
        utf16_len(self.text(text, line), byte_column.saturating_sub(1) as usize) + 1
    }
}

/// UTF-16 units in the first `bytes` bytes of `text`.
fn utf16_len(text: &str, bytes: usize) -> u32 {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let units = if head.is_ascii() { head.len() } else { head.encode_utf16().count() };
    u32::try_from(units).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, offset: u32, line: u32, column: u32) {
        let position = Lines::new(text).position(text, offset);
        assert_eq!(position, Position { line, column }, "{text:?} at {offset}");
    }

    #[test]
    fn offsets_become_lines_and_utf16_columns() {
        check("", 0, 1, 1);
        check("abc", 2, 1, 3);
        check("abc\ndef", 4, 2, 1);
        check("abc\r\ndef", 6, 2, 2);
        check("é😀x", 6, 1, 4);
        check("é😀x", 3, 1, 2);
        check("abc", 99, 1, 4);
    }

    #[test]
    fn byte_columns_become_utf16_columns() {
        let text = "a\n'éé' x";
        let lines = Lines::new(text);
        assert_eq!(lines.utf16_column(text, 2, 8), 6);
        assert_eq!(lines.utf16_column(text, 1, 1), 1);
        assert_eq!(lines.utf16_column(text, 9, 9), 1);
        assert_eq!(lines.utf16_column(text, 2, 0), 1);
    }
}
