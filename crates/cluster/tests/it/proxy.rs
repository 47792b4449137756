//! A way between agent and hub that can be cut, held, slow and mended.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    is_open: Arc<AtomicBool>,
    is_held: Arc<AtomicBool>,
    is_slow: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let proxy = Self {
            address: listener.local_addr().expect("it listens"),
            connections: Arc::default(),
            is_open: Arc::new(AtomicBool::new(true)),
            is_held: Arc::default(),
            is_slow: Arc::default(),
        };
        let (connections, is_open) = (proxy.connections.clone(), proxy.is_open.clone());
        let (is_held, is_slow) = (proxy.is_held.clone(), proxy.is_slow.clone());
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(target) else { return };
                if !is_open.load(Ordering::Relaxed) {
                    continue;
                }
                let pair = |a: &TcpStream, b: &TcpStream| Some((a.try_clone().ok()?, b.try_clone().ok()?));
                for (from, to) in pair(&near, &far).into_iter().chain(pair(&far, &near)) {
                    let (is_held, is_slow) = (is_held.clone(), is_slow.clone());
                    thread::spawn(move || pump(from, to, &is_held, &is_slow));
                }
                connections.lock().expect("no panic").extend([near, far]);
            }
        });
        proxy
    }

    /// Cuts all connections; new ones are made.
    pub(crate) fn cut(&self) {
        for connection in self.connections.lock().expect("no panic").drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Cuts all connections; new ones are cut, too.
    pub(crate) fn close(&self) {
        self.is_open.store(false, Ordering::Relaxed);
        self.cut();
    }

    /// Nothing gets through, and nobody is told.
    pub(crate) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// At most 400 KB a second get through from now on, each way.
    pub(crate) fn slow_down(&self) {
        self.is_slow.store(true, Ordering::Relaxed);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, is_held: &AtomicBool, is_slow: &AtomicBool) {
    let mut bytes = [0; 4_096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while is_held.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if is_slow.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
