//! Reading records one after another.

use crate::{
    Field, Pause, RecordError,
    scan::{Stopped, find},
};

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delimiter(u8);

impl Delimiter {
    /// The usual one.
    pub const COMMA: Self = Self(b',');

    /// Any byte; reading fails where it cannot separate fields.
    #[must_use]
    pub const fn new(byte: u8) -> Self {
        Self(byte)
    }

    fn is_valid(self) -> bool {
        !matches!(self.0, 0 | b'"' | b'\r' | b'\n' | 0x80..)
    }
}

/// As many fields a record may have: lists of fields take 24 bytes each, and a file of commas is no table.
pub const FIELDS_MAX: usize = 1_000_000;

/// A place in a file, before a record. The file itself is given to each call and must always be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    delimiter: Delimiter,
    offset: usize,
    /// Lines before the place.
    lines: u64,
    /// As many fields every record must have; 0 before the first one.
    fields: usize,
}

impl Cursor {
    /// The beginning of a file.
    #[must_use]
    pub fn new(delimiter: Delimiter) -> Self {
        Self::at(delimiter, 0)
    }

    /// A place that counts as the beginning.
    #[must_use]
    pub fn at(delimiter: Delimiter, offset: usize) -> Self {
        Self { delimiter, offset, lines: 0, fields: 0 }
    }

    /// Bytes before the place.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Reads the next record into `fields`, `None` at the end. After an error it stands before the next line.
    pub fn read(&mut self, data: &[u8], fields: &mut Vec<Field>, pause: Pause<'_>) -> Option<Result<(), RecordError>> {
        fields.clear();
        self.walk(data, &mut |field| fields.push(field), pause)
    }

    /// Goes over the next record, `None` at the end.
    pub fn skip(&mut self, data: &[u8], pause: Pause<'_>) -> Option<Result<(), RecordError>> {
        self.walk(data, &mut |_| (), pause)
    }

    /// Goes over empty lines; `false` at the end.
    pub(crate) fn skip_empty_lines(&mut self, data: &[u8]) -> bool {
        loop {
            // A carriage return alone on the last line is an empty line, too: Go drops it.
            let length = match data.get(self.offset..).unwrap_or_default() {
                [] => return false,
                [b'\n', ..] | [b'\r'] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return true,
            };
            self.offset += length;
            self.lines += 1;
        }
    }

    fn walk(&mut self, data: &[u8], take: &mut dyn FnMut(Field), pause: Pause<'_>) -> Option<Result<(), RecordError>> {
        if !self.delimiter.is_valid() {
            return Some(Err(RecordError::Delimiter));
        }
        if !self.skip_empty_lines(data) {
            return None;
        }
        let start_line = self.lines + 1;
        let mut count = 0;
        let result = self.fields_of_record(data, start_line, &mut count, take, pause);
        if self.fields == 0 {
            // Also after an error, as in Go.
            self.fields = count;
        } else if result.is_ok() && count != self.fields {
            return Some(Err(RecordError::FieldCount { line: start_line }));
        }
        Some(result)
    }

    /// Reads fields until the end of the record's last line, or the end of the line with an error.
    fn fields_of_record(
        &mut self,
        data: &[u8],
        start: u64,
        count: &mut usize,
        take: &mut dyn FnMut(Field),
        pause: Pause<'_>,
    ) -> Result<(), RecordError> {
        let delimiter = self.delimiter.0;
        let mut at = self.offset;
        let mut line_start = at;
        let mut paused_at = at;
        self.lines += 1;
        loop {
            if *count == FIELDS_MAX {
                self.offset = line_end(data, at, pause)?;
                return Err(RecordError::TooManyFields { line: start });
            }
            if at - paused_at > crate::scan::WINDOW_BYTES {
                // Many short fields: the searches below are too short to pause.
                if !pause(at - paused_at) {
                    return Err(RecordError::Stopped);
                }
                paused_at = at;
            }
            if data.get(at) != Some(&b'"') {
                let end = find(data, at, pause, |window| memchr::memchr3(delimiter, b'\n', b'"', window))?;
                if data.get(end) == Some(&b'"') {
                    self.offset = line_end(data, end, pause)?;
                    let column = (end - line_start) as u64 + 1;
                    return Err(RecordError::BareQuote { start, line: self.lines, column });
                }
                *count += 1;
                if data.get(end) == Some(&delimiter) {
                    take(Field { start: at, end, is_written_otherwise: false });
                    at = end + 1;
                    continue;
                }
                // The line's end, or the file's: there, too, a carriage return before it is none of the field's.
                let has_return = end > at && data[end - 1] == b'\r';
                take(Field { start: at, end: end - usize::from(has_return), is_written_otherwise: false });
                self.offset = data.len().min(end + 1);
                return Ok(());
            }
            let field_start = at + 1;
            let mut is_written_otherwise = false;
            let mut next = field_start;
            let end = loop {
                let found = find(data, next, pause, |window| memchr::memchr2(b'"', b'\n', window))?;
                match data.get(found) {
                    Some(b'"') => match data.get(found + 1..).unwrap_or_default() {
                        [b'"', ..] => {
                            is_written_otherwise = true;
                            next = found + 2;
                        }
                        [] | [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r'] => break found,
                        [byte, ..] if *byte == delimiter => break found,
                        _ => {
                            self.offset = line_end(data, found, pause)?;
                            let column = (found - line_start) as u64 + 1;
                            return Err(RecordError::Quote { start, line: self.lines, column });
                        }
                    },
                    Some(_) if found + 1 < data.len() => {
                        is_written_otherwise |= data[found - 1] == b'\r';
                        self.lines += 1;
                        line_start = found + 1;
                        next = found + 1;
                    }
                    // The closing quote is missing. Go counts the columns of the last line without its `\r`.
                    _ => {
                        self.offset = data.len();
                        let line_feed = usize::from(found < data.len());
                        let has_return = found > field_start && data[found - 1] == b'\r';
                        let column = (found + line_feed - usize::from(has_return) - line_start) as u64 + 1;
                        return Err(RecordError::Quote { start, line: self.lines, column });
                    }
                }
            };
            *count += 1;
            take(Field { start: field_start, end, is_written_otherwise });
            at = end + 1;
            if data.get(at) == Some(&delimiter) {
                at += 1;
                continue;
            }
            // `\n`, `\r\n`, `\r` at the file's end or the end itself.
            self.offset = match data.get(at..).unwrap_or_default() {
                [b'\r', b'\n', ..] => at + 2,
                [] => at,
                _ => at + 1,
            };
            return Ok(());
        }
    }
}

impl From<Stopped> for RecordError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Where the line after the one of `at` begins.
fn line_end(data: &[u8], at: usize, pause: Pause<'_>) -> Result<usize, Stopped> {
    let end = find(data, at, pause, |window| memchr::memchr(b'\n', window))?;
    Ok(data.len().min(end + 1))
}
