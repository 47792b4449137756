//! What one agent saw of itself, and what follows for its numbers. The verdict on the run is made of these, in `verdict`.

use std::collections::BTreeMap;

use onrush_metrics::{Histogram, OwnDelay, summary::Verdict};

use super::{
    own::Own,
    record::GeneratorRecord,
    start_lag::{StartLag, late, late_starts},
    times::Times,
};
use crate::protocol::Health;

/// What an agent saw so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Watched {
    saturated: Times,
    nearly_saturated: Times,
    late: Times,
    throttled: Times,
    stolen: Times,
    waiting: Times,
    swapping: Times,
    network_full: Times,
    /// The end of the last second.
    at_secs: f64,
    pub(super) own: Own,
    pub(super) record: GeneratorRecord,
    /// CPU of the busiest thread, added up over the seconds.
    busiest: f64,
    memory_max: f64,
    fds_max: f64,
    tracked_max: f64,
    pub(super) start_lag: Histogram,
    fd_errors: u64,
    port_errors: u64,
    stops: u64,
    pub(super) panics: u64,
    pub(super) threads_given_up: u32,
    /// The scenario that most often computed for a whole time slice, and how often.
    pub(super) computing: Option<(String, u64)>,
}

/// How an agent fared, as it saw itself.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentHealth {
    /// Whether its numbers can be trusted.
    pub verdict: Verdict,
    /// Why not, a sentence each, worst first.
    pub reasons: Vec<String>,
    /// Seconds in which it looked at itself; 0 for an agent that had nothing to do.
    pub seconds: u64,
    /// CPU it used on average, in cores.
    pub cores: f64,
    /// Cores it might use.
    pub available_cores: f64,
    /// CPU of the busiest worker thread, on average, in cores.
    pub busiest_thread_cores: f64,
    /// Worst delay of a timer, milliseconds.
    pub timer_lag_max_ms: f64,
    /// How late its arrivals began, if it had any.
    pub start_lag: Option<StartLag>,
}

/// What can be wrong with an agent, in the order in which a verdict has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    OwnDelay,
    Saturated,
    Late,
    Throttled,
    Stolen,
    Descriptors,
    Ports,
    Waiting,
    Stopped,
    Busy,
    StartLag,
    Swapping,
    Memory,
    Files,
    NetworkFull,
    Tracked,
    Retransmitted,
    PacketsDropped,
    Panics,
}

/// Something that was wrong with an agent.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) cause: Cause,
    pub(super) verdict: Verdict,
    /// How much of it there was, to compare agents by.
    pub(super) weight: u64,
    pub(super) text: String,
}

impl Finding {
    pub(super) fn new(cause: Cause, verdict: Verdict, weight: u64, text: String) -> Self {
        Self { cause, verdict, weight, text }
    }
}

impl Cause {
    /// What to do about it, for the end of a sentence.
    fn remedy(self) -> &'static str {
        match self {
            Self::Saturated | Self::Busy => {
                ": use more cores, --agents on several machines, or less work per iteration"
            }
            Self::Late => ": stop what else runs on the machine, and look for scripts that compute for long",
            Self::Throttled => ": raise the quota, or none (Kubernetes: no CPU limit for the generator)",
            Self::Stolen => ": use another machine, or one with cores of its own",
            Self::Waiting => ": stop what else runs here, give --threads fewer, or use more cores",
            _ => "",
        }
    }
}

impl Watched {
    /// A thread busier than this has no time left for what comes next.
    const THREAD_SATURATED: f64 = 0.97;
    /// A thread busier than this queues noticeably (at 85 % an M/D/1 queue waits three service times).
    const THREAD_BUSY: f64 = 0.85;
    /// Mean timer delay beyond which latencies are visibly our own.
    const TIMER_LAG_MEAN_MS: f64 = 5.0;
    /// A thread that waits longer than this for a core shares it with others.
    const WAITING: f64 = 0.1;
    /// An interface busier than this queues what it sends.
    const INTERFACE_FULL: f64 = 0.95;
    /// Pages that come back from swap in a second. A fault waits for a disk: 0.1 ms and more.
    const SWAPPED_PAGES: u64 = 20;
    /// Of the segments sent, those sent again: a lost one costs 200 ms or more.
    const RETRANSMITTED: f64 = 0.005;

