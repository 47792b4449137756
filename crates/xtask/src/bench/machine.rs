//! The machine and the versions a result belongs to.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use super::{procfs, tool, tool::Tools};

/// What a result depends on besides Onrush.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) commit: String,
    /// Whether the working tree differs from the commit.
    dirty: bool,
    cpu: String,
    pub(crate) cpus: usize,
    memory_gib: f64,
    kernel: String,
    system: String,
    load_average: String,
    file_limit: u64,
    versions: Vec<(&'static str, String)>,
}

impl Machine {
    pub(crate) fn look(root: &Path, tools: &Tools) -> Self {
        let memory_kb = procfs::value_of("/proc/meminfo", "MemTotal")
            .and_then(|text| text.trim_end_matches(" kB").parse::<f64>().ok());
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let mut versions = Vec::new();
        for (name, path, argument) in [
            ("onrush", &tools.onrush, "version"),
            ("k6", &tools.k6, "version"),
            ("wrk", &tools.wrk, "-v"),
            ("nginx", &tools.nginx, "-v"),
            ("h2load", &tools.h2load, "--version"),
            ("oha", &tools.oha, "--version"),
            ("ab", &tools.ab, "-V"),
        ] {
            if !path.as_os_str().is_empty() {
                versions.push((name, tool::version(path, argument)));
            }
        }
        versions.push(("rustc", said(root, "rustc", &["--version"])));
        Self {
            date: said(root, "date", &["-u", "+%Y-%m-%d"]),
            commit: said(root, "git", &["rev-parse", "--short", "HEAD"]),
            dirty: !said(root, "git", &["status", "--porcelain", "--untracked-files=no"]).is_empty(),
            cpu: procfs::value_of("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: memory_kb.unwrap_or(0.0) / 1024.0 / 1024.0,
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            system: procfs::value_of("/etc/os-release", "PRETTY_NAME").unwrap_or_default(),
            load_average: fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned(),
            file_limit: limit.maximum.unwrap_or(u64::MAX),
            versions,
        }
    }

    /// Connections a process may hold, with some room for what else it opens.
    pub(crate) fn connections_max(&self) -> u64 {
        self.file_limit.saturating_sub(FILES_BESIDES)
    }

    /// One paragraph.
    pub(crate) fn describe(&self) -> String {
        let commit = if self.commit.is_empty() { "no commit" } else { &self.commit };
        let dirty = if self.dirty { " with changes" } else { "" };
        let versions: Vec<&str> = self.versions.iter().map(|(_, version)| version.as_str()).collect();
        format!(
            "{} · {commit}{dirty} · {} × {} · {:.0} GiB · {} · kernel {} · load average at start {}\n{}",
            self.date,
            self.cpus,
            self.cpu,
            self.memory_gib,
            self.system,
            self.kernel,
            self.load_average,
            versions.join(" · ")
        )
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "date": self.date,
            "commit": self.commit,
            "dirty": self.dirty,
            "cpu": self.cpu,
            "cpus": self.cpus,
            "memory_gib": self.memory_gib,
            "kernel": self.kernel,
            "system": self.system,
            "load_average_at_start": self.load_average,
            "file_limit": self.file_limit,
            "versions": self.versions.iter().map(|(name, version)| ((*name).to_owned(), json!(version))).collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// What a command prints; nothing if it fails.
fn said(root: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

/// Listeners, logs, epoll instances, the script's files.
const FILES_BESIDES: u64 = 200;
