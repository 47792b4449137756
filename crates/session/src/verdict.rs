//! The verdict on the measurement: was the generator itself healthy?
//!
//! A load generator that has no CPU left measures itself. Every run is judged VALID, SUSPECT or INVALID from what the
//! agents saw of themselves, each with its reason in one sentence.

use std::collections::BTreeMap;

use onrush_metrics::{Histogram, summary::Verdict};

use crate::protocol::{AgentId, Health, HealthReport};

/// Collects what agents report and judges at the end.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    seconds: u64,
    saturated: u64,
    nearly_saturated: u64,
    late: u64,
    throttled: u64,
    stolen: u64,
    memory_max: f64,
    fds_max: f64,
    timer_lag_max_ms: f64,
    start_lag: Histogram,
    /// Of each agent, so far.
    panics: BTreeMap<AgentId, u64>,
    threads_given_up: BTreeMap<AgentId, u32>,
    computing: BTreeMap<AgentId, (String, u64)>,
    trapped_property: String,
    agents_lost: Vec<String>,
    samples_lost: u64,
    output_samples_missing: u64,
    waiting: u64,
    fd_errors: u64,
    port_errors: u64,
    stops: u64,
    interrupted: u64,
    answered: u64,
}

/// What became of a scenario's iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioLoad {
    /// Its name.
    pub scenario: String,
    /// Iterations begin when the plan says (an arrival rate), not when a VU is free.
    pub is_open: bool,
    /// Iterations that ran to their end.
    pub done: u64,
    /// Iterations that were cut.
    pub interrupted: u64,
    /// Iterations that ended in an exception, among those done.
    pub thrown: u64,
    /// Iterations that never began.
    pub dropped: u64,
}

/// The verdict with its reasons, worst first.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The word.
    pub verdict: Verdict,
    /// A sentence for each finding; empty when VALID.
    pub reasons: Vec<String>,
    /// What is worth knowing and takes nothing from the numbers, a sentence each.
    pub notes: Vec<String>,
    /// Iterations that ended in an exception.
    pub thrown: u64,
    /// So many requests had no answer that it is among the reasons.
    pub lacks_answers: bool,
    /// How late the iterations of arrival rates began; `None` where there were none.
    pub start_lag: Option<StartLag>,
}

/// Delays of arrival-rate iterations after the instant the plan gave them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartLag {
    /// Iterations begun.
    pub iterations: u64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

impl std::fmt::Display for StartLag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { iterations, p99_ms, max_ms } = self;
        write!(
            f,
            "start delay of {iterations} iteration{}: p(99) {p99_ms:.3} ms, max {max_ms:.3} ms",
            if *iterations == 1 { "" } else { "s" }
        )
    }
}

impl Judge {
    /// A thread busier than this has no time left for what comes next.
    const THREAD_SATURATED: f64 = 0.97;
    /// A thread busier than this queues noticeably (at 85 % an M/D/1 queue waits three service times).
    const THREAD_BUSY: f64 = 0.85;
    /// Mean timer delay beyond which latencies are visibly our own.
    const TIMER_LAG_MEAN_MS: f64 = 5.0;
    /// Iterations that start later than this after their intended start distort an open model.
    const START_LAG_P99_MS: f64 = 10.0;
    /// A thread that waits longer than this for a core shares it with others.
    const WAITING: f64 = 0.1;
    /// Share of the run's seconds a condition must hold to make the run INVALID; below it is SUSPECT.
    const SHARE_INVALID: f64 = 0.2;

    /// Takes what an agent says of itself.
    pub fn report(&mut self, from: AgentId, report: &HealthReport) {
        if let Some(second) = &report.second {
            self.health(second);
        }
        self.start_lag(&report.start_lag);
        self.panics.insert(from, report.panics);
        self.threads_given_up.insert(from, report.threads_given_up);
        if let Some(computing) = &report.computing {
            self.computing.insert(from, computing.clone());
        }
    }

    /// Adds one second of one agent.
    pub fn health(&mut self, health: &Health) {
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
        self.memory_max = self.memory_max.max(health.memory_used);
        self.fds_max = self.fds_max.max(health.fds_used);
        self.waiting += u64::from(health.waiting > Self::WAITING);
        self.fd_errors += health.fd_errors;
        self.port_errors += health.port_errors;
        self.stops += health.stops;
        self.timer_lag_max_ms = self.timer_lag_max_ms.max(health.timer_lag_max_ms);
    }

    /// Adds intended-to-actual start delays of arrival-rate iterations, milliseconds.
    pub fn start_lag(&mut self, lag: &Histogram) {
        self.start_lag.merge(lag);
    }

