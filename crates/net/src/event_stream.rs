//! Server-sent events: a decoder of `text/event-stream` that is fed bytes as they arrive.
//!
//! The rules are those of the HTML standard, "Interpreting an event stream"; besides, comments are kept, because scripts
//! that measure want to see what keeps a connection alive. Nothing here reconnects, so `retry` is passed over.

use crate::error::NetError;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its `id` field; empty if it has none.
    pub id: String,
    /// Its `event` field; empty if it has none.
    pub name: String,
    /// Its `data` lines, joined by line feeds.
    pub data: String,
    /// Its comment lines, joined by line feeds.
    pub comment: String,
    /// It has data, be it empty: what the standard calls an event. The others are comments.
    pub has_data: bool,
}

/// Reads events from bytes that are cut anywhere.
#[derive(Debug)]
pub struct EventDecoder {
    /// A line that has not ended, without the part that was passed over.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    /// Nothing has been taken yet but what may be a byte order mark.
    is_start: bool,
    event: Event,
    has_comment: bool,
    bytes_max: usize,
}

impl EventDecoder {
    /// A decoder at the start of a stream. An event, lines that do not end included, has at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            after_return: false,
            is_start: true,
            event: Event::default(),
            has_comment: false,
            bytes_max,
        }
    }

    /// Takes bytes up to the end of the next event: how many, and the event if there is one. To be called until all bytes
    /// are taken. What follows the last event of a stream without an empty line is none.
    ///
    /// # Errors
    /// When an event is larger than it may be.
    pub fn feed(&mut self, input: &[u8]) -> Result<(usize, Option<Event>), NetError> {
        let mut at = 0;
        while at < input.len() {
            if std::mem::take(&mut self.after_return) && input[at] == b'\n' {
                at += 1;
                continue;
            }
            let rest = &input[at..];
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.held_bytes() + piece.len() > self.bytes_max {
                return Err(NetError::generic(format!("an event exceeds {} bytes", self.bytes_max)).in_body());
            }
            at += piece.len();
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                break;
            };
            self.after_return = rest[end] == b'\r';
            at += 1;
            let event = if self.line.is_empty() {
                self.end_line(piece)
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                let event = self.end_line(&line);
                line.clear();
                // The next line needs about as much; what a long one took is given back.
                if line.capacity() <= LINE_BYTES_KEPT {
                    self.line = line;
                }
                event
            };
            if event.is_some() {
                return Ok((at, event));
            }
        }
        Ok((at, None))
    }

    /// Bytes of an event that is not complete.
    pub fn held_bytes(&self) -> usize {
        let event = &self.event;
        self.line.len() + event.id.len() + event.name.len() + event.data.len() + event.comment.len()
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        let is_start = std::mem::take(&mut self.is_start);
        let line = if is_start { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            let is_told = std::mem::take(&mut self.has_comment) | event.has_data;
            return is_told.then_some(event);
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match name {
            b"" => {
                if std::mem::replace(&mut self.has_comment, true) {
                    self.event.comment.push('\n');
                }
                self.event.comment.push_str(&value);
            }
            b"data" => {
                if std::mem::replace(&mut self.event.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
            }
            b"event" => self.event.name = value.into_owned(),
            b"id" if !value.contains('\0') => self.event.id = value.into_owned(),
            _ => {}
        }
        None
    }
}

/// Feeds arbitrary bytes in pieces that depend on the first: the entry of the fuzz target. Panics are findings; so is
/// another outcome in pieces than in one go.
pub fn fuzz(data: &[u8]) {
    let Some((&control, stream)) = data.split_first() else { return };
    let run = |step: usize| {
        let mut decoder = EventDecoder::new(1 << 10);
        let mut events = Vec::new();
        for piece in stream.chunks(step) {
            let mut rest = piece;
            while !rest.is_empty() {
                let Ok((used, event)) = decoder.feed(rest) else { return (events, true) };
                events.extend(event);
                rest = &rest[used..];
            }
        }
        (events, false)
    };
    let step = usize::from(control) + 1;
    assert_eq!(run(stream.len().max(1)), run(step), "in pieces of {step}");
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The buffer of a line that is kept for the next.
const LINE_BYTES_KEPT: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(input: &[u8], step: usize, bytes_max: usize) -> Result<Vec<Event>, NetError> {
        let mut decoder = EventDecoder::new(bytes_max);
        let mut events = Vec::new();
        for piece in input.chunks(step) {
            let mut rest = piece;
            while !rest.is_empty() {
                let (used, event) = decoder.feed(rest)?;
                events.extend(event);
                rest = &rest[used..];
            }
        }
        Ok(events)
    }

    /// Events as `id|name|data|comment`.
    #[track_caller]
    fn check(input: &str, expect: &[&str]) {
        for step in [1, 2, 3, 1000] {
            let events = decode(input.as_bytes(), step, 1 << 20).unwrap();
            let shown: Vec<String> =
                events.iter().map(|event| [&*event.id, &event.name, &event.data, &event.comment].join("|")).collect();
            assert_eq!(shown, expect, "{input:?} in pieces of {step}");
        }
    }

    #[test]
    fn fields() {
        check("data: a\n\n", &["||a|"]);
        check("data:a\ndata\ndata:  b\n\n", &["||a\n\n b|"]);
        check("data\n\ndata\ndata\n\ndata:", &["|||", "||\n|"]);
        check("id: 1\nevent: add\ndata: x\n\ndata: y\n\n", &["1|add|x|", "||y|"]);
        check("id: a\0b\ndata: x\n\n", &["||x|"]);
        check("retry: 10\nfoo: bar\nData: x\n\n", &[]);
        check("event: only\n\ndata: x\n\n", &["||x|"]);
        check(": one\n:two\n\n", &["|||one\ntwo"]);
        check(":\n\ndata:x\n:c\n\n", &["|||", "||x|c"]);
        check("data: a: b\n\n", &["||a: b|"]);
        check("data: x", &[]);
        check("data: x\n", &[]);
    }

    #[test]
    fn line_ends_and_marks() {
        check("data: a\r\ndata: b\r\n\r\n", &["||a\nb|"]);
        check("data: a\rdata: b\r\r", &["||a\nb|"]);
        check("data: a\n\rdata: b\r\n\n", &["||a|", "||b|"]);
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["||a|"]);
        check("\n\n\n", &[]);
        assert_eq!(decode(b"data: \xff\n\n", 1, 100).unwrap()[0].data, "\u{fffd}");
    }

    #[test]
    fn sizes_are_limited() {
        let refused = |input: &[u8]| decode(input, 7, 100).unwrap_err().message;
        assert_eq!(refused(&[b'x'; 200]), "an event exceeds 100 bytes");
        assert_eq!(refused(&b"data: 123\n".repeat(30)), "an event exceeds 100 bytes");
        assert_eq!(refused(&b":ping\n".repeat(60)), "an event exceeds 100 bytes");
        // Events are small, their number is not limited.
        assert_eq!(decode(&b"data: 1\n\n".repeat(1000), 7, 100).unwrap().len(), 1000);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(input in "(data|id|event|:|[ab]|\r|\n|\u{feff}| ){0,40}", step in 1_usize..9) {
            prop_assert_eq!(decode(input.as_bytes(), step, 1 << 10), decode(input.as_bytes(), usize::MAX, 1 << 10));
            fuzz(input.as_bytes());
        }
    }
}
