//! The chunked transfer encoding: a decoder that is fed pieces of any size.

use crate::{error::NetError, http1::head::check_field_line};

/// Longest chunk-size line, extensions included (Go's limit).
const LINE_BYTES_MAX: usize = 4096;
/// Longest trailer section (Go's buffer).
const TRAILER_BYTES_MAX: usize = 4096;
/// Overhead a sender may pile up beyond 16 bytes a chunk plus twice the data.
const EXCESS_BYTES_MAX: i64 = 16 << 10;

/// A body that is not chunked encoding. The texts are Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChunkError(pub String);

/// Decodes one chunked body.
#[derive(Debug, Default)]
pub struct Chunked {
    state: State,
    /// A line that arrived in pieces.
    line: Vec<u8>,
    trailer_bytes: usize,
    excess: i64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Data {
        left: u64,
    },
    DataEnd {
        seen_cr: bool,
    },
    Trailer,
    Done,
}

impl Chunked {
    /// A decoder at the start of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the last chunk and the trailer have been read.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the last chunk has been read and nothing of what follows: Go tells an end there from others.
    pub fn is_in_trailer(&self) -> bool {
        self.state == State::Trailer && self.trailer_bytes == 0 && self.line.is_empty()
    }

    /// Decodes the beginning of `input`, handing out the data it holds, and returns how many bytes it used: all of them
    /// unless the body ended.
    ///
    /// # Errors
    /// What is wrong with the encoding.
    pub fn feed(&mut self, input: &[u8], mut sink: impl FnMut(&[u8])) -> Result<usize, ChunkError> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            match self.state {
                State::Size => match self.take_line(rest, LINE_BYTES_MAX, "header line too long")? {
                    None => return Ok(input.len()),
                    Some(used) => {
                        at += used;
                        self.begin_chunk()?;
                    }
                },
                State::Data { left } => {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    sink(&rest[..count]);
                    at += count;
                    let left = left - count as u64;
                    self.state = if left == 0 { State::DataEnd { seen_cr: false } } else { State::Data { left } };
                }
                State::DataEnd { seen_cr } => {
                    let expected = if seen_cr { b'\n' } else { b'\r' };
                    if rest[0] != expected {
                        // Go reads two bytes before it judges them; one wrong byte is enough here.
                        return Err(ChunkError("malformed chunked encoding".to_owned()));
                    }
                    at += 1;
                    self.state = if seen_cr { State::Size } else { State::DataEnd { seen_cr: true } };
                }
                State::Trailer => {
                    let room = TRAILER_BYTES_MAX.saturating_sub(self.trailer_bytes);
                    let used = self.take_line(rest, room, "http: suspiciously long trailer after chunked body")?;
                    let Some(used) = used else { return Ok(input.len()) };
                    at += used;
                    self.end_trailer_line()?;
                }
                State::Done => break,
            }
        }
        Ok(at)
    }

    /// Moves bytes up to a line end into `self.line`; how many, or `None` when the line goes on.
    fn take_line(&mut self, input: &[u8], max: usize, too_long: &str) -> Result<Option<usize>, ChunkError> {
        let end = memchr::memchr(b'\n', input);
        let piece = &input[..end.map_or(input.len(), |at| at + 1)];
        if self.line.len() + piece.len() > max {
            return Err(ChunkError(too_long.to_owned()));
        }
        self.line.extend_from_slice(piece);
        Ok(end.map(|at| at + 1))
    }

    fn begin_chunk(&mut self) -> Result<(), ChunkError> {
        let line = self.line.as_slice();
        match memchr::memchr(b'\r', line) {
            None => return Err(ChunkError("chunked line ends with bare LF".to_owned())),
            Some(at) if at != line.len() - 2 => {
                return Err(ChunkError("invalid CR in chunked line".to_owned()));
            }
            Some(_) => {}
        }
        let line = &line[..line.len() - 2];
        let overhead = i64::try_from(line.len()).unwrap_or(i64::MAX).saturating_add(2);
        let trimmed = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |at| at + 1);
        let digits = line[..trimmed].split(|&byte| byte == b';').next().unwrap_or_default();
        let size = parse_size(digits)?;
        let allowance = i64::try_from(size).unwrap_or(i64::MAX).saturating_mul(2).saturating_add(16);
        self.excess = self.excess.saturating_add(overhead).saturating_sub(allowance).max(0);
        if self.excess > EXCESS_BYTES_MAX {
            return Err(ChunkError("chunked encoding contains too much non-data".to_owned()));
        }
        self.line.clear();
        self.state = if size == 0 { State::Trailer } else { State::Data { left: size } };
        Ok(())
    }

    fn end_trailer_line(&mut self) -> Result<(), ChunkError> {
        self.trailer_bytes += self.line.len();
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            self.state = State::Done;
        } else {
            let continues = matches!(line[0], b' ' | b'\t') && self.trailer_bytes > self.line.len();
            if !continues {
                check_field_line(line).map_err(ChunkError)?;
            }
        }
        self.line.clear();
        if self.state == State::Done {
            self.line = Vec::new();
        }
        Ok(())
    }
}

