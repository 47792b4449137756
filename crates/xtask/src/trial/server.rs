//! The system under test of a trial: answers after some milliseconds and keeps how long each request really took.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok";
/// Shortest time a request takes, and the longest; in between all are equally frequent.
const WORK: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(12)];

/// A server; its threads live until the process ends.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    log: Arc<Mutex<Vec<f64>>>,
}

impl Server {
    /// Starts one, a thread for each connection, all on the cores of the calling thread.
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on 127.0.0.1")?;
        let address = listener.local_addr()?;
        let log: Arc<Mutex<Vec<f64>>> = Arc::default();
        let (seen, numbers) = (log.clone(), Arc::new(AtomicU64::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, numbers) = (seen.clone(), numbers.clone());
                thread::spawn(move || serve(stream, &seen, &numbers));
            }
        });
        Ok(Self { address, log })
    }

    /// How long the requests since the last call took, sorted, milliseconds: from the read that had the request to the write
    /// of the answer.
    pub(super) fn take(&self) -> Vec<f64> {
        let mut taken = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        taken.sort_by(f64::total_cmp);
        taken
    }
}

/// Answers requests without a body until the peer is gone.
fn serve(mut stream: TcpStream, log: &Mutex<Vec<f64>>, numbers: &AtomicU64) {
    let _ = stream.set_nodelay(true);
    let (mut buffer, mut held) = ([0; 4096], 0);
    while let Ok(count) = stream.read(&mut buffer[held..]) {
        let began = Instant::now();
        held += count;
        if count == 0 || held == buffer.len() {
            return;
        }
        if !buffer[..held].ends_with(b"\r\n\r\n") {
            continue;
        }
        held = 0;
        thread::sleep(work(numbers.fetch_add(1, Ordering::Relaxed)));
        let took = began.elapsed().as_secs_f64() * 1e3;
        log.lock().unwrap_or_else(PoisonError::into_inner).push(took);
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}

/// How long a request takes: spread evenly by Weyl's sequence of the golden ratio.
fn work(number: u64) -> Duration {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let place = (number as f64 * GOLDEN).fract();
    WORK[0] + (WORK[1] - WORK[0]).mul_f64(place)
}
