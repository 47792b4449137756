//! One connection: TCP, with TLS on it or not, moving bytes between a socket and a response reader.
//!
//! All connections of a thread share one read buffer. It is only touched between two suspensions: a
//! fiber waits until its socket is readable, reads into the buffer, feeds its reader, and only then may
//! wait again.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use onrush_fiber::{Clock, IoFailure, Nanos, TcpStream, Woke, yield_now};

use crate::error::{Ends, NetError, Op, code};
use crate::http1::{Fed, ResponseReader, TlsInfo};
use crate::options::ClientShared;
use crate::tls::{Advance, TlsSession, to_net_error};

/// The shared read buffer. One read of this size takes what a socket buffer usually holds; responses of
/// load tests are far smaller.
const SCRATCH_BYTES: usize = 64 << 10;
/// From this size on, what is missing of a body is read straight into the body.
const DIRECT_READ_BYTES_MIN: usize = 16 << 10;
/// This much of a body is copied behind its head, so that most requests go out in one write.
const INLINE_BODY_BYTES_MAX: usize = 16 << 10;
/// Writes and reads of a long request between two chances for other fibers.
const PUSH_ROUNDS_MAX: u32 = 16;
/// Plaintext encrypted at a time.
const TLS_WRITE_BYTES: usize = 64 << 10;
/// A write buffer that grew beyond this is not kept for the next request.
const OUT_BYTES_KEPT: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH_BYTES].into());
    /// The buffer requests are serialised into. Taken while one is written: a fiber that has to wait in
    /// its write keeps it, and the next one starts a new one.
    static OUT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Where a connection goes: what requests must have in common to share it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

impl Origin {
    /// Whether it is this one.
    pub(crate) fn is(&self, host: &str, port: u16, is_tls: bool) -> bool {
        self.port == port && self.is_tls == is_tls && self.host.eq_ignore_ascii_case(host)
    }
}

/// Bytes that crossed the wire, TLS included.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    pub(crate) sent: Cell<u64>,
    pub(crate) received: Cell<u64>,
}

impl WireBytes {
    fn add_sent(&self, count: usize) {
        self.sent.set(self.sent.get() + count as u64);
    }

    fn add_received(&self, count: usize) {
        self.received.set(self.received.get() + count as u64);
    }
}

/// An open connection. Idle, it holds no buffer.
pub(crate) struct Conn {
    stream: TcpStream,
    tls: Option<Box<TlsSession>>,
    pub(crate) origin: Rc<Origin>,
}

/// When the phases of making a connection happened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DialMarks {
    pub(crate) connect_start: Nanos,
    pub(crate) connected: Nanos,
    pub(crate) secured: Option<Nanos>,
}

/// What came of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Bytes were fed; the response goes on.
    More,
    /// The response is complete. `clean` when nothing came after it, so that the connection can be used
    /// again.
    Done { clean: bool },
    /// The peer has closed its side.
    Eof,
    /// Nothing for the reader yet.
    Again,
}

/// How sending a request ended.
pub(crate) enum Sent {
    /// All of it is out.
    All,
    /// The peer has answered in full, or closed, before it had read it all.
    Answered(Step),
}

/// Why a request could not be sent.
pub(crate) enum SendFailure {
    /// The socket. `sent_any` says whether the peer may have received a part.
    Socket { failure: IoFailure, sent_any: bool },
    /// What came back meanwhile was wrong, or TLS.
    Other(Box<NetError>),
}

impl Conn {
    /// Connects to `address` and, for a TLS origin, shakes hands. `marks` is filled as far as it comes.
    pub(crate) fn open(
        shared: &ClientShared,
        origin: Rc<Origin>,
        address: SocketAddr,
        local: Option<IpAddr>,
        deadline: Option<Nanos>,
        marks: &mut DialMarks,
        wire: &WireBytes,
    ) -> Result<Self, NetError> {
        marks.connect_start = Clock::now();
        let dial_deadline = marks.connect_start + shared.dial_timeout();
        let until = deadline.map_or(dial_deadline, |deadline| deadline.min(dial_deadline));
        let stream = match TcpStream::connect(address, local, Some(until)) {
            Ok(stream) => stream,
            Err(IoFailure::Io(error)) => return Err(NetError::dial(&error, address)),
            Err(IoFailure::Cancelled) => return Err(NetError::cancelled()),
            Err(IoFailure::Timeout) if deadline.is_some_and(|deadline| deadline <= dial_deadline) => {
                return Err(NetError::timeout());
            }
            Err(IoFailure::Timeout) => return Err(NetError::dial_timeout(address)),
        };
        marks.connected = Clock::now();
        let mut conn = Self { stream, tls: None, origin };
        if conn.origin.is_tls {
            conn.secure(shared, deadline, wire)?;
            marks.secured = Some(Clock::now());
        }
        Ok(conn)
    }