    /// A sentence about an agent that was lost.
    pub fn lost(&mut self, text: String) {
        self.agents_lost.push(text);
    }

    /// The property of the last write to a shared built-in that was refused.
    pub fn trapped(&mut self, property: &str) {
        property.clone_into(&mut self.trapped_property);
    }

    /// The property given to [`Judge::trapped`] last.
    pub fn trapped_property(&self) -> &str {
        &self.trapped_property
    }

    /// Notes samples that could not be kept.
    pub fn samples_lost(&mut self, lost: u64) {
        self.samples_lost = self.samples_lost.max(lost);
    }

    /// Notes samples that some output does not have, although they were counted.
    pub fn output_samples_missing(&mut self, missing: u64) {
        self.output_samples_missing = self.output_samples_missing.max(missing);
    }

    /// Notes requests that never got an answer because the plan's end interrupted them, and those that ended.
    pub fn interrupted(&mut self, interrupted: u64, answered: u64) {
        (self.interrupted, self.answered) = (interrupted, answered);
    }

    /// The delays of arrival-rate iterations, milliseconds.
    pub fn start_lags(&self) -> &Histogram {
        &self.start_lag
    }

    /// Judges what was collected.
    pub fn judge(&self, loads: &[ScenarioLoad]) -> Judgement {
        let mut findings: Vec<(Verdict, String)> = Vec::new();
        let seconds = self.seconds.max(1) as f64;
        let mut lasting = |count: u64, text: String| {
            if count > 0 {
                let share = count as f64 / seconds;
                let verdict = if share >= Self::SHARE_INVALID { Verdict::Invalid } else { Verdict::Suspect };
                findings.push((verdict, format!("{text} in {count} of {} seconds", self.seconds)));
            }
        };
        lasting(self.saturated, "the generator had no CPU left (a worker thread was 97 % busy or more)".to_owned());
        lasting(self.late, format!("timers fired more than {} ms late on average", Self::TIMER_LAG_MEAN_MS));
        lasting(self.throttled, "the generator's cgroup was throttled by its CPU quota".to_owned());
        lasting(self.stolen, "the hypervisor took more than 10 % of the CPU".to_owned());
        findings.extend(self.shortages());
        if self.waiting as f64 / seconds >= Self::SHARE_INVALID {
            let text = format!(
                "other programs, or too many threads, took the CPU: a thread waited more than {:.0} % of the time for a core in {} of {} seconds",
                Self::WAITING * 100.0,
                self.waiting,
                self.seconds
            );
            findings.push((Verdict::Suspect, text));
        }
        if self.stops > 0 {
            let times = if self.stops == 1 { "once".to_owned() } else { format!("{} times", self.stops) };
            let text = format!("the process was stopped {times} (SIGSTOP or Ctrl+Z) while scenarios ran");
            findings.push((Verdict::Invalid, text));
        }
        if self.nearly_saturated as f64 / seconds >= Self::SHARE_INVALID {
            let text = format!(
                "the generator was short of CPU (a worker thread was 85 % busy or more) in {} of {} seconds",
                self.nearly_saturated, self.seconds
            );
            findings.push((Verdict::Suspect, text));
        }
        if !self.start_lag.is_empty() {
            let p99 = self.start_lag.quantile(0.99);
            if p99 > Self::START_LAG_P99_MS {
                findings.push((
                    Verdict::Invalid,
                    format!("iterations began late: p(99) of the delay after their intended start was {p99:.1} ms"),
                ));
            }
        }
        findings.extend(self.computes(&findings));
        let unanswered = self.unanswered();
        let lacks_answers = unanswered.is_some();
        findings.extend(unanswered);
        findings.extend(dropped_arrivals(loads));
        if self.memory_max > 0.9 {
            findings.push((Verdict::Suspect, format!("memory was {:.0} % used", self.memory_max * 100.0)));
        }
        if self.fds_max > 0.95 {
            findings.push((
                Verdict::Suspect,
                format!("{:.0} % of the allowed file descriptors were in use", self.fds_max * 100.0),
            ));
        }
        let panics: u64 = self.panics.values().sum();
        if panics > 0 {
            findings.push((Verdict::Invalid, format!("{panics} VU fibers ended in an internal error")));
        }
        let given_up: u32 = self.threads_given_up.values().sum();
        if given_up > 0 {
            let text = format!(
                "{given_up} worker threads were held by script code past the end of the test: their last samples are missing"
            );
            findings.push((Verdict::Suspect, text));
        }
        findings.extend(self.agents_lost.iter().map(|text| (Verdict::Suspect, text.clone())));
        if self.samples_lost > 0 {
            findings.push((Verdict::Invalid, format!("{} samples could not be kept", self.samples_lost)));
        }
        if self.output_samples_missing > 0 {
            let text = match self.output_samples_missing {
                1 => "outputs lack 1 sample that the summary has".to_owned(),
                samples => format!("outputs lack {samples} samples that the summary has"),
            };
            findings.push((Verdict::Suspect, text));
        }
        findings.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        Judgement {
            verdict: findings.first().map_or(Verdict::Valid, |(verdict, _)| *verdict),
            reasons: findings.into_iter().map(|(_, reason)| reason).collect(),
            notes: nothing(loads)
                .into_iter()
                .chain(thrown(loads))
                .chain(loads.iter().filter_map(ScenarioLoad::unfinished))
                .collect(),
            thrown: loads.iter().map(|load| load.thrown).sum(),
            lacks_answers,
            start_lag: (!self.start_lag.is_empty()).then(|| StartLag {
                iterations: self.start_lag.count(),
                p99_ms: self.start_lag.quantile(0.99),
                max_ms: self.start_lag.max(),
            }),
        }
    }
}

