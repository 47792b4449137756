//! What one agent saw of itself, and what follows for its numbers. The verdict on the run is made of these, in `verdict`.

use onrush_metrics::{Histogram, summary::Verdict};

use super::StartLag;
use crate::protocol::Health;

/// What an agent saw so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Watched {
    pub(super) seconds: u64,
    saturated: u64,
    nearly_saturated: u64,
    late: u64,
    throttled: u64,
    stolen: u64,
    waiting: u64,
    /// Sums over the seconds.
    cores: f64,
    busiest: f64,
    available_cores: f64,
    memory_max: f64,
    fds_max: f64,
    timer_lag_max_ms: f64,
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
    Memory,
    Files,
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

impl Watched {
    /// A thread busier than this has no time left for what comes next.
    const THREAD_SATURATED: f64 = 0.97;
    /// A thread busier than this queues noticeably (at 85 % an M/D/1 queue waits three service times).
    const THREAD_BUSY: f64 = 0.85;
    /// Mean timer delay beyond which latencies are visibly our own.
    const TIMER_LAG_MEAN_MS: f64 = 5.0;
    /// Iterations that start later than this after their intended start distort an open model.
    pub(super) const START_LAG_P99_MS: f64 = 10.0;
    /// A thread that waits longer than this for a core shares it with others.
    const WAITING: f64 = 0.1;
    /// Share of the seconds a condition must hold to make the numbers INVALID; below it they are SUSPECT.
    const SHARE_INVALID: f64 = 0.2;

    /// Adds a second.
    pub(super) fn health(&mut self, health: &Health) {
        self.seconds += 1;
        let cores = health.available_cores.max(0.01);
        let busiest = health.busiest_thread_cores.max(health.process_cores / cores);
        if busiest >= Self::THREAD_SATURATED {
            self.saturated += 1;
        } else if busiest >= Self::THREAD_BUSY {
            self.nearly_saturated += 1;
        }
        self.late += u64::from(health.timer_lag_mean_ms > Self::TIMER_LAG_MEAN_MS);
        self.throttled += u64::from(health.throttled > 0.01);
        self.stolen += u64::from(health.steal_cores > 0.1 * cores);
        self.waiting += u64::from(health.waiting > Self::WAITING);
        self.cores += health.process_cores;
        self.busiest += health.busiest_thread_cores;
        self.available_cores += health.available_cores;
        self.memory_max = self.memory_max.max(health.memory_used);
        self.fds_max = self.fds_max.max(health.fds_used);
        self.timer_lag_max_ms = self.timer_lag_max_ms.max(health.timer_lag_max_ms);
        self.fd_errors += health.fd_errors;
        self.port_errors += health.port_errors;
        self.stops += health.stops;
    }

    /// Others may have waited for what it computed.
    pub(super) fn has_waited(&self) -> bool {
        self.late > 0 || self.saturated > 0
    }

