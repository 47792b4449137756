//! A connected stream of bytes, TCP with TLS on it or not, and what is known of its two ends.
//!
//! [`crate::dial`] makes links; a protocol ([`crate::conn`] for HTTP/1.1) speaks over them. All links of a thread
//! share one read buffer. It is only touched between two suspensions: a fiber waits until its socket is
//! readable, reads into the buffer, feeds what it read to its protocol, and only then may wait again.

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::Rc,
    sync::Arc,
};

use onrush_fiber::{Clock, IoFailure, Nanos, TcpStream};

use crate::{
    dial::proxy::FORWARDS,
    error::{Ends, NetError, Op, code},
    http1::TlsInfo,
    tls::{Advance, TlsSession, to_net_error},
};

/// The shared read buffer. One read of this size takes what a socket buffer usually holds; responses of load tests are
/// far smaller.
const SCRATCH_BYTES: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH_BYTES].into());
}

/// Where a connection goes: what requests must have in common to share it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
    /// How many streams its HTTP/2 connections took at last; 0 until it has spoken HTTP/2.
    pub(crate) streams: Cell<u32>,
}

impl Origin {
    /// Whether it is a proxy that forwards requests.
    pub(crate) fn forwards(&self) -> bool {
        self.host.starts_with(FORWARDS)
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, host: &str, port: u16, is_tls: bool) -> bool {
        // Mostly it is spelled as before, which is quickly seen.
        let is_host = || *self.host == *host || self.host.eq_ignore_ascii_case(host);
        self.port == port && self.is_tls == is_tls && is_host()
    }
}

/// Bytes that crossed the wire, TLS included.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    pub(crate) sent: Cell<u64>,
    pub(crate) received: Cell<u64>,
}

impl WireBytes {
    pub(crate) fn add_sent(&self, count: usize) {
        self.sent.set(self.sent.get() + count as u64);
    }

    pub(crate) fn add_received(&self, count: usize) {
        self.received.set(self.received.get() + count as u64);
    }
}

/// An open connection. Idle, it holds no buffer.
pub(crate) struct Link {
    stream: TcpStream,
    tls: Option<Box<TlsSession>>,
    pub(crate) origin: Rc<Origin>,
}

impl Link {
    /// A connected stream, without TLS.
    pub(crate) fn new(stream: TcpStream, origin: Rc<Origin>) -> Self {
        Self { stream, tls: None, origin }
    }

    /// Puts TLS on it, on top of what is there already; the handshake is the caller's ([`crate::dial`]).
    pub(crate) fn set_tls(&mut self, mut session: Box<TlsSession>) {
        if let Some(outer) = self.tls.take() {
            session.go_inside(outer);
        }
        self.tls = Some(session);
    }

    /// Sends all of it, encrypted where TLS is on. For conversations with proxies, not for requests.
    pub(crate) fn send_all(&mut self, plain: &[u8], deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), NetError> {
        let mut records = Vec::new();
        let bytes = if self.is_tls() {
            self.encrypt(plain, &mut records)?;
            &records
        } else {
            plain
        };
        self.stream
            .write_all(bytes, deadline)
            .map_err(|failure| NetError::waiting(Op::Write, &failure, self.ends()))?;
        wire.add_sent(bytes.len());
        Ok(())
    }

    /// Waits for bytes and appends them to `out`; `false` at the end. For conversations with proxies.
    pub(crate) fn read_some(
        &mut self,
        out: &mut Vec<u8>,
        deadline: Option<Nanos>,
        wire: &WireBytes,
    ) -> Result<bool, NetError> {
        self.wait_readable(deadline).map_err(|error| *error)?;
        if deadline.is_some_and(|deadline| deadline <= Clock::now()) {
            // A proxy that drips must not outlive the request.
            return Err(NetError::timeout());
        }
        if self.is_tls() {
            let advance = self.pull_tls(wire, |bytes| out.extend_from_slice(bytes))?;
            self.flush(deadline, wire)?;
            return Ok(advance != Advance::Closed);
        }
        let read = self.pull_plain(wire, |bytes| {
            bytes.is_none_or(|bytes| {
                out.extend_from_slice(bytes);
                !bytes.is_empty()
            })
        });
        read.map_err(|error| *error)
    }

    /// The socket, for what goes over it as it is: everything where there is no TLS, records where there is.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Whether TLS is on it.
    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// What TLS negotiated.
    pub(crate) fn tls_info(&self) -> Option<Arc<TlsInfo>> {
        self.tls.as_ref().and_then(|tls| tls.info()).cloned()
    }

