//! The exchange: one request and its response over a kept or a new connection, phases measured.
//!
//! Redirects, cookies, decompression and metrics are the caller's; see [`crate::redirect`],
//! [`crate::cookie`], [`crate::encoding`].

mod download;
mod names;
mod over_http2;
mod sessions;
mod wire;

use std::{
    cell::{Cell, RefCell},
    net::{IpAddr, SocketAddr},
    rc::Rc,
    sync::Arc,
};

use onrush_fiber::{Clock, IoFailure, Nanos};

use self::sessions::{Connected, Dialling};
pub use self::{
    download::Download,
    wire::{Http2Route, Upgrade},
};
use crate::{
    conn::{Conn, SendFailure, Sent, Step, give_out, take_out},
    dial::{DialMarks, Dialer, proxy::Proxy},
    error::{NetError, Op, code},
    http1::{
        BodyMode, BodyPlan, Failure, Request, Response, ResponseReader, Timings, TlsInfo, check_request, write_head,
    },
    http2::{Message, Session},
    link::{Link, WireBytes},
    options::ClientShared,
    text::go_quote,
    tls::{Alpn, SessionMemory},
    url::{Scheme, Url},
};

/// A VU's connections. Several fibers of the VU (`http.batch`) may use it at once; nothing is borrowed while one of
/// them waits. There is no limit on active connections.
pub struct Connections {
    shared: Rc<ClientShared>,
    /// The most recently used last.
    idle: RefCell<Vec<Conn>>,
    /// HTTP/2 connections, in use or not.
    sessions: RefCell<Vec<Rc<Session>>>,
    /// HTTP/2 connections that are being made.
    dialling: RefCell<Vec<Rc<Dialling>>>,
    /// TLS sessions that connections may resume.
    resumable: SessionMemory,
    wire: Rc<WireBytes>,
    local: Cell<Option<IpAddr>>,
    /// Counts `close_idle` calls: a request that began before one does not keep its connection.
    generation: Cell<u32>,
}

impl Connections {
    /// No connections yet.
    pub fn new(shared: Rc<ClientShared>) -> Self {
        Self {
            shared,
            idle: RefCell::new(Vec::new()),
            sessions: RefCell::new(Vec::new()),
            dialling: RefCell::new(Vec::new()),
            resumable: SessionMemory::default(),
            wire: Rc::default(),
            local: Cell::new(None),
            generation: Cell::new(0),
        }
    }

    /// Has what the next use touches brought near; see [`onrush_fiber::prefetch`].
    pub fn approach(&self) {
        if let Ok(idle) = self.idle.try_borrow() {
            onrush_fiber::prefetch(idle.as_ptr().cast(), size_of::<Conn>());
        }
    }

    /// Dials from this address from now on (`localIPs`).
    pub fn set_local_ip(&self, ip: Option<IpAddr>) {
        self.local.set(ip);
    }

    /// Bytes sent since the last call, TLS and everything included.
    pub fn take_bytes_sent(&self) -> u64 {
        self.wire.sent.take()
    }

    /// Bytes received since the last call.
    pub fn take_bytes_received(&self) -> u64 {
        self.wire.received.take()
    }

    /// Closes the idle connections (`noVUConnectionReuse`, a VU that is done).
    pub fn close_idle(&self) {
        self.generation.set(self.generation.get().wrapping_add(1));
        let idle = self.idle.take();
        drop(idle);
        // Those in use go when their requests are over.
        let sessions = self.sessions.take();
        drop(sessions);
    }

    /// How many connections are idle.
    pub fn idle_count(&self) -> usize {
        let sessions = self.sessions.borrow();
        self.idle.borrow().len() + sessions.iter().filter(|session| session.is_idle()).count()
    }

    /// Sends a request and reads its response, in phases counted from `start`. Suspends the fiber.
    ///
    /// A kept connection that turns out to be dead before a byte of the response came is replaced and the request
    /// repeated, as Go does, when that is safe.
    ///
    /// # Errors
    /// What k6 would report, with the phases measured so far.
    pub fn exchange(
        &self,
        request: &Request<'_>,
        mode: BodyMode,
        start: Nanos,
        deadline: Option<Nanos>,
    ) -> Result<Box<Response>, Box<Failure>> {
        let mut attempt = Attempt::new(start, &self.shared);
        let mut reader = ResponseReader::new(request.method == "HEAD", mode, self.shared.limits());
        // Before a kept connection is looked for: it must not matter whether there is one.
        if let Err(error) = check_url(request.url).and_then(|()| check_request(request)) {
            return Err(attempt.fail(error, &mut reader));
        }
        loop {
            match self.attempt(request, deadline, &mut attempt, &mut reader) {
                Ok(()) => return Ok(attempt.finish(&mut reader)),
                Err(lost) if lost.retry && attempt.may_repeat(lost.backs_off, deadline) => {
                    attempt.again();
                    reader.restart();
                }
                Err(lost) => return Err(attempt.fail(lost.error, &mut reader)),
            }
        }
    }

