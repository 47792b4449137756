//! The generator's own health: what decides whether a run's numbers can be trusted.

mod machine;

use std::{fs, sync::OnceLock, time::Duration};

use onrush_fiber::{Clock, Nanos, Shortages};
use rustix::io::Errno;

use self::machine::{Machine, Traffic};
use crate::cgroup::Cgroup;

/// One look at the process and its machine, over the time since the previous look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HealthSample {
    /// Time covered.
    pub interval: Duration,
    /// CPU time the process used, in cores (1.5: one and a half cores busy).
    pub process_cores: f64,
    /// Of it, in user space.
    pub user_cores: f64,
    /// Cores the process may use (affinity and cgroup quota).
    pub available_cores: f64,
    /// Busiest single thread, in cores: at 1.0 it has no time left.
    pub busiest_thread_cores: f64,
    /// CPU time stolen by the hypervisor, in cores.
    pub steal_cores: f64,
    /// Time the cgroup was throttled, as a fraction of the interval.
    pub throttled: f64,
    /// Time the thread that waited longest was ready to run and another one had its core, as a fraction of the interval.
    pub waiting: f64,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// Memory the machine (or cgroup) has, in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Open file descriptors.
    pub fds: u64,
    /// Their limit.
    pub fds_max: u64,
    /// Connections that failed for want of something on this machine.
    pub shortages: Shortages,
    /// CPU that everything on the machine used, in cores.
    pub machine_cores: f64,
    /// Pages that came back from swap, on the whole machine.
    pub swapped_in: u64,
    /// TCP segments sent in the network namespace.
    pub segments: u64,
    /// Those of them that were sent again.
    pub retransmitted: u64,
    /// Packets that interfaces, or the kernel for want of CPU, dropped.
    pub packets_dropped: u64,
    /// Bytes received by all interfaces but loopback.
    pub received_bytes: u64,
    /// Bytes sent by them.
    pub sent_bytes: u64,
    /// Of the interface used most, as a fraction of its speed, where that is known.
    pub interface_used: f64,
    /// Connections in the firewall's table, as a fraction of its size.
    pub tracked_used: f64,
}

/// Samples the process; keeps the previous counters to form rates.
#[derive(Debug)]
pub struct HealthProbe {
    at: Nanos,
    process: Cpu,
    threads: Vec<Thread>,
    machine: Machine,
    throttled_usec: u64,
    shortages: Shortages,
    cgroup: &'static Cgroup,
    available_cores: f64,
}

/// What a thread has had so far, in seconds.
#[derive(Debug, Clone, Copy)]
struct Thread {
    id: u64,
    cpu_secs: f64,
    /// Ready to run, and not running.
    waiting_secs: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    user_secs: f64,
    system_secs: f64,
}

impl HealthProbe {
    /// Starts a probe; the first sample covers the time from now.
    pub fn new() -> Self {
        let cgroup = Cgroup::of_process();
        Self {
            at: Clock::now(),
            process: process_cpu(),
            threads: threads(),
            machine: Machine::look(),
            throttled_usec: cgroup.throttled_usec(),
            shortages: Shortages::so_far(),
            available_cores: available_cores(cgroup),
            cgroup,
        }
    }

    /// Periods in which the process's control group had used up its quota of CPU, and all of them, since it was made.
    pub fn throttled_periods(&self) -> Option<(u64, u64)> {
        self.cgroup.throttled_periods()
    }

    /// What happened since the last sample.
    pub fn sample(&mut self) -> HealthSample {
        let now = Clock::now();
        let secs = ((now.0 - self.at.0) as f64 / 1e9).max(1e-6);
        let (process, threads, throttled) = (process_cpu(), threads(), self.cgroup.throttled_usec());
        let machine = Machine::look();
        let Traffic { received_bytes, sent_bytes, dropped, used } = machine.traffic_since(&self.machine, secs);
        let shortages = Shortages::so_far();
        let user = process.user_secs - self.process.user_secs;
        let system = process.system_secs - self.process.system_secs;
        // Those that began since then count from nothing.
        let before = |thread: &Thread| self.threads.iter().find(|known| known.id == thread.id);
        let most = |of: fn(&Thread) -> f64| {
            threads.iter().map(|thread| of(thread) - before(thread).map_or(0.0, of)).fold(0.0, f64::max)
        };
        let (busiest, waiting) = (most(|thread| thread.cpu_secs), most(|thread| thread.waiting_secs));
        let fds_max = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        let sample = HealthSample {
            interval: Duration::from_secs_f64(secs),
            process_cores: (user + system) / secs,
            user_cores: user / secs,
            available_cores: self.available_cores,
            busiest_thread_cores: busiest / secs,
            steal_cores: (machine.steal_secs - self.machine.steal_secs).max(0.0) / secs,
            throttled: ((throttled - self.throttled_usec.min(throttled)) as f64 / 1e6 / secs).min(1.0),
            rss_bytes: rss_bytes(),
            memory_bytes: memory_bytes(self.cgroup),
            waiting: (waiting / secs).min(1.0),
            fds: open_fds(fds_max),
            fds_max,
            shortages: shortages.since(self.shortages),
            machine_cores: (machine.busy_secs - self.machine.busy_secs).max(0.0) / secs,
            swapped_in: machine.swapped_in.saturating_sub(self.machine.swapped_in),
            segments: machine.segments.saturating_sub(self.machine.segments),
            retransmitted: machine.retransmitted.saturating_sub(self.machine.retransmitted),
            packets_dropped: dropped,
            received_bytes,
            sent_bytes,
            interface_used: used,
            tracked_used: machine::tracked_used(),
        };
        *self = Self {
            at: now,
            process,
            threads,
            machine,
            throttled_usec: throttled,
            shortages,
            available_cores: self.available_cores,
            cgroup: self.cgroup,
        };
        sample
    }
}

