//! A client's connection to a server: made when asked for, and made again when it is gone.
//!
//! Statuses and texts of what goes wrong are those of Go's library.

use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
    time::Duration,
};

use onrush_fiber::{Clock, FiberId, Nanos, Woke, current, park, sleep_until, unpark};
use onrush_net::{Body, Connections, Http2, Http2Route, NetError, OwnTls, StreamError, Url, go_quote, reason_name};
use rustc_hash::FxHashMap;

use crate::{
    call::Call,
    metadata::Metadata,
    status::{Code, Status},
};

/// Where a channel goes and how.
#[derive(Debug, Clone)]
pub struct ChannelOptions {
    /// `host:port`
    pub address: String,
    /// Without TLS.
    pub is_plaintext: bool,
    /// What requests call the server, and what its certificate has to be for.
    pub authority: Option<String>,
    /// Settings of TLS that replace the run's.
    pub tls: Option<OwnTls>,
    /// Without the library's own part.
    pub user_agent: String,
    /// Largest message that is received.
    pub receive_bytes_max: usize,
    /// Largest message that is sent.
    pub send_bytes_max: usize,
    /// Messages may be sent compressed: whoever frames one says so in its flag.
    pub sends_gzip: bool,
}

impl ChannelOptions {
    /// Go's limit.
    pub const RECEIVE_BYTES_MAX: usize = 4 << 20;
    /// Go's limit.
    pub const SEND_BYTES_MAX: usize = i32::MAX as usize;
}

/// A connection that did not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// As Go has it.
    #[error("{0}")]
    Failed(String),
    /// The fiber was cancelled.
    #[error("context canceled")]
    Cancelled,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `/package.Service/Method`
    pub path: &'a str,
    /// What the caller says beside it.
    pub metadata: &'a Metadata,
    /// When it has to be over.
    pub deadline: Option<Nanos>,
    /// At most one message comes back.
    pub is_unary: bool,
}

/// A connection to a server.
pub struct Channel {
    options: ChannelOptions,
    base: String,
    user_agent: String,
    link: RefCell<Option<Rc<Http2>>>,
    urls: RefCell<FxHashMap<Box<str>, Rc<Url>>>,
    /// Fibers that wait for room, or for a connection that another one makes.
    waiting: RefCell<Vec<FiberId>>,
    is_dialling: Cell<bool>,
    is_closed: Cell<bool>,
    /// Those that may be under way.
    calls: RefCell<Vec<Weak<Call>>>,
}

/// A dial that failed: what Go says, and whether it tries again.
struct Refused {
    text: String,
    is_final: bool,
    is_cancelled: bool,
}

impl Channel {
    /// Connects, and waits until the server has answered in HTTP/2. Problems that may pass are waited for.
    ///
    /// # Errors
    /// When there is no connection at the deadline, or there will be none.
    pub fn connect(
        connections: &Connections,
        options: ChannelOptions,
        deadline: Nanos,
    ) -> Result<Rc<Self>, ConnectError> {
        let scheme = if options.is_plaintext { "http" } else { "https" };
        let base = format!("{scheme}://{}", options.address);
        let user_agent = format!("{} {AGENT}", options.user_agent);
        let channel = Rc::new(Self {
            options,
            base,
            user_agent: user_agent.trim_start().to_owned(),
            link: RefCell::default(),
            urls: RefCell::default(),
            waiting: RefCell::default(),
            is_dialling: Cell::new(false),
            is_closed: Cell::new(false),
            calls: RefCell::default(),
        });
        let mut pause = BACKOFF_MIN;
        loop {
            match channel.dial(connections, deadline) {
                Ok(http2) => {
                    channel.link.replace(Some(http2));
                    return Ok(channel);
                }
                Err(refused) if refused.is_cancelled => return Err(ConnectError::Cancelled),
                Err(refused) if refused.is_final => return Err(ConnectError::Failed(refused.text)),
                Err(refused) => {
                    let again = Clock::now() + pause;
                    if again >= deadline {
                        if sleep_until(deadline) == Woke::Cancelled {
                            return Err(ConnectError::Cancelled);
                        }
                        let separator = if refused.text.is_empty() { "" } else { ": " };
                        return Err(ConnectError::Failed(format!(
                            "context deadline exceeded{separator}{}",
                            refused.text
                        )));
                    }
                    if sleep_until(again) == Woke::Cancelled {
                        return Err(ConnectError::Cancelled);
                    }
                    pause = pause.mul_f64(BACKOFF_FACTOR).min(BACKOFF_MAX);
                }
            }
        }
    }

