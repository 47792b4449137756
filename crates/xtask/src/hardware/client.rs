//! The programs that are measured: they run the same script, and their REST APIs say how many VUs and requests there are.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::sample::{Counters, Sample};

/// A program.
#[derive(Debug, Clone)]
pub(super) enum Client {
    Onrush(PathBuf),
    K6(PathBuf),
}

/// How often it is looked at.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long it may take to begin and to end beside its load.
const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    /// What a chart calls it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Onrush(_) => "Onrush",
            Self::K6(_) => "k6",
        }
    }

    /// Runs a script to its end and looks at the process once a second.
    pub(super) fn run(&self, script: &Path, target: &str, vus: u64, seconds: u64) -> Result<Vec<Sample>> {
        let (Self::Onrush(program) | Self::K6(program)) = self;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on 127.0.0.1")?;
        let address = listener.local_addr()?.to_string();
        drop(listener);
        let mut command = Command::new(program);
        command
            .args(["run", "--quiet", "--address", &address, "--vus", &vus.to_string()])
            .args(["--duration", &format!("{seconds}s"), "-e", &format!("TARGET={target}")])
            .arg(script)
            .env("K6_NO_USAGE_REPORT", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut running = Running(command.spawn().with_context(|| format!("cannot run {}", program.display()))?);
        watch(&mut running.0, &address, Duration::from_secs(seconds) + PATIENCE)
    }
}

/// A child that does not outlive this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watch(child: &mut Child, address: &str, patience: Duration) -> Result<Vec<Sample>> {
    let started = Instant::now();
    let (mut samples, mut before): (Vec<Sample>, Option<(f64, Counters, f64)>) = (Vec::new(), None);
    let mut next = started + INTERVAL;
    loop {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += INTERVAL;
        if let Some(status) = child.try_wait()? {
            if samples.is_empty() {
                bail!("it ended at once ({status}): run it by hand");
            }
            return Ok(samples);
        }
        if started.elapsed() > patience {
            bail!("it did not end within {} s", patience.as_secs());
        }
        let Some(counters) = Counters::of(child.id()) else { continue };
        let at_s = started.elapsed().as_secs_f64();
        let vus = number(address, "/v1/status", &["attributes", "vus"]).unwrap_or(0.0);
        let requests = number(address, "/v1/metrics/http_reqs", &["attributes", "sample", "count"]).unwrap_or(0.0);
        if let Some((earlier_s, earlier, requests_before)) = before {
            let span = (at_s - earlier_s).max(1e-3);
            samples.push(Sample {
                at_s,
                cores: (counters.cpu_s - earlier.cpu_s) / span,
                memory_mb: counters.memory_bytes / 1e6,
                network_mb_per_s: (counters.network_bytes - earlier.network_bytes) / span / 1e6,
                vus,
                // Towards the end an answer may be missing.
                requests_per_s: ((requests - requests_before) / span).max(0.0),
            });
        }
        before = Some((at_s, counters, requests));
    }
}

/// A number of the program's REST API.
fn number(address: &str, path: &str, keys: &[&str]) -> Option<f64> {
    const PATIENCE: Duration = Duration::from_millis(500);
    let mut stream = TcpStream::connect_timeout(&address.parse().ok()?, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let body: Value = serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()?;
    keys.iter().fold(&body["data"], |value, key| &value[key]).as_f64()
}
