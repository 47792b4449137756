//! One connection: its place in the exchange of requests and responses.
//!
//! A connection is driven by its events and timers and never blocks. It reads only while nothing waits to be written,
//! so a client that does not take its responses is not served further, and memory stays bounded.

mod answer;
mod websocket;

use std::{
    cell::Cell,
    io,
    mem::{MaybeUninit, take},
    net::SocketAddr,
};

use self::answer::after;
use crate::{
    body::{Body, Decoder, Sink},
    clock::monotonic_ns,
    context::Context,
    head::{Framing, HEADERS_MAX, Head, Refusal},
    http2::{Http2, PREFACE, Turn, Waiting},
    ntlm,
    reply::{Reply, ReplyMode},
    routes,
    source::{Progress, Source},
    stats::Class,
    timers::TimerId,
    transport::{Received, Transport},
    websocket as ws,
};

/// Turns one connection gets before others get theirs.
const ROUNDS_MAX: usize = 16;
/// Pipelined responses collected before they are sent.
const BATCH_BYTES_MAX: usize = 256 * 1024;
/// How long a refused client may go on sending before its connection is reset.
const LINGER_SECONDS: u32 = 5;
/// How long a WebSocket stays on which nothing happens.
const WEBSOCKET_SECONDS: u32 = 3600;
/// No time limit.
pub(crate) const NEVER: u32 = u32::MAX;

/// One client's connection.
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    peer: SocketAddr,
    /// Counts the thread's connections.
    number: u64,
    /// Requests so far.
    requests: u64,
    /// When the last answer was ready, where that is noted; else 0.
    answered_ns: u64,
    ntlm: Cell<ntlm::State>,
    slot: u32,
    phase: ConnectionPhase,
    /// Received and not yet understood.
    input: Vec<u8>,
    /// `input` holds more than an incomplete head: look at it before reading.
    retry: bool,
    /// The timer this connection waits for.
    pub(crate) timer: Option<TimerId>,
    /// The time that timer is set to, where several could be waited for.
    timer_ns: u64,
    /// Bytes charged to the thread's budget for this connection.
    pub(crate) charged_bytes: usize,
    /// One connection too many: its first request is answered with 503.
    refused: bool,
    /// When the current head began, for its time limit.
    head_started_s: u32,
    /// When output was last taken, for its time limit.
    written_s: u32,
    /// When lingering ends.
    linger_until_s: u32,
}

enum ConnectionPhase {
    /// Waiting for a request head, or reading one.
    Head,
    /// Reading a request's body.
    Body(Box<Upload>),
    /// A response waits for its time.
    Held(Box<Held>),
    /// A response's body is being produced.
    Stream { source: Source, keep_alive: bool },
    /// The last response is being sent. Lingering reads on for a while, so that a client still sending gets to see the
    /// response.
    Closing { linger: bool },
    /// What is sent so far is all, and then comes a reset.
    Reset,
    /// The client speaks HTTP/2.
    Http2(Box<Http2>),
    /// The connection is a WebSocket.
    WebSocket(Box<ws::Session>),
    /// Everything is sent: received bytes are dropped until the client is done.
    Linger,
}

struct Upload {
    /// The head's bytes, to be parsed again when the body is complete.
    head: Vec<u8>,
    decoder: Decoder,
    sink: Sink,
}

struct Held {
    reply: Reply,
    mode: ReplyMode,
    class: Class,
}

/// What is to become of a connection after it was driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It waits for an event or a timer.
    Wait,
    /// It had its turn and has more to do.
    Again,
    Close,
    /// It ends without a word.
    Reset,
}

impl Connection {
    pub(crate) fn new(
        transport: Transport,
        peer: SocketAddr,
        number: u64,
        slot: u32,
        refused: bool,
        now_s: u32,
    ) -> Self {
        Self {
            transport,
            peer,
            number,
            requests: 0,
            answered_ns: 0,
            ntlm: Cell::default(),
            slot,
            phase: ConnectionPhase::Head,
            input: Vec::new(),
            retry: false,
            timer: None,
            timer_ns: 0,
            charged_bytes: 0,
            refused,
            head_started_s: now_s,
            written_s: now_s,
            linger_until_s: NEVER,
        }
    }

    /// Goes on as far as possible without blocking.
    pub(crate) fn drive(&mut self, cx: &mut Context) -> Outcome {
        // Whatever fails on a socket, its connection is over.
        let outcome = self.advance(cx).unwrap_or(Outcome::Close);
        cx.clear_unsent();
        outcome
    }

    /// Whether it waits for a timer: then it does not look at its socket, and would not notice that its client is gone.
    pub(crate) fn is_timed(&self) -> bool {
        self.timer.is_some()
    }

