//! One HTTP/2 connection: the `h2` crate's state machine, polled from the thread's own loop with a pipe of memory for a
//! socket. No runtime is involved.
//!
//! Whatever arrives is put in the pipe, then everything is polled until nobody has asked to be woken, and what the pipe
//! holds then is sent. One request's way is in `stream`.

mod exchange;
mod pipe;
mod stream;

use std::{
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context as TaskContext, Poll, Wake, Waker},
};

use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake};
use rustls::ServerConnection;

use crate::{
    clock::monotonic_ns,
    context::Context,
    link::{Link, Protocol},
};
use pipe::PipeEnd;
use stream::{Advance, Stream};

/// What every HTTP/2 client sends first.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Streams a client may have open; nginx's number, and twice a browser's use.
const STREAMS_MAX: u32 = 128;
/// Bytes of one stream's body on their way to us, and of all of them together.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes of one stream's response that wait inside the state machine.
const SEND_BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Rounds of polling before other connections get their turn.
const ROUNDS_MAX: usize = 64;

/// An HTTP/2 connection's state.
pub(crate) struct Http2 {
    state: State,
    pipe: PipeEnd,
    woken: Arc<Woken>,
    waker: Waker,
    streams: Vec<Stream>,
    requests: u64,
    /// When a request last made progress, for time limits.
    progress_s: u32,
    /// Bytes handed over for sending that may not be in the output yet.
    queued_bytes: usize,
}

enum State {
    Handshake(Handshake<PipeEnd, Bytes>),
    Open(Connection<PipeEnd, Bytes>),
    /// The last bytes are being sent.
    Ended,
}

/// What a turn led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It waits for the client or for a time.
    Wait,
    /// It has more to do as soon as its output is sent.
    More,
    /// The connection is over once its output is sent.
    Ended,
    /// The connection is to be cut without a word.
    Cut,
}

/// Which limit applies to a waiting connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// For a request.
    Idle,
    /// For a request's body.
    Body,
    /// For room to send.
    Room,
    /// For a time: no limit.
    Time,
}

/// Notes that somebody inside the state machine wants to be polled again.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Http2 {
    pub(crate) fn new(cx: &Context) -> Self {
        let pipe = PipeEnd::default();
        let head_bytes_max = u32::try_from(cx.limits().head_bytes_max).unwrap_or(u32::MAX);
        let handshake = Builder::new()
            .max_concurrent_streams(STREAMS_MAX)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(head_bytes_max)
            .max_pending_accept_reset_streams(STREAMS_MAX as usize)
            .max_send_buffer_size(SEND_BUFFER_BYTES_MAX)
            .handshake(pipe.clone());
        let woken = Arc::<Woken>::default();
        Self {
            state: State::Handshake(handshake),
            pipe,
            waker: Waker::from(Arc::clone(&woken)),
            woken,
            streams: Vec::new(),
            requests: 0,
            progress_s: cx.now_s,
            queued_bytes: 0,
        }
    }

    /// Takes what was received.
    pub(crate) fn feed(&self, data: &[u8]) {
        self.pipe.0.borrow_mut().feed(data);
    }

    /// Goes on as far as possible; what is to be sent is then in the output.
    pub(crate) fn drive(
        &mut self,
        number: u64,
        peer: SocketAddr,
        tls: Option<&ServerConnection>,
        cx: &mut Context,
    ) -> Turn {
        let waker = self.waker.clone();
        let mut task = TaskContext::from_waker(&waker);
        let mut turn = Turn::More;
        for _ in 0..ROUNDS_MAX {
            self.woken.0.store(false, Ordering::Relaxed);
            let link = Link { number, peer, requests: self.requests, protocol: Protocol::Http2, tls, ntlm: None };
            let accepted = match self.accept(link, &mut task, cx) {
                Ok(accepted) => accepted,
                Err(end) => {
                    turn = end;
                    break;
                }
            };
            let now_ns = monotonic_ns();
            let mut moved = false;
            let mut cut = false;
            let queued_bytes = &mut self.queued_bytes;
            self.streams.retain_mut(|stream| {
                let advance = stream.advance(link, now_ns, &mut task, queued_bytes, cx);
                moved |= advance != Advance::Blocked;
                cut |= advance == Advance::Cut;
                advance != Advance::Done
            });
            if cut {
                turn = Turn::Cut;
                break;
            }
            if moved || accepted {
                self.progress_s = cx.now_s;
            }
            if !self.woken.0.load(Ordering::Relaxed) {
                turn = Turn::Wait;
                break;
            }
        }
        if self.pipe.0.borrow_mut().take_output(cx.out()) {
            // The state machine waits for room in the pipe, which there is now.
            turn = if turn == Turn::Wait { Turn::More } else { turn };
        } else {
            // What is handed over has room with the client: it is in the output.
            self.queued_bytes = 0;
        }
        if matches!(turn, Turn::Ended) {
            self.state = State::Ended;
            self.streams.clear();
        }
        turn
    }

    /// Takes the requests that have arrived; says whether there were any.
    fn accept(&mut self, link: Link<'_>, task: &mut TaskContext<'_>, cx: &mut Context) -> Result<bool, Turn> {
        if let State::Handshake(handshake) = &mut self.state {
            match Pin::new(handshake).poll(task) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Err(_)) => return Err(Turn::Ended),
                Poll::Ready(Ok(connection)) => self.state = State::Open(connection),
            }
        }
        let State::Open(connection) = &mut self.state else { return Err(Turn::Ended) };
        let mut accepted = false;
        loop {
            match connection.poll_accept(task) {
                Poll::Pending => return Ok(accepted),
                // Broken rules, after the GOAWAY that says so, and a goodbye.
                Poll::Ready(None | Some(Err(_))) => return Err(Turn::Ended),
                Poll::Ready(Some(Ok((request, respond)))) => {
                    accepted = true;
                    self.requests += 1;
                    let link = Link { requests: self.requests, ..link };
                    let stream = Stream::begin(request, respond, link, task, &mut self.queued_bytes, cx);
                    self.streams.extend(stream);
                }
            }
        }
    }

    /// The soonest time a stream waits for.
    pub(crate) fn deadline_ns(&self) -> Option<u64> {
        self.streams.iter().filter_map(Stream::at_ns).min()
    }

    /// What it waits for, and since when.
    pub(crate) fn waiting(&self) -> (Waiting, u32) {
        let mut waiting = Waiting::Idle;
        for stream in &self.streams {
            match stream.waiting() {
                // A stream that waits for its time is the target's own doing.
                Waiting::Time => return (Waiting::Time, self.progress_s),
                other => waiting = other,
            }
        }
        (waiting, self.progress_s)
    }

    /// Bytes of memory held, about.
    pub(crate) fn held_bytes(&self) -> usize {
        let streams: usize = self.streams.iter().map(Stream::held_bytes).sum();
        self.pipe.0.borrow().held_bytes() + self.queued_bytes + streams
    }
}