impl Default for HealthProbe {
    fn default() -> Self {
        Self::new()
    }
}

/// What the process may use of its machine, without a look at what it does use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// Cores (affinity and cgroup quota).
    pub cores: f64,
    /// Memory of the machine or the cgroup in bytes; 0 if unknown.
    pub memory_bytes: u64,
}

impl Allowance {
    /// That of this process.
    pub fn of_process() -> Self {
        let cgroup = Cgroup::of_process();
        Self { cores: available_cores(cgroup), memory_bytes: memory_bytes(cgroup) }
    }
}

fn ticks_per_sec() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// User and system time of a `stat` file of /proc, in seconds: fields 14 and 15, counted after the command's `)`.
fn stat_cpu(text: &str) -> Option<Cpu> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    Some(Cpu { user_secs: ticks(11)? / ticks_per_sec(), system_secs: ticks(12)? / ticks_per_sec() })
}

fn process_cpu() -> Cpu {
    fs::read_to_string("/proc/self/stat").ok().and_then(|text| stat_cpu(&text)).unwrap_or_default()
}

/// Open descriptors. New kernels say how many there are as the folder's size; else looking at them takes one: if there is
/// none left, all of them are in use.
fn open_fds(fds_max: u64) -> u64 {
    if let Some(count) = fs::metadata("/proc/self/fd").ok().map(|folder| folder.len()).filter(|count| *count > 0) {
        return count;
    }
    match fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.count() as u64,
        Err(error)
            if [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error())).contains(&error.raw_os_error()) =>
        {
            fds_max
        }
        Err(_) => 0,
    }
}

/// What each thread has had.
fn threads() -> Vec<Thread> {
    let Ok(entries) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let id = entry.file_name().to_str()?.parse().ok()?;
            let cpu = stat_cpu(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
            let waiting_secs =
                fs::read_to_string(entry.path().join("schedstat")).ok().and_then(|text| waiting_secs(&text));
            let cpu_secs = cpu.user_secs + cpu.system_secs;
            Some(Thread { id, cpu_secs, waiting_secs: waiting_secs.unwrap_or_default() })
        })
        .collect()
}

/// The second number of a `schedstat` file: nanoseconds on a run queue.
fn waiting_secs(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().nth(1)?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

/// Cores that this process may use, whole ones (affinity and cgroup quota). Asked once: the answer takes several files.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

fn available_cores(cgroup: &Cgroup) -> f64 {
    let allowed = cores() as f64;
    cgroup.cores().map_or(allowed, |quota| quota.min(allowed))
}

fn rss_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

fn memory_bytes(cgroup: &Cgroup) -> u64 {
    let limit = cgroup.memory_bytes();
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kilobytes: u64 =
            text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes * 1024)
    });
    match (limit, machine) {
        (Some(limit), Some(machine)) => limit.min(machine),
        (limit, machine) => limit.or(machine).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_fields_are_counted_after_a_command_with_spaces_and_brackets() {
        let fields = (3..=52).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let cpu = stat_cpu(&format!("1 (a b) c) {fields}")).expect("a whole line");
        assert_eq!(cpu.user_secs, 14.0 / ticks_per_sec());
        assert_eq!(cpu.system_secs, 15.0 / ticks_per_sec());
    }

    #[test]
    fn a_probe_sees_this_process() {
        let mut probe = HealthProbe::new();
        let sample = probe.sample();
        assert!(sample.rss_bytes > 0 && sample.fds > 0 && sample.available_cores >= 0.1);
    }

    #[test]
    fn the_second_number_is_the_time_on_a_run_queue() {
        assert_eq!(waiting_secs("89828 2500000000 2\n"), Some(2.5));
        assert_eq!(waiting_secs(""), None);
    }
}
