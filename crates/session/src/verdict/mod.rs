//! The verdict on the measurement: was the generator itself healthy?
//!
//! A load generator that has no CPU left measures itself. Every run is judged VALID, SUSPECT or INVALID from what the
//! agents saw of themselves, each with its reason in one sentence.

mod load;
mod own;
mod record;
mod start_lag;
mod times;
mod watched;

use std::collections::BTreeMap;

use onrush_metrics::{Histogram, summary::Verdict};

use self::{
    load::dropped_arrivals,
    own::Own,
    start_lag::{late, late_starts},
    watched::{Cause, Finding, Watched},
};
use crate::protocol::{AgentId, HealthReport};

pub use load::ScenarioLoad;
pub use own::{LatencyError, OwnDelayFigures};
pub use record::GeneratorRecord;
pub use start_lag::StartLag;
pub use watched::AgentHealth;

/// Collects what agents report and judges at the end.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    /// Agents of the run.
    count: usize,
    agents: BTreeMap<AgentId, Watched>,
    trapped_property: String,
    agents_lost: Vec<String>,
    samples_lost: u64,
    output_samples_missing: u64,
    receivers_lacking: Vec<String>,
    interrupted: u64,
    answered: u64,
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
    /// The generator's own delay in the latencies; `None` where it was not measured.
    pub own_delay: Option<OwnDelayFigures>,
    /// What the generators used and met; `None` where no second was looked at.
    pub generator: Option<GeneratorRecord>,
}

impl Judge {
    /// A judge over so many agents.
    pub fn new(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    /// Takes what an agent says of itself.
    pub fn report(&mut self, from: AgentId, report: &HealthReport) {
        let agent = self.agents.entry(from).or_default();
        if let Some(second) = &report.second {
            agent.health(second);
        }
        agent.own_delays(&report.own_delays);
        agent.start_lag.merge(&report.start_lag);
        agent.panics = report.panics;
        agent.threads_given_up = report.threads_given_up;
        if let Some(computing) = &report.computing {
            agent.computing = Some(computing.clone());
        }
    }

    /// How an agent fared.
    pub fn agent(&self, id: AgentId) -> AgentHealth {
        self.agents.get(&id).map_or_else(|| Watched::default().judged(), Watched::judged)
    }

    /// There is one more agent.
    pub fn joined(&mut self) {
        self.count += 1;
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
        self.output_samples_missing = self.output_samples_missing.saturating_add(missing);
    }

    /// Notes a sentence about somebody who takes results and lacks a part of them.
    pub fn receiver_lacks(&mut self, sentence: String) {
        self.receivers_lacking.push(sentence);
    }

    /// Notes requests that never got an answer because the plan's end interrupted them, and those that ended.
    pub fn interrupted(&mut self, interrupted: u64, answered: u64) {
        (self.interrupted, self.answered) = (interrupted, answered);
    }

    /// Judges what was collected.
    pub fn judge(&self, loads: &[ScenarioLoad]) -> Judgement {
        let lag = self.start_lags();
        let (own, late) = (self.own(), late(&lag));
        let mut findings: Vec<(Verdict, String)> = self.of_own_delay(&own).into_iter().collect();
        findings.extend(self.of_agents(late));
        findings.extend(self.computes(&findings, late.is_some()));
        let unanswered = self.unanswered();
        let lacks_answers = unanswered.is_some();
        findings.extend(unanswered);
        let is_limit = findings.iter().any(|(verdict, _)| *verdict == Verdict::Invalid);
        findings.extend(dropped_arrivals(loads, is_limit));
        let given_up: u32 = self.agents.values().map(|agent| agent.threads_given_up).sum();
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
        findings.extend(self.receivers_lacking.iter().map(|text| (Verdict::Suspect, text.clone())));
        findings.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        let (reasons, harmless): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|(verdict, _)| *verdict > Verdict::Valid);
        Judgement {
            verdict: reasons.first().map_or(Verdict::Valid, |(verdict, _)| *verdict),
            reasons: reasons.into_iter().map(|(_, reason)| reason).collect(),
            notes: nothing(loads)
                .into_iter()
                .chain(harmless.into_iter().map(|(_, text)| text))
                .chain(thrown(loads))
                .chain(loads.iter().filter_map(ScenarioLoad::unfinished))
                .collect(),
            thrown: loads.iter().map(|load| load.thrown).sum(),
            lacks_answers,
            start_lag: StartLag::of(&lag),
            own_delay: own.figures(),
            generator: self.record(),
        }
    }
}

