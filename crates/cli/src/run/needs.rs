//! What a test takes of this machine, estimated before its first VU is made.
//!
//! A lower bound: what init code left in one VU's heap times the VUs, one open file for each VU that can open a
//! connection. What iterations add (response bodies, data they keep) is not known yet.

use onrush_engine::Allowance;
use onrush_fiber::FdLimit;
use onrush_plan::Plan;
use onrush_script::{Program, Target};

/// What can be done about a test that is too large.
pub(crate) const HINT: &str = "use fewer VUs, more processes (--agents auto), more machines (onrush coordinator), or start it anyway with --force";

/// What a test needs, and what there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needs {
    /// VUs made before the test starts.
    pub(crate) vus: u64,
    /// VUs there may be later.
    pub(crate) vus_max: u64,
    /// Memory of one VU, bytes.
    pub(crate) vu_bytes: u64,
    /// Memory of this machine or container, bytes; 0 if unknown.
    pub(crate) memory_bytes: u64,
    /// Open files this process may have; `None`: no limit, or no VU needs one.
    pub(crate) files_max: Option<u64>,
    /// VUs open connections.
    pub(crate) has_network: bool,
    /// Local ports for connections to one address of a server; `None` where addresses are chosen with `--local-ips`.
    pub(crate) ports: Option<u64>,
}

/// Beside its JavaScript heap a VU has its record, a fiber with the used part of its stack, and the buffers of a
/// connection: measured as 4 to 6 KiB with 5,000 VUs of a minimal script.
const VU_BYTES: u64 = 5 << 10;
/// Files, pipes and epoll instances of the process itself.
pub(crate) const OWN_FILES: u64 = 64;
/// What the system itself needs: a test that takes more than this share of the memory will be killed.
const MEMORY_SHARE: f64 = 0.9;
/// Linux's own default of `ip_local_port_range`.
const PORTS: (u64, u64) = (32_768, 60_999);

impl Needs {
    /// Estimates. `fds` is the limit of open files if VUs open connections.
    pub(super) fn new(plan: &Plan, heap_bytes: usize, fds: Option<FdLimit>, has_local_ips: bool) -> Self {
        Self {
            vus: plan.planned_vus,
            vus_max: plan.max_vus,
            vu_bytes: VU_BYTES + heap_bytes as u64,
            memory_bytes: Allowance::of_process().memory_bytes,
            files_max: fds.and_then(|limit| limit.soft),
            has_network: fds.is_some(),
            ports: (!has_local_ips).then(ports),
        }
    }

    /// Memory of all VUs that are made before the start, bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.vus.saturating_mul(self.vu_bytes)
    }

    /// Open files so many VUs need.
    pub(crate) fn files(&self, vus: u64) -> u64 {
        OWN_FILES.saturating_add(if self.has_network { vus } else { 0 })
    }

    /// Why the test should not start here.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.is_too_much(self.total_bytes()) {
            return Some(format!(
                "{} {} at least {} of memory ({} each), this machine has {}",
                vus(self.vus),
                if self.vus == 1 { "needs" } else { "need" },
                size(self.total_bytes()),
                size(self.vu_bytes),
                size(self.memory_bytes)
            ));
        }
        let allowed = self.files_max.filter(|allowed| self.files(self.vus) > *allowed)?;
        Some(format!(
            "{} VUs with a connection each need {} open files, but {}",
            self.vus,
            self.files(self.vus),
            may_open(allowed, self.files(self.vus))
        ))
    }

    /// What may become a problem later.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let most = self.vus_max.saturating_mul(self.vu_bytes);
        if self.vus_max > self.vus && self.is_too_much(most) {
            let (most, memory) = (size(most), size(self.memory_bytes));
            warnings.push(format!(
                "with all its {} VUs (maxVUs) this test needs at least {most} of memory, this machine has {memory}",
                self.vus_max
            ));
        }
        if let Some(allowed) = self.files_max
            && self.vus_max > self.vus
            && self.files(self.vus_max) > allowed
        {
            warnings.push(format!(
                "with all its {} (maxVUs) this test needs {} open files, but {}",
                vus(self.vus_max),
                self.files(self.vus_max),
                may_open(allowed, self.files(self.vus_max))
            ));
        }
        if let Some(ports) = self.ports.filter(|ports| self.has_network && self.vus_max > *ports) {
            warnings.push(format!(
                "{} VUs with a connection each to one address of a server need more than the {ports} local ports there are: \
                 widen net.ipv4.ip_local_port_range, or add addresses with --local-ips",
                self.vus_max
            ));
        }
        warnings
    }

    fn is_too_much(&self, bytes: u64) -> bool {
        self.memory_bytes > 0 && bytes as f64 > self.memory_bytes as f64 * MEMORY_SHARE
    }
}

