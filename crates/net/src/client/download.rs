//! Responses whose bodies are read in pieces, as they arrive: what a server streams is seen before it ends.
//!
//! An exchange up to the head of the response; what follows is the caller's to read. Decoding is as well, see
//! [`crate::encoding::Decoder`].

use std::{net::SocketAddr, rc::Rc};

use bytes::Bytes;
use onrush_fiber::{Clock, Nanos};

use super::{Attempt, Connections, Disconnected, Way, check_url, lost};
use crate::{
    body_budget::BodyHold,
    conn::{Conn, Step},
    error::NetError,
    http1::{BodyMode, Failure, Proto, Request, Response, ResponseReader, Timings, check_request},
    http2::{Http2, Session, Stream, StreamError},
    link::WireBytes,
};

/// A response that is read in pieces. Dropped before its end, its connection is closed, or its stream reset.
pub struct Download {
    attempt: Attempt,
    source: Source,
    wire: Rc<WireBytes>,
    body_len: u64,
}

/// Where the pieces come from.
enum Source {
    Http1(Box<Http1>),
    Http2(Box<Stream>),
    Over,
}

struct Http1 {
    /// There as long as more can come over it, or another response.
    conn: Option<Conn>,
    reader: ResponseReader,
    /// [`Connections::generation`] when the request began.
    generation: u32,
    /// All of it has arrived.
    is_complete: bool,
    /// What is wrong behind the piece that has been taken last.
    fault: Option<NetError>,
}

impl Connections {
    /// Sends a request and reads the head of its response. The response comes without its body, and its timings end
    /// where the head does. Suspends the fiber.
    ///
    /// # Errors
    /// As [`Connections::exchange`].
    pub fn download(
        &self,
        request: &Request<'_>,
        start: Nanos,
        deadline: Option<Nanos>,
    ) -> Result<(Box<Response>, Box<Download>), Box<Failure>> {
        let mut attempt = Attempt::new(start, &self.shared);
        let is_head = request.method == "HEAD";
        let mut reader = ResponseReader::new(is_head, BodyMode::Pieces, self.shared.limits());
        if let Err(error) = check_url(request.url).and_then(|()| check_request(request)) {
            return Err(attempt.fail(error, &mut reader));
        }
        loop {
            match self.begin_download(request, deadline, &mut attempt, &mut reader) {
                Ok(Begun::Http1 { conn, generation, is_complete, fault }) => {
                    let (status, proto, headers) = reader.head_parts().unwrap_or_default();
                    let response = attempt.head_only(status, proto, headers);
                    let source = Source::Http1(Box::new(Http1 { conn, reader, generation, is_complete, fault }));
                    return Ok((response, Box::new(self.begun(attempt, source))));
                }
                Ok(Begun::Http2(stream, head)) => {
                    let response = attempt.head_only(head.status, Proto::Http2, head.headers);
                    let source = Source::Http2(stream);
                    return Ok((response, Box::new(self.begun(attempt, source))));
                }
                Err(lost) if lost.retry && attempt.may_repeat(lost.backs_off, deadline) => {
                    attempt.again();
                    reader.restart();
                }
                Err(lost) => return Err(attempt.fail(lost.error, &mut reader)),
            }
        }
    }

    fn begun(&self, attempt: Attempt, source: Source) -> Download {
        Download { attempt, source, wire: Rc::clone(&self.wire), body_len: 0 }
    }

    /// One attempt, until the head is there.
    fn begin_download(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        reader: &mut ResponseReader,
    ) -> Result<Begun, Box<Disconnected>> {
        let (mut conn, generation) = match self.send(request, deadline, attempt, reader)? {
            Way::Sent(conn, generation) => (conn, generation),
            Way::Session(session) => return self.begin_over_http2(session, request, deadline, attempt),
            Way::Answered => return Ok(Begun::Http1 { conn: None, generation: 0, is_complete: true, fault: None }),
        };
        let mut end = None;
        while !reader.in_body() {
            end = match self.receive_head(&mut conn, reader, deadline, attempt, request) {
                // What came with the head is worth having, whatever is wrong behind it.
                Err(lost) if reader.in_body() => {
                    let fault = Some(lost.error);
                    return Ok(Begun::Http1 { conn: None, generation, is_complete: false, fault });
                }
                received => received?,
            };
        }
        let keeps = end != Some(false) && (end.is_none() || reader.keeps_alive());
        Ok(Begun::Http1 { conn: keeps.then_some(conn), generation, is_complete: end.is_some(), fault: None })
    }

    /// Waits for a piece of the head. Where that completes the response: whether nothing came after it.
    fn receive_head(
        &self,
        conn: &mut Conn,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        request: &Request<'_>,
    ) -> Result<Option<bool>, Box<Disconnected>> {
        let step = conn.receive(reader, deadline, &self.wire);
        let now = Clock::now();
        attempt.end = now;
        let error = match step {
            Ok(Step::Done { clean }) => {
                attempt.first_byte.get_or_insert(now);
                return Ok(Some(clean));
            }
            Ok(step @ (Step::More | Step::Again)) => {
                if matches!(step, Step::More) {
                    attempt.first_byte.get_or_insert(now);
                }
                if deadline.is_none_or(|deadline| now < deadline) {
                    return Ok(None);
                }
                NetError::timeout()
            }
            Ok(Step::Eof) => match reader.finish() {
                Ok(()) => return Ok(Some(false)),
                Err(error) => error,
            },
            Err(error) => *error,
        };
        Err(lost(error, reader, attempt, request))
    }