impl Judge {
    /// How late arrivals began, over all agents.
    fn start_lags(&self) -> Histogram {
        let mut all = Histogram::default();
        self.agents.values().for_each(|agent| all.merge(&agent.start_lag));
        all
    }

    /// The generator's own delays, over all agents.
    fn own(&self) -> Own {
        let mut all = Own::default();
        self.agents.values().for_each(|agent| all.merge(&agent.own));
        all
    }

    /// What all agents used and met.
    fn record(&self) -> Option<GeneratorRecord> {
        let mut all = GeneratorRecord::default();
        self.agents.values().for_each(|agent| all.merge(&agent.record));
        (all.seconds > 0).then_some(all)
    }

    /// What was wrong with latencies, and by how much.
    fn of_own_delay(&self, own: &Own) -> Option<(Verdict, String)> {
        let seconds = self.agents.values().map(Watched::seconds).max().unwrap_or_default();
        let (verdict, _, mut text) = own.finding(seconds)?;
        let of_agent = |(id, agent): (&AgentId, &Watched)| Some((agent.own.finding(agent.seconds())?.1, *id));
        if self.agents.len() > 1
            && let Some((_, AgentId(worst))) = self.agents.iter().filter_map(of_agent).max()
        {
            text = format!("{text}; agent {worst} had most of it");
        }
        Some((verdict, text + ": use more cores, --agents on several machines, or less load"))
    }

    /// What was wrong with agents: a sentence for each cause, which names the agent where there are several. The numbers are
    /// those of all agents together, so one that was the bottleneck spoils them. `late`: how the arrivals of all of them began.
    fn of_agents(&self, late: Option<(Verdict, f64)>) -> Vec<(Verdict, String)> {
        let mut by_cause: BTreeMap<Cause, Vec<(AgentId, Finding)>> = BTreeMap::new();
        for (id, agent) in &self.agents {
            for finding in agent.findings() {
                by_cause.entry(finding.cause).or_default().push((*id, finding));
            }
        }
        let count = self.count.max(self.agents.len());
        let findings = by_cause.into_iter().filter_map(|(cause, mut found)| {
            let having = found.len();
            let sum: u64 = found.iter().map(|(_, finding)| finding.weight).sum();
            // The sort is stable: of equals the first agent is named.
            found.sort_by_key(|(_, finding)| std::cmp::Reverse((finding.verdict, finding.weight)));
            let (AgentId(worst), Finding { mut verdict, mut text, .. }) = found.into_iter().next()?;
            match cause {
                Cause::Panics => text = format!("{sum} VU fibers ended in an internal error"),
                Cause::StartLag => match late {
                    // Few of all iterations were late.
                    None => verdict = Verdict::Suspect,
                    Some(_) if count == 1 => {}
                    Some((verdict, p99_ms)) => {
                        let all = late_starts(p99_ms);
                        return Some((verdict, format!("{all}; agent {worst} was the latest of {count}")));
                    }
                },
                _ => {}
            }
            let whose = match having {
                _ if count == 1 || cause == Cause::Panics => String::new(),
                1 => format!("agent {worst}: "),
                _ if having == count => format!("all {count} agents, most of all agent {worst}: "),
                _ => format!("{having} of {count} agents, most of all agent {worst}: "),
            };
            Some((verdict, whose + &text))
        });
        findings.collect()
    }

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
    fn computes(&self, findings: &[(Verdict, String)], is_late: bool) -> Option<(Verdict, String)> {
        /// Slices of up to 10 ms in a second, over all threads, that others notice.
        const SLICES_PER_SECOND: u64 = 10;
        let has_waited = is_late || self.agents.values().any(Watched::has_waited);
        let seconds: u64 = self.agents.values().map(Watched::seconds).sum();
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, slices) in self.agents.values().filter_map(|agent| agent.computing.as_ref()) {
            *sums.entry(name).or_default() += slices;
        }
        let (name, slices) = sums.into_iter().max_by_key(|(_, slices)| *slices)?;
        let verdict = findings.iter().map(|(verdict, _)| *verdict).max().filter(|worst| *worst > Verdict::Valid)?;
        (has_waited && slices >= SLICES_PER_SECOND * seconds.max(1)).then(|| {
            let text = format!(
                "code of scenario '{name}' kept other VUs waiting: {slices} times it used up its time slice of up to 10 ms, after which others have their turn; compute less in it, or use more threads or machines"
            );
            (verdict, text)
        })
    }
}