    /// Bytes of memory this connection holds, besides a fixed few hundred.
    pub(crate) fn held_bytes(&self) -> usize {
        let phase_bytes = match &self.phase {
            ConnectionPhase::Body(upload) => upload.head.capacity() + upload.sink.held_bytes(),
            ConnectionPhase::Held(held) => held.reply.held_bytes(),
            ConnectionPhase::Http2(http2) => http2.held_bytes(),
            ConnectionPhase::WebSocket(session) => session.held_bytes(),
            _ => 0,
        };
        phase_bytes + self.input.capacity() + self.transport.held_bytes()
    }

    fn advance(&mut self, cx: &mut Context) -> io::Result<Outcome> {
        for _ in 0..ROUNDS_MAX {
            if self.transport.has_pending() {
                let (drained, moved) = self.transport.flush()?;
                if moved {
                    self.written_s = cx.now_s;
                }
                if !drained {
                    return Ok(Outcome::Wait);
                }
            }
            match &mut self.phase {
                ConnectionPhase::Head | ConnectionPhase::Body(_) => {
                    if !self.read(cx)? {
                        return Ok(if self.transport.ending && self.at_end() { Outcome::Close } else { Outcome::Wait });
                    }
                }
                ConnectionPhase::Held(_) | ConnectionPhase::Stream { .. } if self.timer.is_some() => {
                    return Ok(Outcome::Wait);
                }
                ConnectionPhase::Held(_) => {
                    if let ConnectionPhase::Held(held) = std::mem::replace(&mut self.phase, ConnectionPhase::Head) {
                        self.emit(held.reply, held.mode, held.class, cx);
                    }
                }
                ConnectionPhase::Stream { source, keep_alive } => match source.produce(monotonic_ns(), cx.out()) {
                    Progress::More => {}
                    Progress::At(deadline_ns) => {
                        self.timer = Some(cx.timers.add(deadline_ns, self.slot));
                    }
                    Progress::Done => self.phase = after(*keep_alive),
                },
                ConnectionPhase::Closing { linger } => {
                    // Closing on unread bytes would reset the connection, and the client might lose a response it has
                    // not read yet.
                    let unread = self.transport.readable && !self.transport.ending;
                    let linger = *linger || unread;
                    self.transport.finish();
                    if !linger {
                        return Ok(Outcome::Close);
                    }
                    self.linger_until_s = cx.now_s.saturating_add(LINGER_SECONDS);
                    self.input = Vec::new();
                    self.phase = ConnectionPhase::Linger;
                }
                ConnectionPhase::Http2(_) => {
                    let received = self.read(cx)?;
                    match self.drive_http2(cx) {
                        Turn::Cut => self.phase = ConnectionPhase::Closing { linger: false },
                        Turn::Ended => self.phase = ConnectionPhase::Closing { linger: true },
                        Turn::More => {}
                        Turn::Wait if received || !cx.unsent().is_empty() => {}
                        Turn::Wait => return Ok(Outcome::Wait),
                    }
                }
                ConnectionPhase::WebSocket(_) => {
                    let received = self.read(cx)?;
                    match self.drive_websocket(cx) {
                        ws::Turn::Close => self.phase = ConnectionPhase::Closing { linger: true },
                        ws::Turn::Reset => self.phase = ConnectionPhase::Reset,
                        ws::Turn::Stall => self.stall(cx),
                        ws::Turn::More => {}
                        ws::Turn::Wait | ws::Turn::At(_) if received || !cx.unsent().is_empty() => {}
                        ws::Turn::Wait | ws::Turn::At(_) => return Ok(Outcome::Wait),
                    }
                }
                ConnectionPhase::Reset => return Ok(Outcome::Reset),
                ConnectionPhase::Linger => match self.transport.receive(cx)? {
                    Received::Bytes(_) => {}
                    Received::Nothing if self.transport.readable => {}
                    Received::Nothing => return Ok(Outcome::Wait),
                    Received::End => return Ok(Outcome::Close),
                },
            }
            if !cx.unsent().is_empty() {
                self.written_s = cx.now_s;
                self.transport.send(cx)?;
            }
        }
        Ok(Outcome::Again)
    }

    /// Lets the HTTP/2 side go on, and sets the timer its streams need.
    fn drive_http2(&mut self, cx: &mut Context) -> Turn {
        let ConnectionPhase::Http2(http2) = &mut self.phase else {
            // Reading has found the end of the connection.
            return Turn::More;
        };
        let turn = http2.drive(self.number, self.peer, self.transport.tls(), cx);
        let deadline_ns = http2.deadline_ns();
        if self.timer.is_some() && deadline_ns != Some(self.timer_ns) {
            self.timer = None;
            cx.timers.replaced();
        }
        if let (None, Some(deadline_ns)) = (self.timer, deadline_ns) {
            self.timer = Some(cx.timers.add(deadline_ns, self.slot));
            self.timer_ns = deadline_ns;
        }
        turn
    }

