//! The dashboard under attack: whether the run's own measurement notices.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Fault, Options, generate, leave_core_of_generators, server::Server};

/// What the attackers do, and how many do it: 500 in all.
const ATTACKERS: [(Attack, usize); 4] =
    [(Attack::SlowHeads, 300), (Attack::UnreadStreams, 100), (Attack::HugeHeads, 50), (Attack::Strangers, 50)];

#[derive(Debug, Clone, Copy)]
enum Attack {
    /// A byte of a request every tenth of a second.
    SlowHeads,
    /// They ask for the stream and read nothing.
    UnreadStreams,
    /// Headers without end.
    HugeHeads,
    /// Pages from elsewhere, other names of this machine, and nobody with a token, that want to change the run.
    Strangers,
}

const RATE: u64 = 1_000;
const ROUNDS: usize = 5;
/// What the median of the attacked runs may be above the worst of the quiet ones.
const NOISE_MS: f64 = 0.2;

/// Runs quiet and attacked runs in turns; the rows, and whether the attack shows in none of them.
pub(super) fn run(onrush: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    leave_core_of_generators()?;
    let server = Server::start()?;
    let script = format!(
        "import http from 'k6/http';
export const options = {{ scenarios: {{ asks: {{ executor: 'constant-arrival-rate', rate: {RATE}, duration: '{}s', preAllocatedVUs: 60 }} }} }};
export default function () {{ http.get('http://{}/'); }}
",
        options.seconds(),
        server.address
    );
    println!(
        "{:<10} {:>8} {:>10} {:>8} {:>10}   start lag p(99) ms",
        "dashboard", "verdict", "iterations", "dropped", "requests"
    );
    let (mut rows, mut lags, mut is_right) = (Vec::new(), [Vec::new(), Vec::new()], true);
    for _ in 0..options.runs.min(ROUNDS) {
        for is_attacked in [false, true] {
            let address = free_address()?;
            let attackers = is_attacked.then(|| Attackers::start(address));
            let out = format!("web-dashboard=port={}", address.port());
            let ran = generate(onrush, &script, &["--out", &out], Fault::None, true)?;
            let requests = attackers.map_or(0, Attackers::stop);
            let count = |metric: &str| ran.summary["metrics"][metric]["count"].as_u64().unwrap_or_default();
            let (iterations, dropped) = (count("iterations"), count("dropped_iterations"));
            let lag = ran.summary["measurement"]["start_lag_ms"]["p(99)"].as_f64().context("no start lag")?;
            let name = if is_attacked { "attacked" } else { "quiet" };
            println!("{name:<10} {:>8} {iterations:>10} {dropped:>8} {requests:>10}   {lag:.2}", ran.verdict());
            is_right &= ran.verdict() == "VALID" && dropped == 0;
            lags[usize::from(is_attacked)].push(lag);
            rows.push(json!({
                "attacked": is_attacked, "verdict": ran.verdict(), "reasons": ran.reasons(), "iterations": iterations,
                "dropped": dropped, "hostile_connections": requests, "start_lag_ms_p99": lag,
                "cpu_cores": ran.summary["measurement"]["generator"]["cpu_cores"],
            }));
        }
    }
    let [quiet, attacked] = lags.each_mut().map(|lags| {
        lags.sort_by(f64::total_cmp);
        lags
    });
    let (median, worst) = (attacked[attacked.len() / 2], quiet[quiet.len() - 1]);
    println!("median under attack {median:.2} ms, worst without {worst:.2} ms");
    Ok((rows, is_right && median <= worst + NOISE_MS))
}

/// A port that was free a moment ago.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on 127.0.0.1")?.local_addr()?)
}

/// Threads that attack until they are stopped.
struct Attackers {
    over: Arc<AtomicBool>,
    connections: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Attackers {
    fn start(address: SocketAddr) -> Self {
        let (over, connections) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let all = ATTACKERS.iter().flat_map(|(attack, count)| std::iter::repeat_n(*attack, *count));
        let threads = all
            .map(|attack| {
                let (over, connections) = (over.clone(), connections.clone());
                thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        // Whoever is hung up on comes back; the server may not be there yet.
                        if let Ok(stream) = TcpStream::connect(address) {
                            connections.fetch_add(1, Ordering::Relaxed);
                            let _ = attack.on(stream, &over);
                        }
                        thread::sleep(PAUSE);
                    }
                })
            })
            .collect();
        Self { over, connections, threads }
    }

    /// Ends them; how many connections they made.
    fn stop(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // One that panicked attacks no more.
            let _ = thread.join();
        }
        self.connections.load(Ordering::Relaxed)
    }
}

impl Attack {
    fn on(self, mut stream: TcpStream, over: &AtomicBool) -> std::io::Result<()> {
        stream.set_write_timeout(Some(PAUSE))?;
        stream.set_read_timeout(Some(PAUSE))?;
        let is_over = || over.load(Ordering::Relaxed);
        match self {
            Self::SlowHeads => {
                for byte in
                    b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ".iter().chain(std::iter::repeat(&b'x'))
                {
                    if is_over() {
                        break;
                    }
                    stream.write_all(&[*byte])?;
                    thread::sleep(PAUSE);
                }
            }
            Self::UnreadStreams => {
                stream.write_all(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
                while !is_over() && stream.write(b" ").is_ok() {
                    thread::sleep(PAUSE);
                }
            }
            Self::HugeHeads => {
                stream.write_all(b"GET / HTTP/1.1\r\nX: ")?;
                while !is_over() {
                    stream.write_all(&[b'x'; 1 << 16])?;
                }
            }
            Self::Strangers => {
                for head in [
                    "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                    "GET /v1/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n\r\n",
                    "PATCH /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}",
                    "PATCH /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\nContent-Length: 999999999\r\n\r\n",
                ] {
                    stream.write_all(head.as_bytes())?;
                    let _ = stream.read(&mut [0; 4096])?;
                }
            }
        }
        Ok(())
    }
}

const PAUSE: Duration = Duration::from_millis(100);
