//! Connections that are handed out: after an upgrade, and as HTTP/2 streams. They come about as those of requests do.

use std::rc::Rc;

use onrush_fiber::{Clock, Nanos};

use super::{Attempt, Connections, Disconnected, Route, check_url};
use crate::{
    error::NetError,
    http1::{BodyMode, BodyPlan, Failure, Fed, Request, Response, ResponseReader, Timings, check_request, write_head},
    http2::{Http2, Session},
    link::Link,
    options::OwnTls,
    tls::Alpn,
    url::Url,
    wire::Wire,
};

/// What a server says to a request for another protocol.
#[derive(Debug)]
pub enum Upgrade {
    /// 101: from here on the connection is the caller's. Whether the fields say what they should is for the caller to
    /// judge.
    Switched(Box<Response>, Box<Wire>),
    /// Any other response, complete.
    Refused(Box<Response>),
}

/// How a connection that is handed out comes about, where not as those of requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Http2Route<'a> {
    /// Settings of TLS that replace the run's.
    pub tls: Option<&'a OwnTls>,
    /// The name the certificate has to be for, where it is not the URL's.
    pub server_name: Option<&'a str>,
    /// The environment's proxies are passed by.
    pub is_direct: bool,
}

impl Connections {
    /// Sends a request that asks for another protocol (its `Upgrade` and `Connection` lines are part of
    /// [`Request::head`]) over a connection of its own. `http` and `https` stand for `ws` and `wss`; the request has no
    /// body. Proxies are asked for a tunnel. Suspends the fiber.
    ///
    /// # Errors
    /// What k6 would report, with the phases measured so far.
    pub fn upgrade(
        &self,
        request: &Request<'_>,
        start: Nanos,
        deadline: Option<Nanos>,
    ) -> Result<Upgrade, Box<Failure>> {
        let mut attempt = Attempt::new(start, &self.shared);
        let mut reader = ResponseReader::new(request.method == "HEAD", BodyMode::Keep, self.shared.limits());
        match self.ask_for_upgrade(request, deadline, &mut attempt, &mut reader) {
            Ok(Some(wire)) => Ok(Upgrade::Switched(attempt.finish(&mut reader), Box::new(wire))),
            Ok(None) => Ok(Upgrade::Refused(attempt.finish(&mut reader))),
            Err(lost) => Err(attempt.fail(lost.error, &mut reader)),
        }
    }

    /// Connects for a protocol of the caller's: `http` stands for a bare connection, `https` for one with TLS. The
    /// environment's proxies, which are for HTTP, are passed by. Suspends the fiber.
    ///
    /// # Errors
    /// What k6 would report: names, addresses, the connect, TLS, the deadline.
    pub fn connect_wire(&self, url: &Url, deadline: Option<Nanos>) -> Result<Wire, NetError> {
        self.connect_wire_as(url, &Http2Route { is_direct: true, ..Http2Route::default() }, deadline)
    }

    /// The same, on a way of the caller's choice.
    ///
    /// # Errors
    /// As [`Connections::connect_wire`].
    pub fn connect_wire_as(&self, url: &Url, way: &Http2Route<'_>, deadline: Option<Nanos>) -> Result<Wire, NetError> {
        self.connect_wire_measured(url, way, deadline).map(|(wire, _)| wire)
    }

    /// The same, with the phases of it: those before the first byte.
    ///
    /// # Errors
    /// As [`Connections::connect_wire`].
    pub fn connect_wire_measured(
        &self,
        url: &Url,
        way: &Http2Route<'_>,
        deadline: Option<Nanos>,
    ) -> Result<(Wire, Timings), NetError> {
        let mut attempt = Attempt::new(Clock::now(), &self.shared);
        match self.dial(url, Route { alpn: Alpn::Http1, tunnels: true, way: *way }, deadline, &mut attempt) {
            Ok(link) => Ok((Wire::new(link, Vec::new(), Rc::clone(&self.wire)), attempt.timings())),
            Err(lost) => Err(lost.error),
        }
    }

