//! What endpoints may know of the connection a request came on.

use std::{cell::Cell, net::SocketAddr};

use rustls::ServerConnection;

use crate::ntlm;

/// The version of HTTP a request was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// A connection, as seen by the request that is being answered.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a> {
    /// Counts connections of the thread, from 1.
    pub(crate) number: u64,
    pub(crate) peer: SocketAddr,
    /// Requests of this connection so far, this one included.
    pub(crate) requests: u64,
    pub(crate) protocol: Protocol,
    pub(crate) tls: Option<&'a ServerConnection>,
    /// The state of an NTLM handshake; HTTP/2 has none.
    pub(crate) ntlm: Option<&'a Cell<ntlm::State>>,
}
