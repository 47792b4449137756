//! One request and its response over a session.
//!
//! Sending and receiving go on at the same time: a server may answer while it reads. What lives in these frames while
//! the fiber waits is copied with its stack where fibers share one, so results are boxed.

use std::task::{Context, Poll};

use bytes::Bytes;
use h2::{RecvStream, SendStream, client::ResponseFuture};
use http::HeaderMap;
use onrush_fiber::{Clock, IoFailure, Nanos};

use crate::{
    body_budget::BodyHold,
    error::NetError,
    header::HeaderBlock,
    http1::{BodyMode, Limits, Request},
    link::WireBytes,
};

use super::{
    message::{Opening, announced_length, block, opening},
    outcome::{Broken, poll_response},
    session::{Ended, SEND_BYTES_MAX, Session},
};

/// A kept body is given its memory in steps of at most this, whatever length was announced.
const BODY_STEP_BYTES: u64 = 1 << 20;

/// When what happened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The request was out, body included.
    pub(crate) written: Option<Nanos>,
    /// The response's head was in.
    pub(crate) first_byte: Option<Nanos>,
    /// When the first byte was about to be handed to the kernel, on connections that are asked.
    pub(crate) handed: Option<Nanos>,
    /// When the kernel had the last byte that was read before the response was complete.
    pub(crate) arrived: Option<Nanos>,
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) status: u16,
    pub(crate) headers: HeaderBlock,
    pub(crate) body: Bytes,
    pub(crate) hold: BodyHold,
    pub(crate) body_len: u64,
}

/// A failed exchange.
#[derive(Debug)]
pub(crate) struct Disconnected {
    pub(crate) error: NetError,
    /// Go would send the request again on another connection.
    pub(crate) retry: bool,
    /// What had arrived when the body broke off.
    pub(crate) partial_body: Option<Bytes>,
}

impl Session {
    /// Sends a request and reads its response. Suspends the fiber.
    #[inline(never)]
    pub(crate) fn exchange(
        &self,
        request: &Request<'_>,
        mode: BodyMode,
        limits: Limits,
        deadline: Option<Nanos>,
        wire: &WireBytes,
        progress: &mut Progress,
    ) -> Result<Box<Message>, Box<Disconnected>> {
        let mut exchange = Exchange::begin(self, request, mode, limits, wire)?;
        let outcome = exchange.run(deadline, wire, progress).map(|()| exchange.take_message());
        let is_clean = outcome.is_ok() && exchange.is_sent;
        // Dropping the stream's handles resets it where it is still open; then `leave` tells the server.
        drop(exchange);
        self.leave(wire, is_clean);
        outcome
    }
}

impl Disconnected {
    #[cold]
    fn for_good(error: NetError) -> Box<Self> {
        Box::new(Self { error, retry: false, partial_body: None })
    }
}

/// An exchange under way.
struct Exchange<'a> {
    session: &'a Session,
    mode: BodyMode,
    limits: Limits,
    is_head_request: bool,
    stream: u32,
    response: ResponseFuture,
    /// `None` once the request is complete, or the server wants no more of it.
    upload: Option<Upload<'a>>,
    is_sent: bool,
    head: Option<Box<Head>>,
    body: Vec<u8>,
    hold: BodyHold,
    body_len: u64,
    interim_bytes: usize,
}

struct Upload<'a> {
    stream: SendStream<Bytes>,
    /// What is left of the current piece, and the pieces after it.
    rest: Bytes,
    further: &'a [Bytes],
}

impl Upload<'_> {
    /// Goes on to the next piece when one is through.
    fn advance(&mut self) {
        while self.rest.is_empty()
            && let Some((first, further)) = self.further.split_first()
        {
            (self.rest, self.further) = (first.clone(), further);
        }
    }
}

struct Head {
    status: u16,
    headers: HeaderBlock,
    length: Option<u64>,
    body: RecvStream,
}

