//! What this process costs, as the kernel counts it.

use std::{collections::BTreeMap, fs};

/// Ticks of the kernel's clock in a second: what `/proc` counts in on every system there is.
const TICKS: f64 = 100.0;

/// Seconds of CPU of each thread that is there, by name.
pub(crate) fn cpu_secs() -> BTreeMap<String, f64> {
    let mut by_name = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
        // The name is in parentheses and may have some itself; what follows it does not.
        let Some((head, rest)) = stat.rsplit_once(") ") else { continue };
        let name = head.split_once('(').map_or("", |(_, name)| name);
        *by_name.entry(name.to_owned()).or_insert(0.0) += user_and_system(rest);
    }
    by_name
}

/// Seconds of CPU of another process.
pub(crate) fn cpu_secs_of(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").map_or(0.0, |(_, rest)| user_and_system(rest))
}

/// Of a line of `/proc`, after the name: the 14th and 15th field of all, the 12th and 13th after that.
fn user_and_system(rest: &str) -> f64 {
    let field = |index: usize| rest.split(' ').nth(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (field(11) + field(12)) / TICKS
}

/// Resident memory, bytes.
pub(crate) fn rss_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1_024
}

/// Bytes that went over loopback in this network namespace, headers of TCP and IP included.
pub(crate) fn loopback_bytes() -> u64 {
    let interfaces = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
    let line = interfaces.lines().find_map(|line| line.trim_start().strip_prefix("lo:"));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The load of the machine: the mean of the last minute.
pub(crate) fn load() -> f64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}