    /// What it was made with.
    pub fn options(&self) -> &ChannelOptions {
        &self.options
    }

    /// The server's address, while there is a connection.
    pub fn peer(&self) -> Option<std::net::SocketAddr> {
        self.link.borrow().as_ref().map(|http2| http2.peer())
    }

    /// Ends it and every call under way.
    pub fn close(&self) {
        self.is_closed.set(true);
        let calls = self.calls.take();
        for call in calls.iter().filter_map(Weak::upgrade) {
            call.abort(Status::new(Code::CANCELED, CLOSING));
        }
        drop(self.link.take());
        self.wake();
    }

    /// Begins a call. Waits for a connection, or for room on it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn start(self: &Rc<Self>, connections: &Connections, request: &Request<'_>) -> Result<Rc<Call>, Status> {
        request.metadata.validate().map_err(|error| Status::new(Code::INTERNAL, error.to_string()))?;
        let url = self.url(request.path)?;
        let mut attempts = 0;
        loop {
            let http2 = self.link(connections, request.deadline)?;
            let head = self.head(request)?;
            let opened = http2.open(
                &onrush_net::Request {
                    method: "POST",
                    url: &url,
                    head: &head,
                    host: self.options.authority.as_deref(),
                    body: &Body::None,
                    user_agent: Some(&self.user_agent),
                    is_http1: false,
                },
                false,
            );
            match opened {
                Ok(stream) => {
                    let call = Rc::new(Call::new(stream, Rc::clone(self), request));
                    self.note(&call);
                    return Ok(call);
                }
                Err(error) if !error.is_unprocessed => return Err(status_of(&error)),
                Err(error) if http2.is_over() => {
                    self.forget(&http2);
                    attempts += 1;
                    if attempts > RECONNECTS_MAX {
                        return Err(status_of(&error));
                    }
                }
                Err(_) => self.wait(request.deadline)?,
            }
        }
    }

    /// Somebody may go on: a call is over, a connection is there or is not to be had.
    pub(crate) fn wake(&self) {
        for fiber in self.waiting.take() {
            unpark(fiber);
        }
    }

    fn wait(&self, deadline: Option<Nanos>) -> Result<(), Status> {
        self.waiting.borrow_mut().extend(current());
        let woke = park(deadline);
        self.waiting.borrow_mut().retain(|fiber| Some(*fiber) != current());
        match woke {
            Woke::Ready => Ok(()),
            Woke::Timeout => Err(Status::deadline_exceeded()),
            Woke::Cancelled => Err(Status::canceled()),
        }
    }

    fn note(&self, call: &Rc<Call>) {
        let mut calls = self.calls.borrow_mut();
        if calls.len() == calls.capacity() {
            calls.retain(|call| call.strong_count() > 0);
        }
        calls.push(Rc::downgrade(call));
    }

    fn forget(&self, http2: &Rc<Http2>) {
        let mut link = self.link.borrow_mut();
        if link.as_ref().is_some_and(|known| Rc::ptr_eq(known, http2)) {
            *link = None;
        }
    }

    /// The connection, made again if it is gone.
    fn link(&self, connections: &Connections, deadline: Option<Nanos>) -> Result<Rc<Http2>, Status> {
        loop {
            if self.is_closed.get() {
                return Err(Status::new(Code::CANCELED, CLOSING));
            }
            let known = self.link.borrow().clone();
            match known {
                Some(http2) if !http2.is_over() => return Ok(http2),
                Some(http2) => self.forget(&http2),
                None if self.is_dialling.get() => self.wait(deadline)?,
                None => {
                    self.is_dialling.set(true);
                    let until = Clock::now() + DIAL_TIMEOUT;
                    let until = deadline.map_or(until, |deadline| deadline.min(until));
                    let dialled = self.dial(connections, until);
                    self.is_dialling.set(false);
                    let outcome = dialled.inspect(|http2| {
                        self.link.replace((!self.is_closed.get()).then(|| Rc::clone(http2)));
                    });
                    self.wake();
                    match outcome {
                        Ok(_) => {}
                        Err(refused) if refused.is_cancelled => return Err(Status::canceled()),
                        Err(_) if deadline.is_some_and(|deadline| deadline <= Clock::now()) => {
                            return Err(Status::deadline_exceeded());
                        }
                        Err(refused) => return Err(Status::new(Code::UNAVAILABLE, refused.text)),
                    }
                }
            }
        }
    }

    fn dial(&self, connections: &Connections, deadline: Nanos) -> Result<Rc<Http2>, Refused> {
        let refused = |text: String, is_final| Refused { text, is_final, is_cancelled: false };
        let url = Url::parse(&format!("{}/", self.base)).map_err(|error| {
            refused(format!("connection error: desc = \"transport: error while dialing: {}\"", error.message), true)
        })?;
        if url.port_text().is_empty() {
            let text =
                format!("transport: error while dialing: address {}: missing port in address", self.options.address);
            return Err(refused(format!("connection error: desc = {}", go_quote(&text)), true));
        }
        let name = self.options.authority.as_deref().map(host_of);
        let way = Http2Route { tls: self.options.tls.as_ref(), server_name: name, is_direct: true };
        let described = |desc: String| format!("connection error: desc = {}", go_quote(&desc));
        let made = connections.connect_http2_as(&url, &way, Some(deadline));
        let http2 = made.map(|(http2, _)| http2).map_err(|failure| {
            let error = &failure.error;
            if *error == NetError::cancelled() {
                return Refused { text: String::new(), is_final: true, is_cancelled: true };
            }
            let is_timeout = *error == NetError::timeout();
            let is_tls = (TLS_CODES).contains(&error.code) || error.detail.starts_with("http2:");
            if is_tls || failure.timings.connecting > 0.0 {
                let reason = if is_timeout { "context deadline exceeded" } else { tls_text(error) };
                return refused(described(format!("transport: authentication handshake failed: {reason}")), false);
            }
            if is_timeout {
                let text = format!("transport: error while dialing: dial tcp {}: i/o timeout", self.options.address);
                return refused(described(text), false);
            }
            refused(described(format!("transport: error while dialing: {}", error.detail)), true)
        })?;
        http2.ready(Some(deadline)).map_err(|error| {
            if error.error == NetError::cancelled() {
                return Refused { text: String::new(), is_final: true, is_cancelled: true };
            }
            let reason =
                if error.error == NetError::timeout() { "context deadline exceeded" } else { read_text(&error.error) };
            refused(described(format!("error reading server preface: {reason}")), false)
        })?;
        Ok(Rc::new(http2))
    }

    /// The lines of a call's head.
    fn head(&self, request: &Request<'_>) -> Result<Vec<u8>, Status> {
        let mut head = Vec::with_capacity(128);
        head.extend_from_slice(b"content-type: application/grpc\r\nte: trailers\r\ngrpc-accept-encoding: gzip\r\n");
        if self.options.sends_gzip {
            head.extend_from_slice(b"grpc-encoding: gzip\r\n");
        }
        if let Some(deadline) = request.deadline {
            let left = deadline.0.saturating_sub(Clock::now().0);
            if left == 0 {
                return Err(Status::deadline_exceeded());
            }
            head.extend_from_slice(format!("grpc-timeout: {}\r\n", timeout_text(left)).as_bytes());
        }
        request.metadata.write(&mut head);
        Ok(head)
    }

    /// Parsed once: a script calls a few methods many times.
    fn url(&self, path: &str) -> Result<Rc<Url>, Status> {
        if let Some(url) = self.urls.borrow().get(path) {
            return Ok(Rc::clone(url));
        }
        let url =
            Url::parse(&format!("{}{path}", self.base)).map_err(|error| Status::new(Code::INTERNAL, error.message))?;
        let url = Rc::new(url);
        self.urls.borrow_mut().insert(path.into(), Rc::clone(&url));
        Ok(url)
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel").field("address", &self.options.address).finish_non_exhaustive()
    }
}

