//! Streams that are handed out: head, data and trailers both ways, each when its owner wants it.
//!
//! Where [`super::exchange`] reads a response whole, a stream's owner says when. What it does not read stays within the
//! stream's window, and the server waits. One fiber may send while another receives; several senders take turns, so that
//! what each sends stays together. No `RefCell` is borrowed while a fiber waits.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream, client::ResponseFuture};
use onrush_fiber::{IoFailure, Nanos};

use crate::{
    error::NetError,
    header::HeaderBlock,
    http1::{Limits, Request, TlsInfo},
    link::WireBytes,
    turns::Turns,
};

use super::{
    fault::Fault,
    guard::reason,
    message::{block, opening, stream_opening, trailer_block, trailer_map},
    outcome::{Broken, poll_response},
    session::{SEND_BYTES_MAX, Session},
};

/// An HTTP/2 connection of one's own, for any number of streams. It closes when it and its streams are dropped.
pub struct Http2 {
    session: Rc<Session>,
    counts: Rc<WireBytes>,
    limits: Limits,
}

/// One stream, open until both sides have ended it. Dropping it before resets it (`CANCEL`).
pub struct Stream {
    session: Rc<Session>,
    counts: Rc<WireBytes>,
    limits: Limits,
    id: u32,
    sending: RefCell<SendStream<Bytes>>,
    senders: Turns,
    /// Our side is over: ended, or reset.
    is_sent: Cell<bool>,
    receiving: RefCell<Receiving>,
    interim_bytes: Cell<usize>,
}

/// How far the server's side is.
enum Receiving {
    Head(ResponseFuture),
    Body(RecvStream),
    /// It has ended, or failed; what was still to be read is gone.
    Over,
}

/// The head of a stream's response. Names are as they came, in lower case: see [`HeaderBlock::raw_fields`].
#[derive(Debug, Clone)]
pub struct StreamHead {
    /// The status code.
    pub status: u16,
    /// The fields.
    pub headers: HeaderBlock,
    /// Nothing follows, neither data nor trailers.
    pub is_end: bool,
}

/// Why a stream, or an operation on it, failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct StreamError {
    /// In k6's terms.
    pub error: NetError,
    /// The server's code, if it reset the stream.
    pub reset: Option<u32>,
    /// The server says that it has not looked at the request: it may be sent again on another connection.
    pub is_unprocessed: bool,
}

impl Http2 {
    pub(crate) fn new(session: Session, counts: Rc<WireBytes>, limits: Limits) -> Self {
        Self::over(Rc::new(session), counts, limits)
    }

    /// Streams over a connection that others use as well.
    pub(crate) fn over(session: Rc<Session>, counts: Rc<WireBytes>, limits: Limits) -> Self {
        Self { session, counts, limits }
    }

    /// Opens a stream with a request's head. Its body is not sent: the head says nothing of a length, and `end` that
    /// nothing follows. Does not wait.
    ///
    /// # Errors
    /// What is wrong with the head; or that the connection takes no further stream ([`StreamError::is_unprocessed`]).
    pub fn open(&self, request: &Request<'_>, end: bool) -> Result<Stream, StreamError> {
        let head = stream_opening(request, &mut self.session.defaults.borrow_mut()).map_err(StreamError::from)?;
        self.open_with(head, end)
    }