impl Judge {
    /// Requests that took longer than the test let them are in no metric: the longest are left out.
    fn unanswered(&self) -> Option<(Verdict, String)> {
        /// Share of the requests from which on percentiles near the top say little.
        const SHARE_SUSPECT: f64 = 0.05;
        let all = self.interrupted + self.answered;
        let share = self.interrupted as f64 / all.max(1) as f64;
        (share >= SHARE_SUSPECT).then(|| {
            let text = format!(
                "{} of {all} requests had no answer when their iterations were interrupted: metrics and thresholds know nothing of them",
                self.interrupted
            );
            (Verdict::Suspect, text)
        })
    }

    /// Whose code kept others waiting, where something waited.
    fn computes(&self, findings: &[(Verdict, String)]) -> Option<(Verdict, String)> {
        /// Slices of 5 to 10 ms in a second, over all threads, that others notice.
        const SLICES_PER_SECOND: u64 = 10;
        let has_waited = self.late > 0 || self.saturated > 0 || self.start_lag.quantile(0.99) > Self::START_LAG_P99_MS;
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, slices) in self.computing.values() {
            *sums.entry(name).or_default() += slices;
        }
        let (name, slices) = sums.into_iter().max_by_key(|(_, slices)| *slices)?;
        let verdict = findings.iter().map(|(verdict, _)| *verdict).max()?;
        (has_waited && slices >= SLICES_PER_SECOND * self.seconds.max(1)).then(|| {
            let text = format!(
                "code of scenario '{name}' kept other VUs waiting: {slices} times it used up its time slice of 5 to 10 ms, after which others have their turn; compute less in it, or use more threads or machines"
            );
            (verdict, text)
        })
    }

    /// Requests that failed on this side of the network: they say nothing about the server.
    fn shortages(&self) -> Vec<(Verdict, String)> {
        let mut findings = Vec::new();
        if self.fd_errors > 0 {
            let text = format!(
                "{} connections failed here because no file descriptor was left: raise the hard limit (as root: ulimit -Hn), or use fewer VUs",
                self.fd_errors
            );
            findings.push((Verdict::Invalid, text));
        }
        if self.port_errors > 0 {
            let text = format!(
                "{} connections failed here because no local port was left, or an address of --local-ips is not this machine's: keep connections open, widen net.ipv4.ip_local_port_range, or use (other) --local-ips",
                self.port_errors
            );
            findings.push((Verdict::Invalid, text));
        }
        findings
    }
}

impl ScenarioLoad {
    /// In a closed model VUs begin iterations when they can: the work was limited, not the load.
    fn unfinished(&self) -> Option<String> {
        (!self.is_open && self.dropped > 0).then(|| {
            format!(
                "scenario '{}' reached its maxDuration with {} of its iterations never begun ({} ended)",
                self.scenario, self.dropped, self.done
            )
        })
    }
}

/// What an open model lost of the load that was asked for. A verdict on no numbers at all should not look like one on
/// good numbers.
fn nothing(loads: &[ScenarioLoad]) -> Option<String> {
    let is_empty = |load: &ScenarioLoad| load.done + load.interrupted + load.dropped == 0;
    (!loads.is_empty() && loads.iter().all(is_empty)).then(|| "nothing was measured: no iteration ran".to_owned())
}

