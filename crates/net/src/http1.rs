//! HTTP/1.1: what is sent, what comes back, and how a stream of bytes becomes a response.
//!
//! Everything here is free of sockets: [`ResponseReader`] is fed bytes and says when a response is complete, so the
//! same code serves plain and TLS connections, tests and the fuzzer. The exchange that moves the bytes and measures the
//! phases is in [`crate::client`].
//!
//! The rules (what is malformed, how long a body is, when a connection is kept) are those of Go's
//! `net/http`, because k6 users see its verdicts.

mod body;
mod chunked;
mod head;
mod reader;
mod write;

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use onrush_fiber::Nanos;

pub use body::Body;
pub use chunked::{ChunkError, Chunked, fuzz as fuzz_chunked};
pub use head::{Framing, Head, HeadParser, HeadState};
pub use reader::{Fed, ResponseReader};
pub(crate) use write::{BodyPlan, check_request, usually_lacks_body, write_head};

use crate::{
    body_budget::{BodyBudget, BodyHold},
    error::NetError,
    header::HeaderBlock,
    tls::OcspResponse,
    url::Url,
};

/// One request of one hop; redirects are the caller's loop (see [`crate::redirect`]).
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method; empty means `GET`.
    pub method: &'a str,
    /// Where to.
    pub url: &'a Url,
    /// Further header lines, each `Name: value\r\n`: written by [`crate::header::RequestHeaders::write`], which is what
    /// keeps a script from injecting lines.
    pub head: &'a [u8],
    /// The `Host` header, when it is not the URL's.
    pub host: Option<&'a str>,
    /// The body.
    pub body: &'a Body,
    /// The `User-Agent`; `None` or empty sends none.
    pub user_agent: Option<&'a str>,
    /// It is sent over HTTP/1.1 even to servers that speak HTTP/2: for authentication that is bound to its connection.
    pub is_http1: bool,
}

impl Request<'_> {
    /// The head as HTTP/1.1 sends it, for the log; `close` as in `noConnectionReuse`. Empty when it cannot be sent.
    pub fn head_text(&self, close: bool) -> Vec<u8> {
        let mut out = Vec::new();
        if check_request(self).is_ok() {
            write_head(&mut out, self, close, None);
        }
        out
    }
}

/// What happens to a response's body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BodyMode {
    /// It is kept.
    #[default]
    Keep,
    /// It is read and counted, not kept.
    Discard,
    /// It is kept until it is taken, piece by piece: what is not taken has no limit but the reader's.
    Pieces,
}

/// Limits against hostile or mistaken servers.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most bytes of a response head, interim responses included. Go's default, so that k6's verdict and text are the
    /// same; a head is only buffered while it arrives.
    pub head_bytes_max: usize,
    /// Most bytes of a response body that is kept. A discarded body has no limit but the deadline.
    pub body_bytes_max: u64,
    /// What the bodies of all who share it may take together.
    pub bodies: &'static BodyBudget,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head_bytes_max: 10 << 20, body_bytes_max: 128 << 20, bodies: BodyBudget::of_process() }
    }
}

/// The protocol version of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Proto {
    /// `HTTP/1.0`
    Http10,
    /// `HTTP/1.1`
    #[default]
    Http11,
    /// `HTTP/2.0`
    Http2,
    /// Any other `HTTP/x.y`, handled as 1.1 (or as 1.0 below 1.0).
    Other(u8, u8),
}

impl Proto {
    /// The text k6 shows as `res.proto`.
    pub fn text(self) -> std::borrow::Cow<'static, str> {
        match self {
            Self::Http10 => "HTTP/1.0".into(),
            Self::Http11 => "HTTP/1.1".into(),
            Self::Http2 => "HTTP/2.0".into(),
            Self::Other(major, minor) => format!("HTTP/{major}.{minor}").into(),
        }
    }

    fn numbers(self) -> (u8, u8) {
        match self {
            Self::Http10 => (1, 0),
            Self::Http11 => (1, 1),
            Self::Http2 => (2, 0),
            Self::Other(major, minor) => (major, minor),
        }
    }
}