    /// Whether the handshake agreed on HTTP/2.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.speaks_http2())
    }

    /// The peer's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.stream.peer_addr()
    }

    /// Both ends' addresses, for an error's text.
    pub(crate) fn ends(&self) -> Ends {
        Ends { local: self.stream.local_addr().ok(), peer: self.peer() }
    }

    /// What ended a read.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_error(&self, failure: &IoFailure) -> Box<NetError> {
        Box::new(NetError::waiting(Op::Read, failure, self.ends()))
    }

    /// Waits until something arrives or the peer closes.
    pub(crate) fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), Box<NetError>> {
        self.stream.wait_readable(deadline).map_err(|failure| self.read_error(&failure))
    }

    /// Whether an idle connection can be used: the peer has neither closed it nor said anything.
    #[inline]
    pub(crate) fn is_fresh(&mut self, wire: &WireBytes) -> bool {
        !self.stream.is_readable() || self.is_fresh_though_readable(wire)
    }

    /// Not inlined: it is rare, and takes much of the stack.
    #[inline(never)]
    fn is_fresh_though_readable(&mut self, wire: &WireBytes) -> bool {
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
                Ok(Advance::Handshaking | Advance::Open) => {}
                Ok(Advance::Closed) | Err(_) => return false,
            }
        }
        !unasked
    }

    /// Reads once without waiting, into the thread's buffer: `None` if nothing is there, an empty slice at the end.
    /// Only for links without TLS.
    pub(crate) fn pull_plain<T>(
        &self,
        wire: &WireBytes,
        sink: impl FnOnce(Option<&[u8]>) -> T,
    ) -> Result<T, Box<NetError>> {
        debug_assert!(self.tls.is_none(), "records are no plain bytes");
        pull_plain(&self.stream, wire, sink).map_err(|failure| self.read_error(&failure))
    }

    /// Reads once and drives the TLS session over it, without waiting. [`Advance::Closed`] when the peer has closed;
    /// [`Advance::Handshaking`] also when nothing was there. Afterwards [`Link::flush`] sends what TLS answers.
    pub(crate) fn pull_tls(&mut self, wire: &WireBytes, sink: impl FnMut(&[u8])) -> Result<Advance, NetError> {
        let tls = self.tls.as_mut().expect("pull_tls is called on TLS links");
        pull_tls(&self.stream, tls, &self.origin, wire, sink)
    }

    /// Its parts, for who does other things with them.
    pub(crate) fn into_parts(self) -> (TcpStream, Option<Box<TlsSession>>, Rc<Origin>) {
        (self.stream, self.tls, self.origin)
    }

    /// Begins the TLS handshake: the hello waits to be flushed.
    pub(crate) fn greet(&mut self) -> Result<(), NetError> {
        let tls = self.tls.as_mut().expect("greet is called on TLS links");
        tls.advance(&mut [], |_| {}).map(drop).map_err(|error| to_net_error(&error, &self.origin.host))
    }

    /// Encrypts onto the end of `records`. Only for links with TLS.
    pub(crate) fn encrypt(&mut self, plain: &[u8], records: &mut Vec<u8>) -> Result<(), NetError> {
        let tls = self.tls.as_mut().expect("encrypt is called on TLS links");
        tls.encrypt(plain, records).map_err(|error| to_net_error(&error, &self.origin.host))
    }

    /// Sends the records that wait in the session.
    pub(crate) fn flush(&mut self, deadline: Option<Nanos>, wire: &WireBytes) -> Result<(), NetError> {
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

/// What [`Link::pull_plain`] does.
#[inline]
pub(crate) fn pull_plain<T>(
    stream: &TcpStream,
    wire: &WireBytes,
    sink: impl FnOnce(Option<&[u8]>) -> T,
) -> Result<T, IoFailure> {
    SCRATCH.with_borrow_mut(|scratch| {
        Ok(match stream.try_read(scratch)? {
            None => sink(None),
            Some(count) => {
                wire.add_received(count);
                sink(Some(&scratch[..count]))
            }
        })
    })
}

/// What [`Link::pull_tls`] does.
pub(crate) fn pull_tls(
    stream: &TcpStream,
    tls: &mut TlsSession,
    origin: &Origin,
    wire: &WireBytes,
    sink: impl FnMut(&[u8]),
) -> Result<Advance, NetError> {
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
            Ok(None) => return Ok(Advance::Handshaking),
            // In the middle of a record.
            Ok(Some(0)) if kept > 0 => return Err(NetError::unexpected_eof()),
            Ok(Some(0)) => return Ok(Advance::Closed),
            Ok(Some(count)) => count,
            Err(failure) => {
                let ends = Ends { local: stream.local_addr().ok(), peer: stream.peer_addr() };
                return Err(NetError::waiting(Op::Read, &failure, ends));
            }
        };
        wire.add_received(count);
        let speaks_http = buffer[..kept + count].starts_with(b"HTTP/");
        tls.advance(&mut buffer[..kept + count], sink).map_err(|error| {
            let mut error = to_net_error(&error, &origin.host);
            if speaks_http && error.code == code::TLS_RECORD_HEADER {
                error.detail = "http: server gave HTTP response to HTTPS client".to_owned();
            }
            error
        })
    })
}