    /// Puts TLS on a wire, as both ends have agreed over it: `own` replaces the run's settings. Suspends the fiber.
    ///
    /// # Errors
    /// Why the handshake failed; there is TLS on it already, or bytes wait to be read or written.
    pub fn secure_wire(&self, wire: Wire, own: Option<&OwnTls>, deadline: Option<Nanos>) -> Result<Wire, NetError> {
        let link = wire.into_link();
        let mut link = link.ok_or_else(|| NetError::generic("TLS cannot begin in the middle of other data"))?;
        let way = Http2Route { tls: own, is_direct: true, ..Http2Route::default() };
        self.dialer(Route { alpn: Alpn::Http1, tunnels: true, way }, deadline).secure(&mut link)?;
        Ok(Wire::new(link, Vec::new(), Rc::clone(&self.wire)))
    }

    /// Connects to an HTTP/2 server for streams that are read and written as they come. The connection is the caller's:
    /// requests of [`Connections::exchange`] do not share it. Suspends the fiber.
    ///
    /// Over TLS the server has to choose HTTP/2; without, it is spoken at once.
    ///
    /// # Errors
    /// As [`Connections::exchange`], and when the server speaks something else.
    pub fn connect_http2(&self, url: &Url, deadline: Option<Nanos>) -> Result<(Http2, Timings), Box<Failure>> {
        self.connect_http2_as(url, &Http2Route::default(), deadline)
    }

    /// The same, on a way of the caller's choice.
    ///
    /// # Errors
    /// As [`Connections::connect_http2`].
    pub fn connect_http2_as(
        &self,
        url: &Url,
        way: &Http2Route<'_>,
        deadline: Option<Nanos>,
    ) -> Result<(Http2, Timings), Box<Failure>> {
        let mut attempt = Attempt::new(Clock::now(), &self.shared);
        let made = check_url(url).map_err(Into::into).and_then(|()| {
            let route = Route { alpn: Alpn::Any, tunnels: true, way: *way };
            let link = self.dial(url, route, deadline, &mut attempt)?;
            if url.is_https() && !link.speaks_http2() {
                return Err(NetError::generic("http2: the server did not choose HTTP/2 (ALPN)").into());
            }
            Ok(Session::new(link)?)
        });
        match made {
            Ok(session) => Ok((Http2::new(session, Rc::clone(&self.wire), self.shared.limits()), attempt.timings())),
            Err(lost) => {
                let lost: Box<Disconnected> = lost;
                let mut reader = ResponseReader::new(false, BodyMode::Discard, self.shared.limits());
                Err(attempt.fail(lost.error, &mut reader))
            }
        }
    }

    /// Asks, and reads the response; the wire is there if that is 101.
    fn ask_for_upgrade(
        &self,
        request: &Request<'_>,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        reader: &mut ResponseReader,
    ) -> Result<Option<Wire>, Box<Disconnected>> {
        check_url(request.url)?;
        check_request(request)?;
        let route = Route { alpn: Alpn::Http1, tunnels: true, way: Http2Route::default() };
        let mut link = self.dial(request.url, route, deadline, attempt)?;
        attempt.remote = Some(link.peer());
        attempt.tls = link.tls_info();
        let mut head = Vec::new();
        if write_head(&mut head, request, false, None) == BodyPlan::Announced {
            return Err(NetError::generic("a request for another protocol cannot have a body").into());
        }
        let sent = link.send_all(&head, deadline, &self.wire);
        attempt.end = Clock::now();
        sent?;
        attempt.written = Some(attempt.end);
        let early = self.read_response(&mut link, deadline, attempt, reader)?;
        if reader.status() != SWITCHING_PROTOCOLS {
            return Ok(None);
        }
        Ok(Some(Wire::new(link, early, Rc::clone(&self.wire))))
    }

    /// Reads the response; what came behind it.
    fn read_response(
        &self,
        link: &mut Link,
        deadline: Option<Nanos>,
        attempt: &mut Attempt,
        reader: &mut ResponseReader,
    ) -> Result<Vec<u8>, NetError> {
        let mut input = Vec::new();
        loop {
            input.clear();
            let is_open = link.read_some(&mut input, deadline, &self.wire);
            attempt.end = Clock::now();
            let is_open = is_open?;
            if !input.is_empty() {
                attempt.first_byte.get_or_insert(attempt.end);
            }
            if let Fed::Done { used } = reader.feed(&input)? {
                return Ok(input.split_off(used));
            }
            if !is_open {
                reader.finish()?;
                return Ok(Vec::new());
            }
        }
    }
}

const SWITCHING_PROTOCOLS: u16 = 101;