/// The status of a call that a stream's error ends.
pub(crate) fn status_of(error: &StreamError) -> Status {
    if error.error == NetError::timeout() {
        return Status::deadline_exceeded();
    }
    if error.error == NetError::cancelled() {
        return Status::canceled();
    }
    if let Some(reason) = error.reset {
        let text = format!("stream terminated by RST_STREAM with error code: {}", reason_name(reason));
        return Status::new(Code::of_reset(reason), text);
    }
    if let Some(text) = goaway_text(&error.error) {
        return Status::new(Code::UNAVAILABLE, text);
    }
    if STREAM_CODES.contains(&error.error.code) {
        return Status::new(Code::INTERNAL, error.error.detail.clone());
    }
    Status::new(Code::UNAVAILABLE, format!("error reading from server: {}", read_text(&error.error)))
}

/// What is said where a GOAWAY came before the end.
fn goaway_text(error: &NetError) -> Option<String> {
    let debug = error.detail.strip_prefix("http2: server sent GOAWAY and closed the connection; ")?;
    let code = debug.split_once("ErrCode=")?.1.split_once(',')?.0;
    let data = debug.split_once("debug=")?.1;
    Some(format!(
        "closing transport due to: connection error: desc = \"error reading from server: EOF\", received prior goaway: code: {code}, debug data: {data}"
    ))
}

