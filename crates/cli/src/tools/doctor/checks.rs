//! What follows from facts for a test: pure, so that machines nobody has can be tried.

use serde_json::{Value, json};

use super::facts::Facts;
use crate::run::needs::{OWN_FILES, size};

/// What a test asks of a machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Demands {
    /// VUs it may have.
    pub(super) vus: u64,
    /// VUs and bytes of memory of each, where a script was given.
    pub(super) vu_bytes: Option<u64>,
    /// Each request has a connection of its own.
    pub(super) has_no_reuse: bool,
    /// Addresses that connections start from, where they were chosen.
    pub(super) local_ips: bool,
    /// No script was given: the numbers are those of a large test.
    pub(super) is_assumed: bool,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// As it should be.
    Fine,
    /// It may go wrong, or spoils measurements a little.
    Warning,
    /// The test will fail here.
    Bad,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) status: Status,
    /// What was found, and what will fail at which count.
    pub(super) text: String,
    /// The command that mends it until the next start of the machine.
    pub(super) now: Option<String>,
    /// The one that mends it for good.
    pub(super) for_good: Option<String>,
    /// What `--fix` does.
    pub(super) fix: Option<Fix>,
}

/// A file of the system and what to write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fix {
    pub(super) path: String,
    pub(super) value: String,
}

/// How long a closed connection holds its port (`TCP_TIMEWAIT_LEN`), seconds.
const TIME_WAIT_SECS: u64 = 60;
/// Where settings of the kernel are kept.
const SYSCTL_FILE: &str = "/etc/sysctl.d/99-onrush.conf";

impl Check {
    fn new(name: &'static str, status: Status, text: impl Into<String>) -> Self {
        Self { name, status, text: text.into(), now: None, for_good: None, fix: None }
    }

    fn fine(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Status::Fine, text)
    }

    /// Nothing mends it now.
    fn in_future(mut self, for_good: impl Into<String>) -> Self {
        self.for_good = Some(for_good.into());
        self
    }

    fn commands(mut self, now: impl Into<String>, for_good: impl Into<String>) -> Self {
        (self.now, self.for_good) = (Some(now.into()), Some(for_good.into()));
        self
    }

    /// A setting of the kernel mends it.
    fn sysctl(mut self, key: &str, value: &str) -> Self {
        self.fix = Some(Fix { path: format!("/proc/sys/{}", key.replace('.', "/")), value: value.to_owned() });
        self.commands(
            format!("sysctl -w {key}='{value}'"),
            format!("echo '{key} = {value}' >> {SYSCTL_FILE} && sysctl --system"),
        )
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "status": match self.status {
                Status::Fine => "fine",
                Status::Warning => "warning",
                Status::Bad => "bad",
            },
            "text": self.text,
            "now": self.now,
            "forGood": self.for_good,
            "canFix": self.fix.is_some(),
        })
    }
}

/// All checks, in the order in which a test meets them.
pub(super) fn checks(facts: &Facts, demands: &Demands) -> Vec<Check> {
    let all = [cpu(facts), memory(facts, demands), files(facts, demands), network(facts, demands), system(facts)];
    all.into_iter().flatten().collect()
}

fn files(facts: &Facts, demands: &Demands) -> Vec<Check> {
    let mut checks = Vec::new();
    let needed = demands.vus + OWN_FILES;
    // VUs may have several connections.
    let enough = (needed * 2).max(1 << 20);
    checks.push(match facts.files {
        Some(files) if files < needed => Check::new(
            "open files",
            Status::Bad,
            format!("{files} at most: connections fail from VU {} on", files.saturating_sub(OWN_FILES) + 1),
        )
        .commands(
            format!("ulimit -Hn {enough} && ulimit -Sn {enough}  (as root, in the shell that starts onrush)"),
            format!("echo '* - nofile {enough}' >> /etc/security/limits.conf  (services: LimitNOFILE={enough}; Docker: --ulimit nofile={enough})"),
        ),
        Some(files) => Check::fine("open files", format!("{files} at most, {needed} needed")),
        None => Check::fine("open files", "no limit"),
    });
    if let Some((used, all)) = facts.files_in_all {
        let left = all.saturating_sub(used);
        let text = format!("{left} left of {all} on the whole machine");
        checks.push(match left < needed {
            true => Check::new("files of the machine", Status::Bad, text)
                .sysctl("fs.file-max", &(used + enough).to_string()),
            false => Check::fine("files of the machine", text),
        });
    }
    checks
}