/// A verdict on no numbers at all should not look like one on good numbers.
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

#[cfg(test)]
mod tests {
    use onrush_metrics::OwnDelay;

    use super::*;
    use crate::protocol::Health;

    fn healthy() -> Health {
        Health { process_cores: 0.5, busiest_thread_cores: 0.3, available_cores: 2.0, ..Health::default() }
    }

    fn second(health: Health) -> HealthReport {
        HealthReport { second: Some(health), ..HealthReport::default() }
    }

    /// A judge that has seen one good second of one agent.
    fn content() -> Judge {
        let mut judge = Judge::default();
        judge.report(AgentId(0), &second(healthy()));
        judge
    }

    fn judged(bad: &Health, bad_seconds: u32, seconds: u32) -> Judgement {
        let mut judge = Judge::default();
        for number in 0..seconds {
            judge.report(AgentId(0), &second(if number < bad_seconds { *bad } else { healthy() }));
        }
        judge.judge(&[])
    }

    #[test]
    fn one_bad_agent_of_five_is_seen_and_named() {
        let judged = |bad: &[u32], worst: u32| {
            let mut judge = Judge::new(5);
            for number in 0..10 {
                for agent in 0..5 {
                    let is_bad = bad.contains(&agent) && (number < 3 || agent == worst);
                    let health = Health { busiest_thread_cores: if is_bad { 1.0 } else { 0.3 }, ..healthy() };
                    judge.report(AgentId(agent), &second(health));
                }
            }
            (judge.judge(&[]), judge)
        };
        let (one, judge) = judged(&[3], 3);
        assert_eq!(one.verdict, Verdict::Invalid);
        let text = "the generator had no CPU left (a worker thread was 97 % busy or more) in 10 of 10 seconds: use more cores, --agents on several machines, or less work per iteration";
        assert_eq!(one.reasons, [format!("agent 3: {text}")]);
        let bad = judge.agent(AgentId(3));
        assert_eq!((bad.verdict, bad.reasons), (Verdict::Invalid, vec![text.to_owned()]));
        assert!((bad.busiest_thread_cores - 1.0).abs() < 1e-9 && (bad.cores - 0.5).abs() < 1e-9);
        assert_eq!(judge.agent(AgentId(2)).verdict, Verdict::Valid);
        assert_eq!(judge.agent(AgentId(77)).seconds, 0);
        assert_eq!(judged(&[1, 4], 4).0.reasons, [format!("2 of 5 agents, most of all agent 4: {text}")]);
        assert_eq!(judged(&[0, 1, 2, 3, 4], 1).0.reasons, [format!("all 5 agents, most of all agent 1: {text}")]);
    }

