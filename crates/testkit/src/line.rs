//! A connection that a server here has accepted: plain, or TLS over it.

use std::{
    io::{Read, Result, Write},
    net::Shutdown,
    sync::Arc,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::acceptor::Peer;

/// A connection to read from and write to.
pub(crate) enum Line {
    Plain(Peer),
    Tls(Box<StreamOwned<ServerConnection, PeerStream>>),
}

/// What TLS reads from and writes to.
pub(crate) struct PeerStream(Peer);

impl Line {
    /// Over TLS where there is a configuration, whose handshake is made with the first read; `None` where that cannot
    /// be had.
    pub(crate) fn new(peer: Peer, config: Option<&Arc<ServerConfig>>) -> Option<Self> {
        Some(match config {
            None => Self::Plain(peer),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config)).ok()?;
                Self::Tls(Box::new(StreamOwned::new(session, PeerStream(peer))))
            }
        })
    }

    pub(crate) fn peer(&self) -> &Peer {
        match self {
            Self::Plain(peer) => peer,
            Self::Tls(stream) => &stream.sock.0,
        }
    }

    /// Says in TLS that nothing more will come.
    pub(crate) fn say_goodbye(&mut self) {
        if let Self::Tls(stream) = self {
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    }

    /// Says that nothing more will come, in TLS and in TCP.
    pub(crate) fn end(&mut self) {
        self.say_goodbye();
        let _ = self.peer().stream.shutdown(Shutdown::Write);
    }

    /// Closes with a reset.
    pub(crate) fn reset(self) {
        match self {
            Self::Plain(peer) => peer.reset(),
            Self::Tls(stream) => stream.into_parts().1.0.reset(),
        }
    }
}

impl Read for Line {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        match self {
            Self::Plain(peer) => peer.stream.read(buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }
}

impl Write for Line {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        match self {
            Self::Plain(peer) => peer.stream.write(buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self {
            Self::Plain(peer) => peer.stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl Read for PeerStream {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize> {
        self.0.stream.read(buf)
    }
}

impl Write for PeerStream {
    fn write(&mut self, buf: &[u8]) -> Result<usize> {
        self.0.stream.write(buf)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.stream.flush()
    }
}
