//! A correct proxy: HTTP (forwarding and tunnels) and SOCKS 5 on one port, told apart by the first byte.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{Arc, Mutex, PoisonError},
};

use base64::Engine as _;

use crate::acceptor::{Acceptor, Peer, announced_length};

/// A proxy on loopback, until it is dropped.
pub struct GoodProxy {
    acceptor: Acceptor,
    heads: Arc<Mutex<Vec<String>>>,
}

/// Where a proxy leads a client that asks for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To this server.
    To(SocketAddr),
    /// Nowhere, for a reason: the status over HTTP, and the code over SOCKS.
    Refused {
        /// The status code and its text.
        status: &'static str,
        /// The reply of RFC 1928, section 6.
        socks: u8,
    },
}

type Guide = dyn Fn(&str, u16) -> Way + Send + Sync;

struct Rules {
    /// By the name and port that are asked for.
    guide: Box<Guide>,
    /// `user:password`, if clients need them.
    credentials: Option<String>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl GoodProxy {
    /// Starts a proxy in front of the server at `target`, whatever names clients ask for and whoever they are.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(target: SocketAddr) -> Self {
        Self::start_with(None, move |_, _| Way::To(target))
    }

    /// Starts a proxy that lets in whoever knows the credentials (`user:password`, `None` for everybody) and leads
    /// where `guide` says.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start_with(credentials: Option<&str>, guide: impl Fn(&str, u16) -> Way + Send + Sync + 'static) -> Self {
        let heads = Arc::new(Mutex::new(Vec::new()));
        let rules =
            Rules { guide: Box::new(guide), credentials: credentials.map(str::to_owned), seen: Arc::clone(&heads) };
        let acceptor = Acceptor::start(move |peer| rules.serve(peer)).expect("loopback has a free port");
        Self { acceptor, heads }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.acceptor.accepted()
    }

    /// What clients have asked of it: heads of HTTP requests, and `socks NAME:PORT` (`socks NAME:PORT as USER:PASSWORD`).
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Rules {
    fn serve(&self, mut peer: Peer) {
        let mut first = [0];
        if peer.stream.peek(&mut first).is_err() {
            return;
        }
        if first[0] == SOCKS_VERSION {
            if let Some(server) = self.socks(&mut peer.stream) {
                join(&peer.stream, &server);
            }
            return;
        }
        while let Some(head) = peer.read_head() {
            let mut body = vec![0; announced_length(&head)];
            if peer.stream.read_exact(&mut body).is_err()
                || !self.http(&mut peer, &String::from_utf8_lossy(&head), &body)
            {
                return;
            }
        }
    }

    fn note(&self, asked: String) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    /// Serves a request; `false` when nothing may follow it.
    fn http(&self, peer: &mut Peer, head: &str, body: &[u8]) -> bool {
        self.note(head.to_owned());
        let refuse = |peer: &mut Peer, status: &str, field: &str| {
            peer.send(format!("HTTP/1.1 {status}\r\n{field}Content-Length: 0\r\n\r\n").as_bytes())
        };
        if let Some(credentials) = &self.credentials {
            let pair = base64::engine::general_purpose::STANDARD.encode(credentials);
            if !head.contains(&format!("\r\nProxy-Authorization: Basic {pair}\r\n")) {
                let field = "Proxy-Authenticate: Basic realm=\"lab\"\r\n";
                return refuse(peer, "407 Proxy Authentication Required", field);
            }
        }
        let is_tunnel = head.starts_with("CONNECT ");
        let target = head.split(' ').nth(1).unwrap_or_default();
        let target = target.strip_prefix("http://").unwrap_or(target).split('/').next().unwrap_or_default();
        let (name, port) = target.rsplit_once(':').unwrap_or((target, "80"));
        let server = match (self.guide)(name, port.parse().unwrap_or_default()) {
            Way::To(addr) => connect(addr),
            Way::Refused { status, .. } => return refuse(peer, status, ""),
        };
        let Ok(mut server) = server else { return refuse(peer, "502 Bad Gateway", "") };
        if is_tunnel {
            if peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n") {
                join(&peer.stream, &server);
            }
            return false;
        }
        let head = head.replacen("\r\n\r\n", "\r\nX-Forwarded: yes\r\nConnection: close\r\n\r\n", 1);
        let mut answer = Vec::new();
        let _ = server.write_all(&[head.as_bytes(), body].concat());
        let _ = server.shutdown(Shutdown::Write);
        let _ = server.read_to_end(&mut answer);
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        // What is not whole ends with the connection, as it did behind the proxy.
        let is_whole = end.is_some_and(|end| announced_length(&answer[..end]) == answer.len() - end);
        peer.send(&answer) && is_whole
    }

    /// Reads a SOCKS 5 request and answers it.
    fn socks(&self, stream: &mut TcpStream) -> Option<TcpStream> {
        let methods = take(stream, 2)?[1];
        let methods = take(stream, usize::from(methods))?;
        let wants_user = methods.contains(&USER_AND_PASSWORD);
        if self.credentials.is_some() && !wants_user {
            stream.write_all(&[SOCKS_VERSION, NO_ACCEPTABLE_METHOD]).ok()?;
            return None;
        }
        stream.write_all(&[SOCKS_VERSION, if wants_user { USER_AND_PASSWORD } else { 0 }]).ok()?;
        let mut user = String::new();
        if wants_user {
            take(stream, 1)?;
            let pair = format!("{}:{}", take_text(stream)?, take_text(stream)?);
            let is_right = self.credentials.as_ref().is_none_or(|credentials| *credentials == pair);
            stream.write_all(&[1, u8::from(!is_right)]).ok()?;
            if !is_right {
                return None;
            }
            user = format!(" as {pair}");
        }
        let kind = take(stream, 4)?[3];
        let name = match kind {
            1 => format!("{:?}", take(stream, 4)?),
            4 => format!("{:?}", take(stream, 16)?),
            _ => take_text(stream)?,
        };
        let port = take(stream, 2)?;
        let port = u16::from_be_bytes([port[0], port[1]]);
        self.note(format!("socks {name}:{port}{user}"));
        let reply = |code: u8| [SOCKS_VERSION, code, 0, 3, 2, b'm', b'e', 0, 9];
        let server = match (self.guide)(&name, port) {
            Way::To(addr) => connect(addr).map_err(|_| CONNECTION_REFUSED),
            Way::Refused { socks, .. } => Err(socks),
        };
        // The address it connects from goes as a name.
        stream.write_all(&reply(server.as_ref().err().copied().unwrap_or(0))).ok()?;
        server.ok()
    }
}

const SOCKS_VERSION: u8 = 5;
const USER_AND_PASSWORD: u8 = 2;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECTION_REFUSED: u8 = 5;

fn connect(addr: SocketAddr) -> std::io::Result<TcpStream> {
    let server = TcpStream::connect(addr)?;
    // What it hands on shall not wait for more.
    server.set_nodelay(true)?;
    Ok(server)
}

fn take(stream: &mut TcpStream, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).ok().map(|()| bytes)
}

/// A text behind its length.
fn take_text(stream: &mut TcpStream) -> Option<String> {
    let length = take(stream, 1)?[0];
    Some(String::from_utf8_lossy(&take(stream, usize::from(length))?).into_owned())
}

/// Copies both ways until either side ends.
fn join(client: &TcpStream, server: &TcpStream) {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
        let _ = from.shutdown(Shutdown::Read);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(client, server));
        copy(server, client);
        let _ = client.shutdown(Shutdown::Both);
    });
}