fn network(facts: &Facts, demands: &Demands) -> Vec<Check> {
    let mut checks = Vec::new();
    if !demands.local_ips {
        let (low, high) = facts.ports;
        let count = (high + 1).saturating_sub(low);
        let text = format!("{count} ({low} to {high})");
        let wide = |check: Check| check.sysctl("net.ipv4.ip_local_port_range", "1024 65535");
        checks.push(if demands.has_no_reuse {
            let rate = count / TIME_WAIT_SECS;
            let is_reused = facts.tw_reuse == Some(1) && facts.timestamps == Some(1);
            let text = format!("{text}: each closed connection holds one for {TIME_WAIT_SECS} s, so more than {rate} new ones a second to one address run out of them");
            match is_reused {
                true => Check::fine("local ports", format!("{count} ({low} to {high}), used again after a second (tcp_tw_reuse)")),
                false => wide(Check::new("local ports", Status::Warning, text)),
            }
        } else if demands.vus > count {
            let text = format!("{text}: connections to one address of a server fail from {} on; --local-ips has more addresses", count + 1);
            // Further addresses of the server, or fewer VUs, do as well.
            wide(Check::new("local ports", if count < 64_512 { Status::Bad } else { Status::Warning }, text))
        } else {
            Check::fine("local ports", text)
        });
    }
    if demands.has_no_reuse {
        let on = facts.tw_reuse == Some(1) && facts.timestamps != Some(0);
        checks.push(match on {
            true => Check::fine("ports of closed connections", "used again after a second"),
            false if facts.timestamps == Some(0) => Check::new(
                "TCP timestamps",
                Status::Warning,
                "off: ports of closed connections are never used again within a minute",
            )
            .sysctl("net.ipv4.tcp_timestamps", "1"),
            false => Check::new("ports of closed connections", Status::Warning, "not used again for a minute")
                .sysctl("net.ipv4.tcp_tw_reuse", "1"),
        });
    }
    if let Some((count, max)) = facts.tracked {
        let needed = count + demands.vus;
        checks.push(if needed as f64 > 0.9 * max as f64 {
            let text = format!(
                "{count} of {max} in use: from about {} connections on new ones are dropped without a word",
                max.saturating_sub(count)
            );
            Check::new("firewall's table", Status::Bad, text)
                .sysctl("net.netfilter.nf_conntrack_max", &(needed * 2).max(262_144).to_string())
        } else {
            Check::fine("firewall's table", format!("{count} of {max} connections"))
        });
    }
    if let Some(bytes) = facts.tcp_memory {
        // An idle connection has none; one with a response under way a few kilobytes.
        let needed = demands.vus * (16 << 10);
        checks.push(match needed > bytes {
            true => Check::new(
                "TCP memory",
                Status::Warning,
                format!(
                    "{} at most for all buffers: {} VUs with 16 KiB under way each need {}",
                    size(bytes),
                    demands.vus,
                    size(needed)
                ),
            )
            .sysctl("net.ipv4.tcp_mem", &tcp_pages(needed)),
            false => Check::fine("TCP memory", format!("{} at most for all buffers", size(bytes))),
        });
    }
    if let Some(bytes) = facts.receive_buffer.filter(|bytes| *bytes < 4 << 20) {
        let text = format!("{} at most: large responses over long distances are slower than the line", size(bytes));
        checks.push(
            Check::new("receive buffers", Status::Warning, text).sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456"),
        );
    }
    if let Some(backlog) = facts.device_backlog.filter(|backlog| *backlog < 1_000) {
        let text = format!("{backlog} packets: bursts are dropped");
        checks
            .push(Check::new("queue of packets", Status::Warning, text).sysctl("net.core.netdev_max_backlog", "5000"));
    }
    let small = [("net.core.somaxconn", facts.backlog), ("net.ipv4.tcp_max_syn_backlog", facts.syn_backlog)];
    for (key, value) in small.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        if value < 1_024 {
            let text = format!("{key} is {value}: matters if the system under test is on this machine too");
            checks.push(Check::new("queue of connections", Status::Warning, text).sysctl(key, "4096"));
        }
    }
    for interface in &facts.interfaces {
        let name = &interface.name;
        let speed =
            interface.megabits.map_or_else(|| "speed unknown".to_owned(), |megabits| format!("{megabits} Mbit/s"));
        let text = format!(
            "{name}: {speed}, {} receive queue{}",
            interface.queues,
            if interface.queues == 1 { "" } else { "s" }
        );
        let is_narrow = interface.queues == 1 && !interface.is_steered && facts.cores.0 > 4.0;
        checks.push(match is_narrow {
            true => Check::new("network interface", Status::Warning, format!("{text}: one core has all its packets"))
                .commands(
                    format!(
                        "echo {} > /sys/class/net/{name}/queues/rx-0/rps_cpus  (or ethtool -L {name} combined N)",
                        all_cores(facts.cores.0)
                    ),
                    "the same in a unit of systemd or a rule of udev".to_owned(),
                ),
            false => Check::fine("network interface", text),
        });
    }
    for lookup in &facts.names {
        let ms = lookup.took.as_secs_f64() * 1e3;
        let name = &lookup.name;
        checks.push(match () {
            () if !lookup.found => Check::new("names", Status::Bad, format!("{name} is not known here")),
            () if ms > 100.0 => {
                Check::new("names", Status::Warning, format!("{name} took {ms:.0} ms: option dns has a cache (ttl)"))
            }
            () => Check::fine("names", format!("{name} took {ms:.1} ms")),
        });
    }
    checks
}

