//! What the kernel says about processes and the machine, read from /proc.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Resident memory of a process in bytes, exactly.
///
/// `smaps_rollup` walks the page tables; `VmRSS` in `status` is kept per CPU on newer kernels and may be
/// off by a hundred pages, which is much when divided by a thousand VUs.
pub(crate) fn rss_bytes(pid: u32) -> Result<u64> {
    let exact = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let text = match exact {
        Ok(text) if text.contains("Rss:") => text,
        _ => fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("process {pid} is gone"))?,
    };
    text.lines()
        .find_map(|line| line.strip_prefix("Rss:").or_else(|| line.strip_prefix("VmRSS:")))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|kb| kb.trim().parse::<u64>().ok())
        .map(|kb| kb * 1024)
        .with_context(|| format!("process {pid} has no memory any more"))
}

/// CPU time of the threads a process has now.
pub(crate) fn cpu_time(pid: u32) -> Duration {
    let run_ns = |thread: u32| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    Duration::from_nanos(threads(pid).into_iter().filter_map(run_ns).sum())
}

/// The processes that a process has started and that have not ended.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// The ids of a process's threads; none if it is gone.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// CPU time of the whole machine, in seconds over all CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct MachineTime {
    /// All that programs and the kernel used.
    pub(crate) busy_s: f64,
    /// What the hypervisor gave to others while this machine wanted it.
    pub(crate) stolen_s: f64,
}

impl MachineTime {
    pub(crate) fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        Self::parse(&text, rustix::param::clock_ticks_per_second()).context("/proc/stat has another shape")
    }

    fn parse(text: &str, ticks_per_second: u64) -> Option<Self> {
        let fields: Vec<f64> = text
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        // user, nice, system, idle, iowait, irq, softirq, steal
        let [user, nice, system, _, _, irq, softirq, steal, ..] = fields[..] else { return None };
        let seconds = |ticks: f64| ticks / ticks_per_second as f64;
        Some(Self { busy_s: seconds(user + nice + system + irq + softirq), stolen_s: seconds(steal) })
    }
}

/// The share of the machine that programs other than ours used since `before`.
pub(crate) fn others_share(
    before: MachineTime,
    after: MachineTime,
    ours: Duration,
    wall: Duration,
    cpus: usize,
) -> f64 {
    (after.busy_s - before.busy_s - ours.as_secs_f64()) / (wall.as_secs_f64() * cpus as f64).max(f64::MIN_POSITIVE)
}

/// The value of a `name : value` line, as in /proc/cpuinfo and /proc/meminfo.
pub(crate) fn value_of(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines()
        .filter_map(|line| line.split_once([':', '=']))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_time_is_parsed() {
        let text = "cpu  100 20 30 4000 50 6 4 300 0 0\ncpu0 1 2 3\n";
        assert_eq!(MachineTime::parse(text, 100), Some(MachineTime { busy_s: 1.6, stolen_s: 3.0 }));
        assert_eq!(MachineTime::parse("cpu 1 2", 100), None);
    }

    #[test]
    fn others_are_what_is_left() {
        let (before, after) = (MachineTime::default(), MachineTime { busy_s: 5.0, stolen_s: 0.0 });
        let share = others_share(before, after, Duration::from_secs(4), Duration::from_secs(5), 2);
        assert!((share - 0.1).abs() < 1e-9);
    }

    #[test]
    fn own_process_is_readable() {
        let pid = std::process::id();
        assert!(rss_bytes(pid).unwrap() > 100_000);
        assert!(!threads(pid).is_empty());
        assert!(rss_bytes(u32::MAX).is_err());
    }
}
