//! Building and running what the graphs are tried on: Onrush with a sanitized engine, or as it is, and k6.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

/// The defects that a sanitized build can put back in.
pub(super) const PLANTS: [&str; 4] = ["namespaces", "records", "evaluating", "atomics"];

/// What runs a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Dense,
    Isolated,
    K6,
}

/// A program and its environment.
#[derive(Debug, Clone)]
pub(super) struct Program {
    path: PathBuf,
    env: Vec<(&'static str, String)>,
}

/// How a run ended.
pub(super) struct Done {
    /// What a run must not end with.
    pub(super) wrong: Option<String>,
    /// All it said.
    pub(super) log: String,
}

impl Program {
    /// A program that is built already. It runs in other folders, so its path must not depend on this one.
    pub(super) fn plain(path: &str) -> Result<Self> {
        let path = std::fs::canonicalize(path).with_context(|| format!("there is no {path}"))?;
        Ok(Self { path, env: Vec::new() })
    }

    /// `$K6`, or `k6` of the PATH.
    pub(super) fn k6() -> Self {
        Self { path: std::env::var_os("K6").map_or_else(|| "k6".into(), PathBuf::from), env: Vec::new() }
    }

    /// Onrush with the engine built for AddressSanitizer, in a target folder of its own.
    pub(super) fn sanitized(root: &Path, plant: Option<&str>) -> Result<Self> {
        let target = workspace::target_dir(root)?.join("fuzz-graphs");
        let status = workspace::cargo(root)
            .args(["build", "--quiet", "--locked", "--package", "onrush", "--target-dir"])
            .arg(&target)
            .env("ONRUSH_QUICKJS_SANITIZE", "address")
            .status()
            .context("cannot run cargo")?;
        if !status.success() {
            bail!("the build with the sanitizer fails; it needs gcc with libasan");
        }
        let output = Command::new("gcc").arg("-print-file-name=libasan.so").output().context("cannot run gcc")?;
        let mut env = vec![
            ("LD_PRELOAD", String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            // A process leaves its VUs to the system.
            ("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0".to_owned()),
        ];
        env.extend(plant.map(|plant| ("ONRUSH_PLANT", plant.to_owned())));
        Ok(Self { path: target.join("debug/onrush"), env })
    }

    /// Runs `m0.js` of a folder to its end. A sanitized build suspends its VUs at every poll if `suspends`.
    pub(super) fn run(&self, folder: &Path, layout: Layout, suspends: bool, server: &Server) -> Result<Done> {
        let log = folder.join("log");
        let out = File::create(&log)?;
        let mut command = Command::new(&self.path);
        command
            .args([
                "run",
                "--quiet",
                "--address",
                "",
                "--log-format",
                "raw",
                "--env",
                &format!("TARGET={}", server.address),
            ])
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out);
        if suspends {
            command.env("ONRUSH_SUSPEND", "1");
        }
        match layout {
            Layout::Dense => command.arg("--vu-isolation=dense"),
            Layout::Isolated => command.arg("--vu-isolation=isolated"),
            Layout::K6 => &mut command,
        };
        let mut child = command.arg("m0.js").spawn().with_context(|| format!("cannot run {}", self.path.display()))?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if began.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let mut text = Vec::new();
        File::open(&log)?.take(LOG_BYTES_MAX).read_to_end(&mut text)?;
        let log = String::from_utf8_lossy(&text).into_owned();
        let wrong = match status {
            None => Some(format!("it runs longer than {} s", PATIENCE.as_secs())),
            Some(status) if !status.success() => Some(status.to_string()),
            Some(_) if log.contains("AddressSanitizer") || log.contains("panicked at") => Some("a report".to_owned()),
            Some(_) => None,
        };
        Ok(Done { wrong, log })
    }
}

/// A server on the loopback interface that answers every request with ten bytes, until the process ends.
pub(super) struct Server {
    address: SocketAddr,
}

impl Server {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { address })
    }
}

/// Requests without bodies come one at a time.
fn serve(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(1..) = stream.read(&mut buffer) {
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789").is_err() {
            return;
        }
    }
}

/// A graph takes milliseconds, and a sanitized one a second on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const LOG_BYTES_MAX: u64 = 4 << 20;