    /// One attempt over one connection. What lives here while the fiber waits is copied with its stack: errors are
    /// boxed and what is rare is in functions of its own.
    fn attempt(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        reader: &mut ResponseReader,
    ) -> Result<(), Box<Disconnected>> {
        let (mut conn, generation) = match self.send(request, deadline, attempt, reader)? {
            Way::Sent(conn, generation) => (conn, generation),
            Way::Session(session) => return self.over_http2(&session, request, reader.mode(), deadline, attempt),
            Way::Answered => return Ok(()),
        };
        let clean = receive_all(&mut conn, reader, deadline, &self.wire, attempt, request)?;
        if clean && reader.keeps_alive() && generation == self.generation.get() {
            self.keep(conn);
        }
        Ok(())
    }

    /// Finds or makes a connection, and sends the request over it unless it is a session's.
    #[inline]
    fn send(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        reader: &mut ResponseReader,
    ) -> Result<Way, Box<Disconnected>> {
        if !request.is_http1
            && let Some(session) = self.find_session(request.url)
        {
            return Ok(Way::Session(session));
        }
        let generation = self.generation.get();
        let mut conn = match self.take_idle(request.url) {
            Some(conn) => {
                attempt.reused = true;
                conn
            }
            None => match self.connect(request, deadline, attempt)? {
                Connected::Link(link) => Conn::new(link),
                Connected::Session(session) => return Ok(Way::Session(session)),
            },
        };
        attempt.remote = Some(conn.peer());
        attempt.tls = conn.tls_info();
        let mut out = take_out();
        let plan = write_head(&mut out, request, self.shared.no_connection_reuse(), self.forwarder(&conn, request));
        let body = if plan == BodyPlan::Announced { request.body.pieces() } else { &[] };
        if conn.is_asked() {
            attempt.hands_over(Clock::now());
        }
        let sent = conn.send(&mut out, body, reader, deadline, &self.wire);
        give_out(out);
        if !matches!(sent, Ok(Sent::All)) {
            return self.after_odd_send(conn, reader, sent, attempt, request).map(|()| Way::Answered);
        }
        let now = Clock::now();
        attempt.written = Some(now);
        if reader.has_started() {
            attempt.first_byte = Some(now);
        }
        Ok(Way::Sent(conn, generation))
    }

    /// The request did not go out in full. The peer may have answered all the same: then that counts.
    #[cold]
    #[inline(never)]
    fn after_odd_send(
        &self,
        mut conn: Conn,
        reader: &mut ResponseReader,
        sent: Result<Sent, SendFailure>,
        attempt: &mut Attempt,
        request: &Request<'_>,
    ) -> Result<(), Box<Disconnected>> {
        let mut step = match &sent {
            Ok(Sent::Answered(step)) => Ok(*step),
            // What has arrived before the socket broke can still be read.
            Err(SendFailure::Socket { failure: IoFailure::Io(_), .. }) => conn.receive_now(reader, &self.wire),
            _ => Ok(Step::Again),
        };
        while matches!(step, Ok(Step::More)) {
            step = conn.receive_now(reader, &self.wire);
        }
        attempt.end = Clock::now();
        if reader.has_started() {
            attempt.written.get_or_insert(attempt.end);
            attempt.first_byte.get_or_insert(attempt.end);
        }
        match (step, sent) {
            (Ok(Step::Done { .. }), _) => Ok(()),
            (_, Err(SendFailure::Other(error))) => Err(lost(*error, reader, attempt, request)),
            (Ok(Step::Eof), Ok(_)) => match reader.finish() {
                Ok(()) => Ok(()),
                Err(error) => Err(lost(error, reader, attempt, request)),
            },
            (_, Err(SendFailure::Socket { failure, sent_any })) => {
                let retry = attempt.reused && !sent_any && matches!(failure, IoFailure::Io(_));
                let error = NetError::waiting(Op::Write, &failure, conn.ends());
                Err(Box::new(Disconnected { retry, ..Disconnected::from(error) }))
            }
            (_, Ok(_)) => Err(lost(NetError::unexpected_eof(), reader, attempt, request)),
        }
    }

