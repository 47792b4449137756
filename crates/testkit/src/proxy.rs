//! A correct proxy: HTTP (forwarding and tunnels) and SOCKS 5 on one port, told apart by the first byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use crate::acceptor::{Acceptor, Peer};

/// A proxy on loopback that sends everything to one server, until it is dropped.
pub struct GoodProxy {
    acceptor: Acceptor,
    heads: Arc<Mutex<Vec<String>>>,
}

impl GoodProxy {
    /// Starts a proxy in front of the server at `target`, whatever names clients ask for.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(target: SocketAddr) -> Self {
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let acceptor = Acceptor::start(move |peer| serve(peer, target, &seen)).expect("loopback has a free port");
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

fn serve(mut peer: Peer, target: SocketAddr, seen: &Mutex<Vec<String>>) {
    let note = |head: String| seen.lock().unwrap_or_else(PoisonError::into_inner).push(head);
    let mut first = [0];
    if peer.stream.peek(&mut first).is_err() {
        return;
    }
    if first[0] == 5 {
        if let Some(asked) = socks(&mut peer.stream) {
            note(asked);
            if let Ok(server) = TcpStream::connect(target) {
                join(&peer.stream, &server);
            }
        }
        return;
    }
    while let Some(head) = peer.read_head() {
        let head = String::from_utf8_lossy(&head).into_owned();
        let is_tunnel = head.starts_with("CONNECT ");
        note(head.clone());
        let Ok(mut server) = TcpStream::connect(target) else { return };
        if is_tunnel {
            if peer.send(b"HTTP/1.1 200 Connection established\r\n\r\n") {
                join(&peer.stream, &server);
            }
            return;
        }
        // Bodies are not forwarded: tests send none this way.
        let head = head.replacen("\r\n\r\n", "\r\nX-Forwarded: yes\r\nConnection: close\r\n\r\n", 1);
        let mut answer = Vec::new();
        let _ = server.write_all(head.as_bytes());
        let _ = server.read_to_end(&mut answer);
        if !peer.send(&answer) {
            return;
        }
    }
}

/// Reads a SOCKS 5 request and grants it.
fn socks(stream: &mut TcpStream) -> Option<String> {
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let methods = take(2)?[1];
    let methods = take(usize::from(methods))?;
    let wants_user = methods.contains(&2);
    stream.write_all(&[5, if wants_user { 2 } else { 0 }]).ok()?;
    let mut user = String::new();
    if wants_user {
        let mut take_text = |skip: usize| {
            let mut head = vec![0; skip + 1];
            stream.read_exact(&mut head).ok()?;
            let mut text = vec![0; usize::from(head[skip])];
            stream.read_exact(&mut text).ok()?;
            Some(String::from_utf8_lossy(&text).into_owned())
        };
        user = format!(" as {}:{}", take_text(1)?, take_text(0)?);
        stream.write_all(&[1, 0]).ok()?;
    }
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let length = match head[3] {
        1 => 4,
        4 => 16,
        _ => {
            let mut length = [0];
            stream.read_exact(&mut length).ok()?;
            usize::from(length[0])
        }
    };
    let mut name = vec![0; length + 2];
    stream.read_exact(&mut name).ok()?;
    let port = u16::from_be_bytes([name[length], name[length + 1]]);
    let name = if head[3] == 3 {
        String::from_utf8_lossy(&name[..length]).into_owned()
    } else {
        format!("{:?}", &name[..length])
    };
    // The address it connects from, as a name.
    stream.write_all(&[5, 0, 0, 3, 2, b'm', b'e', 0, 9]).ok()?;
    Some(format!("socks {name}:{port}{user}"))
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