impl<'a> Exchange<'a> {
    /// Opens a stream. What making a request takes on the stack is gone before the fiber waits, and what is needed
    /// while it does is on the heap.
    #[inline(never)]
    fn begin(
        session: &'a Session,
        request: &Request<'a>,
        mode: BodyMode,
        limits: Limits,
        wire: &WireBytes,
    ) -> Result<Box<Self>, Box<Disconnected>> {
        let Opening { request: head, body, wants_close } =
            opening(request, &mut session.defaults.borrow_mut()).map_err(Disconnected::for_good)?;
        let is_head_request = head.method() == http::Method::HEAD;
        if wants_close {
            session.retire();
        }
        session.enter();
        let (response, stream) = match session.open(head, body.is_none()) {
            Ok(opened) => opened,
            Err(error) => {
                session.leave(wire, false);
                return Err(not_opened(session, &error));
            }
        };
        let id = response.stream_id().as_u32();
        if body.is_some() {
            session.pipe.borrow().guard.watch(id);
        }
        Ok(Box::new(Self {
            session,
            mode,
            limits,
            is_head_request,
            stream: id,
            response,
            is_sent: body.is_none(),
            upload: body.map(|further| Upload { stream, rest: Bytes::new(), further }),
            head: None,
            body: Vec::new(),
            hold: BodyHold::new(limits.bodies),
            body_len: 0,
            interim_bytes: 0,
        }))
    }