    #[cold]
    #[inline(never)]
    fn dial(
        &self,
        url: &Url,
        route: Route<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
    ) -> Result<Link, Box<Disconnected>> {
        let mut marks = DialMarks::default();
        let dialer = self.dialer(route, deadline);
        let link = dialer.dial(url, &mut marks);
        let now = Clock::now();
        attempt.end = now;
        // k6: a connection that did not come about leaves no phases and no address, but for the time a connect took
        // whose handshake failed.
        if link.is_ok() {
            attempt.got_conn = now;
        }
        if marks.connected > Nanos(0) {
            attempt.dialled = Some(DialMarks { secured: marks.secured.filter(|_| link.is_ok()), ..marks });
        }
        Ok(link?)
    }

    fn dialer<'a>(&'a self, route: Route<'a>, deadline: Option<Nanos>) -> Dialer<'a> {
        Dialer {
            shared: &self.shared,
            local: self.local.get(),
            deadline,
            wire: &self.wire,
            alpn: route.alpn,
            tunnels: route.tunnels,
            way: route.way,
            sessions: &self.resumable,
        }
    }

    /// What the connections for a URL are kept under: its host and port, or the proxy that forwards its requests.
    #[inline]
    fn origin_of<'a>(&'a self, url: &'a Url) -> (&'a str, u16, bool) {
        match self.shared.proxy_for(url) {
            Ok(Some(proxy)) if proxy.forwards() && !url.is_https() => (&proxy.origin_name, proxy.port, false),
            _ => (url.host(), address_port(url), url.is_https()),
        }
    }

    /// The proxy at the other end of a connection, if it forwards requests.
    fn forwarder(&self, conn: &Conn, request: &Request<'_>) -> Option<&Proxy> {
        if conn.origin().forwards() { self.shared.proxy_for(request.url).ok().flatten() } else { None }
    }

    /// The most recently used idle connection to a URL's origin that is still alive.
    ///
    /// Like its neighbours it is not inlined: what it needs on the stack would be there while the fiber waits for the
    /// response, and be copied with it.
    #[inline(never)]
    fn take_idle(&self, url: &Url) -> Option<Conn> {
        let (host, port, is_tls) = self.origin_of(url);
        let mut idle = self.idle.borrow_mut();
        let mut at = idle.len();
        while at > 0 {
            at -= 1;
            if !idle[at].origin().is(host, port, is_tls) {
                continue;
            }
            let mut conn = idle.remove(at);
            if conn.is_fresh(&self.wire) {
                return Some(conn);
            }
        }
        None
    }

    /// Keeps a connection, within the limits on idle ones: as in Go, one too many for its host is closed, one too many
    /// in all pushes out the one that was idle longest.
    #[inline(never)]
    fn keep(&self, conn: Conn) {
        if self.shared.no_connection_reuse() {
            return;
        }
        let mut idle = self.idle.borrow_mut();
        let same = idle.iter().filter(|other| Rc::ptr_eq(other.origin(), conn.origin())).count();
        if same >= self.shared.idle_per_host() || self.shared.idle_total() == 0 {
            return;
        }
        if idle.len() >= self.shared.idle_total() {
            idle.remove(0);
        }
        if idle.len() == idle.capacity() {
            // Most VUs have one connection; `push` would make room for four.
            idle.reserve_exact(1);
        }
        idle.push(conn);
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("idle", &self.idle_count()).finish_non_exhaustive()
    }
}

/// How a connection is made.
#[derive(Debug, Clone, Copy)]
struct Route<'a> {
    /// What the server may choose.
    alpn: Alpn,
    /// A proxy is asked for a tunnel even where it could forward requests.
    tunnels: bool,
    way: Http2Route<'a>,
}

impl Route<'_> {
    fn of(request: &Request<'_>) -> Self {
        let alpn = if request.is_http1 { Alpn::Http1 } else { Alpn::Any };
        Self { alpn, tunnels: false, way: Http2Route::default() }
    }
}

/// Where an attempt goes on, once the request has been sent or is for an HTTP/2 session to send.
enum Way {
    /// The response is awaited on the connection, made or taken in this generation.
    Sent(Conn, u32),
    Session(Rc<Session>),
    /// The peer did not take all of it, and answered: the reader has the response.
    Answered,
}

