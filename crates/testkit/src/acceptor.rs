//! A listener on loopback with a thread per connection, and a way to end them all.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// How often a pausing connection looks whether the server is being dropped.
const STOP_CHECK: Duration = Duration::from_millis(5);

/// Accepts until dropped.
pub(crate) struct Acceptor {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    accepted: AtomicU64,
    /// A second handle on each open connection, to end its blocking reads.
    open: Mutex<HashMap<u64, TcpStream>>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

/// One accepted connection.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    /// Which connection of this server it is, from 0.
    pub(crate) number: u64,
    shared: Arc<Shared>,
}

impl Acceptor {
    /// Listens on a free port of loopback.
    pub(crate) fn start(serve: impl Fn(Peer) + Send + Sync + 'static) -> io::Result<Self> {
        Self::start_on((Ipv4Addr::LOCALHOST, 0).into(), serve)
    }

    /// Listens on this address.
    pub(crate) fn start_on(addr: SocketAddr, serve: impl Fn(Peer) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(addr)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let serve = Arc::new(serve);
        let thread = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || accept_all(&listener, &shared, &serve))
        };
        Ok(Self { addr, shared, thread: Some(thread) })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many connections have been accepted.
    pub(crate) fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Acquire)
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        lock(&self.shared.open).len()
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Wakes the accept call.
        let _ = TcpStream::connect(self.addr);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for stream in lock(&self.shared.open).values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for worker in lock(&self.shared.workers).drain(..) {
            // A panic in a connection thread has been printed; it is not this server's failure.
            let _ = worker.join();
        }
    }
}

impl Peer {
    /// Waits; `false` when the server is being dropped.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let mut left = time;
        while !self.shared.stop.load(Ordering::Acquire) {
            if left.is_zero() {
                return true;
            }
            let step = left.min(STOP_CHECK);
            std::thread::sleep(step);
            left -= step;
        }
        false
    }

    /// Stays until the server is dropped or the other side goes away.
    pub(crate) fn hang(&mut self) {
        let mut sink = [0; 1024];
        while matches!(self.stream.read(&mut sink), Ok(count) if count > 0) {}
    }

    /// Reads a request head, byte by byte so that nothing of the body is taken; `None` at the end.
    pub(crate) fn read_head(&mut self) -> Option<Vec<u8>> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return None,
            }
        }
        Some(head)
    }

    /// Reads a request head and the body its `Content-Length` announces; `false` at the end.
    pub(crate) fn read_request(&mut self) -> bool {
        let Some(head) = self.read_head() else { return false };
        let mut body = vec![0; announced_length(&head)];
        self.stream.read_exact(&mut body).is_ok()
    }

    /// Writes; `false` when the other side is gone.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Closes with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        lock(&self.shared.open).remove(&self.number);
        // The last handle closes: with nothing lingering, that sends a reset.
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        lock(&self.shared.open).remove(&self.number);
    }
}

/// The `Content-Length` of a head, 0 when there is none.
pub(crate) fn announced_length(head: &[u8]) -> usize {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    text.lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(0)
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>, serve: &Arc<impl Fn(Peer) + Send + Sync + 'static>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let number = shared.accepted.fetch_add(1, Ordering::AcqRel);
        let _ = stream.set_nodelay(true);
        let Ok(second) = stream.try_clone() else { continue };
        lock(&shared.open).insert(number, second);
        let peer = Peer { stream, number, shared: Arc::clone(shared) };
        let serve = Arc::clone(serve);
        let worker = std::thread::spawn(move || serve(peer));
        let mut workers = lock(&shared.workers);
        workers.retain(|worker| !worker.is_finished());
        workers.push(worker);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