    /// Reads and handles what there is; false when there is nothing to do.
    fn read(&mut self, cx: &mut Context) -> io::Result<bool> {
        if self.retry {
            self.retry = false;
            self.head_started_s = cx.now_s;
            self.take_input(cx);
            return Ok(true);
        }
        if !self.transport.readable {
            return Ok(false);
        }
        match self.transport.receive(cx)? {
            Received::End => {
                self.transport.ending = true;
                self.transport.readable = false;
                // A client that leaves in the middle gets no answer: it is gone, or it would not have stopped there.
                self.phase = ConnectionPhase::Closing { linger: false };
            }
            Received::Nothing => {}
            Received::Bytes(bytes) => {
                let tls = self.transport.is_tls();
                let data = take(if tls { &mut cx.plain } else { &mut cx.read });
                if self.input.is_empty() {
                    let used = self.ingest(&data[..bytes], cx);
                    if used < bytes {
                        self.head_started_s = cx.now_s;
                        self.input.extend_from_slice(&data[used..bytes]);
                    }
                } else {
                    self.input.extend_from_slice(&data[..bytes]);
                    // A head ends with a line end. Without one there is no point in parsing again, unless the head has
                    // grown too large: a client that sends byte by byte costs little.
                    let line_ended = memchr::memchr(b'\n', &data[..bytes]).is_some();
                    let grown = self.input.len() > cx.limits().target_bytes_max;
                    if line_ended
                        || self.input.len() > cx.limits().head_bytes_max
                        || grown && memchr::memchr(b'\n', &self.input).is_none()
                    {
                        self.take_input(cx);
                    }
                }
                *(if tls { &mut cx.plain } else { &mut cx.read }) = data;
            }
        }
        Ok(true)
    }

    /// Handles what was received earlier.
    fn take_input(&mut self, cx: &mut Context) {
        let mut input = take(&mut self.input);
        let used = self.ingest(&input, cx);
        if used == input.len() {
            // Nothing is kept, not even the buffer.
        } else if used == 0 {
            self.input = input;
        } else {
            self.head_started_s = cx.now_s;
            input.drain(..used);
            self.input = input;
        }
    }

    /// Whether an ended stream leaves nothing to do.
    fn at_end(&self) -> bool {
        !self.transport.readable && !self.retry
    }

    /// Handles received bytes; returns how many are dealt with.
    fn ingest(&mut self, data: &[u8], cx: &mut Context) -> usize {
        let mut at = 0;
        while at < data.len() {
            match &mut self.phase {
                ConnectionPhase::Head => {
                    if cx.unsent().len() >= BATCH_BYTES_MAX {
                        self.retry = true;
                        break;
                    }
                    if data[at] == b'P' && self.requests == 0 && cx.shared.http2 {
                        let start = &data[at..];
                        if start.starts_with(PREFACE) {
                            self.phase = ConnectionPhase::Http2(Box::new(Http2::new(cx)));
                            continue;
                        }
                        // "P", too, is the beginning of other methods.
                        if start.len() > 1 && PREFACE.starts_with(start) {
                            break;
                        }
                    }
                    // Empty lines before a request are skipped, as RFC 9112 says.
                    if matches!(data[at], b'\r' | b'\n') {
                        at += 1;
                        continue;
                    }
                    match self.head(&data[at..], cx) {
                        Ok(0) => break,
                        Ok(used) => at += used,
                        Err(refusal) => self.refuse(refusal, cx),
                    }
                }
                ConnectionPhase::Body(upload) => {
                    let sink = &mut upload.sink;
                    match upload.decoder.feed(&data[at..], |piece| sink.take(piece)) {
                        Ok(used) => {
                            at += used;
                            if upload.decoder.is_done() {
                                self.finish_upload(cx);
                            }
                        }
                        Err(refusal) => self.refuse(refusal, cx),
                    }
                }
                ConnectionPhase::Held(_) | ConnectionPhase::Stream { .. } => {
                    self.retry = true;
                    break;
                }
                ConnectionPhase::Http2(http2) => {
                    http2.feed(&data[at..]);
                    return data.len();
                }
                ConnectionPhase::WebSocket(session) => {
                    session.feed(&data[at..]);
                    return data.len();
                }
                // What follows the last request is not of interest.
                ConnectionPhase::Closing { .. } | ConnectionPhase::Reset | ConnectionPhase::Linger => {
                    return data.len();
                }
            }
        }
        at
    }