    /// What was wrong with it.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.lasting();
        findings.extend(self.shortages());
        let seconds = self.seconds.max(1) as f64;
        if self.waiting as f64 / seconds >= Self::SHARE_INVALID {
            let text = format!(
                "other programs, or too many threads, took the CPU: a thread waited more than {:.0} % of the time for a core in {} of {} seconds",
                Self::WAITING * 100.0,
                self.waiting,
                self.seconds
            );
            findings.push(Finding { cause: Cause::Waiting, verdict: Verdict::Suspect, weight: self.waiting, text });
        }
        if self.stops > 0 {
            let times = if self.stops == 1 { "once".to_owned() } else { format!("{} times", self.stops) };
            let text = format!("the process was stopped {times} (SIGSTOP or Ctrl+Z) while scenarios ran");
            findings.push(Finding { cause: Cause::Stopped, verdict: Verdict::Invalid, weight: self.stops, text });
        }
        if self.nearly_saturated as f64 / seconds >= Self::SHARE_INVALID {
            let (weight, all) = (self.nearly_saturated, self.seconds);
            let text = format!(
                "the generator was short of CPU (a worker thread was 85 % busy or more) in {weight} of {all} seconds"
            );
            findings.push(Finding { cause: Cause::Busy, verdict: Verdict::Suspect, weight, text });
        }
        if let Some(lag) = self.start_lag().filter(|lag| lag.p99_ms > Self::START_LAG_P99_MS) {
            let text = late_starts(lag.p99_ms);
            // The cast cuts fractions of milliseconds.
            let weight = lag.p99_ms as u64;
            findings.push(Finding { cause: Cause::StartLag, verdict: Verdict::Invalid, weight, text });
        }
        let percent = |share: f64| (share * 100.0).round();
        if self.memory_max > 0.9 {
            let weight = percent(self.memory_max) as u64;
            let text = format!("memory was {weight} % used");
            findings.push(Finding { cause: Cause::Memory, verdict: Verdict::Suspect, weight, text });
        }
        if self.fds_max > 0.95 {
            let weight = percent(self.fds_max) as u64;
            let text = format!("{weight} % of the allowed file descriptors were in use");
            findings.push(Finding { cause: Cause::Files, verdict: Verdict::Suspect, weight, text });
        }
        if self.panics > 0 {
            let text = format!("{} VU fibers ended in an internal error", self.panics);
            findings.push(Finding { cause: Cause::Panics, verdict: Verdict::Invalid, weight: self.panics, text });
        }
        findings
    }

    /// Conditions that are worse the longer they last.
    fn lasting(&self) -> Vec<Finding> {
        let causes = [
            (
                Cause::Saturated,
                self.saturated,
                "the generator had no CPU left (a worker thread was 97 % busy or more)".to_owned(),
            ),
            (Cause::Late, self.late, format!("timers fired more than {} ms late on average", Self::TIMER_LAG_MEAN_MS)),
            (Cause::Throttled, self.throttled, "the generator's cgroup was throttled by its CPU quota".to_owned()),
            (Cause::Stolen, self.stolen, "the hypervisor took more than 10 % of the CPU".to_owned()),
        ];
        let seconds = self.seconds.max(1) as f64;
        let found = causes.into_iter().filter(|(_, weight, _)| *weight > 0).map(|(cause, weight, text)| {
            let is_lasting = weight as f64 / seconds >= Self::SHARE_INVALID;
            let verdict = if is_lasting { Verdict::Invalid } else { Verdict::Suspect };
            Finding { cause, verdict, weight, text: format!("{text} in {weight} of {} seconds", self.seconds) }
        });
        found.collect()
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
            findings.push(Finding { cause: Cause::Descriptors, verdict: Verdict::Invalid, weight, text });
        }
        if self.port_errors > 0 {
            let text = format!(
                "{} connections failed here because no local port was left, or an address of --local-ips is not this machine's: keep connections open, widen net.ipv4.ip_local_port_range, or use (other) --local-ips",
                self.port_errors
            );
            findings.push(Finding { cause: Cause::Ports, verdict: Verdict::Invalid, weight: self.port_errors, text });
        }
        findings
    }

    fn start_lag(&self) -> Option<StartLag> {
        StartLag::of(&self.start_lag)
    }

    /// How it fared.
    pub(super) fn judged(&self) -> AgentHealth {
        let mut findings = self.findings();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        let mean = |sum: f64| if self.seconds == 0 { 0.0 } else { sum / self.seconds as f64 };
        AgentHealth {
            verdict: findings.first().map_or(Verdict::Valid, |finding| finding.verdict),
            reasons: findings.into_iter().map(|finding| finding.text).collect(),
            seconds: self.seconds,
            cores: mean(self.cores),
            available_cores: mean(self.available_cores),
            busiest_thread_cores: mean(self.busiest),
            timer_lag_max_ms: self.timer_lag_max_ms,
            start_lag: self.start_lag(),
        }
    }
}

/// Why late starts spoil a measurement.
pub(super) fn late_starts(p99_ms: f64) -> String {
    format!("iterations began late: p(99) of the delay after their intended start was {p99_ms:.1} ms")
}