/// A failed read, as Go says it.
fn read_text(error: &NetError) -> &str {
    match error.detail.as_str() {
        "unexpected EOF" => "EOF",
        "http2: frame too large" => {
            "http2: failed reading the frame payload: http2: frame too large, note that the frame header looked like an HTTP/1.1 header"
        }
        detail => detail,
    }
}

fn tls_text(error: &NetError) -> &str {
    match error.detail.as_str() {
        "http2: the server did not choose HTTP/2 (ALPN)" => {
            "credentials: cannot check peer: missing selected ALPN property"
        }
        "http: server gave HTTP response to HTTPS client" => "tls: first record does not look like a TLS handshake",
        detail => detail,
    }
}

/// Without the port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            host.trim_start_matches('[').trim_end_matches(']')
        }
        _ => authority,
    }
}

/// A span as gRPC writes it: at most eight digits and a unit, rounded up.
fn timeout_text(nanos: u64) -> String {
    for (unit, nanos_each) in [('n', 1), ('u', 1_000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000)] {
        let count = nanos.div_ceil(nanos_each);
        if count <= TIMEOUT_MAX {
            return format!("{count}{unit}");
        }
    }
    format!("{}H", nanos.div_ceil(3_600_000_000_000))
}

/// Behind the name of the program.
const AGENT: &str = concat!("grpc-onrush/", env!("CARGO_PKG_VERSION"));
const CLOSING: &str = "grpc: the client connection is closing";
/// Connections that may be gone when a call is about to begin.
const RECONNECTS_MAX: u32 = 2;
/// Go's pauses between attempts to connect.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(120);
const BACKOFF_FACTOR: f64 = 1.6;
/// How long a connection may take that is made again.
const DIAL_TIMEOUT: Duration = Duration::from_secs(20);
const TIMEOUT_MAX: u64 = 99_999_999;
/// k6's codes for TLS, and for faults of a stream.
const TLS_CODES: std::ops::Range<u16> = 1300..1400;
const STREAM_CODES: std::ops::Range<u16> = 1630..1650;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_eight_digits() {
        let check = |nanos: u64, expect: &str| assert_eq!(timeout_text(nanos), expect);
        check(1, "1n");
        check(99_999_999, "99999999n");
        check(100_000_000, "100000u");
        check(120_000_000_001, "120001m");
        check(u64::MAX, "5124096H");
    }

    #[test]
    fn names_without_ports() {
        let check = |authority: &str, expect: &str| assert_eq!(host_of(authority), expect);
        check("a.test", "a.test");
        check("a.test:443", "a.test");
        check("[::1]:443", "::1");
    }
}