    fn begin_over_http2(
        &self,
        session: Rc<Session>,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
    ) -> Result<Begun, Box<Disconnected>> {
        attempt.begin_over(&session, deadline)?;
        let streams = Http2::over(session, Rc::clone(&self.wire), self.shared.limits());
        let opened = streams.open_request(request);
        let (stream, body) = opened.map_err(|error| Disconnected::of_stream(error, attempt))?;
        for (index, piece) in body.iter().flat_map(|pieces| pieces.iter()).enumerate() {
            let is_last = body.is_some_and(|pieces| index + 1 == pieces.len());
            stream.send(piece.clone(), is_last, deadline).map_err(|error| Disconnected::of_stream(error, attempt))?;
        }
        if body.is_some_and(<[Bytes]>::is_empty) {
            stream.send(Bytes::new(), true, deadline).map_err(|error| Disconnected::of_stream(error, attempt))?;
        }
        attempt.written = Some(Clock::now());
        let head = stream.head(deadline).map_err(|error| Disconnected::of_stream(error, attempt))?;
        let now = Clock::now();
        (attempt.first_byte, attempt.end) = (Some(now), now);
        Ok(Begun::Http2(Box::new(stream), head))
    }
}

/// A response whose head is there.
enum Begun {
    Http1 { conn: Option<Conn>, generation: u32, is_complete: bool, fault: Option<NetError> },
    Http2(Box<Stream>, crate::http2::StreamHead),
}

impl Disconnected {
    fn of_stream(lost: StreamError, attempt: &mut Attempt) -> Box<Self> {
        attempt.end = Clock::now();
        let retry = lost.is_unprocessed;
        Box::new(Self { error: lost.error, retry, backs_off: retry })
    }
}

impl Attempt {
    /// The response as far as its head.
    fn head_only(&self, status: u16, proto: Proto, headers: crate::header::HeaderBlock) -> Box<Response> {
        Box::new(Response {
            status,
            proto,
            headers,
            body: Bytes::new(),
            hold: BodyHold::default(),
            body_len: 0,
            remote: self.remote.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0))),
            tls: self.tls.clone(),
            timings: self.timings(),
            reused: self.reused,
        })
    }
}

impl Download {
    /// Waits for the next piece of the body and appends it to `out`: about a read's. False at the end of the body.
    /// Suspends the fiber.
    ///
    /// # Errors
    /// What is wrong with the body, the connection's failure, or why the wait ended. After a timeout it can be read on.
    pub fn read(&mut self, out: &mut Vec<u8>, deadline: Option<Nanos>) -> Result<bool, NetError> {
        let read = self.read_piece(deadline);
        self.attempt.end = Clock::now();
        let piece = read.map_err(NetError::in_body)?;
        let Some(piece) = piece else { return Ok(false) };
        self.body_len += piece.len() as u64;
        out.extend_from_slice(&piece);
        Ok(true)
    }

    fn read_piece(&mut self, deadline: Option<Nanos>) -> Result<Option<Bytes>, NetError> {
        match &mut self.source {
            Source::Http1(http1) => http1.read(deadline, &self.wire),
            Source::Http2(stream) => {
                let piece = stream.receive(deadline).map_err(|lost| lost.error)?;
                if piece.is_none() {
                    // What follows the data ends the stream; nobody looks at it.
                    stream.trailers(deadline).map_err(|lost| lost.error)?;
                    self.source = Source::Over;
                }
                Ok(piece)
            }
            Source::Over => Ok(None),
        }
    }

    /// The phases so far.
    pub fn timings(&self) -> Timings {
        self.attempt.timings()
    }

    /// Bytes of the body that were read, still encoded.
    pub fn body_len(&self) -> u64 {
        self.body_len
    }

    /// Leaves the connection to further requests if the body has been read to its end; closes it otherwise.
    pub fn finish(self, connections: &Connections) {
        if let Source::Http1(http1) = self.source
            && let Http1 { conn: Some(conn), generation, is_complete: true, .. } = *http1
            && generation == connections.generation.get()
        {
            connections.keep(conn);
        }
    }
}

impl Http1 {
    fn read(&mut self, deadline: Option<Nanos>, wire: &WireBytes) -> Result<Option<Bytes>, NetError> {
        loop {
            let piece = self.reader.take_body();
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
            if self.is_complete {
                return Ok(None);
            }
            if let Some(fault) = &self.fault {
                return Err(fault.clone());
            }
            let Some(conn) = &mut self.conn else { return Err(NetError::unexpected_eof()) };
            let step = match conn.receive(&mut self.reader, deadline, wire) {
                Ok(step) => step,
                Err(error) if [NetError::timeout(), NetError::cancelled()].contains(&error) => return Err(*error),
                Err(error) => {
                    self.conn = None;
                    self.fault = Some(*error);
                    continue;
                }
            };
            match step {
                Step::More | Step::Again => {
                    if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                        return Err(NetError::timeout());
                    }
                }
                Step::Done { clean } => {
                    self.is_complete = true;
                    if !clean || !self.reader.keeps_alive() {
                        self.conn = None;
                    }
                }
                Step::Eof => {
                    self.conn = None;
                    self.reader.finish()?;
                    self.is_complete = true;
                }
            }
        }
    }
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download").field("body_len", &self.body_len).finish_non_exhaustive()
    }
}
