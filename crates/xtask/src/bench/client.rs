//! Who drives load, and the command that makes each of them do it.

use std::{
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use super::{lab::Lab, load::Load};

/// Who drives the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Onrush,
    /// An earlier build of it.
    Before,
    K6,
    Wrk {
        threads: usize,
    },
    /// nghttp2's: HTTP/1.1 and HTTP/2 in C.
    H2load,
    /// HTTP/1.1 and HTTP/2 in Rust.
    Oha,
    Ab,
    Hey,
}

impl Client {
    pub(super) fn name(self) -> String {
        match self {
            Self::Onrush => "onrush".to_owned(),
            Self::Before => "before".to_owned(),
            Self::K6 => "k6".to_owned(),
            Self::Wrk { threads } => format!("wrk -t{threads}"),
            Self::H2load => "h2load".to_owned(),
            Self::Oha => "oha".to_owned(),
            Self::Ab => "ab".to_owned(),
            Self::Hey => "hey".to_owned(),
        }
    }
}

/// What is spoken, and over which connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Protocol {
    /// HTTP/1.1 over kept connections.
    #[default]
    Http,
    /// The same over TLS.
    Https,
    /// TLS with a new connection for each request.
    HttpsNew,
    /// HTTP/2 over TLS and kept connections.
    Http2,
}

/// The command that puts that load on a server, and where it will write its summary.
pub(super) fn command(lab: &Lab, client: Client, load: &Load) -> (Command, Option<PathBuf>) {
    match client {
        Client::Onrush | Client::Before | Client::K6 => {
            let (command, summary) = script(lab, client, load);
            (command, Some(summary))
        }
        _ => (plain(lab, client, load), None),
    }
}

/// A client that requests one URL over and over.
fn plain(lab: &Lab, client: Client, load: &Load) -> Command {
    let connections = load.vus.unwrap_or(1).to_string();
    let seconds = load.seconds.to_string();
    let is_new = load.protocol == Protocol::HttpsNew;
    let is_http2 = load.protocol == Protocol::Http2;
    let mut command;
    match client {
        Client::Wrk { threads } => {
            command = Command::new(&lab.tools.wrk);
            command.arg("--latency").arg(format!("-t{threads}"));
            command.arg(format!("-c{connections}")).arg(format!("-d{seconds}s"));
            if is_new {
                command.args(["-H", "Connection: close"]);
            }
        }
        Client::H2load => {
            command = Command::new(&lab.tools.h2load);
            // One request at a time on each connection, as VUs do it.
            command.args(["-t1", "-m1", "-c", &connections, "-D", &seconds]);
            if !is_http2 {
                command.arg("--h1");
            }
        }
        Client::Oha => {
            command = Command::new(&lab.tools.oha);
            command.args(["--no-tui", "--insecure", "-c", &connections, "-z", &format!("{seconds}s")]);
            if is_http2 {
                command.arg("--http2");
            }
            if is_new {
                command.arg("--disable-keepalive");
            }
        }
        Client::Ab => {
            command = Command::new(&lab.tools.ab);
            // `-t` alone stops after 50,000 requests; it allots memory for all it may send.
            command.args(["-q", "-k", "-c", &connections, "-t", &seconds, "-n", "1000000"]);
        }
        _ => {
            command = Command::new(&lab.tools.hey);
            command.args(["-c", &connections, "-z", &format!("{seconds}s")]);
        }
    }
    command.arg(&load.url).current_dir(lab.scratch.path());
    command
}

/// A client that runs the script.
fn script(lab: &Lab, client: Client, load: &Load) -> (Command, PathBuf) {
    // Two may run at once.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let summary = lab.scratch.path().join(format!("summary-{}.json", RUNS.fetch_add(1, Ordering::Relaxed)));
    let mut command = Command::new(match client {
        Client::K6 => &lab.tools.k6,
        Client::Before => &lab.tools.before,
        _ => &lab.tools.onrush,
    });
    // No REST API: its port might be taken.
    command
        .args(["run", "--address", "", "--quiet", "--no-usage-report", "--include-system-env-vars=false"])
        .args(["--summary-trend-stats", "avg,min,med,max,p(90),p(95),p(99)", "--summary-export"])
        .arg(&summary);
    if let Some(vus) = load.vus {
        command.args(["--vus", &vus.to_string(), "--duration", &format!("{}s", load.seconds)]);
    }
    if load.protocol != Protocol::Http {
        command.arg("--insecure-skip-tls-verify");
    }
    if load.protocol == Protocol::HttpsNew {
        command.arg("--no-connection-reuse");
    }
    command.args(load.flags);
    for (name, value) in &load.env {
        command.arg("--env").arg(format!("{name}={value}"));
    }
    command.arg(lab.root.join(load.script)).current_dir(lab.scratch.path());
    // Options come from our flags only.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("K6_") {
            command.env_remove(name);
        }
    }
    command.envs(load.settings.iter().map(|(name, value)| (name, value)));
    (command, summary)
}