    #[inline(never)]
    fn run(
        &mut self,
        deadline: Option<Nanos>,
        wire: &WireBytes,
        progress: &mut Progress,
    ) -> Result<(), Box<Disconnected>> {
        let waker = self.session.waker();
        let context = &mut Context::from_waker(&waker);
        if self.session.is_asked() {
            progress.handed = Some(Clock::now());
        }
        loop {
            if self.upload.is_some() {
                self.push(context, wire);
            }
            let is_flushed = self.session.turn(wire);
            if progress.written.is_none() && self.upload.is_none() && is_flushed {
                progress.written = Some(Clock::now());
            }
            match self.receive(context, progress) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => {
                    progress.arrived = self.session.arrived();
                    return Ok(());
                }
                Poll::Ready(Err(error)) => return Err(self.lost(error)),
            }
            let sends = self.upload.is_some() || progress.written.is_none();
            match self.session.wait(sends, deadline, wire) {
                Ok(()) => {}
                Err(IoFailure::Io(_)) => return Err(self.lost(self.session.ending())),
                Err(IoFailure::Timeout) => return Err(self.lost(Broken::Because(NetError::timeout()))),
                Err(IoFailure::Cancelled) => return Err(self.lost(Broken::Because(NetError::cancelled()))),
            }
        }
    }

    /// Hands `h2` what the server's windows allow of the request's body.
    #[inline(never)]
    fn push(&mut self, context: &mut Context<'_>, wire: &WireBytes) {
        while let Some(upload) = &mut self.upload {
            upload.advance();
            if upload.rest.is_empty() {
                self.is_sent = upload.stream.send_data(Bytes::new(), true).is_ok();
                self.upload = None;
                return;
            }
            let wanted = upload.rest.len().min(SEND_BYTES_MAX);
            upload.stream.reserve_capacity(wanted);
            let mut capacity = upload.stream.capacity();
            if capacity == 0 {
                match upload.stream.poll_capacity(context) {
                    Poll::Ready(Some(Ok(count))) => capacity = count,
                    Poll::Pending => return,
                    // Reset, or the connection is over: receiving tells what that means.
                    Poll::Ready(_) => {
                        self.upload = None;
                        return;
                    }
                }
            }
            if capacity == 0 {
                continue;
            }
            let piece = upload.rest.split_to(capacity.min(upload.rest.len()));
            upload.advance();
            let is_last = upload.rest.is_empty();
            let sent = upload.stream.send_data(piece, is_last);
            if is_last || sent.is_err() {
                self.is_sent = sent.is_ok();
                self.upload = None;
                return;
            }
            if !self.session.turn(wire) {
                return;
            }
        }
    }

    /// Takes what has arrived; ready when the response is complete.
    #[inline(never)]
    fn receive(&mut self, context: &mut Context<'_>, progress: &mut Progress) -> Poll<Result<(), Broken>> {
        if self.head.is_none() {
            let polled = poll_response(&mut self.response, &mut self.interim_bytes, &self.limits, self.stream, context);
            let Poll::Ready(response) = polled else { return Poll::Pending };
            let (parts, body) = response?.into_parts();
            progress.first_byte = Some(Clock::now());
            self.take_head(parts.status, &parts.headers, body);
        }
        loop {
            let Some(head) = &mut self.head else { return Poll::Pending };
            let data = match head.body.poll_data(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(error))) => {
                    let is_done = self.session.is_satisfied(self.stream, &error);
                    return Poll::Ready(if is_done { Ok(()) } else { Err(Broken::Stream(error)) });
                }
                Poll::Ready(Some(Ok(data))) => data,
            };
            let count = data.len();
            // The window is opened again by as much; only a stream that is gone refuses.
            let _ = head.body.flow_control().release_capacity(count);
            self.body_len += count as u64;
            if self.mode == BodyMode::Discard {
                continue;
            }
            if self.body_len > self.limits.body_bytes_max {
                let limit = self.limits.body_bytes_max;
                self.body = Vec::new();
                let error = NetError::generic(format!("response body exceeds {limit} bytes (--response-body-limit)"));
                return Poll::Ready(Err(Broken::Because(error)));
            }
            self.keep(&data);
            if let Err(error) = self.hold.cover(self.body.capacity()) {
                self.body = Vec::new();
                return Poll::Ready(Err(Broken::Because(error)));
            }
        }
    }

    fn take_head(&mut self, status: http::StatusCode, fields: &HeaderMap, body: RecvStream) {
        self.head = Some(Box::new(Head {
            status: status.as_u16(),
            headers: block(status, fields),
            length: announced_length(fields).filter(|_| !self.is_head_request),
            body,
        }));
    }

    fn keep(&mut self, data: &[u8]) {
        if self.body.capacity() == self.body.len() {
            let announced = self.head.as_ref().and_then(|head| head.length).unwrap_or_default();
            let rest = announced.saturating_sub(self.body.len() as u64).min(BODY_STEP_BYTES);
            let rest = usize::try_from(rest).unwrap_or_default();
            if rest >= data.len() {
                self.body.reserve_exact(rest);
            }
        }
        self.body.extend_from_slice(data);
    }

    fn take_message(&mut self) -> Box<Message> {
        let (status, headers) = match self.head.take() {
            Some(head) => (head.status, head.headers),
            None => (0, HeaderBlock::default()),
        };
        let hold = std::mem::replace(&mut self.hold, BodyHold::new(self.limits.bodies));
        Box::new(Message {
            status,
            headers,
            body: std::mem::take(&mut self.body).into(),
            hold,
            body_len: self.body_len,
        })
    }

    #[cold]
    #[inline(never)]
    fn lost(&mut self, broke: Broken) -> Box<Disconnected> {
        let in_body = self.head.is_some();
        let session = self.session;
        let (error, retry) = session.judge(self.stream, broke, || self.length_mismatch());
        let error = if in_body { error.in_body() } else { error };
        let partial_body = in_body.then(|| std::mem::take(&mut self.body).into());
        Box::new(Disconnected { error, retry: retry && !in_body, partial_body })
    }

    /// Go's text where the body is not as long as was said.
    fn length_mismatch(&self) -> Option<NetError> {
        let length = self.head.as_ref()?.length?;
        // The frame that did not fit is not part of the body.
        let refused = self.session.pipe.borrow().guard.last_data_bytes();
        if self.body_len + refused <= length {
            return Some(NetError::unexpected_eof());
        }
        Some(NetError::generic("net/http: server replied with more than declared Content-Length; truncated"))
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.session.pipe.borrow().guard.unwatch(self.stream);
    }
}

/// The stream could not even be opened: another connection may do better, unless the request itself is refused.
#[cold]
fn not_opened(session: &Session, error: &h2::Error) -> Box<Disconnected> {
    if is_about_request(error) {
        return Disconnected::for_good(NetError::generic(format!("http2: invalid request: {error}")));
    }
    session.retire();
    let error = match session.ended() {
        Some(Ended::Broken(error)) => error,
        Some(Ended::Fault(fault)) => fault.to_net_error(),
        _ => NetError::generic(format!("http2: client conn could not be established: {error}")),
    };
    Box::new(Disconnected { error, retry: true, partial_body: None })
}

/// Whether `h2` refuses what it was asked to send, whatever the connection. It has no other way to say so than its text.
fn is_about_request(error: &h2::Error) -> bool {
    let text = error.to_string();
    ["malformed headers", "request URI missing", "unexpected frame type"].iter().any(|about| text.contains(about))
}
