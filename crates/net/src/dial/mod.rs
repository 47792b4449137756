//! How connections come about: from a URL and the run's options to a connected [`Link`], the handshake done.
//!
//! The steps: names become addresses ([`crate::dns`]), the socket is connected, TLS shakes hands. What goes over the
//! link afterwards is the protocol's business ([`crate::conn`]).

mod handshake;

use std::net::{IpAddr, SocketAddr};

use onrush_fiber::{Clock, IoFailure, Nanos, TcpStream};

use crate::error::NetError;
use crate::link::{Link, WireBytes};
use crate::options::ClientShared;
use crate::url::Url;

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
}

impl Dialer<'_> {
    /// Connects to a URL's origin and, for `https`, shakes hands. Suspends the fiber; `marks` is filled as far as it
    /// comes.
    ///
    /// # Errors
    /// What k6 would report: names, addresses, the connect, TLS, the deadline.
    pub(crate) fn dial(&self, url: &Url, marks: &mut DialMarks) -> Result<Link, NetError> {
        let address = self.shared.rules().address_of(url, self.shared.resolver(), self.deadline)?;
        let origin = self.shared.origin(url.host(), url.port().unwrap_or_default(), url.is_https());
        let stream = self.connect(address, marks)?;
        let mut link = Link::new(stream, origin);
        if url.is_https() {
            self.secure(&mut link)?;
            marks.secured = Some(Clock::now());
        }
        Ok(link)
    }

    fn connect(&self, address: SocketAddr, marks: &mut DialMarks) -> Result<TcpStream, NetError> {
        marks.connect_start = Clock::now();
        let dial_deadline = marks.connect_start + self.shared.dial_timeout();
        let until = self.deadline.map_or(dial_deadline, |deadline| deadline.min(dial_deadline));
        let stream = match TcpStream::connect(address, self.local, Some(until)) {
            Ok(stream) => stream,
            Err(IoFailure::Io(error)) => return Err(NetError::dial(&error, address)),
            Err(IoFailure::Cancelled) => return Err(NetError::cancelled()),
            Err(IoFailure::Timeout) if self.deadline.is_some_and(|deadline| deadline <= dial_deadline) => {
                return Err(NetError::timeout());
            }
            Err(IoFailure::Timeout) => return Err(NetError::dial_timeout(address)),
        };
        marks.connected = Clock::now();
        Ok(stream)
    }
}