/// `tcp_mem`'s three numbers, in pages of 4 KiB.
fn tcp_pages(bytes: u64) -> String {
    let pages = bytes / 4_096 + 1;
    format!("{} {} {}", pages / 2, pages * 3 / 4, pages)
}

/// A mask of all cores.
fn all_cores(cores: f64) -> String {
    let bits = (cores as u32).min(63);
    format!("{:x}", (1_u64 << bits) - 1)
}

fn memory(facts: &Facts, demands: &Demands) -> Vec<Check> {
    let mut checks = Vec::new();
    let (all, free) = facts.memory;
    if all > 0 {
        checks.push(match demands.vu_bytes {
            Some(each) if each.saturating_mul(demands.vus) > free => Check::new(
                "memory",
                Status::Bad,
                format!(
                    "{} free of {}: {} VUs at {} each need {}; enough for {} VUs",
                    size(free),
                    size(all),
                    demands.vus,
                    size(each),
                    size(each * demands.vus),
                    free / each.max(1)
                ),
            ),
            Some(each) => Check::fine(
                "memory",
                format!(
                    "{} free of {}: {} VUs at {} each need {}",
                    size(free),
                    size(all),
                    demands.vus,
                    size(each),
                    size(each * demands.vus)
                ),
            ),
            None => Check::fine("memory", format!("{} free of {}", size(free), size(all))),
        });
    }
    if facts.swap_used > 64 << 20 {
        let text = format!("{} in use: memory that comes back from there waits for a disk", size(facts.swap_used));
        checks.push(Check::new("swap", Status::Warning, text).commands(
            "swapoff -a && swapon -a",
            "echo 'vm.swappiness = 1' >> /etc/sysctl.d/99-onrush.conf && sysctl --system",
        ));
    }
    if facts.huge_pages.as_deref() == Some("never") {
        let check = Check::new("huge pages", Status::Warning, "never: large tests cost up to a tenth more CPU");
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        let mut check = check
            .commands(format!("echo madvise > {path}"), "transparent_hugepage=madvise on the kernel's command line");
        check.fix = Some(Fix { path: path.to_owned(), value: "madvise".to_owned() });
        checks.push(check);
    }
    checks
}

