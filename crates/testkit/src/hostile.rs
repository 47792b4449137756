//! Servers that do what servers must not do.

use std::{iter::repeat_n, net::SocketAddr, time::Duration};

use crate::{
    acceptor::Acceptor,
    steps::{self, Step},
};

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
        let steps = behaviour.steps();
        let acceptor = Acceptor::start(move |peer| steps::run(peer, None, &steps)).expect("loopback has a free port");
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
    /// What it does, step by step.
    fn steps(&self) -> Vec<Step> {
        let send = |bytes: &[u8]| Step::Send(bytes.to_vec());
        let drip = |bytes: &[u8], every: Duration| Step::Drip(bytes.to_vec(), every);
        let flood = |start: &[u8], piece: &[u8]| vec![Step::Read, send(start), Step::Flood(piece.to_vec())];
        let hello = |bytes: &[u8], end: End| [vec![Step::ReadSome, send(bytes)], end.steps()].concat();
        match self {
            Self::Hang | Self::TlsSilence => vec![Step::Hang],
            Self::CloseAtOnce => vec![Step::Close],
            Self::ResetAtOnce => vec![Step::Reset],
            Self::Say(bytes, end) => [vec![Step::Read, send(bytes)], end.steps()].concat(),
            Self::SlowHead { every } => vec![Step::Read, drip(GOOD, *every), Step::Hang],
            Self::SlowBody { every } => {
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
                vec![Step::Read, send(head), drip(&[b'x'; 1_000_000], *every), Step::Hang]
            }
            Self::EndlessHead => {
                flood(b"HTTP/1.1 200 OK\r\n", b"X-Filler: 0123456789012345678901234567890123456789\r\n")
            }
            Self::EndlessHeaderLine => flood(b"HTTP/1.1 200 OK\r\nX-Filler: ", &[b'x'; 100]),
            Self::EndlessInterim => flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            Self::EndlessChunks => flood(CHUNKED_HEAD, b"a\r\n0123456789\r\n"),
            Self::EndlessBody => flood(b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1000]),
            Self::EndlessChunkExtension => flood(&[CHUNKED_HEAD, b"a;x="].concat(), &[b'x'; 100]),
            Self::EndlessTrailer => flood(&[CHUNKED_HEAD, b"0\r\n"].concat(), b"X-Filler: y\r\n"),
            Self::HugeHeader(bytes) => {
                let filler = vec![b'a'; *bytes];
                let (start, end) = (&b"HTTP/1.1 200 OK\r\nX-Huge: "[..], &b"\r\nContent-Length: 2\r\n\r\nhi"[..]);
                vec![Step::Read, Step::Send([start, &filler, end].concat()), Step::Hang]
            }
            Self::CloseKeptAlive => vec![Step::Read, send(GOOD), Step::Read, Step::Close],
            Self::ResetKeptAlive => vec![Step::Read, send(GOOD), Step::Read, Step::Reset],
            Self::CloseIdle => vec![Step::Read, send(GOOD), Step::Pause(MOMENT), Step::Close],
            Self::UnaskedResponse => repeat_n([Step::Read, send(GOOD), send(GOOD)], REQUESTS_MAX).flatten().collect(),
            Self::AnswerEarly => {
                let early = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig!";
                vec![Step::ReadSome, send(early), Step::Pause(MOMENT), Step::Close]
            }
            Self::EchoWhileReading => vec![Step::Echo, Step::Hang],
            Self::TlsPlainText => hello(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", End::Close),
            Self::TlsGarbage => hello(&[0x16, 3, 3, 0, 40].repeat(9), End::Hang),
            Self::TlsHalfRecord => hello(&[0x16, 3, 3, 0, 80, 2, 0, 0, 76, 3, 3], End::Hang),
            Self::TlsAlert => hello(&[0x15, 3, 3, 0, 2, 2, 40], End::Close),
            Self::TlsClose => hello(b"", End::Close),
        }
    }
}

impl End {
    fn steps(self) -> Vec<Step> {
        match self {
            Self::Close => vec![Step::Close],
            Self::Reset => vec![Step::Pause(MOMENT), Step::Reset],
            Self::Hang => vec![Step::Hang],
        }
    }
}

/// A correct response that keeps the connection.
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const CHUNKED_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
/// More requests than any test makes over one connection.
const REQUESTS_MAX: usize = 100;
