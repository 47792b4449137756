//! A response assembled from pieces of any size.

use bytes::Bytes;

use super::{
    BodyMode, Chunked, Limits, Proto,
    head::{Framing, Head, HeadParser, HeadState},
};
use crate::{body_budget::BodyHold, error::NetError, header::HeaderBlock};

/// A kept body with a length is given its memory in steps of at most this, so that a length that is a lie costs what
/// arrives and not what it claims.
const BODY_STEP_BYTES: usize = 1 << 20;

/// What feeding a piece led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fed {
    /// The response goes on.
    More,
    /// The response is complete; bytes beyond `used` are not part of it.
    Done {
        /// How much of the last piece belongs to the response.
        used: usize,
    },
}

/// Reads one response; interim (1xx) responses before it are skipped, except 101.
#[derive(Debug)]
pub struct ResponseReader {
    is_head_request: bool,
    mode: BodyMode,
    limits: Limits,
    parser: HeadParser,
    head: Option<Head>,
    state: BodyState,
    body: Vec<u8>,
    hold: BodyHold,
    body_len: u64,
}

#[derive(Debug)]
enum BodyState {
    /// The head is not complete.
    Head,
    Length {
        left: u64,
    },
    Chunked(Box<Chunked>),
    UntilClose,
    Done,
}

impl ResponseReader {
    /// A reader for the response to one request; `is_head_request` says that it was `HEAD`.
    pub fn new(is_head_request: bool, mode: BodyMode, limits: Limits) -> Self {
        Self {
            is_head_request,
            mode,
            limits,
            parser: HeadParser::default(),
            head: None,
            state: BodyState::Head,
            body: Vec::new(),
            hold: BodyHold::new(limits.bodies),
            body_len: 0,
        }
    }

    /// Forgets what has arrived: the same request is sent again.
    #[cold]
    #[inline(never)]
    pub fn restart(&mut self) {
        *self = Self::new(self.is_head_request, self.mode, self.limits);
    }

    /// Feeds the next bytes.
    ///
    /// # Errors
    /// Code 1000 with Go's text when they are not HTTP, or the body outgrows its limit.
    pub fn feed(&mut self, mut input: &[u8]) -> Result<Fed, NetError> {
        let mut used = 0;
        while matches!(self.state, BodyState::Head) {
            if input.is_empty() {
                return Ok(Fed::More);
            }
            match self.parser.feed(input, self.is_head_request, &self.limits)? {
                HeadState::Partial => return Ok(Fed::More),
                HeadState::Complete { head, used: count } => {
                    used += count;
                    input = &input[count..];
                    self.take_head(head);
                }
            }
        }
        Ok(match self.feed_body(input)? {
            Fed::More => Fed::More,
            Fed::Done { used: count } => Fed::Done { used: used + count },
        })
    }

    /// The connection has ended. Fine for a body that ends so, else the response is incomplete.
    ///
    /// # Errors
    /// `EOF` when nothing had arrived, `unexpected EOF` or what is wrong with the last line otherwise.
    pub fn finish(&mut self) -> Result<(), NetError> {
        match self.state {
            BodyState::Done => Ok(()),
            BodyState::UntilClose => {
                self.state = BodyState::Done;
                Ok(())
            }
            BodyState::Head if !self.parser.has_started() => Err(NetError::eof()),
            BodyState::Head => Err(self.parser.at_eof()),
            BodyState::Chunked(ref chunked) if chunked.is_in_trailer() => {
                Err(NetError::generic("http: unexpected EOF reading trailer").in_body())
            }
            BodyState::Length { .. } | BodyState::Chunked(_) => Err(NetError::unexpected_eof().in_body()),
        }
    }

    /// Where the next bytes of a kept body belong, when they can be read straight to their place: pass the slice to the
    /// socket, then [`ResponseReader::advance`]. `None` unless at least `min` bytes of a body with a known length are
    /// missing.
    pub fn direct_space(&mut self, min: usize) -> Option<&mut [u8]> {
        let BodyState::Length { left } = self.state else { return None };
        if self.mode != BodyMode::Keep || left < min as u64 {
            return None;
        }
        let filled = usize::try_from(self.body_len).ok()?;
        if self.body.len() == filled {
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let room = left.min(BODY_STEP_BYTES.max(filled));
            // Where they do not fit, feeding the next piece says so.
            self.hold.cover(filled + room).ok()?;
            self.body.reserve_exact(room);
            self.body.resize(filled + left.min(BODY_STEP_BYTES), 0);
        }
        Some(&mut self.body[filled..])
    }

