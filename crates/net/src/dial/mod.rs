//! How connections come about: from a URL and the run's options to a connected [`Link`], the handshake done.
//!
//! The steps: the environment's proxies ([`proxy`]), names become addresses ([`crate::dns`]), the socket is connected,
//! a proxy is asked for a way through ([`tunnel`], [`socks`]), TLS shakes hands. What goes over the link afterwards is
//! the protocol's business ([`crate::conn`]).

mod fuzz;
mod handshake;
pub(crate) mod proxy;
mod socks;
mod tunnel;

pub use fuzz::fuzz;

use std::net::IpAddr;

use onrush_fiber::{Clock, IoFailure, Nanos, TcpStream};

use crate::{
    client::Http2Route,
    dns::Address,
    error::{NetError, code},
    link::{Link, WireBytes},
    options::ClientShared,
    tls::{Alpn, SessionMemory},
    url::Url,
};
use proxy::{Proxy, ProxyKind};

/// When the phases of making a connection happened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DialMarks {
    pub(crate) connect_start: Nanos,
    pub(crate) connected: Nanos,
    pub(crate) secured: Option<Nanos>,
}

/// Makes a connection on behalf of one VU.
#[derive(Clone, Copy)]
pub(crate) struct Dialer<'a> {
    pub(crate) shared: &'a ClientShared,
    /// The address to connect from (`localIPs`).
    pub(crate) local: Option<IpAddr>,
    /// The request's.
    pub(crate) deadline: Option<Nanos>,
    pub(crate) wire: &'a WireBytes,
    /// What the server may choose.
    pub(crate) alpn: Alpn,
    /// A proxy is asked for a tunnel even where it could forward requests.
    pub(crate) tunnels: bool,
    /// What is different from connections of requests.
    pub(crate) way: Http2Route<'a>,
    /// The VU's TLS sessions.
    pub(crate) sessions: &'a SessionMemory,
}

impl Dialer<'_> {
    /// Connects to a URL's origin, through its proxy if it has one, and shakes hands for `https`. Suspends the fiber;
    /// `marks` is filled as far as it comes.
    ///
    /// # Errors
    /// What k6 would report: names, addresses, the connect, the proxy, TLS, the deadline.
    pub(crate) fn dial(&self, url: &Url, marks: &mut DialMarks) -> Result<Link, NetError> {
        if !self.way.is_direct
            && let Some(proxy) = self.shared.proxy_for(url)?
        {
            return self.dial_through(proxy, url, marks);
        }
        let address = self.shared.rules().address_of(url, self.shared.resolver(), self.deadline)?;
        let origin = self.shared.origin(url.host(), url.port().unwrap_or_default(), url.is_https());
        let stream = self.connect(&address, marks)?;
        let mut link = Link::new(stream, origin);
        if url.is_https() {
            self.secure(&mut link)?;
            marks.secured = Some(Clock::now());
        }
        Ok(link)
    }

    #[cold]
    #[inline(never)]
    fn dial_through(&self, proxy: &Proxy, url: &Url, marks: &mut DialMarks) -> Result<Link, NetError> {
        let is_tls = proxy.kind == ProxyKind::Https;
        let to_proxy = self.shared.origin(&proxy.host, proxy.port, is_tls);
        let address = self.shared.rules().address(&proxy.host, proxy.port, self.shared.resolver(), self.deadline);
        let stream = address.and_then(|address| self.connect(&address, marks)).map_err(unreached)?;
        let mut link = Link::new(stream, to_proxy);
        if is_tls {
            self.secure_to_proxy(&mut link).map_err(unreached)?;
            marks.secured = Some(Clock::now());
        }
        if proxy.forwards() && !url.is_https() && !self.tunnels {
            link.origin = self.shared.origin(&proxy.origin_name, proxy.port, false);
            return Ok(link);
        }
        match proxy.kind {
            ProxyKind::Socks5 => self.ask_socks(&mut link, proxy, url)?,
            ProxyKind::Http | ProxyKind::Https => self.open_tunnel(&mut link, proxy, url)?,
        }
        link.origin = self.shared.origin(url.host(), url.port().unwrap_or_default(), url.is_https());
        if url.is_https() {
            let start = Clock::now();
            self.secure(&mut link)?;
            let took = Clock::now().0.saturating_sub(start.0);
            // The handshake with the server, not the conversation with the proxy before it.
            marks.secured = Some(Nanos(marks.connected.0.saturating_add(took)));
        }
        Ok(link)
    }

    fn connect(&self, address: &Address, marks: &mut DialMarks) -> Result<TcpStream, NetError> {
        marks.connect_start = Clock::now();
        let dial_deadline = marks.connect_start + self.shared.dial_timeout();
        let until = self.deadline.map_or(dial_deadline, |deadline| deadline.min(dial_deadline));
        let connected = match address {
            Address::Ip(address) => match self.local {
                Some(local) if local.is_ipv4() != address.is_ipv4() => {
                    return Err(NetError::other_family(*address, local));
                }
                local => TcpStream::connect(*address, local, Some(until)),
            },
            Address::Unix(path) => TcpStream::connect_unix(path, Some(until)),
        };
        let stream = connected.map_err(|failure| self.not_connected(failure, address, dial_deadline))?;
        marks.connected = Clock::now();
        Ok(stream)
    }

    /// Apart, so that what it needs is not on the stack of a VU that waits for its connection.
    #[cold]
    #[inline(never)]
    fn not_connected(&self, failure: IoFailure, address: &Address, dial_deadline: Nanos) -> NetError {
        match failure {
            IoFailure::Io(error) => match address {
                Address::Ip(address) => NetError::dial(&error, *address).with_remedy(&error, self.local),
                Address::Unix(path) => NetError::dial_unix(&error, path),
            },
            IoFailure::Cancelled => NetError::cancelled(),
            IoFailure::Timeout if self.deadline.is_some_and(|deadline| deadline <= dial_deadline) => {
                NetError::timeout()
            }
            IoFailure::Timeout => NetError::dial_timeout(address),
        }
    }
}

/// k6: a proxy that cannot be reached is one code and the long text.
fn unreached(error: NetError) -> NetError {
    if error.code == code::REQUEST_TIMEOUT || error == NetError::cancelled() {
        return error;
    }
    NetError::new(code::TCP, format!("proxyconnect tcp: {}", error.detail))
}
