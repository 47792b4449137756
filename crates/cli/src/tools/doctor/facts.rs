//! What this machine is, as far as load tests care. Files of /proc and /sys; what one of them does not say is `None`.

use std::{fs, str::FromStr, time::Duration};

use onrush_engine::HealthProbe;
use onrush_fiber::{Clock, Nanos};

use crate::run::needs::port_range;

/// This machine now.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Facts {
    /// Files this process may open once it has raised its own limit.
    pub(super) files: Option<u64>,
    /// Files in use and allowed on the whole machine.
    pub(super) files_in_all: Option<(u64, u64)>,
    /// The local ports of connections.
    pub(super) ports: (u64, u64),
    /// `net.ipv4.tcp_tw_reuse`: 0 off, 1 on, 2 on loopback only.
    pub(super) tw_reuse: Option<u64>,
    /// `net.ipv4.tcp_timestamps`
    pub(super) timestamps: Option<u64>,
    /// `net.core.somaxconn`, for servers on this machine.
    pub(super) backlog: Option<u64>,
    /// `net.ipv4.tcp_max_syn_backlog`
    pub(super) syn_backlog: Option<u64>,
    /// `net.core.netdev_max_backlog`
    pub(super) device_backlog: Option<u64>,
    /// The largest receive buffer TCP gives a connection, bytes.
    pub(super) receive_buffer: Option<u64>,
    /// Memory all TCP buffers may take before the kernel refuses, bytes.
    pub(super) tcp_memory: Option<u64>,
    /// Connections in the firewall's table, and its size.
    pub(super) tracked: Option<(u64, u64)>,
    /// Cores of the machine, and what of them this process may use.
    pub(super) cores: (f64, f64),
    /// CPU that everything on this machine uses now, in cores.
    pub(super) busy_cores: f64,
    /// CPU the hypervisor took since the machine started, as a fraction.
    pub(super) stolen: f64,
    /// Periods in which this control group ran out of quota, of all.
    pub(super) throttled: Option<(u64, u64)>,
    /// Cores whose frequency follows the load.
    pub(super) slow_governors: Vec<String>,
    /// Memory there is and what of it is free, bytes.
    pub(super) memory: (u64, u64),
    /// Swap in use, bytes.
    pub(super) swap_used: u64,
    /// Network interfaces but loopback: name, megabits a second where known, receive queues, and whether cores share one.
    pub(super) interfaces: Vec<Interface>,
    /// Where the kernel has the time from.
    pub(super) clock_source: Option<String>,
    /// What asking for the time takes, nanoseconds.
    pub(super) clock_ns: f64,
    /// Bits of randomness there are.
    pub(super) entropy: Option<u64>,
    /// `always`, `madvise` or `never`.
    pub(super) huge_pages: Option<String>,
    /// The process runs under a filter of system calls.
    pub(super) is_filtered: bool,
    /// The kernel says when packets arrive.
    pub(super) has_arrival_times: bool,
    /// What looking up names of the script's servers took.
    pub(super) names: Vec<Lookup>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) megabits: Option<u64>,
    pub(super) queues: usize,
    /// Receive packet steering spreads a queue's packets over cores.
    pub(super) is_steered: bool,
}

/// The look-up of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lookup {
    pub(super) name: String,
    pub(super) took: Duration,
    pub(super) found: bool,
}

