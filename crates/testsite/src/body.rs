//! Request bodies: finding their end, and where their bytes go.
//!
//! Bodies are never collected whole. An endpoint chooses a [`Sink`] when the head has arrived, and sees what the sink
//! kept when the body has.

use crate::{
    head::{Framing, Head, Refusal},
    multipart::Multipart,
    options::Limits,
};

/// Digits and extensions of one chunk-size line.
const CHUNK_LINE_BYTES_MAX: usize = 256;
/// Trailer fields after the last chunk; they are read and dropped.
const TRAILER_BYTES_MAX: usize = 8 * 1024;

const TOO_LARGE: Refusal = Refusal::new(413, "request body too large");
const BAD_CHUNK: Refusal = Refusal::new(400, "invalid chunk");

/// Removes a body's framing, piece by piece.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
    left_bytes_max: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Bytes that remain of a body with a length.
    Length(u64),
    /// In a chunk-size line: size so far, bytes of the line, whether its digits ended.
    Size {
        size: u64,
        line_bytes: usize,
        digits_ended: bool,
    },
    /// Bytes that remain of a chunk.
    Chunk(u64),
    /// The line end after a chunk's bytes.
    ChunkEnd,
    /// After the last chunk: bytes of trailers, and of the current line.
    Trailer {
        bytes: usize,
        line_bytes: usize,
    },
    Done,
}

