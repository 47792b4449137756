//! How packets travel: over a connection of their own, or in messages of a WebSocket.

use onrush_fiber::{Clock, Nanos};
use onrush_net::{
    Body, NetError, Request, RequestHeaders, Upgrade, Wire,
    websocket::{ByteStream, Offer, Socket},
};

use super::options::Server;
use crate::vu::Vu;

/// A way to a server.
pub(super) enum Way {
    Bare(Box<Wire>),
    WebSocket(Box<ByteStream>),
}

impl Way {
    /// Opens one, on a child fiber.
    pub(super) fn open(vu: &Vu, server: &Server, deadline: Nanos) -> Result<Self, NetError> {
        if server.is_websocket {
            return ask(vu, server, deadline);
        }
        Ok(Self::Bare(Box::new(vu.connections.connect_wire(&server.url, Some(deadline))?)))
    }

    /// See [`Wire::try_read`], as for the others.
    pub(super) fn try_read(&self, out: &mut Vec<u8>) -> Result<Option<bool>, NetError> {
        match self {
            Self::Bare(wire) => wire.try_read(out),
            Self::WebSocket(stream) => stream.try_read(out),
        }
    }

    pub(super) fn read(&self, out: &mut Vec<u8>, deadline: Option<Nanos>) -> Result<bool, NetError> {
        match self {
            Self::Bare(wire) => wire.read(out, deadline),
            Self::WebSocket(stream) => stream.read(out, deadline),
        }
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> Result<bool, NetError> {
        match self {
            Self::Bare(wire) => wire.try_write(bytes),
            Self::WebSocket(stream) => stream.try_write(bytes),
        }
    }

    pub(super) fn finish_writes(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        match self {
            Self::Bare(wire) => wire.finish_writes(deadline),
            Self::WebSocket(stream) => stream.finish_writes(deadline),
        }
    }

    pub(super) fn wait_readable(&self, deadline: Option<Nanos>) -> Result<(), NetError> {
        match self {
            Self::Bare(wire) => wire.wait_readable(deadline),
            Self::WebSocket(stream) => stream.wait_readable(deadline),
        }
    }

    pub(super) fn notify_readable(&self) -> Result<(), NetError> {
        match self {
            Self::Bare(wire) => wire.notify_readable(),
            Self::WebSocket(stream) => stream.notify_readable(),
        }
    }

    pub(super) fn is_readable(&self) -> bool {
        match self {
            Self::Bare(wire) => wire.is_readable(),
            Self::WebSocket(stream) => stream.is_readable(),
        }
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        match self {
            Self::Bare(wire) => wire.unsent_bytes(),
            Self::WebSocket(stream) => stream.unsent_bytes(),
        }
    }

    /// Bytes of memory that it holds.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Self::Bare(wire) => wire.unsent_bytes(),
            Self::WebSocket(stream) => stream.held_bytes(),
        }
    }

    pub(super) fn shut_down(&self) {
        match self {
            Self::Bare(wire) => wire.shut_down(),
            Self::WebSocket(stream) => stream.shut_down(),
        }
    }
}

/// Asks for a WebSocket that speaks MQTT.
fn ask(vu: &Vu, server: &Server, deadline: Nanos) -> Result<Way, NetError> {
    let offer = Offer::new(false);
    let mut headers = RequestHeaders::new();
    offer.add_to(&mut headers, &[PROTOCOL.to_owned()]).map_err(|error| NetError::generic(error.to_string()))?;
    let mut head = Vec::new();
    headers.write(&mut head);
    let request = Request {
        method: "GET",
        url: &server.url,
        head: &head,
        host: None,
        body: &Body::None,
        user_agent: Some(&vu.thread.config.http.user_agent),
        is_http1: true,
    };
    match vu.connections.upgrade(&request, Clock::now(), Some(deadline)).map_err(|failure| failure.error)? {
        Upgrade::Switched(response, wire) => {
            let agreement = offer.judge(&response.headers).map_err(|error| NetError::generic(error.to_string()))?;
            Ok(Way::WebSocket(Box::new(ByteStream::new(Socket::new(*wire, agreement)))))
        }
        Upgrade::Refused(response) => {
            let text = format!("websocket: bad handshake, the server answers {}", response.headers.status_text());
            Err(NetError::generic(text))
        }
    }
}

/// The WebSocket protocol of MQTT (section 6 of its standard).
const PROTOCOL: &str = "mqtt";
