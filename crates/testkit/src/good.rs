//! A small correct HTTP/1.1 server, plain or TLS, that answers with what a closure says.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustls::ServerConfig;

use crate::{acceptor::Acceptor, line::Line};

/// A server on loopback, until it is dropped.
pub struct GoodServer {
    acceptor: Acceptor,
    requests: Arc<AtomicU64>,
    scheme: &'static str,
}

/// A request as the server read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Incoming {
    /// The method.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// The fields in their order, names as sent.
    pub headers: Vec<(String, String)>,
    /// The body, chunked encoding undone.
    pub body: Vec<u8>,
    /// The whole head as sent.
    pub raw_head: String,
    /// Which connection of this server it came over, from 0.
    pub connection: u64,
}

/// A response to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Fields beside `Content-Length` or `Transfer-Encoding`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the body is sent in chunks of this size.
    pub chunk_bytes: Option<usize>,
    /// Whether the connection is closed afterwards.
    pub close: bool,
    /// How long to wait before answering.
    pub delay: std::time::Duration,
    /// The length that is announced instead of the body's. The rest never comes.
    pub announced_bytes: Option<u64>,
}

impl Reply {
    /// `200 OK` with a body.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
            chunk_bytes: None,
            close: false,
            delay: std::time::Duration::ZERO,
            announced_bytes: None,
        }
    }

    /// An empty response.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::text("") }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).header("Location", location)
    }

    /// Adds a field.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in chunks.
    #[must_use]
    pub fn chunked(mut self, chunk_bytes: usize) -> Self {
        self.chunk_bytes = Some(chunk_bytes.max(1));
        self
    }

    /// Closes the connection afterwards.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    /// Announces a longer body than it sends.
    #[must_use]
    pub fn announcing(mut self, bytes: u64) -> Self {
        self.announced_bytes = Some(bytes);
        self
    }

    /// Answers later.
    #[must_use]
    pub fn after(mut self, delay: std::time::Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl Incoming {
    /// The first value of a field, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl GoodServer {
    /// Starts a plain server.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(handler: impl Fn(&Incoming) -> Reply + Send + Sync + 'static) -> Self {
        Self::accept(None, handler)
    }

    /// Starts a TLS server (see [`crate::CertificateAuthority`]).
    ///
    /// # Panics
    /// When no port is free.
    pub fn start_tls(config: Arc<ServerConfig>, handler: impl Fn(&Incoming) -> Reply + Send + Sync + 'static) -> Self {
        Self::accept(Some(config), handler)
    }

    fn accept(config: Option<Arc<ServerConfig>>, handler: impl Fn(&Incoming) -> Reply + Send + Sync + 'static) -> Self {
        let requests = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&requests);
        let scheme = if config.is_some() { "https" } else { "http" };
        let acceptor = Acceptor::start(move |peer| {
            let number = peer.number;
            if let Some(line) = Line::new(peer, config.as_ref()) {
                serve(line, number, &handler, &count);
            }
        })
        .expect("loopback has a free port");
        Self { acceptor, requests, scheme }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// A URL on it, by address.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.addr())
    }

    /// A URL on it, by a name that must lead to loopback.
    pub fn url_at(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.addr().port())
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.acceptor.accepted()
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.acceptor.open()
    }

    /// How many requests it has read.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Acquire)
    }
}

fn serve(stream: Line, connection: u64, handler: &impl Fn(&Incoming) -> Reply, count: &AtomicU64) {
    let mut reader = BufReader::new(stream);
    while let Some(mut request) = read_request(&mut reader) {
        request.connection = connection;
        count.fetch_add(1, Ordering::AcqRel);
        let reply = handler(&request);
        if !reader.get_ref().peer().pause(reply.delay) {
            return;
        }
        let wants_close = request.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if write_reply(reader.get_mut(), &request, &reply).is_err() || reply.close || wants_close {
            reader.get_mut().say_goodbye();
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<Line>) -> Option<Incoming> {
    /// More than any test sends.
    const HEADERS_MAX: usize = 128;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if reader.read_until(b'\n', &mut head).ok()? == 0 {
            return None;
        }
    }
    let mut space = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut space);
    parsed.parse(&head).ok()?;
    let mut request = Incoming {
        method: parsed.method?.to_owned(),
        target: parsed.path?.to_owned(),
        headers: parsed
            .headers
            .iter()
            .map(|field| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned()))
            .collect(),
        raw_head: String::from_utf8_lossy(&head).into_owned(),
        ..Incoming::default()
    };
    if request.header("Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        request.body = read_chunks(reader)?;
    } else if let Some(length) = request.header("Content-Length") {
        request.body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut request.body).ok()?;
    }
    Some(request)
}

fn read_chunks(reader: &mut BufReader<Line>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let start = body.len();
        body.resize(start + size, 0);
        reader.read_exact(&mut body[start..]).ok()?;
        let mut end = [0; 2];
        reader.read_exact(&mut end).ok()?;
        if size == 0 {
            return Some(body);
        }
    }
}

fn write_reply(out: &mut impl Write, request: &Incoming, reply: &Reply) -> std::io::Result<()> {
    let mut wire = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status)).into_bytes();
    for (name, value) in &reply.headers {
        write!(wire, "{name}: {value}\r\n")?;
    }
    if reply.close {
        wire.extend_from_slice(b"Connection: close\r\n");
    }
    let has_body = request.method != "HEAD" && !matches!(reply.status, 204 | 304);
    match reply.chunk_bytes {
        Some(size) => {
            wire.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            if has_body {
                for chunk in reply.body.chunks(size) {
                    write!(wire, "{:x}\r\n", chunk.len())?;
                    wire.extend_from_slice(chunk);
                    wire.extend_from_slice(b"\r\n");
                }
                wire.extend_from_slice(b"0\r\n\r\n");
            }
        }
        None => {
            let length = reply.announced_bytes.unwrap_or(reply.body.len() as u64);
            write!(wire, "Content-Length: {length}\r\n\r\n")?;
            if has_body {
                wire.extend_from_slice(&reply.body);
            }
        }
    }
    out.write_all(&wire)?;
    out.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
