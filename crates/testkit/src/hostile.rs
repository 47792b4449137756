//! Servers that do what servers must not do.

use std::net::SocketAddr;
use std::time::Duration;

use crate::acceptor::{Acceptor, Peer, announced_length};

/// A server with one bad habit, on loopback, until it is dropped.
pub struct HostileServer {
    acceptor: Acceptor,
}

/// What a hostile server does with each connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Accepts and says nothing, ever.
    Hang,
    /// Closes at once, the request unread.
    CloseAtOnce,
    /// Resets at once.
    ResetAtOnce,
    /// Reads the request, sends these bytes, then ends in this way.
    Say(Vec<u8>, End),
    /// Sends a correct head one byte at a time.
    SlowHead {
        /// Between two bytes.
        every: Duration,
    },
    /// Sends a body one byte at a time.
    SlowBody {
        /// Between two bytes.
        every: Duration,
    },
    /// Sends header fields without end.
    EndlessHead,
    /// Sends one header line without end.
    EndlessHeaderLine,
    /// Sends interim responses without end.
    EndlessInterim,
    /// Sends a chunked body without end.
    EndlessChunks,
    /// Sends a body that ends with the connection, which never ends.
    EndlessBody,
    /// Sends chunk extensions without end.
    EndlessChunkExtension,
    /// Sends trailers without end.
    EndlessTrailer,
    /// Sends one header of this many bytes.
    HugeHeader(usize),
    /// Answers the first request of a connection well, and closes it instead of answering a second one.
    CloseKeptAlive,
    /// Answers the first request well, and resets the connection when the second one comes.
    ResetKeptAlive,
    /// Answers the first request well and closes the connection a moment later.
    CloseIdle,
    /// Answers well and then says something nobody asked for.
    UnaskedResponse,
    /// Answers before it has read the body, and closes.
    AnswerEarly,
    /// Sends back each piece of the body as it arrives, and reads no further until that is sent.
    EchoWhileReading,
    /// Instead of a TLS server hello: text.
    TlsPlainText,
    /// Instead of a TLS server hello: a record of random-looking bytes.
    TlsGarbage,
    /// Reads the client hello and never answers it.
    TlsSilence,
    /// Sends the first half of a handshake record and then nothing.
    TlsHalfRecord,
    /// Answers the client hello with a fatal alert.
    TlsAlert,
    /// Reads the client hello and closes.
    TlsClose,
}

/// How a conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Orderly.
    Close,
    /// With a reset, after a moment in which what was sent can be read.
    Reset,
    /// Not at all.
    Hang,
}

/// How long a hostile peer waits where it has to be sure that the other side has read what was sent.
const MOMENT: Duration = Duration::from_millis(30);

impl HostileServer {
    /// Starts a server.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(behaviour: Behaviour) -> Self {
        let acceptor = Acceptor::start(move |peer| behaviour.serve(peer)).expect("loopback has a free port");
        Self { acceptor }
    }

    /// A server that reads the request, sends `bytes` and closes.
    pub fn say(bytes: impl Into<Vec<u8>>) -> Self {
        Self::start(Behaviour::Say(bytes.into(), End::Close))
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// A URL on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr())
    }

    /// A TLS URL on it.
    pub fn https_url(&self, path: &str) -> String {
        format!("https://{}{path}", self.addr())
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.acceptor.accepted()
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.acceptor.open()
    }
}