/// A failed attempt.
struct Disconnected {
    error: NetError,
    retry: bool,
    /// A repeated retry comes after a pause.
    backs_off: bool,
}

impl From<NetError> for Disconnected {
    fn from(error: NetError) -> Self {
        Self { error, retry: false, backs_off: false }
    }
}

impl From<NetError> for Box<Disconnected> {
    fn from(error: NetError) -> Self {
        Self::new(error.into())
    }
}

/// How much of an exchange passed on this side of the kernel.
#[derive(Clone, Copy)]
enum Own {
    /// The connection is not asked, or the exchange is not complete.
    Unknown,
    /// Until the first byte was handed to the kernel.
    Before(Nanos),
    /// In all.
    Known(Nanos),
}

/// When the phases of one attempt happened.
struct Attempt {
    start: Nanos,
    got_conn: Nanos,
    dialled: Option<DialMarks>,
    written: Option<Nanos>,
    first_byte: Option<Nanos>,
    end: Nanos,
    /// What passed on this side of the kernel.
    own: Own,
    /// The duration is the kernel's, where that is known.
    by_kernel: bool,
    remote: Option<SocketAddr>,
    tls: Option<Arc<TlsInfo>>,
    reused: bool,
    /// What came over HTTP/2: the response, or the part of it that had come when it failed.
    message: Option<Box<Message>>,
    /// Retries so far that call for a pause before the next one.
    pauses: u32,
}

impl Attempt {
    fn new(start: Nanos, shared: &ClientShared) -> Self {
        Self {
            start,
            got_conn: start,
            dialled: None,
            written: None,
            first_byte: None,
            end: start,
            own: Own::Unknown,
            by_kernel: shared.ends_durations_by_kernel(),
            remote: None,
            tls: None,
            reused: false,
            message: None,
            pauses: 0,
        }
    }

    /// Starts over on another connection; the time so far counts as waiting for it.
    #[cold]
    #[inline(never)]
    fn again(&mut self) {
        let now = Clock::now();
        (self.got_conn, self.end) = (now, self.start);
        self.own = Own::Unknown;
        (self.dialled, self.written, self.first_byte) = (None, None, None);
        (self.remote, self.tls, self.reused, self.message) = (None, None, false, None);
    }

    fn timings(&self) -> Timings {
        let span = |from: Nanos, to: Nanos| Nanos(to.0.saturating_sub(from.0)).as_millis_f64();
        let mut timings = Timings { blocked: span(self.start, self.got_conn), end: self.end, ..Timings::default() };
        if let Some(marks) = self.dialled {
            timings.connecting = span(marks.connect_start, marks.connected);
            if let Some(secured) = marks.secured {
                timings.tls_handshaking = span(marks.connected, secured);
            }
        }
        let Some(written) = self.written else { return timings };
        if let Own::Known(own) = self.own {
            timings.own = Some(own.as_millis_f64());
        }
        timings.sending = span(self.got_conn, written);
        match self.first_byte {
            Some(first) => {
                timings.waiting = span(written, first);
                timings.receiving = span(first.max(written), self.end);
            }
            None => timings.waiting = span(written, self.end),
        }
        timings
    }

    /// The first byte is about to be handed to the kernel.
    fn hands_over(&mut self, now: Nanos) {
        self.own = Own::Before(now.saturating_sub(self.got_conn));
    }

    /// The response is complete since `end`, and the kernel had its last byte then. A server may answer before it has the
    /// request: nobody waited for the kernel then.
    fn had(&mut self, arrived: Option<Nanos>) {
        let Own::Before(before) = self.own else { return };
        let handed = self.got_conn + before;
        self.own = Own::Unknown;
        let Some(arrived) = arrived.filter(|arrived| *arrived >= handed) else { return };
        if !self.by_kernel {
            self.own = Own::Known(before + self.end.saturating_sub(arrived));
            return;
        }
        self.got_conn = handed;
        self.end = arrived.min(self.end);
        for mark in [&mut self.written, &mut self.first_byte].into_iter().flatten() {
            *mark = (*mark).min(self.end);
        }
    }