    /// Handles a request head, and its body if that is complete. Returns the bytes used, 0 when the head is not
    /// complete.
    fn head(&mut self, data: &[u8], cx: &mut Context) -> Result<usize, Refusal> {
        let mut storage = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let Some(head) = Head::parse(data, &mut storage, cx.limits())? else {
            return Ok(0);
        };
        if self.refused {
            return Err(Refusal::new(503, "too many connections"));
        }
        if head.framing == Framing::None {
            self.respond(&head, Body::Kept { data: &[], total: 0 }, cx);
            return Ok(head.bytes);
        }
        let mut decoder = Decoder::new(head.framing, cx.limits())?;
        let mut sink = routes::sink(&head, cx.limits())?;
        let head_bytes = head.bytes;
        let rest = &data[head_bytes..];
        if let (Framing::Length(length), Sink::Keep { bytes_max, .. }) = (head.framing, &sink)
            && length <= rest.len() as u64
            && length <= *bytes_max as u64
        {
            // The common case of a small body that came with its head.
            let body = &rest[..length as usize];
            self.respond(&head, Body::Kept { data: body, total: length }, cx);
            return Ok(head_bytes + body.len());
        }
        let used = decoder.feed(rest, |piece| sink.take(piece))?;
        if decoder.is_done() {
            let body = sink.finish()?;
            self.respond(&head, body, cx);
        } else {
            if head.expect_continue && rest.is_empty() {
                cx.out().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            let head = data[..head_bytes].to_vec();
            self.phase = ConnectionPhase::Body(Box::new(Upload { head, decoder, sink }));
        }
        Ok(head_bytes + used)
    }

    /// Answers a request whose body has arrived in pieces.
    fn finish_upload(&mut self, cx: &mut Context) {
        let ConnectionPhase::Body(mut upload) = std::mem::replace(&mut self.phase, ConnectionPhase::Head) else {
            return;
        };
        let mut storage = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let outcome = Head::parse(&upload.head, &mut storage, cx.limits()).and_then(|head| {
            // The same bytes were a complete head before.
            let head = head.ok_or(Refusal::new(500, "request head lost"))?;
            Ok((head, upload.sink.finish()?))
        });
        match outcome {
            Ok((head, body)) => self.respond(&head, body, cx),
            Err(refusal) => self.refuse(refusal, cx),
        }
    }

    /// The second at which this connection has waited too long.
    pub(crate) fn deadline_s(&self, cx: &Context) -> u32 {
        let limits = cx.limits();
        let after = |start_s: u32, limit: std::time::Duration| {
            // One second more, because seconds are counted by their beginnings.
            start_s.saturating_add(u32::try_from(limit.as_secs()).unwrap_or(NEVER)).saturating_add(1)
        };
        if self.transport.has_pending() {
            return after(self.written_s, limits.write_timeout);
        }
        match &self.phase {
            ConnectionPhase::Head if self.transport.is_handshaking() || !self.input.is_empty() => {
                after(self.head_started_s, limits.head_timeout)
            }
            ConnectionPhase::Head => after(cx.now_s, limits.idle_timeout),
            ConnectionPhase::Body(_) => after(cx.now_s, limits.body_timeout),
            ConnectionPhase::Http2(http2) => match http2.waiting() {
                (Waiting::Idle, since_s) => after(since_s, limits.idle_timeout),
                (Waiting::Body, since_s) => after(since_s, limits.body_timeout),
                (Waiting::Room, since_s) => after(since_s, limits.write_timeout),
                (Waiting::Time, _) => NEVER,
            },
            ConnectionPhase::Held(_) | ConnectionPhase::Stream { .. } => NEVER,
            ConnectionPhase::WebSocket(_) => cx.now_s.saturating_add(WEBSOCKET_SECONDS),
            ConnectionPhase::Closing { .. } | ConnectionPhase::Reset => after(self.written_s, limits.write_timeout),
            ConnectionPhase::Linger => self.linger_until_s,
        }
    }

    /// Called at the deadline: says why it ends, if that helps anybody.
    pub(crate) fn time_out(&mut self, cx: &mut Context) -> Outcome {
        let answerable = !self.transport.has_pending() && !self.transport.is_handshaking();
        match &self.phase {
            ConnectionPhase::Head if answerable && !self.input.is_empty() => {}
            ConnectionPhase::Body(_) if answerable => {}
            _ => return Outcome::Close,
        }
        self.refuse(Refusal::new(408, "request took too long"), cx);
        if self.transport.send(cx).is_err() {
            return Outcome::Close;
        }
        self.drive(cx)
    }
}