impl Facts {
    /// Looks, for a third of a second. `hosts`: names that are looked up.
    pub(super) fn gather(hosts: &[String]) -> Self {
        let mut probe = HealthProbe::new();
        // Whatever ran on this thread before, such as a script's init code, may have left it a reason to go on at once.
        let until = Clock::now() + Nanos::from_millis(300);
        while let Some(left) = until.0.checked_sub(Clock::now().0).filter(|left| *left > 0) {
            std::thread::park_timeout(Duration::from_nanos(left));
        }
        let sample = probe.sample();
        let sysctl = |name: &str| number::<u64>(&format!("/proc/sys/{}", name.replace('.', "/")));
        let memory = text("/proc/meminfo");
        let kilobytes = |name: &str| line(&memory, name).unwrap_or(0) * 1024;
        Self {
            files: onrush_fiber::raise_fd_limit().soft,
            files_in_all: field("/proc/sys/fs/file-nr", 0).zip(field("/proc/sys/fs/file-nr", 2)),
            ports: port_range(),
            tw_reuse: sysctl("net.ipv4.tcp_tw_reuse"),
            timestamps: sysctl("net.ipv4.tcp_timestamps"),
            backlog: sysctl("net.core.somaxconn"),
            syn_backlog: sysctl("net.ipv4.tcp_max_syn_backlog"),
            device_backlog: sysctl("net.core.netdev_max_backlog"),
            receive_buffer: field("/proc/sys/net/ipv4/tcp_rmem", 2),
            tcp_memory: field("/proc/sys/net/ipv4/tcp_mem", 2)
                .map(|pages: u64| pages * rustix::param::page_size() as u64),
            tracked: sysctl("net.netfilter.nf_conntrack_count").zip(sysctl("net.netfilter.nf_conntrack_max")),
            cores: (machine_cores(), sample.available_cores),
            busy_cores: (sample.machine_cores - sample.process_cores).max(0.0),
            stolen: stolen(&text("/proc/stat")),
            throttled: probe.throttled_periods(),
            slow_governors: slow_governors(),
            memory: (sample.memory_bytes, kilobytes("MemAvailable:").min(sample.memory_bytes)),
            swap_used: kilobytes("SwapTotal:").saturating_sub(kilobytes("SwapFree:")),
            interfaces: interfaces(),
            clock_source: word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_ns: clock_ns(),
            entropy: number("/proc/sys/kernel/random/entropy_avail"),
            huge_pages: chosen(&text("/sys/kernel/mm/transparent_hugepage/enabled")),
            is_filtered: line(&text("/proc/self/status"), "Seccomp:") == Some(2),
            has_arrival_times: onrush_fiber::has_arrival_times(),
            names: hosts.iter().filter_map(|host| look_up(host)).collect(),
        }
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn number<T: FromStr>(path: &str) -> Option<T> {
    text(path).trim().parse().ok()
}

fn word(path: &str) -> Option<String> {
    Some(text(path).trim().to_owned()).filter(|word| !word.is_empty())
}

/// A number of a line of numbers.
fn field<T: FromStr>(path: &str, index: usize) -> Option<T> {
    text(path).split_ascii_whitespace().nth(index)?.parse().ok()
}

/// The number that follows a name at the beginning of a line.
fn line(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_ascii_whitespace().next()?.parse().ok()
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn machine_cores() -> f64 {
    text("/proc/stat").lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count() as f64
}

/// Of the first line of /proc/stat: the eighth number over the sum of all but those of guests, which others hold too.
fn stolen(text: &str) -> f64 {
    let ticks: Vec<f64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_ascii_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|field| field.parse().ok())
        .collect();
    let all: f64 = ticks.iter().sum();
    if all > 0.0 { ticks.get(7).copied().unwrap_or_default() / all } else { 0.0 }
}

fn slow_governors() -> Vec<String> {
    let folder = fs::read_dir("/sys/devices/system/cpu");
    let mut found: Vec<String> = folder
        .into_iter()
        .flatten()
        .filter_map(|entry| word(&format!("{}/cpufreq/scaling_governor", entry.ok()?.path().display())))
        .filter(|governor| governor != "performance")
        .collect();
    found.sort();
    found.dedup();
    found
}

fn interfaces() -> Vec<Interface> {
    let Ok(entries) = fs::read_dir("/sys/class/net") else { return Vec::new() };
    let mut found: Vec<Interface> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_up = word(&format!("/sys/class/net/{name}/operstate")).is_some_and(|state| state == "up");
            if name == "lo" || !is_up {
                return None;
            }
            let queues: Vec<_> = fs::read_dir(entry.path().join("queues")).ok()?.flatten().collect();
            let receiving = || queues.iter().filter(|queue| queue.file_name().to_string_lossy().starts_with("rx-"));
            let is_steered = receiving().any(|queue| {
                let cores = fs::read_to_string(queue.path().join("rps_cpus")).unwrap_or_default();
                cores.chars().any(|digit| digit.is_ascii_hexdigit() && digit != '0')
            });
            let megabits = number::<i64>(&format!("/sys/class/net/{name}/speed"));
            let megabits = megabits.and_then(|speed| u64::try_from(speed).ok()).filter(|speed| *speed > 0);
            Some(Interface { queues: receiving().count(), is_steered, megabits, name })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The mean of many.
fn clock_ns() -> f64 {
    const TIMES: u32 = 20_000;
    let began = Clock::now();
    for _ in 0..TIMES {
        std::hint::black_box(Clock::now());
    }
    Clock::now().saturating_sub(began).0 as f64 / f64::from(TIMES)
}

/// `None` if there is no answer in time: it is not waited for.
fn look_up(host: &str) -> Option<Lookup> {
    use std::net::ToSocketAddrs as _;
    const PATIENCE: Duration = Duration::from_secs(3);
    let (sender, answer) = std::sync::mpsc::channel();
    let name = host.to_owned();
    std::thread::spawn(move || {
        let began = Clock::now();
        let found = (name.as_str(), 80).to_socket_addrs().is_ok_and(|mut addresses| addresses.next().is_some());
        // Nobody listens any more if it took too long.
        let _ = sender.send((Clock::now().saturating_sub(began).as_duration(), found));
    });
    let (took, found) = answer.recv_timeout(PATIENCE).unwrap_or((PATIENCE, false));
    Some(Lookup { name: host.to_owned(), took, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_system_are_read() {
        assert_eq!(line("MemTotal: 12 kB\nMemAvailable:   7 kB\n", "MemAvailable:"), Some(7));
        assert_eq!(chosen("always [madvise] never\n").as_deref(), Some("madvise"));
        assert!((stolen("cpu 10 0 10 70 0 0 0 10 5 5\ncpu0 1\n") - 0.1).abs() < 1e-9);
        assert_eq!(stolen(""), 0.0);
    }

    #[test]
    fn this_machine_has_facts() {
        let facts = Facts::gather(&["localhost".to_owned()]);
        assert!(facts.cores.0 >= 1.0 && facts.memory.0 > 0 && facts.clock_ns > 0.0, "{facts:?}");
        assert!(facts.names[0].found, "{facts:?}");
    }
}