impl Behaviour {
    fn serve(&self, mut peer: Peer) {
        match self {
            Self::Hang => peer.hang(),
            Self::CloseAtOnce => {}
            Self::ResetAtOnce => peer.reset(),
            Self::Say(bytes, end) => {
                if peer.read_request() {
                    peer.send(bytes);
                    finish(peer, *end);
                }
            }
            Self::SlowHead { every } => {
                if peer.read_request() {
                    drip(&mut peer, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", *every);
                }
            }
            Self::SlowBody { every } => {
                if peer.read_request() && peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") {
                    drip(&mut peer, &[b'x'; 1_000_000], *every);
                }
            }
            Self::EndlessHead => {
                flood(peer, b"HTTP/1.1 200 OK\r\n", b"X-Filler: 0123456789012345678901234567890123456789\r\n")
            }
            Self::EndlessHeaderLine => flood(peer, b"HTTP/1.1 200 OK\r\nX-Filler: ", &[b'x'; 100]),
            Self::EndlessInterim => flood(peer, b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            Self::EndlessChunks => flood(peer, CHUNKED_HEAD, b"a\r\n0123456789\r\n"),
            Self::EndlessBody => flood(peer, b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1000]),
            Self::EndlessChunkExtension => flood(peer, &[CHUNKED_HEAD, b"a;x="].concat(), &[b'x'; 100]),
            Self::EndlessTrailer => flood(peer, &[CHUNKED_HEAD, b"0\r\n"].concat(), b"X-Filler: y\r\n"),
            Self::HugeHeader(bytes) => {
                if peer.read_request() {
                    let filler = vec![b'a'; *bytes];
                    let _ = peer.send(b"HTTP/1.1 200 OK\r\nX-Huge: ")
                        && peer.send(&filler)
                        && peer.send(b"\r\nContent-Length: 2\r\n\r\nhi");
                    peer.hang();
                }
            }
            Self::CloseKeptAlive => {
                if peer.read_request() && peer.send(GOOD) {
                    peer.read_request();
                }
            }
            Self::ResetKeptAlive => {
                if peer.read_request() && peer.send(GOOD) && peer.read_request() {
                    peer.reset();
                }
            }
            Self::CloseIdle => {
                if peer.read_request() && peer.send(GOOD) {
                    peer.pause(MOMENT);
                }
            }
            Self::UnaskedResponse => while peer.read_request() && peer.send(GOOD) && peer.send(GOOD) {},
            Self::AnswerEarly => {
                let mut some = [0; 64];
                let _ = std::io::Read::read(&mut peer.stream, &mut some);
                peer.send(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig!");
                peer.pause(MOMENT);
            }
            Self::EchoWhileReading => echo_while_reading(peer),
            Self::TlsPlainText => {
                say_to_hello(peer, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", End::Close)
            }
            Self::TlsGarbage => say_to_hello(peer, &[0x16, 3, 3, 0, 40].repeat(9), End::Hang),
            Self::TlsSilence => peer.hang(),
            Self::TlsHalfRecord => say_to_hello(peer, &[0x16, 3, 3, 0, 80, 2, 0, 0, 76, 3, 3], End::Hang),
            Self::TlsAlert => say_to_hello(peer, &[0x15, 3, 3, 0, 2, 2, 40], End::Close),
            Self::TlsClose => say_to_hello(peer, b"", End::Close),
        }
    }
}

/// A correct response that keeps the connection.
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const CHUNKED_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn finish(mut peer: Peer, end: End) {
    match end {
        End::Close => {}
        End::Reset => {
            peer.pause(MOMENT);
            peer.reset();
        }
        End::Hang => peer.hang(),
    }
}

fn drip(peer: &mut Peer, bytes: &[u8], every: Duration) {
    for byte in bytes {
        if !peer.send(&[*byte]) || !peer.pause(every) {
            return;
        }
    }
    peer.hang();
}

/// Sends `start` and then `piece` for as long as anybody takes it.
fn flood(mut peer: Peer, start: &[u8], piece: &[u8]) {
    if !peer.read_request() || !peer.send(start) {
        return;
    }
    let block = piece.repeat(64 * 1024 / piece.len() + 1);
    while peer.send(&block) {}
}

fn echo_while_reading(mut peer: Peer) {
    let Some(head) = peer.read_head() else { return };
    let mut left = announced_length(&head);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {left}\r\n\r\n");
    if !peer.send(head.as_bytes()) {
        return;
    }
    let mut piece = vec![0; 64 << 10];
    while left > 0 {
        match std::io::Read::read(&mut peer.stream, &mut piece) {
            Ok(count) if count > 0 && peer.send(&piece[..count]) => left -= count,
            _ => return,
        }
    }
    peer.hang();
}

fn say_to_hello(mut peer: Peer, bytes: &[u8], end: End) {
    let mut hello = [0; 4096];
    if matches!(std::io::Read::read(&mut peer.stream, &mut hello), Ok(count) if count > 0) {
        peer.send(bytes);
        finish(peer, end);
    }
}