    #[inline(never)]
    fn finish(&mut self, reader: &mut ResponseReader) -> Box<Response> {
        if let Some(message) = self.message.take() {
            return self.finish_http2(*message);
        }
        let (body, hold) = (reader.take_body(), reader.take_hold());
        let body_len = reader.body_len();
        let (status, proto, headers) = reader.take_head_parts().unwrap_or_default();
        Box::new(Response {
            status,
            proto,
            headers,
            body,
            hold,
            body_len,
            remote: self.remote.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0))),
            tls: self.tls.take(),
            timings: self.timings(),
            reused: self.reused,
        })
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: NetError, reader: &mut ResponseReader) -> Box<Failure> {
        let in_body = reader.in_body();
        let over_http2 = self.message.take();
        Box::new(Failure {
            error,
            timings: self.timings(),
            remote: self.remote,
            tls: self.tls.take(),
            reused: self.reused,
            partial_body: in_body.then(|| reader.take_body()).or_else(|| over_http2.map(|message| message.body)),
        })
    }
}

/// Reads until the response is complete; whether nothing came after it.
fn receive_all(
    conn: &mut Conn,
    reader: &mut ResponseReader,
    deadline: Option<Nanos>,
    wire: &WireBytes,
    attempt: &mut Attempt,
    request: &Request<'_>,
) -> Result<bool, Box<Disconnected>> {
    loop {
        let step = conn.receive(reader, deadline, wire);
        let now = Clock::now();
        attempt.end = now;
        let error = match step {
            Ok(Step::Done { clean }) => {
                attempt.first_byte.get_or_insert(now);
                attempt.had(conn.arrived());
                return Ok(clean);
            }
            Ok(step @ (Step::More | Step::Again)) => {
                if matches!(step, Step::More) {
                    attempt.first_byte.get_or_insert(now);
                }
                if deadline.is_none_or(|deadline| now < deadline) {
                    continue;
                }
                NetError::timeout()
            }
            Ok(Step::Eof) => match reader.finish() {
                Ok(()) => return Ok(false),
                Err(error) => error,
            },
            Err(error) => *error,
        };
        return Err(lost(error, reader, attempt, request));
    }
}

/// What a failure while receiving means.
#[cold]
#[inline(never)]
fn lost(
    error: NetError,
    reader: &mut ResponseReader,
    attempt: &mut Attempt,
    request: &Request<'_>,
) -> Box<Disconnected> {
    let error = after_break(error, reader);
    if reader.has_started() {
        attempt.first_byte.get_or_insert(attempt.end);
    }
    let error = if reader.in_body() { error.in_body() } else { error };
    let broke = error.code == code::RESET_BY_PEER || error == NetError::eof();
    let retry = attempt.reused && !reader.has_started() && broke && is_replayable(request);
    Box::new(Disconnected { error, retry, backs_off: false })
}

/// A connection that breaks in the middle of a head: Go takes it for an end and judges what there is.
fn after_break(error: NetError, reader: &mut ResponseReader) -> NetError {
    if error.code != code::RESET_BY_PEER || reader.in_body() || !reader.has_started() {
        return error;
    }
    reader.finish().err().unwrap_or(error)
}

/// Whether Go would repeat the request when a kept connection turns out to be dead: what a server may do twice without
/// harm.
fn is_replayable(request: &Request<'_>) -> bool {
    if matches!(request.method, "" | "GET" | "HEAD" | "OPTIONS" | "TRACE") {
        return true;
    }
    request
        .head
        .split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(b"Idempotency-Key:") || line.starts_with(b"X-Idempotency-Key:"))
}

/// What can be parsed but not requested, in Go's words.
fn check_url(url: &Url) -> Result<(), NetError> {
    if url.scheme() == Scheme::Other {
        let scheme = go_quote(url.scheme_text().as_bytes());
        return Err(NetError::generic(format!("unsupported protocol scheme {scheme}")));
    }
    // `http://:80/` has one, which is a name that does not exist.
    if url.authority().is_empty() {
        return Err(NetError::generic("http: no Host in request URL"));
    }
    Ok(())
}

/// The port for comparing origins; a URL whose port is none never gets a connection.
fn address_port(url: &Url) -> u16 {
    url.port().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a waiting fiber's stack and an idle connection hold: these sizes are paid per VU.
    #[test]
    fn sizes() {
        assert!(size_of::<Conn>() <= 72, "{}", size_of::<Conn>());
        assert!(size_of::<ResponseReader>() <= 192, "{}", size_of::<ResponseReader>());
        assert!(size_of::<Attempt>() <= 176, "{}", size_of::<Attempt>());
    }
}
