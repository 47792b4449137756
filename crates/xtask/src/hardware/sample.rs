//! What a process uses in a second, and what it does with it.

use std::{fs, path::Path};

use serde_json::{Value, json};

/// A second of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// Since the start.
    pub(super) at_s: f64,
    /// Cores in use, on average since the sample before.
    pub(super) cores: f64,
    pub(super) memory_mb: f64,
    /// Sent and received over the loopback interface, both programs and all others included.
    pub(super) network_mb_per_s: f64,
    pub(super) vus: f64,
    pub(super) requests_per_s: f64,
}

impl Sample {
    /// As a file has it.
    pub(super) fn to_json(self) -> Value {
        let Self { at_s, cores, memory_mb, network_mb_per_s, vus, requests_per_s } = self;
        json!({
            "at_s": at_s,
            "cores": cores,
            "memory_mb": memory_mb,
            "network_mb_per_s": network_mb_per_s,
            "vus": vus,
            "requests_per_s": requests_per_s,
        })
    }
}

/// Counters that only grow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counters {
    pub(super) cpu_s: f64,
    pub(super) memory_bytes: f64,
    pub(super) network_bytes: f64,
}

impl Counters {
    /// Of a process, now; `None` when it is gone.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything, brackets too.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
        Some(Self {
            cpu_s: (ticks(11)? + ticks(12)?) / rustix::param::clock_ticks_per_second() as f64,
            memory_bytes: pages * rustix::param::page_size() as f64,
            network_bytes: loopback_bytes(Path::new("/proc/net/dev")),
        })
    }
}

/// What went over the loopback interface since the machine started.
fn loopback_bytes(file: &Path) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("lo:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

/// The most of each, in a line.
pub(super) fn summed_up(samples: &[Sample]) -> String {
    let most = |of: fn(&Sample) -> f64| samples.iter().map(of).fold(0.0, f64::max);
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / samples.len().max(1) as f64;
    format!(
        "{:.2} cores on average, {:.0} MB at most, {:.0} requests/s on average, {:.1} MB/s over loopback, {} s seen",
        mean(|sample| sample.cores),
        most(|sample| sample.memory_mb),
        mean(|sample| sample.requests_per_s),
        mean(|sample| sample.network_mb_per_s),
        samples.len()
    )
}