    #[test]
    fn an_agent_that_begins_late_is_named_where_the_others_hide_it() {
        let mut judge = Judge::new(2);
        let mut lag = |agent: u32, ms: f64, count: u64| {
            let mut start_lag = Histogram::new();
            start_lag.record_n(ms, count);
            judge.report(AgentId(agent), &HealthReport { start_lag, ..second(healthy()) });
            judge.judge(&[])
        };
        assert_eq!(lag(0, 0.1, 100_000).verdict, Verdict::Valid);
        let hidden = lag(1, 40.0, 100);
        assert_eq!(hidden.verdict, Verdict::Suspect);
        assert!(hidden.reasons[0].starts_with("agent 1: iterations began late: p(99) of the delay"), "{hidden:?}");
        let seen = lag(1, 40.0, 10_000);
        assert_eq!(seen.verdict, Verdict::Suspect);
        assert!(seen.reasons[0].ends_with("; agent 1 was the latest of 2"), "{seen:?}");
    }

    #[test]
    fn a_healthy_run_is_valid_and_says_nothing() {
        let judgement = judged(&healthy(), 0, 10);
        assert_eq!(judgement.verdict, Verdict::Valid);
        assert!(judgement.reasons.is_empty() && judgement.notes.is_empty(), "{judgement:?}");
        assert_eq!(judgement.generator.map(|record| record.seconds), Some(10));
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
    fn seconds_of_trouble_that_latencies_do_not_show_are_no_reason() {
        let judged = |own_ms: f64| {
            let mut judge = Judge::new(1);
            for number in 1..=10_u32 {
                let mut delay = OwnDelay::default();
                (0..500).for_each(|_| delay.note(own_ms, 8.0 + own_ms));
                let busy = Health { waiting: 0.4, busiest_thread_cores: 1.0, at_secs: f64::from(number), ..healthy() };
                let own_delays = [("api".to_owned(), delay)].into();
                judge.report(AgentId(0), &HealthReport { own_delays, ..second(busy) });
            }
            judge.judge(&[])
        };
        let clean = judged(0.05);
        assert_eq!((clean.verdict, clean.reasons.len(), clean.notes.len()), (Verdict::Suspect, 1, 1), "{clean:?}");
        assert!(clean.reasons[0].contains("latencies are right all the same"), "{clean:?}");
        assert!(clean.notes[0].ends_with(", which has not shown in the latencies"), "{clean:?}");
        let dirty = judged(4.0);
        assert_eq!(dirty.verdict, Verdict::Invalid);
        assert!(dirty.reasons[0].starts_with("latencies of scenario 'api' are too high"), "{dirty:?}");
        assert!(dirty.reasons[0].contains(" by 4.0 of 12.0 ms"), "{dirty:?}");
        assert_eq!(dirty.own_delay.map(|own| own.requests), Some(5_000));
    }

    #[test]
    fn what_the_network_here_lost_is_a_reason() {
        let check = |health: Health, bad_seconds: u32, verdict: Verdict, text: &str| {
            let judgement = judged(&health, bad_seconds, 10);
            assert_eq!(judgement.verdict, verdict, "{judgement:?}");
            assert!(judgement.reasons.iter().all(|reason| reason.contains(text)), "{judgement:?}");
        };
        check(
            Health { segments: 1_000, retransmitted: 9, ..healthy() },
            10,
            Verdict::Suspect,
            "90 of 10000 TCP segments",
        );
        check(Health { segments: 1_000, retransmitted: 4, ..healthy() }, 10, Verdict::Valid, "");
        check(Health { packets_dropped: 2, ..healthy() }, 1, Verdict::Suspect, "2 packets were dropped");
        check(Health { interface_used: 0.99, ..healthy() }, 3, Verdict::Suspect, "interface of the generator was full");
        check(Health { interface_used: 0.99, ..healthy() }, 1, Verdict::Valid, "");
        check(Health { tracked_used: 0.97, ..healthy() }, 1, Verdict::Suspect, "was 97 % full");
        check(Health { swapped_in: 300, ..healthy() }, 1, Verdict::Suspect, "memory came back from swap in 1 of 10");
        check(Health { swapped_in: 300, ..healthy() }, 4, Verdict::Invalid, "memory came back from swap in 4 of 10");
    }

    #[test]
    fn a_server_that_hangs_is_suspect() {
        let check = |interrupted: u64, answered: u64, verdict: Verdict| {
            let mut judge = content();
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
        let mut judge = content();
        judge.output_samples_missing(3);
        let judgement = judge.judge(&[]);
        assert_eq!(judgement.verdict, Verdict::Suspect);
        assert_eq!(judgement.reasons, ["outputs lack 3 samples that the summary has"]);
    }

    #[test]
    fn receivers_that_lack_a_part_of_the_run_make_it_suspect() {
        let mut judge = content();
        judge.receiver_lacks("a lacks 3 of 4 iterations".to_owned());
        judge.receiver_lacks("b lacks 1 of 9 datagrams".to_owned());
        let judgement = judge.judge(&[]);
        assert_eq!(judgement.verdict, Verdict::Suspect);
        assert_eq!(judgement.reasons, ["a lacks 3 of 4 iterations", "b lacks 1 of 9 datagrams"]);
    }

    #[test]
    fn dropped_iterations_and_late_starts_spoil_an_open_model() {
        let mut judge = content();
        let open = |dropped, done| {
            let load = ScenarioLoad {
                scenario: "a".to_owned(),
                is_open: true,
                done,
                interrupted: 0,
                thrown: 0,
                dropped,
                ..closed(0)
            };
            [load, closed(500)]
        };
        assert_eq!(judge.judge(&open(0, 1_000)).verdict, Verdict::Valid);
        assert_eq!(judge.judge(&open(1, 999)).verdict, Verdict::Suspect);
        let invalid = judge.judge(&open(50, 950));
        assert_eq!(invalid.verdict, Verdict::Invalid);
        assert!(invalid.reasons[0].starts_with("50 of 1000 planned iterations (5.00 %)"), "{invalid:?}");
        let mut lag = Histogram::new();
        lag.record_n(25.0, 60);
        lag.record_n(0.1, 40);
        judge.report(AgentId(0), &HealthReport { start_lag: lag, ..HealthReport::default() });
        assert_eq!(judge.judge(&[]).verdict, Verdict::Invalid);
    }

    fn closed(dropped: u64) -> ScenarioLoad {
        ScenarioLoad {
            scenario: "looping".to_owned(),
            is_open: false,
            done: 8,
            interrupted: 0,
            thrown: 0,
            dropped,
            vus: 1,
            vus_max: None,
            ran: None,
        }
    }

    #[test]
    fn iterations_that_were_cut_were_planned_too() {
        let judge = content();
        let load = ScenarioLoad {
            scenario: "a".to_owned(),
            is_open: true,
            done: 0,
            interrupted: 4,
            thrown: 0,
            dropped: 1_996,
            ..closed(0)
        };
        let judgement = judge.judge(&[load]);
        assert!(judgement.reasons[0].starts_with("1996 of 2000 planned iterations (99.80 %)"), "{judgement:?}");
    }

    #[test]
    fn exceptions_are_noted_and_take_nothing_from_the_numbers() {
        let judge = content();
        let threw = ScenarioLoad { thrown: 3, ..closed(0) };
        let judgement = judge.judge(&[closed(0), threw]);
        assert_eq!((judgement.verdict, judgement.thrown), (Verdict::Valid, 3));
        assert!(judgement.notes[0].starts_with("3 of 16 iterations ended in an exception"), "{judgement:?}");
    }

    #[test]
    fn lost_agents_and_threads_make_it_suspect_and_panics_add_up() {
        let mut judge = content();
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