/// Exceptions end iterations, not the run: checks and thresholds after them know nothing of it.
fn thrown(loads: &[ScenarioLoad]) -> Option<String> {
    let thrown: u64 = loads.iter().map(|load| load.thrown).sum();
    let done: u64 = loads.iter().map(|load| load.done).sum();
    (thrown > 0).then(|| {
        format!(
            "{thrown} of {done} iterations ended in an exception: what they did not get to is in no check or metric"
        )
    })
}

fn dropped_arrivals(loads: &[ScenarioLoad]) -> Option<(Verdict, String)> {
    /// Share of the arrivals above which the offered load is not what was asked for.
    const SHARE_INVALID: f64 = 0.01;
    let open = || loads.iter().filter(|load| load.is_open);
    let dropped: u64 = open().map(|load| load.dropped).sum();
    let planned: u64 = open().map(|load| load.dropped + load.done + load.interrupted).sum();
    if dropped == 0 {
        return None;
    }
    let share = dropped as f64 / planned as f64;
    let verdict = if share > SHARE_INVALID { Verdict::Invalid } else { Verdict::Suspect };
    let text = format!(
        "{dropped} of {planned} planned iterations ({:.2} %) were dropped: the offered load was lower than asked for",
        share * 100.0
    );
    Some((verdict, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Health {
        Health { process_cores: 0.5, busiest_thread_cores: 0.3, available_cores: 2.0, ..Health::default() }
    }

    fn judged(bad: &Health, bad_seconds: u32, seconds: u32) -> Judgement {
        let mut judge = Judge::default();
        for second in 0..seconds {
            let health = if second < bad_seconds { *bad } else { healthy() };
            judge.health(&health);
        }
        judge.judge(&[])
    }

    #[test]
    fn a_healthy_run_is_valid_and_says_nothing() {
        let judgement = judged(&healthy(), 0, 10);
        assert_eq!(
            judgement,
            Judgement {
                verdict: Verdict::Valid,
                reasons: Vec::new(),
                notes: Vec::new(),
                thrown: 0,
                lacks_answers: false,
                start_lag: None
            }
        );
    }

    #[test]
    fn saturation_is_suspect_when_brief_and_invalid_when_lasting() {
        let busy = Health { busiest_thread_cores: 1.0, ..healthy() };
        assert_eq!(judged(&busy, 1, 10).verdict, Verdict::Suspect);
        let lasting = judged(&busy, 5, 10);
        assert_eq!(lasting.verdict, Verdict::Invalid);
        assert!(lasting.reasons[0].contains("5 of 10 seconds"), "{lasting:?}");
    }

    #[test]
    fn what_this_machine_ran_out_of_is_a_reason() {
        let check = |health: Health, bad_seconds: u32, verdict: Verdict, text: &str| {
            let judgement = judged(&health, bad_seconds, 10);
            assert_eq!(judgement.verdict, verdict, "{judgement:?}");
            assert!(judgement.reasons.iter().all(|reason| reason.contains(text)), "{judgement:?}");
        };
        check(Health { fd_errors: 3, ..healthy() }, 2, Verdict::Invalid, "6 connections failed here because no file");
        check(
            Health { port_errors: 1, ..healthy() },
            1,
            Verdict::Invalid,
            "1 connections failed here because no local",
        );
        check(Health { stops: 1, ..healthy() }, 1, Verdict::Invalid, "the process was stopped once");
        check(Health { waiting: 0.5, ..healthy() }, 5, Verdict::Suspect, "for a core in 5 of 10 seconds");
        check(Health { waiting: 0.5, ..healthy() }, 1, Verdict::Valid, "nothing");
    }

    #[test]
    fn a_server_that_hangs_is_suspect() {
        let check = |interrupted: u64, answered: u64, verdict: Verdict| {
            let mut judge = Judge::default();
            judge.health(&healthy());
            judge.interrupted(interrupted, answered);
            let judgement = judge.judge(&[]);
            assert_eq!(judgement.verdict, verdict, "{judgement:?}");
        };
        check(10, 0, Verdict::Suspect);
        check(10, 190, Verdict::Suspect);
        check(10, 1_000, Verdict::Valid);
        check(0, 0, Verdict::Valid);
    }

    #[test]
    fn outputs_that_lack_samples_make_it_suspect() {
        let mut judge = Judge::default();
        judge.health(&healthy());
        judge.output_samples_missing(3);
        let judgement = judge.judge(&[]);
        assert_eq!(judgement.verdict, Verdict::Suspect);
        assert_eq!(judgement.reasons, ["outputs lack 3 samples that the summary has"]);
    }

    #[test]
    fn dropped_iterations_and_late_starts_spoil_an_open_model() {
        let mut judge = Judge::default();
        judge.health(&healthy());
        let open = |dropped, done| {
            let load =
                ScenarioLoad { scenario: "a".to_owned(), is_open: true, done, interrupted: 0, thrown: 0, dropped };
            [load, closed(500)]
        };
        assert_eq!(judge.judge(&open(0, 1_000)).verdict, Verdict::Valid);
        assert_eq!(judge.judge(&open(1, 999)).verdict, Verdict::Suspect);
        let invalid = judge.judge(&open(50, 950));
        assert_eq!(invalid.verdict, Verdict::Invalid);
        assert!(invalid.reasons[0].starts_with("50 of 1000 planned iterations (5.00 %)"), "{invalid:?}");
        let mut lag = Histogram::new();
        lag.record_n(25.0, 100);
        judge.start_lag(&lag);
        assert_eq!(judge.judge(&[]).verdict, Verdict::Invalid);
    }

    fn closed(dropped: u64) -> ScenarioLoad {
        ScenarioLoad { scenario: "looping".to_owned(), is_open: false, done: 8, interrupted: 0, thrown: 0, dropped }
    }

    #[test]
    fn iterations_that_were_cut_were_planned_too() {
        let mut judge = Judge::default();
        judge.health(&healthy());
        let load = ScenarioLoad {
            scenario: "a".to_owned(),
            is_open: true,
            done: 0,
            interrupted: 4,
            thrown: 0,
            dropped: 1_996,
        };
        let judgement = judge.judge(&[load]);
        assert!(judgement.reasons[0].starts_with("1996 of 2000 planned iterations (99.80 %)"), "{judgement:?}");
    }

    #[test]
    fn exceptions_are_noted_and_take_nothing_from_the_numbers() {
        let mut judge = Judge::default();
        judge.health(&healthy());
        let threw = ScenarioLoad { thrown: 3, ..closed(0) };
        let judgement = judge.judge(&[closed(0), threw]);
        assert_eq!((judgement.verdict, judgement.thrown), (Verdict::Valid, 3));
        assert!(judgement.notes[0].starts_with("3 of 16 iterations ended in an exception"), "{judgement:?}");
    }

    #[test]
    fn lost_agents_and_threads_make_it_suspect_and_panics_add_up() {
        let mut judge = Judge::default();
        judge.health(&healthy());
        judge.lost("agent 1 was lost".to_owned());
        let given_up = HealthReport { threads_given_up: 1, ..HealthReport::default() };
        judge.report(AgentId(0), &given_up);
        judge.report(AgentId(0), &given_up);
        let judgement = judge.judge(&[]);
        assert_eq!(judgement.verdict, Verdict::Suspect);
        assert_eq!(judgement.reasons.len(), 2, "{judgement:?}");
        assert!(judgement.reasons[0].starts_with("1 worker threads were held"), "{judgement:?}");
        for agent in [2, 3] {
            judge.report(AgentId(agent), &HealthReport { panics: 2, ..HealthReport::default() });
        }
        assert_eq!(judge.judge(&[]).reasons[0], "4 VU fibers ended in an internal error");
    }

    #[test]
    fn code_that_computes_is_named_where_others_waited() {
        let judged = |health: Health, count: u64| {
            let mut judge = Judge::default();
            for agent in [0, 1] {
                let report = HealthReport {
                    second: Some(health),
                    computing: Some(("heavy".to_owned(), count)),
                    ..HealthReport::default()
                };
                judge.report(AgentId(agent), &report);
            }
            judge.judge(&[])
        };
        let late = Health { timer_lag_mean_ms: 9.0, ..healthy() };
        let judgement = judged(late, 50);
        assert!(judgement.reasons[1].starts_with("code of scenario 'heavy' kept other VUs waiting"), "{judgement:?}");
        assert!(judgement.reasons[1].contains(" 100 times"), "{judgement:?}");
        assert_eq!(judged(late, 5).reasons.len(), 1, "now and then is no reason");
        assert_eq!(judged(healthy(), 50).verdict, Verdict::Valid);
    }

    #[test]
    fn a_closed_model_cut_by_its_time_is_only_noted() {
        let judgement = Judge::default().judge(&[closed(12), closed(0)]);
        assert_eq!(judgement.verdict, Verdict::Valid);
        assert_eq!(
            judgement.notes,
            ["scenario 'looping' reached its maxDuration with 12 of its iterations never begun (8 ended)"]
        );
    }
}