/// What to do about too few open files. Twice as many as are needed at least: VUs may have several connections.
fn may_open(allowed: u64, needed: u64) -> String {
    let enough = needed.saturating_mul(2);
    format!(
        "this process may open only {allowed}: raise the hard limit (as root `ulimit -Hn {enough}`, LimitNOFILE=, Docker's --ulimit)"
    )
}

/// `1 VU`, `2 VUs`
pub(crate) fn vus(count: u64) -> String {
    if count == 1 { "1 VU".to_owned() } else { format!("{count} VUs") }
}

/// Whether the program imports a module that opens connections.
pub(super) fn has_network(program: &Program) -> bool {
    const MODULES: [&str; 13] = [
        "k6/http",
        "k6/ws",
        "k6/websockets",
        "k6/net/",
        "k6/experimental/redis",
        "k6/experimental/websockets",
        "k6/x/dns",
        "k6/x/kafka",
        "k6/x/mqtt",
        "k6/x/redis",
        "k6/x/sql",
        "k6/x/sse",
        "k6/x/tcp",
    ];
    let imports = program.modules.iter().flat_map(|module| &module.imports);
    imports.into_iter().any(|import| {
        matches!(&import.target, Target::Builtin(name) if MODULES.iter().any(|module| name.starts_with(module)))
    })
}

/// Ports the system gives to connections from one local address.
fn ports() -> u64 {
    let (low, high) = port_range();
    (high + 1).saturating_sub(low)
}

/// The first and the last of these ports.
pub(crate) fn port_range() -> (u64, u64) {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut bounds = range.split_whitespace().filter_map(|bound| bound.parse::<u64>().ok());
    (bounds.next().unwrap_or(PORTS.0), bounds.next().unwrap_or(PORTS.1))
}

/// `17.2 KiB`
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Needs = Needs {
        vus: 100,
        vus_max: 100,
        vu_bytes: 10 << 10,
        memory_bytes: 1 << 30,
        files_max: Some(1_024),
        has_network: true,
        ports: Some(28_232),
    };

    #[test]
    fn refusals() {
        let check = |needs: Needs, problem: &str, warnings: usize| {
            let found = needs.problem().unwrap_or_default();
            assert!(found.starts_with(problem) && problem.is_empty() == found.is_empty(), "{found}");
            assert_eq!(needs.warnings().len(), warnings, "{:?}", needs.warnings());
        };
        check(SMALL, "", 0);
        let vus = 99_999_999;
        check(
            Needs { vus, vus_max: vus, ..SMALL },
            "99999999 VUs need at least 953.7 GiB of memory (10.0 KiB each), this machine has 1.0 GiB",
            1,
        );
        check(Needs { vus: 1_000, vus_max: 1_000, ..SMALL }, "1000 VUs with a connection each need 1064 open files", 0);
        check(Needs { vus: 1_000, vus_max: 1_000, has_network: false, files_max: None, ..SMALL }, "", 0);
        check(Needs { vus: 960, vus_max: 960, ..SMALL }, "", 0);
        // What may only come later is told, not refused.
        check(Needs { vus_max: vus, ..SMALL }, "", 3);
        // Nothing is known of the memory.
        check(Needs { vus, vus_max: vus, memory_bytes: 0, files_max: None, ..SMALL }, "", 1);
        check(Needs { vus: u64::MAX, vus_max: u64::MAX, ..SMALL }, "18446744073709551615 VUs", 1);
    }

    #[test]
    fn sizes() {
        assert_eq!(
            [0, 1023, 1024, 17 * 1024 + 205, 5 << 30].map(size),
            ["0 B", "1023 B", "1.0 KiB", "17.2 KiB", "5.0 GiB"]
        );
    }
}