    /// The peer's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.stream.peer_addr()
    }

    /// Both ends' addresses, for an error's text.
    pub(crate) fn ends(&self) -> Ends {
        Ends { local: self.stream.local_addr().ok(), peer: self.peer() }
    }

    #[cold]
    #[inline(never)]
    fn read_error(&self, failure: &IoFailure) -> Box<NetError> {
        Box::new(NetError::waiting(Op::Read, failure, self.ends()))
    }

    /// What TLS negotiated.
    pub(crate) fn tls_info(&self) -> Option<TlsInfo> {
        self.tls.as_ref().and_then(|tls| tls.info())
    }

    /// Whether an idle connection can be used: the peer has neither closed it nor said anything.
    pub(crate) fn is_fresh(&mut self, wire: &WireBytes) -> bool {
        if !self.stream.is_readable() {
            return true;
        }
        if self.stream.is_closed_by_peer() {
            return false;
        }
        if !self.stream.is_readable() {
            return true;
        }
        // Over TLS it may be a session ticket; data nobody asked for means the two sides disagree.
        let mut unasked = self.tls.is_none();
        while !unasked && self.stream.is_readable() {
            match self.pull_tls(wire, |_| unasked = true) {
                Ok((_, Step::Again)) => {}
                Ok(_) | Err(_) => return false,
            }
        }
        !unasked
    }

    /// Writes a request's head and body.
    ///
    /// While a long body does not fit into the socket, what the peer already answers is fed to `reader`:
    /// a server that answers while it reads would otherwise wait for us as we wait for it.
    #[inline(never)]
    pub(crate) fn send(
        &mut self,
        head: &mut Vec<u8>,
        body: &[u8],
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let inline = body.len().min(INLINE_BODY_BYTES_MAX);
        head.extend_from_slice(&body[..inline]);
        if self.tls.is_some() {
            return self.send_tls(head, &body[inline..], reader, deadline, wire);
        }
        // One write that fails has sent nothing: this much fits in an empty socket buffer.
        self.stream.write_all(head, deadline).map_err(|failure| SendFailure::Socket { failure, sent_any: false })?;
        wire.add_sent(head.len());
        if inline == body.len() {
            return Ok(Sent::All);
        }
        self.push(&body[inline..], reader, deadline, wire).map_err(|failure| match failure {
            SendFailure::Socket { failure, .. } => SendFailure::Socket { failure, sent_any: true },
            other => other,
        })
    }

    #[inline(never)]
    fn send_tls(
        &mut self,
        head: &[u8],
        rest: &[u8],
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let mut records = take_out();
        for (number, piece) in std::iter::once(head).chain(rest.chunks(TLS_WRITE_BYTES)).enumerate() {
            let tls = self.tls.as_mut().expect("send_tls is called on TLS connections");
            records.clear();
            tls.encrypt(piece, &mut records)
                .map_err(|error| SendFailure::Other(Box::new(to_net_error(&error, &self.origin.host))))?;
            match self.push(&records, reader, deadline, wire) {
                Ok(Sent::All) => {}
                Ok(Sent::Answered(step)) => return Ok(Sent::Answered(step)),
                Err(SendFailure::Socket { failure, sent_any }) => {
                    return Err(SendFailure::Socket { failure, sent_any: sent_any || number > 0 });
                }
                Err(other) => return Err(other),
            }
        }
        give_out(records);
        Ok(Sent::All)
    }

    /// Writes all of `bytes`, reading what comes in meanwhile.
    #[inline(never)]
    fn push(
        &mut self,
        mut bytes: &[u8],
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Sent, SendFailure> {
        let mut sent_any = false;
        let socket = |failure: IoFailure, sent_any: bool| SendFailure::Socket { failure, sent_any };
        let mut rounds = 0_u32;
        while !bytes.is_empty() {
            rounds += 1;
            if rounds.is_multiple_of(PUSH_ROUNDS_MAX) {
                // A peer that is as fast as we are must not own the thread.
                if yield_now() == Woke::Cancelled {
                    return Err(socket(IoFailure::Cancelled, sent_any));
                }
                if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                    return Err(socket(IoFailure::Timeout, sent_any));
                }
            }
            match self.stream.try_write(bytes) {
                Ok(Some(count)) => {
                    wire.add_sent(count);
                    sent_any = true;
                    bytes = &bytes[count..];
                    continue;
                }
                Ok(None) => {}
                Err(failure) => return Err(socket(failure, sent_any)),
            }
            if !self.stream.is_readable() {
                self.stream.wait_any(deadline).map_err(|failure| socket(failure, sent_any))?;
                continue;
            }
            match self.receive_now(reader, wire) {
                Ok(Step::More | Step::Again) => {}
                Ok(step) => return Ok(Sent::Answered(step)),
                Err(error) => return Err(SendFailure::Other(error)),
            }
        }
        Ok(Sent::All)
    }

    /// Waits for bytes and feeds them to `reader`.
    pub(crate) fn receive(
        &mut self,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Step, Box<NetError>> {
        if self.tls.is_some() {
            return self.receive_tls(reader, deadline, wire);
        }
        if let Some(space) = reader.direct_space(DIRECT_READ_BYTES_MIN) {
            let count = self.stream.read(space, deadline).map_err(|failure| self.read_error(&failure))?;
            wire.add_received(count);
            return Ok(match reader.advance(count) {
                _ if count == 0 => Step::Eof,
                Fed::More => Step::More,
                Fed::Done { .. } => Step::Done { clean: true },
            });
        }
        self.wait_readable(deadline)?;
        self.receive_now(reader, wire)
    }

    /// Feeds what has arrived, without waiting.
    pub(crate) fn receive_now(&mut self, reader: &mut ResponseReader, wire: &WireBytes) -> Result<Step, Box<NetError>> {
        if self.tls.is_some() {
            return self.feed_tls(reader, wire);
        }
        SCRATCH.with_borrow_mut(|scratch| match self.stream.try_read(scratch) {
            Ok(None) => Ok(Step::Again),
            Ok(Some(0)) => Ok(Step::Eof),
            Ok(Some(count)) => {
                wire.add_received(count);
                Ok(match reader.feed(&scratch[..count])? {
                    Fed::Done { used } => Step::Done { clean: used == count },
                    Fed::More => Step::More,
                })
            }
            Err(failure) => Err(self.read_error(&failure)),
        })
    }

    // For HTTP/2, where several fibers share a connection: nothing here waits.

    /// Whether HTTP/2 was agreed on.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.speaks_http2())
    }

    /// Whether something may have arrived.
    pub(crate) fn is_readable(&self) -> bool {
        self.stream.is_readable()
    }

    /// Has the current fiber woken when something arrives and, with `writes`, when the socket takes bytes
    /// again; until [`Conn::notify_nobody`].
    pub(crate) fn notify(&self, writes: bool) -> Result<(), IoFailure> {
        self.stream.notify_readable()?;
        if writes { self.stream.notify_writable() } else { Ok(()) }
    }

    /// Ends what [`Conn::notify`] began.
    pub(crate) fn notify_nobody(&self) {
        self.stream.notify_nobody();
    }

    /// Reads once what has arrived and hands it, decrypted, to `sink`.
    #[inline(never)]
    pub(crate) fn pull(&mut self, wire: &WireBytes, mut sink: impl FnMut(&[u8])) -> Result<Step, Box<NetError>> {
        if self.tls.is_some() {
            return self.pull_tls(wire, sink).map(|(_, step)| step).map_err(Box::new);
        }
        SCRATCH.with_borrow_mut(|scratch| match self.stream.try_read(scratch) {
            Ok(None) => Ok(Step::Again),
            Ok(Some(0)) => Ok(Step::Eof),
            Ok(Some(count)) => {
                wire.add_received(count);
                sink(&scratch[..count]);
                Ok(Step::More)
            }
            Err(failure) => Err(self.read_error(&failure)),
        })
    }

    /// What goes over the wire for `plain`, which is given back where it is not the answer itself.
    pub(crate) fn seal(&mut self, plain: Vec<u8>) -> Result<Vec<u8>, Box<NetError>> {
        let Some(tls) = &mut self.tls else { return Ok(plain) };
        let mut records = take_out();
        tls.encrypt(&plain, &mut records).map_err(|error| Box::new(to_net_error(&error, &self.origin.host)))?;
        give_out(plain);
        Ok(records)
    }

    /// Writes what the socket takes; `None` if that is nothing.
    pub(crate) fn write_some(&self, bytes: &[u8], wire: &WireBytes) -> Result<Option<usize>, IoFailure> {
        let count = self.stream.try_write(bytes)?;
        wire.add_sent(count.unwrap_or_default());
        Ok(count)
    }

    fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), Box<NetError>> {
        self.stream.wait_readable(deadline).map_err(|failure| self.read_error(&failure))
    }

    fn receive_tls(
        &mut self,
        reader: &mut ResponseReader,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<Step, Box<NetError>> {
        self.wait_readable(deadline)?;
        let step = self.feed_tls(reader, wire)?;
        self.flush(deadline, wire)?;
        Ok(step)
    }

    #[inline(never)]
    fn feed_tls(&mut self, reader: &mut ResponseReader, wire: &WireBytes) -> Result<Step, Box<NetError>> {
        let mut outcome = Ok(None);
        let mut excess = false;
        let (_, step) = self.pull_tls(wire, |data| match outcome {
            Ok(None | Some(Fed::More)) => {
                outcome = reader.feed(data).map(Some);
                if let Ok(Some(Fed::Done { used })) = outcome {
                    excess = used < data.len();
                }
            }
            Ok(Some(Fed::Done { .. })) => excess = true,
            Err(_) => {}
        })?;
        Ok(match outcome? {
            Some(Fed::Done { .. }) => Step::Done { clean: !excess && !matches!(step, Step::Eof) },
            Some(Fed::More) if !matches!(step, Step::Eof) => Step::More,
            _ => step,
        })
    }

    /// Reads once and drives the TLS session over it; `Step::Eof` when the peer has closed.
    fn pull_tls(&mut self, wire: &WireBytes, sink: impl FnMut(&[u8])) -> Result<(Advance, Step), NetError> {
        let (stream, origin) = (&self.stream, &self.origin);
        let tls = self.tls.as_mut().expect("pull_tls is called on TLS connections");
        SCRATCH.with_borrow_mut(|scratch| {
            let kept = tls.pending().len();
            let mut long;
            // Room behind what is pending; a long handshake message gets a buffer of its own.
            let buffer: &mut [u8] = if kept <= SCRATCH_BYTES / 2 {
                scratch
            } else {
                long = vec![0; kept + SCRATCH_BYTES];
                &mut long
            };
            buffer[..kept].copy_from_slice(tls.pending());
            let count = match stream.try_read(&mut buffer[kept..]) {
                Ok(None) => return Ok((Advance::Handshaking, Step::Again)),
                Ok(Some(0)) => return Ok((Advance::Closed, Step::Eof)),
                Ok(Some(count)) => count,
                Err(failure) => {
                    let ends = Ends { local: stream.local_addr().ok(), peer: stream.peer_addr() };
                    return Err(NetError::waiting(Op::Read, &failure, ends));
                }
            };
            wire.add_received(count);
            let speaks_http = buffer[..kept + count].starts_with(b"HTTP/");
            let advance = tls.advance(&mut buffer[..kept + count], sink).map_err(|error| {
                let mut error = to_net_error(&error, &origin.host);
                if speaks_http && error.code == code::TLS_RECORD_HEADER {
                    error.detail = "http: server gave HTTP response to HTTPS client".to_owned();
                }
                error
            })?;
            let step = if advance == Advance::Closed { Step::Eof } else { Step::Again };
            Ok((advance, step))
        })
    }

    /// Starts TLS. A function of its own: a plain dial must not carry its stack frame.
    #[inline(never)]
    fn secure(&mut self, shared: &ClientShared, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), NetError> {
        self.tls = Some(shared.tls().connect(&self.origin.host)?);
        self.shake_hands(deadline, wire)
    }

    #[inline(never)]
    fn shake_hands(&mut self, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), NetError> {
        let tls = self.tls.as_mut().expect("shake_hands is called on TLS connections");
        tls.advance(&mut [], |_| {}).map_err(|error| to_net_error(&error, &self.origin.host))?;
        loop {
            self.flush(deadline, wire)?;
            self.wait_readable(deadline).map_err(|error| *error)?;
            let outcome = self.pull_tls(wire, |_| {});
            match outcome {
                Ok((Advance::Open, _)) => return self.flush(deadline, wire),
                Ok((Advance::Closed, _)) => return Err(NetError::eof()),
                Ok((Advance::Handshaking, _)) => {}
                Err(error) => {
                    // Tell the peer why, if it can be told at once.
                    let _ = self.flush(Some(Clock::now()), wire);
                    return Err(error);
                }
            }
            if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
                return Err(NetError::timeout());
            }
        }
    }

    /// Sends the records that wait in the session.
    fn flush(&mut self, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), NetError> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let out = tls.take_outgoing();
        if out.is_empty() {
            return Ok(());
        }
        self.stream.write_all(&out, deadline).map_err(|failure| NetError::waiting(Op::Write, &failure, self.ends()))?;
        wire.add_sent(out.len());
        Ok(())
    }
}

/// Takes the thread's write buffer, empty.
pub(crate) fn take_out() -> Vec<u8> {
    let mut out = OUT.take();
    out.clear();
    out
}

/// Gives the write buffer back.
pub(crate) fn give_out(out: Vec<u8>) {
    if out.capacity() <= OUT_BYTES_KEPT {
        // The larger one stays: HTTP/2 has two of them out at times.
        let other = OUT.take();
        OUT.set(if other.capacity() > out.capacity() { other } else { out });
    }
}