fn cpu(facts: &Facts) -> Vec<Check> {
    let mut checks = Vec::new();
    let (machine, usable) = facts.cores;
    checks.push(if usable < machine.min(1.0) {
        Check::new(
            "cores",
            Status::Warning,
            format!("{usable:.1} of {machine:.0}: less than one, and VUs stand still while the quota is used up"),
        )
    } else if usable < machine {
        Check::fine("cores", format!("{usable:.1} of {machine:.0} (affinity or quota)"))
    } else {
        Check::fine("cores", format!("{machine:.0}"))
    });
    if facts.busy_cores > 0.2 * usable.max(0.1) {
        let text = format!("other programs use {:.1} cores now: the rest is what this test has", facts.busy_cores);
        checks.push(
            Check::new("other programs", Status::Warning, text).commands(
                "top -b -n 1 | head -15  (and stop what is not needed)",
                "a machine of its own for load tests",
            ),
        );
    } else {
        checks.push(Check::fine("other programs", format!("use {:.2} cores now", facts.busy_cores)));
    }
    if facts.stolen > 0.02 {
        let text = format!("the hypervisor took {:.1} % of the CPU since this machine started", facts.stolen * 100.0);
        checks.push(Check::new("steal", Status::Warning, text).in_future("a machine with cores of its own"));
    }
    if let Some((throttled, periods)) = facts.throttled.filter(|(throttled, _)| *throttled > 0) {
        let text = format!("this control group ran out of quota in {throttled} of {periods} periods so far");
        checks.push(Check::new("throttling", Status::Warning, text).commands(
            "raise cpu.max (systemd: CPUQuota=, Docker: --cpus)",
            "Kubernetes: requests without limits for the generator's CPU",
        ));
    }
    if !facts.slow_governors.is_empty() {
        let text = format!(
            "{}: cores that rest clock down, and latencies of light tests are longer",
            facts.slow_governors.join(", ")
        );
        checks.push(
            Check::new("CPU governor", Status::Warning, text)
                .commands("cpupower frequency-set -g performance", "GOVERNOR=performance in /etc/default/cpufrequtils"),
        );
    }
    checks
}