    /// Opens a stream for a request with its body: the pieces that are to be sent, if there are any.
    pub(crate) fn open_request<'a>(&self, request: &Request<'a>) -> Result<(Stream, Option<&'a [Bytes]>), StreamError> {
        let opening = opening(request, &mut self.session.defaults.borrow_mut()).map_err(StreamError::from)?;
        if opening.wants_close {
            self.session.retire();
        }
        let stream = self.open_with(opening.request, opening.body.is_none())?;
        Ok((stream, opening.body))
    }

    fn open_with(&self, head: http::Request<()>, end: bool) -> Result<Stream, StreamError> {
        let session = &self.session;
        if !session.has_room(&self.counts) {
            let error = match session.ended() {
                Some(_) => session.judge(0, session.ending(), || None).0,
                None if session.is_over() => NetError::generic("http2: the connection is closing"),
                None => NetError::generic("http2: the server takes no further stream at once"),
            };
            return Err(StreamError { error, reset: None, is_unprocessed: true });
        }
        session.enter();
        let opened = session.open(head, end);
        let (response, sending) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                session.leave(&self.counts, false);
                return Err(NetError::generic(format!("http2: invalid request: {error}")).into());
            }
        };
        let id = response.stream_id().as_u32();
        session.pipe.borrow().guard.watch(id);
        session.turn(&self.counts);
        Ok(Stream {
            session: Rc::clone(session),
            counts: Rc::clone(&self.counts),
            limits: self.limits,
            id,
            sending: RefCell::new(sending),
            senders: Turns::default(),
            is_sent: Cell::new(end),
            receiving: RefCell::new(Receiving::Head(response)),
            interim_bytes: Cell::new(0),
        })
    }

    /// Says hello, and waits for the server's SETTINGS: until then it may be something else that listens there.
    ///
    /// # Errors
    /// What the server said instead, or why the wait ended.
    pub fn ready(&self, deadline: Option<Nanos>) -> Result<(), StreamError> {
        let session = &self.session;
        let _relay = Relay(session);
        session.turn(&self.counts);
        loop {
            if session.ended().is_some() {
                return Err(session.judge(0, session.ending(), || None).0.into());
            }
            if session.pipe.borrow().guard.is_greeted() {
                return Ok(());
            }
            match session.wait(false, deadline, &self.counts) {
                Ok(()) | Err(IoFailure::Io(_)) => {}
                Err(failure) => return Err(waited(failure)),
            }
        }
    }

    /// Whether it takes another stream now: it is not closing, and the server's limit is not reached.
    pub fn has_room(&self) -> bool {
        self.session.has_room(&self.counts)
    }

    /// Whether it will never take another stream: it has ended, or the server has sent a GOAWAY.
    pub fn is_over(&self) -> bool {
        self.session.has_room(&self.counts);
        self.session.is_over()
    }

    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        self.session.peer()
    }

    /// What TLS negotiated.
    pub fn tls_info(&self) -> Option<Arc<TlsInfo>> {
        self.session.tls_info()
    }
}

impl Stream {
    /// Sends data, as the server's windows allow; with `end` it is the last. Suspends the fiber until all of it is handed
    /// over: at most 64 KB wait for the socket then.
    ///
    /// # Errors
    /// When the server has reset the stream or the connection is over, or why the wait ended; a part may have been sent.
    pub fn send(&self, data: Bytes, end: bool, deadline: Option<Nanos>) -> Result<(), StreamError> {
        let _turn = self.senders.take(deadline).map_err(waited)?;
        let _relay = Relay(&self.session);
        let mut rest = data;
        let waker = self.session.waker();
        let context = &mut Context::from_waker(&waker);
        loop {
            let pushed = self.push(&mut rest, end, context);
            let is_flushed = self.session.turn(&self.counts);
            match pushed {
                // What is handed over must not pile up: the socket takes it first.
                Poll::Ready(Ok(())) if is_flushed || end => return Ok(()),
                Poll::Ready(Err(error)) => return Err(self.failed(error)),
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
            self.wait(true, deadline)?;
        }
    }

    /// Sends trailers, each `name: value\r\n`, and ends our side.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn send_trailers(&self, lines: &[u8], deadline: Option<Nanos>) -> Result<(), StreamError> {
        let _turn = self.senders.take(deadline).map_err(waited)?;
        let fields = trailer_map(lines).map_err(StreamError::from)?;
        let sent = self.sending.borrow_mut().send_trailers(fields);
        self.is_sent.set(true);
        self.session.turn(&self.counts);
        sent.map_err(|error| self.failed(error))
    }