impl Decoder {
    /// A decoder for the body a head announces.
    ///
    /// # Errors
    /// 413 when the announced length is over the limit already.
    pub(crate) fn new(framing: Framing, limits: &Limits) -> Result<Self, Refusal> {
        let state = match framing {
            Framing::None => State::Done,
            Framing::Length(length) if length > limits.body_bytes_max => return Err(TOO_LARGE),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => SIZE_START,
        };
        Ok(Self { state, left_bytes_max: limits.body_bytes_max })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads from `data`, hands the body's bytes to `take`, and returns how much of `data` belonged to this body.
    pub(crate) fn feed(
        &mut self,
        data: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<usize, Refusal> {
        let mut at = 0;
        while at < data.len() {
            match &mut self.state {
                State::Done => break,
                State::Length(left) => {
                    let piece = piece(&data[at..], *left);
                    take(piece)?;
                    at += piece.len();
                    *left -= piece.len() as u64;
                    if *left == 0 {
                        self.state = State::Done;
                    }
                }
                State::Chunk(left) => {
                    let piece = piece(&data[at..], *left);
                    take(piece)?;
                    at += piece.len();
                    *left -= piece.len() as u64;
                    if *left == 0 {
                        self.state = State::ChunkEnd;
                    }
                }
                _ => {
                    self.framing_byte(data[at])?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }

    fn framing_byte(&mut self, byte: u8) -> Result<(), Refusal> {
        match &mut self.state {
            State::Size { size, line_bytes, digits_ended } => {
                *line_bytes += 1;
                if *line_bytes > CHUNK_LINE_BYTES_MAX {
                    return Err(BAD_CHUNK);
                }
                if byte == b'\n' {
                    // A line needs a digit before its end.
                    if *line_bytes < 2 {
                        return Err(BAD_CHUNK);
                    }
                    let size = *size;
                    if size > self.left_bytes_max {
                        return Err(TOO_LARGE);
                    }
                    self.left_bytes_max -= size;
                    self.state = match size {
                        0 => State::Trailer { bytes: 0, line_bytes: 0 },
                        _ => State::Chunk(size),
                    };
                    return Ok(());
                }
                if *digits_ended {
                    return Ok(());
                }
                match (byte as char).to_digit(16) {
                    Some(digit) => {
                        if *size > u64::MAX >> 5 {
                            return Err(TOO_LARGE);
                        }
                        *size = *size << 4 | u64::from(digit);
                    }
                    None if *line_bytes > 1 && matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                        *digits_ended = true;
                    }
                    None => return Err(BAD_CHUNK),
                }
            }
            State::ChunkEnd => match byte {
                b'\r' => {}
                b'\n' => self.state = SIZE_START,
                _ => return Err(BAD_CHUNK),
            },
            State::Trailer { bytes, line_bytes } => {
                *bytes += 1;
                if *bytes > TRAILER_BYTES_MAX {
                    return Err(Refusal::new(431, "trailers too large"));
                }
                match byte {
                    b'\n' if *line_bytes == 0 => self.state = State::Done,
                    b'\n' => *line_bytes = 0,
                    b'\r' => {}
                    _ => *line_bytes += 1,
                }
            }
            State::Length(_) | State::Chunk(_) | State::Done => {}
        }
        Ok(())
    }
}

const SIZE_START: State = State::Size { size: 0, line_bytes: 0, digits_ended: false };

fn piece(data: &[u8], left: u64) -> &[u8] {
    &data[..data.len().min(usize::try_from(left).unwrap_or(usize::MAX))]
}

/// Where a body's bytes go.
pub(crate) enum Sink {
    /// Counted and dropped.
    Count(u64),
    /// Kept up to a limit, counted beyond it.
    Keep { data: Vec<u8>, total: u64, bytes_max: usize },
    /// Taken apart: small fields kept, files counted.
    Multipart(Box<Multipart>),
}

/// What a sink made of a body, for the endpoint that answers.
pub(crate) enum Body<'a> {
    /// How many bytes there were.
    Counted(u64),
    /// The first bytes, and how many there were.
    Kept { data: &'a [u8], total: u64 },
    /// Fields and files.
    Multipart(&'a Multipart),
}

impl Sink {
    /// A sink for an endpoint that echoes: a multipart reader when the head announces multipart, otherwise the first
    /// bytes.
    pub(crate) fn echo(head: &Head<'_>, limits: &Limits) -> Result<Self, Refusal> {
        if let Some(content_type) = head.header("content-type")
            && starts_with_ignore_case(content_type, b"multipart/form-data")
        {
            let reader = Multipart::new(content_type, limits.echo_bytes_max)?;
            return Ok(Self::Multipart(Box::new(reader)));
        }
        Ok(Self::Keep { data: Vec::new(), total: 0, bytes_max: limits.echo_bytes_max })
    }

    /// A sink that only keeps small bodies, for forms.
    pub(crate) fn form(limits: &Limits) -> Self {
        const FORM_BYTES_MAX: usize = 64 * 1024;
        Self::Keep { data: Vec::new(), total: 0, bytes_max: FORM_BYTES_MAX.min(limits.echo_bytes_max) }
    }

    /// A sink that keeps a body whatever its type.
    pub(crate) fn whole(limits: &Limits) -> Self {
        Self::Keep { data: Vec::new(), total: 0, bytes_max: limits.echo_bytes_max }
    }

    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        match self {
            Self::Count(total) => *total += piece.len() as u64,
            Self::Keep { data, total, bytes_max } => {
                *total += piece.len() as u64;
                let room = bytes_max.saturating_sub(data.len());
                data.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            Self::Multipart(reader) => reader.feed(piece)?,
        }
        Ok(())
    }

    /// Bytes of memory the sink holds.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Self::Count(_) => 0,
            Self::Keep { data, .. } => data.capacity(),
            Self::Multipart(reader) => reader.held_bytes(),
        }
    }

    /// The finished body.
    ///
    /// # Errors
    /// 400 when a multipart body stopped before its end.
    pub(crate) fn finish(&mut self) -> Result<Body<'_>, Refusal> {
        Ok(match self {
            Self::Count(total) => Body::Counted(*total),
            Self::Keep { data, total, .. } => Body::Kept { data, total: *total },
            Self::Multipart(reader) => {
                reader.finish()?;
                Body::Multipart(reader)
            }
        })
    }
}

pub(crate) fn starts_with_ignore_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Feeds `data` in pieces of `step` bytes; returns the body and what was left.
    fn decode(framing: Framing, data: &[u8], step: usize) -> Result<(Vec<u8>, usize), Refusal> {
        let limits = Limits { body_bytes_max: 1 << 20, ..Limits::default() };
        let mut decoder = Decoder::new(framing, &limits)?;
        let mut body = Vec::new();
        let mut used = 0;
        for piece in data.chunks(step) {
            used += decoder.feed(piece, |bytes| {
                body.extend_from_slice(bytes);
                Ok(())
            })?;
            if decoder.is_done() {
                return Ok((body, data.len() - used));
            }
        }
        Err(Refusal::new(0, "not done"))
    }

    fn check(data: &str, expect: Result<(&str, usize), u16>) {
        for step in [1, 2, 3, 1000] {
            let outcome = decode(Framing::Chunked, data.as_bytes(), step);
            match (&outcome, expect) {
                (Ok((body, left)), Ok((text, rest))) => {
                    assert_eq!((body.as_slice(), *left), (text.as_bytes(), rest));
                }
                (Err(refusal), Err(status)) => assert_eq!(refusal.status, status, "{data:?}"),
                _ => panic!("{data:?} gave {outcome:?}"),
            }
        }
    }

    #[test]
    fn chunked_bodies() {
        check("5\r\nhello\r\n0\r\n\r\nnext", Ok(("hello", 4)));
        check("A;x=y\r\n0123456789\r\n1\r\n!\r\n0\r\nT: v\r\n\r\n", Ok(("0123456789!", 0)));
        check("2\nab\n0\n\n", Ok(("ab", 0)));
        check("\r\n", Err(400));
        check("\n", Err(400));
        check("x\r\n", Err(400));
        check("-1\r\n", Err(400));
        check("1\r\nab\r\n", Err(400));
        check("ffffffffffffffffff\r\n", Err(413));
        check("fffffff\r\n", Err(413));
        check(&format!("1{}\r\n", ";".repeat(300)), Err(400));
        check(&format!("0\r\n{}", "a: b\r\n".repeat(3000)), Err(431));
        check("1\r\na", Err(0));
    }

    #[test]
    fn announced_lengths_are_limited() {
        assert_eq!(decode(Framing::Length(2 << 20), b"", 1), Err(TOO_LARGE));
        assert_eq!(decode(Framing::Length(3), b"abcd", 4), Ok((b"abc".to_vec(), 1)));
    }

    proptest! {
        #[test]
        fn chunks_join_to_the_body(parts in proptest::collection::vec("[a-z]{1,40}", 0..8), step in 1..50_usize) {
            let mut wire = String::new();
            for part in &parts {
                wire.push_str(&format!("{:x}\r\n{part}\r\n", part.len()));
            }
            wire.push_str("0\r\n\r\n");
            let (body, left) = decode(Framing::Chunked, wire.as_bytes(), step).unwrap();
            prop_assert_eq!(body, parts.concat().into_bytes());
            prop_assert_eq!(left, 0);
        }

        #[test]
        fn no_bytes_panic(data in proptest::collection::vec(any::<u8>(), 0..200), step in 1..50_usize) {
            let _ = decode(Framing::Chunked, &data, step);
        }
    }
}