fn system(facts: &Facts) -> Vec<Check> {
    const SLOW_NS: f64 = 200.0;
    let mut checks = Vec::new();
    let source = facts.clock_source.as_deref().unwrap_or("unknown");
    checks.push(match facts.clock_ns > SLOW_NS {
        true => Check::new(
            "clock",
            Status::Warning,
            format!("{source}: {:.0} ns to ask for the time, several times a request", facts.clock_ns),
        )
        .commands(
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
            "clocksource=tsc on the kernel's command line",
        ),
        false => Check::fine("clock", format!("{source}: {:.0} ns to ask for the time", facts.clock_ns)),
    });
    checks.push(match facts.has_arrival_times {
        true => Check::fine("arrival times", "the kernel says when responses arrive"),
        false => Check::new(
            "arrival times",
            Status::Warning,
            "the kernel does not say when responses arrive: the generator's own delay is not measured",
        ),
    });
    if facts.is_filtered {
        checks.push(Check::fine("system calls", "filtered (seccomp), and all that are needed are allowed"));
    }
    if let Some(bits) = facts.entropy.filter(|bits| *bits < 128) {
        checks.push(Check::new(
            "randomness",
            Status::Warning,
            format!("{bits} bits: TLS may wait for more at the start"),
        ));
    }
    checks
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        super::facts::{Interface, Lookup},
        *,
    };

    fn good() -> Facts {
        Facts {
            files: Some(1 << 20),
            files_in_all: Some((1_000, 1 << 24)),
            ports: (1_024, 65_535),
            tw_reuse: Some(1),
            timestamps: Some(1),
            backlog: Some(4_096),
            syn_backlog: Some(4_096),
            device_backlog: Some(1_000),
            receive_buffer: Some(6 << 20),
            tcp_memory: Some(4 << 30),
            tracked: Some((100, 262_144)),
            cores: (8.0, 8.0),
            memory: (16 << 30, 15 << 30),
            clock_source: Some("tsc".to_owned()),
            clock_ns: 25.0,
            entropy: Some(256),
            huge_pages: Some("madvise".to_owned()),
            has_arrival_times: true,
            ..Facts::default()
        }
    }

    const TEST: Demands =
        Demands { vus: 30_000, vu_bytes: Some(64 << 10), has_no_reuse: false, local_ips: false, is_assumed: false };

    /// What is not fine.
    fn wrong(facts: &Facts, demands: &Demands) -> Vec<Check> {
        checks(facts, demands).into_iter().filter(|check| check.status > Status::Fine).collect()
    }

    #[test]
    fn nothing_is_wrong_with_a_good_machine() {
        assert_eq!(wrong(&good(), &TEST), []);
    }

    #[test]
    fn each_thing_that_is_wrong_is_found_with_its_command() {
        let check = |change: fn(&mut Facts), name: &str, status: Status, text: &str, now: &str| {
            let mut facts = good();
            change(&mut facts);
            let found = wrong(&facts, &TEST);
            let [one] = &found[..] else { panic!("{found:?}") };
            assert_eq!((one.name, one.status), (name, status), "{one:?}");
            assert!(one.text.contains(text), "{one:?}");
            assert!(one.now.as_deref().unwrap_or_default().contains(now), "{one:?}");
        };
        use Status::{Bad, Warning};
        check(|f| f.files = Some(1_024), "open files", Bad, "fail from VU 961 on", "ulimit -Hn 1048576");
        check(
            |f| f.files_in_all = Some((9_000, 10_000)),
            "files of the machine",
            Bad,
            "1000 left",
            "sysctl -w fs.file-max='1057576'",
        );
        check(|f| f.ports = (32_768, 60_999), "local ports", Bad, "from 28233 on", "ip_local_port_range='1024 65535'");
        check(
            |f| f.tracked = Some((60_000, 65_536)),
            "firewall's table",
            Bad,
            "from about 5536",
            "nf_conntrack_max='262144'",
        );
        check(|f| f.tcp_memory = Some(100 << 20), "TCP memory", Warning, "468.8 MiB", "tcp_mem='60000 90000 120001'");
        check(|f| f.receive_buffer = Some(1 << 20), "receive buffers", Warning, "1.0 MiB at most", "tcp_rmem");
        check(|f| f.device_backlog = Some(100), "queue of packets", Warning, "100 packets", "netdev_max_backlog");
        check(|f| f.backlog = Some(128), "queue of connections", Warning, "is 128", "somaxconn='4096'");
        check(|f| f.cores = (8.0, 0.5), "cores", Warning, "0.5 of 8", "");
        check(|f| f.busy_cores = 3.0, "other programs", Warning, "3.0 cores now", "top");
        check(|f| f.stolen = 0.1, "steal", Warning, "10.0 %", "");
        check(|f| f.throttled = Some((49, 51)), "throttling", Warning, "49 of 51 periods", "cpu.max");
        check(|f| f.slow_governors = vec!["powersave".to_owned()], "CPU governor", Warning, "powersave", "cpupower");
        check(|f| f.memory = (2 << 30, 1 << 30), "memory", Bad, "enough for 16384 VUs", "");
        check(|f| f.swap_used = 1 << 30, "swap", Warning, "1.0 GiB in use", "swapoff");
        check(|f| f.huge_pages = Some("never".to_owned()), "huge pages", Warning, "never", "echo madvise");
        check(|f| f.clock_ns = 1_200.0, "clock", Warning, "1200 ns", "echo tsc");
        check(|f| f.has_arrival_times = false, "arrival times", Warning, "not measured", "");
        check(|f| f.entropy = Some(60), "randomness", Warning, "60 bits", "");
        check(
            |f| {
                f.interfaces =
                    vec![Interface { name: "eth0".to_owned(), megabits: Some(1_000), queues: 1, is_steered: false }]
            },
            "network interface",
            Warning,
            "one core has all its packets",
            "echo ff > /sys/class/net/eth0/queues/rx-0/rps_cpus",
        );
        check(
            |f| f.names = vec![Lookup { name: "a.test".to_owned(), took: Duration::from_millis(3), found: false }],
            "names",
            Bad,
            "a.test is not known here",
            "",
        );
    }

    #[test]
    fn a_connection_for_each_request_needs_ports_that_come_back() {
        let test = Demands { has_no_reuse: true, vus: 10, ..TEST };
        assert_eq!(wrong(&good(), &test), []);
        let facts = Facts { tw_reuse: Some(2), ports: (32_768, 60_999), ..good() };
        let found = wrong(&facts, &test);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].text.contains("more than 470 new ones a second"), "{found:?}");
        assert!(found[1].now.as_deref().is_some_and(|now| now.contains("tcp_tw_reuse='1'")), "{found:?}");
        let facts = Facts { timestamps: Some(0), ..good() };
        assert!(wrong(&facts, &test).iter().any(|check| check.name == "TCP timestamps"));
    }
}