    /// Adds a second.
    pub(super) fn health(&mut self, health: &Health) {
        let at = health.at_secs;
        self.at_secs = at;
        self.record.note(health);
        let cores = health.available_cores.max(0.01);
        let busiest = health.busiest_thread_cores.max(health.process_cores / cores);
        self.saturated.note(at, busiest >= Self::THREAD_SATURATED);
        self.nearly_saturated.note(at, (Self::THREAD_BUSY..Self::THREAD_SATURATED).contains(&busiest));
        self.late.note(at, health.timer_lag_mean_ms > Self::TIMER_LAG_MEAN_MS);
        self.throttled.note(at, health.throttled > 0.01);
        self.stolen.note(at, health.steal_cores > 0.1 * cores);
        self.waiting.note(at, health.waiting > Self::WAITING);
        self.swapping.note(at, health.swapped_in >= Self::SWAPPED_PAGES);
        self.network_full.note(at, health.interface_used >= Self::INTERFACE_FULL);
        self.busiest += health.busiest_thread_cores;
        self.memory_max = self.memory_max.max(health.memory_used);
        self.fds_max = self.fds_max.max(health.fds_used);
        self.tracked_max = self.tracked_max.max(health.tracked_used);
        self.fd_errors = self.fd_errors.saturating_add(health.fd_errors);
        self.port_errors = self.port_errors.saturating_add(health.port_errors);
        self.stops = self.stops.saturating_add(health.stops);
    }

    /// Seconds in which it looked at itself.
    pub(super) fn seconds(&self) -> u64 {
        self.record.seconds
    }

    /// Adds own delays of the time up to the last second.
    pub(super) fn own_delays(&mut self, delays: &BTreeMap<String, OwnDelay>) {
        self.own.add(delays, Some(self.at_secs));
    }

    /// Others may have waited for what it computed.
    pub(super) fn has_waited(&self) -> bool {
        self.late.seconds > 0 || self.saturated.seconds > 0
    }

