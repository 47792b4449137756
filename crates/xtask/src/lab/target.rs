//! The server all tools are measured with: `onrush target` in a process of its own, which counts requests and notes when
//! each arrived. A new one for each cell, so that nothing of one is left for the next.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::{
    job::Protocol,
    shop::show,
    truth::{Arrivals, read_arrivals},
};
use crate::bench::{
    clock,
    process::{Cpus, Process},
    procfs,
    stats_page::{Counts, StatsPage},
};

/// What the server is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Setup {
    pub(super) delay_ms: u64,
    pub(super) freezes: bool,
    /// Clients that could speak HTTP/2 are to speak HTTP/1.1.
    pub(super) is_old: bool,
}

/// How long it stands still, and how often.
pub(super) const FREEZE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));

/// A running server; dropping it ends it.
#[derive(Debug)]
pub(super) struct Target {
    plain: SocketAddr,
    tls: SocketAddr,
    process: Process,
    stats: StatsPage,
    record: PathBuf,
    /// How it was started.
    pub(super) command: String,
}

impl Target {
    pub(super) fn start(onrush: &Path, setup: Setup, folder: &Path) -> Result<Self> {
        let [plain, tls] = free_addresses()?;
        let record = folder.join("arrivals");
        let mut command = Command::new(onrush);
        command.args(["target", "--quiet", "--threads", "1", "--listen", &plain.to_string()]);
        command.args(["--tls-listen", &tls.to_string(), "--record"]).arg(&record);
        if setup.is_old {
            command.arg("--no-http2");
        }
        if setup.delay_ms > 0 {
            command.args(["--delay", &format!("{}ms", setup.delay_ms)]);
        }
        if setup.freezes {
            let (length, every) = FREEZE;
            command.args(["--freeze", &format!("{}s", length.as_secs())]);
            command.args(["--freeze-every", &format!("{}s", every.as_secs())]);
        }
        let shown = show(&command);
        let process = Process::start(command, Cpus::All, &folder.join("target.log"))?;
        let mut target = Self { plain, tls, process, stats: StatsPage::new(plain, "/stats"), record, command: shown };
        while target.counts().is_err() {
            if let Some(usage) = target.process.ended()? {
                bail!("the target did not start ({}): {}", usage.ending(), target.process.printed());
            }
            if target.process.age() > START_TIMEOUT {
                bail!("the target does not answer: {}", target.process.printed());
            }
            clock::pause(POLL);
        }
        Ok(target)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(super) fn address(&self, protocol: Protocol) -> SocketAddr {
        if protocol == Protocol::Http1 { self.plain } else { self.tls }
    }

    /// What it has counted so far.
    pub(super) fn counts(&mut self) -> Result<Counts> {
        self.stats.ask()
    }

    /// CPU it has used so far.
    pub(super) fn cpu_time(&self) -> Duration {
        procfs::cpu_time(self.process.pid())
    }

    /// Ends it; what it noted.
    pub(super) fn finish(mut self) -> Result<Arrivals> {
        self.process.signal(Signal::TERM);
        while self.process.ended()?.is_none() {
            if self.process.age() > START_TIMEOUT + STOP_TIMEOUT {
                // It was asked once already; dropping it kills it.
                bail!("the target does not end");
            }
            clock::pause(POLL);
        }
        let text = fs::read_to_string(&self.record).context("the target wrote no record")?;
        let _ = fs::remove_file(&self.record);
        read_arrivals(&text).context("the target's record has another shape")
    }
}

/// Two loopback addresses nobody listens on now.
fn free_addresses() -> Result<[SocketAddr; 2]> {
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port on 127.0.0.1");
    // Both are held until both are known.
    let (first, second) = (listen()?, listen()?);
    Ok([first.local_addr()?, second.local_addr()?])
}

const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than any cell takes, and than writing four million lines.
const STOP_TIMEOUT: Duration = Duration::from_secs(400);
const POLL: Duration = Duration::from_millis(5);