impl From<ChunkError> for NetError {
    fn from(error: ChunkError) -> Self {
        Self::generic(error.0).in_body()
    }
}

fn parse_size(digits: &[u8]) -> Result<u64, ChunkError> {
    const DIGITS_MAX: usize = 16;
    if digits.is_empty() {
        return Err(ChunkError("empty hex number for chunk length".to_owned()));
    }
    let mut size = 0_u64;
    for (at, &byte) in digits.iter().enumerate() {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(ChunkError("invalid byte in chunk length".to_owned()));
        };
        if at == DIGITS_MAX {
            return Err(ChunkError("http chunk length too large".to_owned()));
        }
        size = size << 4 | u64::from(digit);
    }
    Ok(size)
}

/// Feeds arbitrary bytes to the decoder, whole and in pieces: the entry of the fuzz target. Panics are findings; so is
/// another outcome in pieces than in one go, and more data than came in.
pub fn fuzz(data: &[u8]) {
    let Some((&control, stream)) = data.split_first() else { return };
    let run = |step: usize| {
        let mut decoder = Chunked::new();
        let mut body = Vec::new();
        let mut used = 0;
        for piece in stream.chunks(step) {
            match decoder.feed(piece, |bytes| body.extend_from_slice(bytes)) {
                Ok(bytes) => used += bytes,
                Err(error) => return (body, Err(error.0)),
            }
            if decoder.is_done() {
                break;
            }
        }
        (body, Ok((used, decoder.is_done())))
    };
    let whole = run(stream.len().max(1));
    assert!(whole.0.len() <= stream.len());
    assert_eq!(whole, run(usize::from(control) + 1), "in pieces of {}", usize::from(control) + 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), String> {
        let mut decoder = Chunked::new();
        let mut out = Vec::new();
        let mut used = 0;
        for piece in input.chunks(step) {
            let count = decoder.feed(piece, |data| out.extend_from_slice(data)).map_err(|error| error.0)?;
            used += count;
            if count < piece.len() {
                break;
            }
        }
        Ok((out, used, decoder.is_done()))
    }

    #[test]
    fn decodes() {
        let check = |input: &str, data: &str, rest: usize| {
            for step in [1, 2, 3, 1000] {
                let (out, used, done) = decode(input.as_bytes(), step).unwrap();
                assert_eq!((String::from_utf8(out).unwrap().as_str(), used, done), (data, input.len() - rest, true));
            }
        };
        check("0\r\n\r\n", "", 0);
        check("5\r\nhello\r\n0\r\n\r\n", "hello", 0);
        check("5;ext=\"x\" \r\nhello\r\n000\r\nA: b\r\nC: d\r\n\r\nNEXT", "hello", 4);
        check("5  \r\nhello\r\nA\r\n0123456789\r\n0\r\n\n", "hello0123456789", 0);
    }

    #[test]
    fn errors_are_gos() {
        let check = |input: &str, expect: &str| {
            for step in [1, 1000] {
                assert_eq!(decode(input.as_bytes(), step).unwrap_err(), expect, "{input}");
            }
        };
        check("zz\r\nhello\r\n", "invalid byte in chunk length");
        check("\r\n", "empty hex number for chunk length");
        check(";x\r\n", "empty hex number for chunk length");
        check("5\nhello\r\n", "chunked line ends with bare LF");
        check("5\r \r\nhello\r\n", "invalid CR in chunked line");
        check("5\r\nhelloXX0\r\n\r\n", "malformed chunked encoding");
        check("fffffffffffffffff\r\n", "http chunk length too large");
        check("0\r\nbad trailer\r\n\r\n", "malformed MIME header: missing colon: \"bad trailer\"");
        check(&format!("5;{}\r\n", "x".repeat(5000)), "header line too long");
        check(&format!("0\r\nX: {}\r\n", "x".repeat(5000)), "http: suspiciously long trailer after chunked body");
        let padded = format!("1;{}\r\nX\r\n", "x".repeat(1000)).repeat(20);
        check(&padded, "chunked encoding contains too much non-data");
    }

    proptest! {
        #[test]
        fn round_trip(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..50), 0..8), step in 1_usize..40, extra in 0_usize..4) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            let body_len = wire.len();
            wire.extend(std::iter::repeat_n(b'x', extra));
            let (out, used, done) = decode(&wire, step).unwrap();
            prop_assert!(done);
            prop_assert_eq!(out, chunks.concat());
            prop_assert_eq!(used, body_len);
        }

        #[test]
        fn never_panics(input in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'1'), Just(b';'), any::<u8>()], 0..60), step in 1_usize..9) {
            prop_assert_eq!(decode(&input, step), decode(&input, 1000));
        }
    }
}