    /// Waits for the head of the response. Interim responses are passed over. To be called once.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    pub fn head(&self, deadline: Option<Nanos>) -> Result<StreamHead, StreamError> {
        self.receive_with(deadline, |receiving, context| {
            let Receiving::Head(response) = receiving else {
                return Poll::Ready(Err(Broken::Because(NetError::generic("http2: the head has been read"))));
            };
            let mut interim_bytes = self.interim_bytes.get();
            let polled = poll_response(response, &mut interim_bytes, &self.limits, self.id, context);
            self.interim_bytes.set(interim_bytes);
            let Poll::Ready(response) = polled else { return Poll::Pending };
            let (parts, body) = response?.into_parts();
            let is_end = body.is_end_stream();
            *receiving = Receiving::Body(body);
            let headers = block(parts.status, &parts.headers);
            Poll::Ready(Ok(StreamHead { status: parts.status.as_u16(), headers, is_end }))
        })
    }

    /// Waits for the next piece of data, which may be of any size; `None` at the end of the data. The window opens again
    /// by what is read.
    ///
    /// # Errors
    /// When the server resets the stream or breaks the protocol, when the connection ends, or why the wait ended. After a
    /// timeout it can be waited on.
    pub fn receive(&self, deadline: Option<Nanos>) -> Result<Option<Bytes>, StreamError> {
        self.receive_with(deadline, |receiving, context| {
            let body = match receiving {
                Receiving::Body(body) => body,
                Receiving::Over => return Poll::Ready(Ok(None)),
                Receiving::Head(_) => return Poll::Ready(Err(head_first())),
            };
            loop {
                return match body.poll_data(context) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(None) => Poll::Ready(Ok(None)),
                    Poll::Ready(Some(Err(error))) if self.session.is_satisfied(self.id, &error) => {
                        Poll::Ready(Ok(None))
                    }
                    Poll::Ready(Some(Err(error))) => Poll::Ready(Err(Broken::Stream(error))),
                    // The end of a stream may be a frame without data.
                    Poll::Ready(Some(Ok(data))) if data.is_empty() => continue,
                    Poll::Ready(Some(Ok(data))) => {
                        // Only a stream that is gone refuses.
                        let _ = body.flow_control().release_capacity(data.len());
                        Poll::Ready(Ok(Some(data)))
                    }
                };
            }
        })
    }

    /// Waits for what follows the data; `None` if nothing does. After [`Stream::receive`] has returned `None`.
    ///
    /// # Errors
    /// As [`Stream::receive`].
    pub fn trailers(&self, deadline: Option<Nanos>) -> Result<Option<HeaderBlock>, StreamError> {
        self.receive_with(deadline, |receiving, context| {
            let body = match receiving {
                Receiving::Body(body) => body,
                Receiving::Over => return Poll::Ready(Ok(None)),
                Receiving::Head(_) => return Poll::Ready(Err(head_first())),
            };
            let Poll::Ready(trailers) = body.poll_trailers(context) else { return Poll::Pending };
            let trailers = match trailers {
                Err(error) if self.session.is_satisfied(self.id, &error) => None,
                trailers => trailers.map_err(Broken::Stream)?,
            };
            *receiving = Receiving::Over;
            Poll::Ready(Ok(trailers.as_ref().map(trailer_block)))
        })
    }

    /// Ends the stream both ways at once, with an error code of RFC 9113, section 7.
    pub fn reset(&self, code: u32) {
        self.sending.borrow_mut().send_reset(Reason::from(code));
        *self.receiving.borrow_mut() = Receiving::Over;
        self.is_sent.set(true);
        self.session.turn(&self.counts);
    }

    /// Its number on the connection.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Polls until something is ready, waiting in between.
    fn receive_with<T>(
        &self,
        deadline: Option<Nanos>,
        mut poll: impl FnMut(&mut Receiving, &mut Context<'_>) -> Poll<Result<T, Broken>>,
    ) -> Result<T, StreamError> {
        let _relay = Relay(&self.session);
        let waker = self.session.waker();
        let context = &mut Context::from_waker(&waker);
        loop {
            let polled = poll(&mut self.receiving.borrow_mut(), context);
            match polled {
                Poll::Ready(outcome) => {
                    // What was read opens the window: the server is told at once.
                    self.session.turn(&self.counts);
                    return outcome.map_err(|broke| self.broke(broke));
                }
                Poll::Pending => self.wait(false, deadline)?,
            }
        }
    }

    fn wait(&self, sends: bool, deadline: Option<Nanos>) -> Result<(), StreamError> {
        match self.session.wait(sends, deadline, &self.counts) {
            Ok(()) => Ok(()),
            Err(IoFailure::Io(_)) if sends => Err(self.judged(self.session.ending())),
            Err(IoFailure::Io(_)) => Err(self.broke(self.session.ending())),
            Err(failure) => Err(waited(failure)),
        }
    }

    /// Hands `h2` what the server's windows allow.
    fn push(&self, rest: &mut Bytes, end: bool, context: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        let mut sending = self.sending.borrow_mut();
        loop {
            if rest.is_empty() {
                if end && !self.is_sent.replace(true) {
                    sending.send_data(Bytes::new(), true)?;
                }
                return Poll::Ready(Ok(()));
            }
            sending.reserve_capacity(rest.len().min(SEND_BYTES_MAX));
            let mut room = sending.capacity();
            if room == 0 {
                room = match sending.poll_capacity(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(room)) => room?,
                    Poll::Ready(None) => {
                        return Poll::Ready(sending.send_data(Bytes::new(), false));
                    }
                };
            }
            if room == 0 {
                continue;
            }
            let piece = rest.split_to(room.min(rest.len()));
            let is_last = end && rest.is_empty();
            sending.send_data(piece, is_last)?;
            self.is_sent.set(self.is_sent.get() || is_last);
        }
    }

    /// What it means that `h2` takes nothing more. What the server has said before is still to be read: it may have answered
    /// without waiting for the end of the request.
    #[cold]
    fn failed(&self, error: h2::Error) -> StreamError {
        if error.is_reset() || error.is_go_away() || error.is_io() {
            return self.judged(Broken::Stream(error));
        }
        // It only says that the stream is closed: why, others know.
        let context = &mut Context::from_waker(std::task::Waker::noop());
        let reset = self.sending.borrow_mut().poll_reset(context);
        match reset {
            Poll::Ready(Ok(code)) => {
                self.judged(Broken::Fault(Fault::Stream { stream: self.id, code: code.into(), from_peer: true }))
            }
            _ if self.session.ended().is_some() => self.judged(self.session.ending()),
            _ => NetError::generic(format!("http2: the stream takes no data ({error})")).into(),
        }
    }

    #[cold]
    fn broke(&self, broke: Broken) -> StreamError {
        *self.receiving.borrow_mut() = Receiving::Over;
        self.judged(broke)
    }

    #[cold]
    fn judged(&self, broke: Broken) -> StreamError {
        let reset = broke.reset_by_peer();
        let (error, is_retried) = self.session.judge(self.id, broke, || None);
        // Go sends requests again after this one, too; but it does not say that nothing was done.
        let is_unprocessed = is_retried && reset != Some(reason::PROTOCOL_ERROR);
        StreamError { error, reset, is_unprocessed }
    }
}

/// Whoever stops waiting for a stream has somebody else drive the connection.
struct Relay<'a>(&'a Session);

impl Drop for Relay<'_> {
    fn drop(&mut self) {
        self.0.hand_over();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let is_clean = self.is_sent.get() && matches!(*self.receiving.borrow(), Receiving::Over);
        if !is_clean {
            self.sending.borrow_mut().send_reset(Reason::CANCEL);
        }
        *self.receiving.borrow_mut() = Receiving::Over;
        self.session.pipe.borrow().guard.unwatch(self.id);
        self.session.leave(&self.counts, is_clean);
    }
}

impl From<NetError> for StreamError {
    fn from(error: NetError) -> Self {
        Self { error, reset: None, is_unprocessed: false }
    }
}

fn waited(failure: IoFailure) -> StreamError {
    match failure {
        IoFailure::Timeout => NetError::timeout().into(),
        IoFailure::Cancelled => NetError::cancelled().into(),
        IoFailure::Io(error) => NetError::generic(error.to_string()).into(),
    }
}

fn head_first() -> Broken {
    Broken::Because(NetError::generic("http2: the head comes before the data"))
}