/// What is known of the TLS session a response came over. All responses of a connection share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsInfo {
    /// `tls1.2` or `tls1.3`.
    pub version: &'static str,
    /// Go's name of the cipher suite.
    pub cipher: &'static str,
    /// What the server stapled to its certificate, if that can be read. A resumed session has none.
    pub ocsp: Option<OcspResponse>,
    /// Whether the handshake resumed an earlier session.
    pub is_resumed: bool,
}

/// A complete response.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The version.
    pub proto: Proto,
    /// Status text and header fields.
    pub headers: HeaderBlock,
    /// The body without its transfer encoding, still content-encoded; empty when discarded.
    pub body: Bytes,
    /// Its share of [`Limits::bodies`].
    pub hold: BodyHold,
    /// How long the body was, kept or not.
    pub body_len: u64,
    /// The peer.
    pub remote: SocketAddr,
    /// Version and cipher, over TLS.
    pub tls: Option<Arc<TlsInfo>>,
    /// The phases.
    pub timings: Timings,
    /// Whether the connection had carried a request before.
    pub reused: bool,
}

impl Response {
    /// The same response without its body.
    pub fn head(&self) -> Self {
        Self {
            headers: self.headers.clone(),
            body: Bytes::new(),
            hold: BodyHold::default(),
            tls: self.tls.clone(),
            ..*self
        }
    }
}

/// The phases of an exchange, in milliseconds, as k6 defines them.
///
/// `metrics` has a type of its own for what becomes samples: this one says when the exchange ended, too.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timings {
    /// Until a connection was there, including the making of a new one.
    pub blocked: f64,
    /// The TCP connect; 0 on a reused connection.
    pub connecting: f64,
    /// The TLS handshake; 0 on a reused or plain connection.
    pub tls_handshaking: f64,
    /// From a usable connection to the request written.
    pub sending: f64,
    /// From the request written to the first byte of the response.
    pub waiting: f64,
    /// From the first byte to the end of the body.
    pub receiving: f64,
    /// When it ended: the timestamp of its samples.
    pub end: Nanos,
    /// How much of the duration passed on this side of the kernel, milliseconds: from a usable connection to the first
    /// byte handed to the kernel, and from the kernel's receipt of the last byte to the end. Known of answered requests
    /// on connections that are asked for it ([`onrush_fiber::ask_arrivals`]).
    pub own: Option<f64>,
}

impl Timings {
    /// `http_req_duration`: sending, waiting and receiving, in milliseconds.
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// A failed exchange. k6 emits its metrics all the same, so it carries what was measured.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What went wrong.
    pub error: NetError,
    /// The phases as far as they came.
    pub timings: Timings,
    /// The peer, once there was a connection.
    pub remote: Option<SocketAddr>,
    /// Version and cipher, when the failure came after the handshake.
    pub tls: Option<Arc<TlsInfo>>,
    /// Whether the connection had carried a request before.
    pub reused: bool,
    /// What had arrived when the body broke off; `None` when the failure came before the body. k6: it is
    /// the Response's `body`, with status 0.
    pub partial_body: Option<Bytes>,
}

/// Feeds arbitrary bytes to the response parser in pieces that depend on the bytes: the entry of the fuzz target.
/// Panics are findings; so is any disagreement between whole and piecewise feeding.
pub fn fuzz(data: &[u8]) {
    let Some((&control, stream)) = data.split_first() else { return };
    let step = usize::from(control & 63) + 1;
    let is_head = control & 64 != 0;
    let mode = if control & 128 != 0 { BodyMode::Discard } else { BodyMode::Keep };
    let limits = Limits { head_bytes_max: 4096, body_bytes_max: 1 << 16, ..Limits::default() };
    let run = |step: usize| {
        let mut reader = ResponseReader::new(is_head, mode, limits);
        let mut used = 0;
        for piece in stream.chunks(step) {
            match reader.feed(piece) {
                Ok(Fed::More) => used += piece.len(),
                Ok(Fed::Done { used: last }) => return Ok((used + last, reader.status(), reader.body_len())),
                Err(error) => return Err(error.code),
            }
        }
        match reader.finish() {
            Ok(()) => Ok((used, reader.status(), reader.body_len())),
            Err(error) => Err(error.code),
        }
    };
    let (whole, pieces) = (run(stream.len().max(1)), run(step));
    assert_eq!(whole, pieces, "feeding in pieces of {step} changed the outcome");
}