    /// What was wrong with it, but for its own delay, of which all agents are judged together. Verdict VALID: worth a note.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.of_cpu();
        findings.extend(self.shortages());
        findings.extend(self.of_network());
        if self.stops > 0 {
            let times = if self.stops == 1 { "once".to_owned() } else { format!("{} times", self.stops) };
            let text = format!("the process was stopped {times} (SIGSTOP or Ctrl+Z) while scenarios ran");
            findings.push(Finding::new(Cause::Stopped, Verdict::Invalid, self.stops, text));
        }
        if let Some((verdict, p99_ms)) = late(&self.start_lag) {
            // The cast cuts fractions of milliseconds.
            findings.push(Finding::new(Cause::StartLag, verdict, p99_ms as u64, late_starts(p99_ms)));
        }
        if self.swapping.seconds > 0 {
            let lasting = if self.swapping.is_lasting(self.seconds()) { Verdict::Invalid } else { Verdict::Suspect };
            let text = format!(
                "memory came back from swap{}: use fewer VUs, or a machine with more memory",
                self.swapping.of(self.seconds())
            );
            findings.push(Finding::new(Cause::Swapping, lasting, self.swapping.seconds, text));
        }
        let percent = |share: f64| (share * 100.0).round();
        if self.memory_max > 0.9 {
            let weight = percent(self.memory_max) as u64;
            let text = format!("memory was {weight} % used: use fewer VUs, or a machine with more memory");
            findings.push(Finding::new(Cause::Memory, Verdict::Suspect, weight, text));
        }
        if self.fds_max > 0.95 {
            let weight = percent(self.fds_max) as u64;
            let text = format!("{weight} % of the allowed file descriptors were in use: raise the limit (ulimit -n)");
            findings.push(Finding::new(Cause::Files, Verdict::Suspect, weight, text));
        }
        if self.panics > 0 {
            let text = format!("{} VU fibers ended in an internal error", self.panics);
            findings.push(Finding::new(Cause::Panics, Verdict::Invalid, self.panics, text));
        }
        findings
    }

    /// What kept the generator from running when it should have. Where latencies are known to hold none of it
    /// ([`Own::is_clean`]), it has spoilt less than it could have.
    fn of_cpu(&self) -> Vec<Finding> {
        let is_clean = self.own.is_clean();
        let right =
            if is_clean { "; latencies are right all the same, but the rate may be the generator's limit" } else { "" };
        // What it is when it lasts, when it is brief, and when latencies are right all the same.
        let (invalid, suspect, valid) = (Verdict::Invalid, Verdict::Suspect, Verdict::Valid);
        let causes = [
            (
                Cause::Saturated,
                &self.saturated,
                (invalid, suspect, suspect),
                format!("the generator had no CPU left (a worker thread was 97 % busy or more){right}"),
            ),
            (
                Cause::Late,
                &self.late,
                (invalid, suspect, suspect),
                format!("timers fired more than {} ms late on average", Self::TIMER_LAG_MEAN_MS),
            ),
            (
                Cause::Throttled,
                &self.throttled,
                (invalid, suspect, suspect),
                "the generator's cgroup was throttled by its CPU quota".to_owned(),
            ),
            (
                Cause::Stolen,
                &self.stolen,
                (invalid, suspect, suspect),
                "the hypervisor took more than 10 % of the CPU".to_owned(),
            ),
            (
                Cause::Waiting,
                &self.waiting,
                (suspect, valid, valid),
                format!(
                    "other programs, or too many threads, took the CPU: a thread waited more than {:.0} % of the time for a core",
                    Self::WAITING * 100.0
                ),
            ),
            (
                Cause::Busy,
                &self.nearly_saturated,
                (suspect, valid, valid),
                "the generator was short of CPU (a worker thread was 85 % busy or more)".to_owned(),
            ),
        ];
        let found = causes.into_iter().filter(|(_, times, ..)| times.seconds > 0);
        let found = found.filter_map(|(cause, times, (lasting, brief, clean), text)| {
            let verdict = match times.is_lasting(self.seconds()) {
                true if is_clean => clean,
                true => lasting,
                false if is_clean => valid,
                false => brief,
            };
            // A moment of work is nothing to tell.
            let is_told = verdict > valid || times.is_lasting(self.seconds());
            let remedy = match verdict {
                Verdict::Valid => ", which has not shown in the latencies",
                _ => cause.remedy(),
            };
            let text = format!("{text}{}{remedy}", times.of(self.seconds()));
            is_told.then(|| Finding::new(cause, verdict, times.seconds, text))
        });
        found.collect()
    }

    /// What the network on this side did to the numbers.
    fn of_network(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |cause, weight, text| findings.push(Finding::new(cause, Verdict::Suspect, weight, text));
        if self.network_full.is_lasting(self.seconds()) && self.network_full.seconds > 0 {
            let text = format!(
                "a network interface of the generator was full (95 % of its speed or more){}: use several machines, or smaller responses",
                self.network_full.of(self.seconds())
            );
            add(Cause::NetworkFull, self.network_full.seconds, text);
        }
        if self.tracked_max > 0.95 {
            let weight = (self.tracked_max * 100.0).round() as u64;
            let text = format!(
                "the firewall's table of connections was {weight} % full, and new ones are dropped from 100 % on: raise net.netfilter.nf_conntrack_max, or keep connections open"
            );
            add(Cause::Tracked, weight, text);
        }
        let GeneratorRecord { tcp_segments: segments, tcp_segments_retransmitted: again, packets_dropped, .. } =
            self.record;
        if again as f64 > Self::RETRANSMITTED * segments as f64 && again >= 20 {
            let text = format!(
                "{again} of {segments} TCP segments sent from here had to be sent again: packets are lost between here and the server, or no more connections are accepted there; each costs its request 200 ms or more"
            );
            add(Cause::Retransmitted, again, text);
        }
        if packets_dropped > 0 {
            let text = format!(
                "{packets_dropped} packets were dropped on this machine: larger queues (ethtool -G, net.core.netdev_max_backlog), or less load on it"
            );
            add(Cause::PacketsDropped, packets_dropped, text);
        }
        findings
    }

    /// Requests that failed on this side of the network: they say nothing about the server.
    fn shortages(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.fd_errors > 0 {
            let text = format!(
                "{} connections failed here because no file descriptor was left: raise the hard limit (as root: ulimit -Hn), or use fewer VUs",
                self.fd_errors
            );
            let weight = self.fd_errors;
            findings.push(Finding::new(Cause::Descriptors, Verdict::Invalid, weight, text));
        }
        if self.port_errors > 0 {
            let text = format!(
                "{} connections failed here because no local port was left, or an address of --local-ips is not this machine's: keep connections open, widen net.ipv4.ip_local_port_range, or use (other) --local-ips",
                self.port_errors
            );
            findings.push(Finding::new(Cause::Ports, Verdict::Invalid, self.port_errors, text));
        }
        findings
    }

    /// How it fared.
    pub(super) fn judged(&self) -> AgentHealth {
        let mut findings = self.findings();
        let own = self.own.finding(self.seconds());
        findings.extend(own.map(|(verdict, weight, text)| Finding::new(Cause::OwnDelay, verdict, weight, text)));
        findings.retain(|finding| finding.verdict > Verdict::Valid);
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        AgentHealth {
            verdict: findings.first().map_or(Verdict::Valid, |finding| finding.verdict),
            reasons: findings.into_iter().map(|finding| finding.text).collect(),
            seconds: self.seconds(),
            cores: self.record.cpu_cores,
            available_cores: self.record.cpu_cores_available,
            busiest_thread_cores: self.busiest / self.seconds().max(1) as f64,
            timer_lag_max_ms: self.record.timer_lag_max_ms,
            start_lag: StartLag::of(&self.start_lag),
        }
    }
}
