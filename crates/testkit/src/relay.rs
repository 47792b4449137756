//! A way to a server that is slow, loses packets and breaks: what a bad network looks like above TCP.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::acceptor::{Acceptor, Peer};

/// What goes wrong on a way.
#[derive(Debug, Clone, Copy)]
pub struct Weather {
    /// How long bytes take, each way.
    pub delay: Duration,
    /// A packet is lost once in so many bytes ...
    pub lost_every: u64,
    /// ... and comes so much later, with all that follows it.
    pub stall: Duration,
    /// A connection breaks after so long.
    pub life: Duration,
}

/// Leads from an address of its own to a server, until it is dropped.
pub struct Relay {
    acceptor: Acceptor,
}

/// Bytes that travel together.
const CHUNK_BYTES: usize = 16 << 10;
/// How often a silent connection looks at its age.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Relay {
    /// A way to `target`.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(target: SocketAddr, weather: Weather) -> Self {
        let acceptor = Acceptor::start(move |peer| carry(&peer, target, weather)).expect("a free port");
        Self { acceptor }
    }

    /// Where it begins.
    pub fn address(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// Connections made so far.
    pub fn connections(&self) -> u64 {
        self.acceptor.accepted()
    }
}

/// Both directions of a connection, until one of them ends or it is old.
fn carry(peer: &Peer, target: SocketAddr, weather: Weather) {
    let Ok(far) = TcpStream::connect(target) else { return };
    let _ = far.set_nodelay(true);
    let (begun, carried) = (Instant::now(), AtomicU64::new(0));
    let pump = |from: &TcpStream, to: &TcpStream| {
        let _ = from.set_read_timeout(Some(LOOK_EVERY));
        let (mut from, mut to) = (from, to);
        let mut bytes = [0; CHUNK_BYTES];
        while begun.elapsed() < weather.life {
            let count = match from.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(_) => break,
            };
            let before = carried.fetch_add(count as u64, Ordering::Relaxed);
            let is_lost = (before + count as u64) / weather.lost_every > before / weather.lost_every;
            let late = if is_lost { weather.delay + weather.stall } else { weather.delay };
            if !peer.pause(late) || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        // Both directions end together.
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| pump(&peer.stream, &far));
        pump(&far, &peer.stream);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GoodServer, Reply};

    fn get(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut text = String::new();
        // A connection that broke has no more to say.
        let _ = stream.read_to_string(&mut text);
        text
    }

    #[test]
    fn bytes_get_through_until_the_connection_breaks() {
        let server = GoodServer::start(|request| Reply::text(request.target.clone()));
        let weather = Weather {
            delay: Duration::from_millis(5),
            lost_every: 64,
            stall: Duration::from_millis(20),
            life: Duration::from_secs(60),
        };
        let relay = Relay::start(server.addr(), weather);
        assert!(get(relay.address()).ends_with("/x"));
        assert_eq!(relay.connections(), 1);
        let broken = Relay::start(server.addr(), Weather { life: Duration::ZERO, ..weather });
        assert_eq!(get(broken.address()), "");
    }
}
