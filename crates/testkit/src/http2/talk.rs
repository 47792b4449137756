//! A conversation by frames.

use std::{
    io::{Read, Write},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustls::ServerConfig;

use super::frame;
use crate::{acceptor::Acceptor, line::Line};

/// A server that runs a closure for each connection, on loopback, until it is dropped.
pub struct FrameServer {
    acceptor: Acceptor,
    requests: Arc<AtomicU64>,
    scheme: &'static str,
}

impl FrameServer {
    /// Speaks HTTP/2 in the clear, to clients that start with its preface.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(script: impl Fn(&mut Talk) + Send + Sync + 'static) -> Self {
        Self::accept(None, script)
    }

    /// Speaks HTTP/2 over TLS; `config` should offer `h2` (see [`crate::Identity::http2_server`]).
    ///
    /// # Panics
    /// When no port is free.
    pub fn start_tls(config: Arc<ServerConfig>, script: impl Fn(&mut Talk) + Send + Sync + 'static) -> Self {
        Self::accept(Some(config), script)
    }

    fn accept(config: Option<Arc<ServerConfig>>, script: impl Fn(&mut Talk) + Send + Sync + 'static) -> Self {
        let requests = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&requests);
        let scheme = if config.is_some() { "https" } else { "http" };
        let acceptor = Acceptor::start(move |peer| {
            let number = peer.number;
            let Some(line) = Line::new(peer, config.as_ref()) else { return };
            script(&mut Talk { line: Some(line), requests: Arc::clone(&count), number });
        })
        .expect("loopback has a free port");
        Self { acceptor, requests, scheme }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// A URL on it.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.addr())
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.acceptor.accepted()
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.acceptor.open()
    }

    /// How many requests it has read by [`Talk::request`].
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Acquire)
    }
}

/// A frame as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its type, see [`frame`].
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// Its stream.
    pub stream: u32,
    /// What it carries.
    pub payload: Vec<u8>,
}

/// One connection.
pub struct Talk {
    line: Option<Line>,
    requests: Arc<AtomicU64>,
    /// Which connection of this server it is, from 0.
    pub number: u64,
}

impl Talk {
    /// Sends bytes; `false` when the client is gone.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.line.as_mut().is_some_and(|line| line.write_all(bytes).and_then(|()| line.flush()).is_ok())
    }

    /// Reads exactly so many bytes.
    pub fn read(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.line.as_mut()?.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Reads the client's preface.
    pub fn preface(&mut self) -> bool {
        self.read(frame::PREFACE.len()).is_some_and(|bytes| bytes == frame::PREFACE)
    }

    /// Reads a frame.
    pub fn frame(&mut self) -> Option<Frame> {
        let head = self.read(9)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
        let payload = self.read(length)?;
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// Shakes hands as a server should: preface, SETTINGS both ways.
    pub fn greet(&mut self, pairs: &[(u16, u32)]) -> bool {
        self.preface() && self.send(&frame::settings(pairs))
    }

    /// Reads on until a request's HEADERS are complete, acknowledging what has to be; its stream.
    pub fn request(&mut self) -> Option<u32> {
        loop {
            let read = self.frame()?;
            match read.kind {
                frame::SETTINGS if read.flags & frame::ACK == 0 => {
                    self.send(&frame::settings_ack());
                }
                frame::PING if read.flags & frame::ACK == 0 => {
                    self.send(&frame::ping(frame::ACK, &read.payload));
                }
                frame::HEADERS | frame::CONTINUATION if read.flags & frame::END_HEADERS != 0 => {
                    self.requests.fetch_add(1, Ordering::AcqRel);
                    return Some(read.stream);
                }
                _ => {}
            }
        }
    }

    /// Greets and waits for the first request; its stream.
    pub fn first_request(&mut self) -> Option<u32> {
        if self.greet(&[]) { self.request() } else { None }
    }

    /// Sends the shortest good response.
    pub fn answer(&mut self, stream: u32) -> bool {
        let head = frame::headers(stream, frame::END_HEADERS, &[(":status", "200"), ("content-length", "2")]);
        self.send(&[head, frame::data(stream, frame::END_STREAM, b"hi")].concat())
    }

    /// Waits; `false` when the server is being dropped.
    pub fn pause(&mut self, time: Duration) -> bool {
        self.line.as_ref().is_some_and(|line| line.peer().pause(time))
    }

    /// Reads and ignores until the client goes away or the server is dropped.
    pub fn hang(&mut self) {
        while self.read(1).is_some() {}
    }

    /// Sends a piece again and again for as long as the client takes it.
    pub fn flood(&mut self, piece: &[u8]) {
        const BLOCK_BYTES: usize = 64 << 10;
        let block = piece.repeat(BLOCK_BYTES / piece.len().max(1) + 1);
        while self.send(&block) {}
    }

    /// Says that nothing more will come, and waits for the client to go away: closing at once would turn into a reset
    /// where the client has said something unread.
    pub fn close(&mut self) {
        if let Some(line) = &mut self.line {
            line.end();
        }
        self.hang();
    }

    /// Closes with a reset, after a moment in which what was sent can be read.
    pub fn abort(&mut self) {
        const MOMENT: Duration = Duration::from_millis(30);
        self.pause(MOMENT);
        if let Some(line) = self.line.take() {
            line.reset();
        }
    }
}
