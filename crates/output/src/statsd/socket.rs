//! The way datagrams go.

use std::{
    io,
    net::{ToSocketAddrs as _, UdpSocket},
    os::unix::net::UnixDatagram,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Where somebody listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `host:port`.
    Udp(String),
    /// The path of a socket.
    Unix(PathBuf),
}

impl Address {
    /// What a datagram holds: over UDP what goes through Ethernet in one piece, as Datadog's clients do; through a socket of this
    /// machine what Datadog's agent reads at once.
    pub(super) fn datagram_bytes_max(&self) -> usize {
        match self {
            Self::Udp(_) => 1_432,
            Self::Unix(_) => 8_192,
        }
    }
}

/// How many datagrams there were.
#[derive(Debug, Clone, Default)]
pub struct Datagrams(Arc<[AtomicU64; 2]>);

impl Datagrams {
    fn add(&self, sent: u64, lost: u64) {
        self.0[0].fetch_add(sent, Ordering::Relaxed);
        self.0[1].fetch_add(lost, Ordering::Relaxed);
    }

    /// Those that nobody took, as far as is known, and all.
    pub fn lost_of_all(&self) -> (u64, u64) {
        let [sent, lost] = [0, 1].map(|index: usize| self.0[index].load(Ordering::Relaxed));
        (lost, sent)
    }
}

/// A socket, opened when it is needed and again after a failure.
pub(super) struct Socket {
    address: Address,
    open: Option<Open>,
    counts: Datagrams,
}

enum Open {
    Udp(UdpSocket),
    Unix(UnixDatagram),
}

/// How long a socket of this machine may be full.
const PATIENCE: Duration = Duration::from_millis(200);

impl Socket {
    pub(super) fn new(address: Address, counts: Datagrams) -> Self {
        Self { address, open: None, counts }
    }

    /// Sends one, and counts it.
    pub(super) fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.counts.add(1, 0);
        let mut problem = None;
        // What an open socket has to say may be about the one before, or about somebody who listened there before.
        for is_last in [self.open.is_none(), true] {
            match self.send_once(datagram) {
                Ok(()) => return problem.map_or(Ok(()), Err),
                Err(error) if is_last => {
                    self.counts.add(0, 1);
                    return Err(error);
                }
                Err(error)
                    if matches!(self.address, Address::Udp(_)) && error.kind() == io::ErrorKind::ConnectionRefused =>
                {
                    self.counts.add(0, 1);
                    problem = Some(error);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn send_once(&mut self, datagram: &[u8]) -> io::Result<()> {
        let open = match self.open.take() {
            Some(open) => open,
            None => open(&self.address)?,
        };
        match &open {
            Open::Udp(socket) => socket.send(datagram)?,
            Open::Unix(socket) => socket.send(datagram)?,
        };
        // One that failed is not kept.
        self.open = Some(open);
        Ok(())
    }

    /// Whether the last datagram came back meanwhile.
    pub(super) fn look_back(&mut self) -> io::Result<()> {
        let Some(Open::Udp(socket)) = &self.open else { return Ok(()) };
        match socket.take_error()? {
            None => Ok(()),
            Some(error) => {
                self.counts.add(0, 1);
                self.open = None;
                Err(error)
            }
        }
    }
}

fn open(address: &Address) -> io::Result<Open> {
    match address {
        Address::Udp(text) => {
            let target = text.to_socket_addrs()?.next();
            let target = target.ok_or_else(|| io::Error::other(format!("{text} has no address")))?;
            let socket = UdpSocket::bind(if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
            // So that the system says when nobody listens.
            socket.connect(target)?;
            Ok(Open::Udp(socket))
        }
        Address::Unix(path) => {
            let socket = UnixDatagram::unbound()?;
            socket.connect(path)?;
            socket.set_write_timeout(Some(PATIENCE))?;
            Ok(Open::Unix(socket))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_counted() {
        let listener = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let counts = Datagrams::default();
        let mut socket = Socket::new(Address::Udp(address.to_string()), counts.clone());
        socket.send(b"1").expect("somebody listens");
        socket.look_back().expect("somebody listens");
        drop(listener);
        // On this machine an answer is there at once.
        for _ in 0..3 {
            let _ = socket.send(b"2");
            assert!(socket.look_back().is_err());
        }
        assert_eq!(counts.lost_of_all(), (3, 4));
        let listener = UdpSocket::bind(address).expect("it is free");
        socket.send(b"3").expect("somebody listens again");
        let mut bytes = [0; 9];
        assert_eq!(listener.recv(&mut bytes).expect("it arrived"), 1);
        assert_eq!(counts.lost_of_all(), (3, 5));
    }

    #[test]
    fn a_unix_socket_that_is_made_again_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let counts = Datagrams::default();
        let mut socket = Socket::new(Address::Unix(path.clone()), counts.clone());
        assert!(socket.send(b"nobody").is_err());
        for _ in 0..2 {
            let listener = UnixDatagram::bind(&path).expect("a socket");
            socket.send(b"there").expect("somebody listens");
            let mut bytes = [0; 9];
            assert_eq!(listener.recv(&mut bytes).expect("it arrived"), 5);
            std::fs::remove_file(&path).expect("it is there");
        }
        assert_eq!(counts.lost_of_all(), (1, 3));
    }
}