    /// Says that `count` bytes were read into [`ResponseReader::direct_space`].
    pub fn advance(&mut self, count: usize) -> Fed {
        if let BodyState::Length { left } = &mut self.state {
            *left = left.saturating_sub(count as u64);
            self.body_len += count as u64;
            if *left == 0 {
                self.state = BodyState::Done;
            }
        }
        if matches!(self.state, BodyState::Done) { Fed::Done { used: 0 } } else { Fed::More }
    }

    /// What happens to the body.
    pub fn mode(&self) -> BodyMode {
        self.mode
    }

    /// Whether the head is complete and what remains is body.
    pub fn in_body(&self) -> bool {
        self.head.is_some()
    }

    /// Whether any byte of the response has arrived.
    pub fn has_started(&self) -> bool {
        self.head.is_some() || self.parser.has_started()
    }

    /// The status, 0 before the head is complete.
    pub fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |head| head.status)
    }

    /// How many bytes of the body have arrived.
    pub fn body_len(&self) -> u64 {
        self.body_len
    }

    /// Whether the connection can carry another request once this response is complete.
    pub fn keeps_alive(&self) -> bool {
        matches!(self.state, BodyState::Done) && self.head.as_ref().is_some_and(|head| head.keep_alive)
    }

    /// Whether the response is complete.
    pub fn is_done(&self) -> bool {
        matches!(self.state, BodyState::Done)
    }

    /// The head, once it is complete.
    pub fn head_parts(&self) -> Option<(u16, Proto, HeaderBlock)> {
        self.head.as_ref().map(|head| (head.status, head.proto, head.headers.clone()))
    }

    /// Takes what has arrived of the body.
    pub fn take_body(&mut self) -> Bytes {
        // Space laid out for direct reads may not have been filled.
        let filled = usize::try_from(self.body_len).unwrap_or(usize::MAX).min(self.body.len());
        self.body.truncate(filled);
        Bytes::from(std::mem::take(&mut self.body))
    }

    /// Takes the share of the limit on all bodies that goes with this one.
    pub fn take_hold(&mut self) -> BodyHold {
        std::mem::replace(&mut self.hold, BodyHold::new(self.limits.bodies))
    }

    /// Takes the head of a complete response.
    pub fn take_head_parts(&mut self) -> Option<(u16, Proto, HeaderBlock)> {
        self.head.take().map(|head| (head.status, head.proto, head.headers))
    }

    fn take_head(&mut self, head: Head) {
        if (100..200).contains(&head.status) && head.status != 101 {
            return;
        }
        self.state = match head.framing {
            Framing::None => BodyState::Done,
            Framing::Length(left) => BodyState::Length { left },
            Framing::Chunked => BodyState::Chunked(Box::new(Chunked::new())),
            Framing::UntilClose => BodyState::UntilClose,
        };
        self.head = Some(head);
    }

    fn feed_body(&mut self, input: &[u8]) -> Result<Fed, NetError> {
        let fed = self.decode_body(input).and_then(|fed| {
            self.hold.cover(self.body.capacity())?;
            Ok(fed)
        });
        if fed.is_err() && self.is_full(input.len()) {
            // What arrived of a body is worth keeping, but not as much as all limits allow.
            self.body = Vec::new();
            self.take_hold();
        }
        fed
    }

    /// Whether so many bytes more are too many.
    fn is_full(&self, more: usize) -> bool {
        let bytes = self.body_len.saturating_add(more as u64);
        bytes > self.bytes_max() || !self.hold.covers(self.body.capacity())
    }

    /// The most that is taken of a body. One that is taken in pieces may go on for ever.
    fn bytes_max(&self) -> u64 {
        if self.mode == BodyMode::Pieces { u64::MAX } else { self.limits.body_bytes_max }
    }

    fn decode_body(&mut self, input: &[u8]) -> Result<Fed, NetError> {
        let keeps = self.mode != BodyMode::Discard;
        let limit = self.bytes_max();
        match &mut self.state {
            BodyState::Head => Ok(Fed::More),
            BodyState::Done => Ok(Fed::Done { used: 0 }),
            BodyState::Length { left } => {
                if keeps && self.body_len.saturating_add(*left) > limit {
                    return Err(too_big(limit));
                }
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= count as u64;
                let done = *left == 0;
                if keeps {
                    keep(&mut self.body, &mut self.body_len, &input[..count]);
                } else {
                    self.body_len += count as u64;
                }
                if done {
                    self.state = BodyState::Done;
                    return Ok(Fed::Done { used: count });
                }
                Ok(Fed::More)
            }
            BodyState::Chunked(decoder) => {
                let (body, body_len) = (&mut self.body, &mut self.body_len);
                let used = decoder.feed(input, |data| {
                    if keeps && *body_len + data.len() as u64 <= limit {
                        keep(body, body_len, data);
                    } else {
                        *body_len += data.len() as u64;
                    }
                })?;
                let done = decoder.is_done();
                if keeps && *body_len > limit {
                    return Err(too_big(limit));
                }
                if done {
                    self.state = BodyState::Done;
                    return Ok(Fed::Done { used });
                }
                Ok(Fed::More)
            }
            BodyState::UntilClose => {
                if !keeps {
                    self.body_len += input.len() as u64;
                } else if self.body_len + input.len() as u64 > limit {
                    return Err(too_big(limit));
                } else {
                    keep(&mut self.body, &mut self.body_len, input);
                }
                Ok(Fed::More)
            }
        }
    }
}

/// Appends to a kept body, over space that was laid out for direct reads.
fn keep(body: &mut Vec<u8>, body_len: &mut u64, data: &[u8]) {
    body.truncate(usize::try_from(*body_len).unwrap_or(usize::MAX));
    if body.is_empty() && body.capacity() == 0 {
        // Most bodies come in one piece: then this is exactly their size.
        body.reserve_exact(data.len());
    }
    body.extend_from_slice(data);
    *body_len += data.len() as u64;
}

fn too_big(limit: u64) -> NetError {
    NetError::generic(format!("response body exceeds {limit} bytes (--response-body-limit)")).in_body()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Outcome = Result<(u16, Vec<u8>, usize, bool), String>;

    fn read(input: &[u8], step: usize, is_head: bool, mode: BodyMode) -> Outcome {
        let mut reader = ResponseReader::new(is_head, mode, Limits::default());
        let mut used = 0;
        for piece in input.chunks(step) {
            match reader.feed(piece).map_err(|error| error.message)? {
                Fed::More => used += piece.len(),
                Fed::Done { used: last } => {
                    used += last;
                    return Ok((reader.status(), reader.take_body().to_vec(), used, reader.keeps_alive()));
                }
            }
        }
        reader.finish().map_err(|error| error.message)?;
        Ok((reader.status(), reader.take_body().to_vec(), used, reader.keeps_alive()))
    }

    #[test]
    fn bodies() {
        let check = |input: &str, is_head: bool, status: u16, body: &str, rest: usize, keeps: bool| {
            for step in [1, 7, 1000] {
                let expect = (status, body.as_bytes().to_vec(), input.len() - rest, keeps);
                assert_eq!(read(input.as_bytes(), step, is_head, BodyMode::Keep), Ok(expect), "{input}");
            }
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloworld", false, 200, "hello", 5, true);
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, 200, "", 0, true);
        check("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello", false, 204, "", 5, true);
        check("HTTP/1.1 304 No\r\n\r\n", false, 304, "", 0, true);
        check("HTTP/1.1 200 OK\r\n\r\nuntil close", false, 200, "until close", 0, false);
        check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, 200, "hi", 0, false);
        check("HTTP/1.0 200 OK\r\nConnection: x, Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", false, 200, "hi", 0, true);
        check("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", false, 200, "hi", 0, false);
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            false,
            200,
            "hello",
            0,
            true,
        );
        check(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hm\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            false,
            200,
            "x",
            0,
            true,
        );
        check("HTTP/1.1 101 Switching Protocols\r\n\r\nraw", false, 101, "", 3, false);
        check("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false, 200, "hi", 0, true);
    }

    #[test]
    fn ends() {
        let check = |input: &str, expect: &str| {
            for step in [1, 1000] {
                assert_eq!(read(input.as_bytes(), step, false, BodyMode::Keep), Err(expect.to_owned()), "{input}");
            }
        };
        check("", "EOF");
        check("HTTP/1.1 200", "unexpected EOF");
        check("garbage", "malformed HTTP response \"garbage\"");
        check("HTTP/1.1 200 OK\r\nContent-Le", "malformed MIME header: missing colon: \"Content-Le\"");
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "unexpected EOF");
        check("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", "unexpected EOF");
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "unexpected EOF");
        check("HTTP/1.1 100 Continue\r\n\r\n", "unexpected EOF");
    }

    #[test]
    fn direct_reads_fill_the_same_body() {
        let mut reader = ResponseReader::new(false, BodyMode::Keep, Limits::default());
        assert_eq!(reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), Ok(Fed::More));
        assert!(reader.direct_space(8).is_none());
        let space = reader.direct_space(1).unwrap();
        assert_eq!(space.len(), 7);
        space[..2].copy_from_slice(b"de");
        assert_eq!(reader.advance(2), Fed::More);
        assert_eq!(reader.feed(b"fg"), Ok(Fed::More));
        let space = reader.direct_space(1).unwrap();
        assert_eq!(space.len(), 3);
        space.copy_from_slice(b"hij");
        assert_eq!(reader.advance(3), Fed::Done { used: 0 });
        assert_eq!(reader.take_body(), "abcdefghij");
    }

    #[test]
    fn a_lying_length_costs_what_arrives() {
        let mut reader = ResponseReader::new(false, BodyMode::Keep, Limits::default());
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\nabc").unwrap();
        assert!(reader.direct_space(1).unwrap().len() <= BODY_STEP_BYTES);
        let error = ResponseReader::new(false, BodyMode::Keep, Limits::default())
            .feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000000000\r\n\r\nabc")
            .unwrap_err();
        assert_eq!(error.message, "response body exceeds 134217728 bytes (--response-body-limit)");
    }

    #[test]
    fn a_discarded_body_is_counted() {
        let mut reader = ResponseReader::new(false, BodyMode::Discard, Limits::default());
        let fed = reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        assert_eq!((fed, reader.body_len(), reader.take_body().len()), (Fed::Done { used: 43 }, 5, 0));
    }

    fn wire() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("HTTP/1.1 200 OK\r\n".to_owned()),
            Just("HTTP/1.0 301 Moved\n".to_owned()),
            Just("HTTP/1.1 100 Continue\r\n\r\n".to_owned()),
            Just("Content-Length: 3\r\n".to_owned()),
            Just("Transfer-Encoding: chunked\r\n".to_owned()),
            Just("Connection: close\r\n".to_owned()),
            Just("\r\n".to_owned()),
            Just("\n".to_owned()),
            Just("3\r\nabc\r\n".to_owned()),
            Just("0\r\n\r\n".to_owned()),
            Just(" folded\r\n".to_owned()),
            "[ -~]{0,8}(\r\n)?",
        ];
        let start = prop_oneof![Just("HTTP/1.1 200 OK\r\n".to_owned()), Just(String::new())];
        (start, proptest::collection::vec(piece, 0..8))
            .prop_map(|(start, pieces)| (start + &pieces.concat()).into_bytes())
    }

    proptest! {
        /// How the bytes are cut never matters.
        #[test]
        fn pieces_do_not_matter(input in wire(), step in 1_usize..20, is_head in any::<bool>()) {
            prop_assert_eq!(read(&input, step, is_head, BodyMode::Keep), read(&input, usize::MAX, is_head, BodyMode::Keep));
        }

        #[test]
        fn never_panics(input in proptest::collection::vec(any::<u8>(), 0..200), step in 1_usize..50) {
            let _ = read(&input, step, false, BodyMode::Discard);
            crate::http1::fuzz(&input);
        }
    }
}
