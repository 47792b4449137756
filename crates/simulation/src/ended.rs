//! What came of a run, and whether it may be so.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use onrush_metrics::{Merged, MetricKind, Sink, builtin};
use onrush_session::{ExitCode, LossPolicy, Notice, Verdict, protocol::Time};

use crate::{
    faults::Faults,
    script::Script,
    world::{SILENCE, World},
};

/// What came of a run.
pub struct Ended {
    /// Its exit code.
    pub exit: ExitCode,
    /// Why it ended before its plan did.
    pub stop: Option<String>,
    /// The verdict on the measurement.
    pub verdict: Verdict,
    /// And why.
    pub reasons: Vec<String>,
    crossed: Vec<String>,
    series: BTreeMap<(String, String), Sink>,
    judged: Vec<(String, u64)>,
    /// Iterations in the result.
    pub iterations: u64,
    /// Iterations in the deltas that the coordinator was handed.
    delivered: u64,
    /// Those that are in the result, and how often each is.
    counted: BTreeMap<(String, u64), u32>,
    /// Those that began anywhere, and how often each did; without agents that nobody could stop.
    begun: BTreeMap<(String, u64), u32>,
    /// Agents that were lost, and when.
    pub lost: BTreeMap<usize, Time>,
    faults: Faults,
    notices: Vec<Notice>,
    /// How often a coordinator went on where another had ended.
    pub resumed: u32,
    /// Reports that relays added up to others.
    pub relayed: u64,
    /// Sums that did not count, because a part of them had come another way.
    pub refused: u64,
    /// How often `teardown()` ran.
    pub teardowns: u32,
    /// Agents that joined the run and began.
    pub joined: u32,
    /// Changes of targets that all agents together met.
    pub steps_met: u32,
    /// How long it took.
    pub took: Duration,
    /// All that happened, if it was noted.
    pub trace: Option<Vec<String>>,
    violations: Vec<String>,
}

impl Ended {
    pub(crate) fn of(world: World, now: Time) -> Self {
        let World {
            coordinator,
            hosts,
            relays,
            lost,
            faults,
            notices,
            trace,
            delivered,
            counted,
            resumed,
            late,
            joined_at,
            mut violations,
            ..
        } = world;
        let setups: u32 = hosts.iter().map(|host| host.own.setups).sum();
        let teardowns = hosts.iter().map(|host| host.own.teardowns).sum();
        if setups > 1 || teardowns > 1 {
            violations.push(format!("{setups} setups, {teardowns} teardowns"));
        }
        if setups == 0 && hosts.iter().any(|host| host.own.has_started()) {
            violations.push("scenarios without setup()".to_owned());
        }
        let mut begun = BTreeMap::new();
        // A process that stood still and goes on begins something before it can be told to stop.
        for host in hosts
            .iter()
            .enumerate()
            .filter(|(number, host)| !(lost.contains_key(number) && host.faults.freezes.is_some()))
        {
            host.1.begun().into_iter().for_each(|number| *begun.entry(number).or_default() += 1);
        }
        let merged = coordinator.merged();
        let thresholds = coordinator.thresholds().results();
        let judged = thresholds
            .iter()
            .flat_map(|metric| {
                // Others are judged every two seconds of the run, which teardown() and the network make longer.
                let windowed = |result: &&onrush_metrics::ExpressionResult| result.source.contains(" over ");
                metric
                    .expressions
                    .iter()
                    .filter(windowed)
                    .map(|result| (format!("{} {}", metric.name, result.source), result.history.judged))
            })
            .collect();
        let outcome = coordinator.outcome().cloned();
        if outcome.is_none() {
            violations.push("it has no outcome".to_owned());
        }
        let judgement = coordinator.judgement();
        Self {
            exit: outcome.as_ref().map_or(ExitCode::Panic, onrush_session::Outcome::exit_code),
            stop: outcome.as_ref().and_then(onrush_session::Outcome::message),
            crossed: outcome.map(|outcome| outcome.crossed).unwrap_or_default(),
            verdict: judgement.verdict,
            reasons: judgement.reasons,
            series: series(merged),
            judged,
            iterations: merged.sink(builtin::ITERATIONS).and_then(Sink::counter).unwrap_or(0.0) as u64,
            delivered,
            counted,
            begun,
            lost,
            faults,
            notices,
            resumed,
            relayed: relays.parts - relays.sums,
            refused: relays.refused,
            teardowns,
            joined: joined_at.len() as u32,
            steps_met: late.met,
            took: now.since(Time(0)),
            trace,
            violations,
        }
    }

    /// What is in the result of both, whoever measured it.
    pub fn is_same_as(&self, one: &Self) -> bool {
        self.series == one.series && self.crossed == one.crossed && self.exit == one.exit
    }

    /// Why this cannot be what came of a test of which `one` is the result of an agent alone.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, one: &Self, on_loss: LossPolicy) -> Result<(), String> {
        if let Some(violation) = self.violations.first() {
            return Err(violation.clone());
        }
        if self.iterations != self.delivered {
            return Err(format!("{} iterations came, {} are in the result", self.delivered, self.iterations));
        }
        if let Some((name, sink)) =
            one.series.iter().find(|(name, sink)| self.lost.is_empty() && self.series.get(*name) != Some(*sink))
        {
            return Err(format!("{name:?} is {:?}, not {sink:?}", self.series.get(name)));
        }
        if self.lost.is_empty() {
            return self.check_whole(one);
        }
        self.check_lossy(one, on_loss)
    }

    /// Why this cannot be what came of a run that agents joined, and whose targets were changed.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_joined(&self) -> Result<(), String> {
        if let Some(violation) = self.violations.first() {
            return Err(violation.clone());
        }
        if self.iterations != self.delivered {
            return Err(format!("{} iterations came, {} are in the result", self.delivered, self.iterations));
        }
        self.check_once(&BTreeSet::new())?;
        let missing = self.begun.keys().find(|number| !self.counted.contains_key(*number));
        match missing.filter(|_| self.lost.is_empty()) {
            Some((scenario, number)) => Err(format!("iteration {number} of '{scenario}' is in no result")),
            None => Ok(()),
        }
    }

    fn check_whole(&self, one: &Self) -> Result<(), String> {
        // An agent that stood still and was not lost ends later: windows without iterations may be judged until then.
        let stood_still = self.faults.agents.iter().any(|agent| agent.freezes.is_some());
        let has_empty_window = |crossed: &[String]| stood_still && crossed.iter().any(|metric| metric == "iterations");
        let is_same = self.is_same_as(one)
            || (has_empty_window(&self.crossed) && self.series == one.series && self.exit == one.exit);
        if !is_same {
            return Err(format!("it ended with {:?} ({:?}), crossed {:?}", self.exit, self.stop, self.crossed));
        }
        if self.verdict != one.verdict {
            return Err(format!("the verdict is {:?}: {:?}", self.verdict, self.reasons));
        }
        // Windows end on the scenarios' clock, so there are as many of them.
        if !stood_still && self.judged != one.judged {
            return Err(format!("windows were judged {:?} times, not {:?}", self.judged, one.judged));
        }
        self.check_once(&BTreeSet::new())
    }

    /// Nothing counts or begins twice but what `again` names.
    fn check_once(&self, again: &BTreeSet<&str>) -> Result<(), String> {
        for (what, numbers) in [("counts", &self.counted), ("began", &self.begun)] {
            let twice = numbers.iter().find(|((scenario, _), times)| **times > 1 && !again.contains(scenario.as_str()));
            if let Some(((scenario, number), times)) = twice {
                return Err(format!("iteration {number} of '{scenario}' {what} {times} times"));
            }
        }
        Ok(())
    }

    fn check_lossy(&self, one: &Self, on_loss: LossPolicy) -> Result<(), String> {
        let is_named =
            |number: &usize| self.reasons.iter().any(|reason| reason.contains(&format!("agent {number} was lost")));
        if let Some(number) = self.lost.keys().find(|number| !is_named(number)) {
            return Err(format!("the loss of agent {number} is not among the reasons {:?}", self.reasons));
        }
        if self.verdict == Verdict::Valid {
            return Err("the measurement is VALID although an agent was lost".to_owned());
        }
        for (number, seen) in &self.lost {
            let away = self.faults.of_agent(*number).is_away_from(SILENCE);
            // It says how it stands once a second, which the network may hold up.
            // A coordinator that goes on begins to listen anew.
            let listens_anew = self.faults.without_coordinator() + SILENCE * self.faults.restarts.len() as u32;
            let latest = away.map(|ms| Time(ms * 1_000_000) + SILENCE + Duration::from_secs(2) + listens_anew);
            // It may have been back in time, and have ended because nobody coordinated for longer than its lease.
            let last = self.faults.restarts.last();
            let beyond = last.map(|window| Time(window.end * 1_000_000) + SILENCE + Duration::from_secs(3));
            let latest = latest.map(|latest| latest.max(beyond.unwrap_or_default()));
            if latest.is_some_and(|latest| *seen > latest) {
                return Err(format!("agent {number} was missed at {seen:?} only, not by {latest:?}"));
            }
        }
        let is_ended = self.exit == ExitCode::AgentLost;
        // One that is gone when nothing of it is missing any more takes nothing from the result.
        let is_whole = |number: &usize| {
            let of_agent = format!("agent {number} was lost");
            let mut reasons = self.reasons.iter().filter(|reason| reason.contains(&of_agent));
            reasons.all(|reason| reason.contains("all that it measured has come"))
        };
        if on_loss == LossPolicy::Fail && !is_ended && !self.lost.keys().all(is_whole) {
            return Err(format!("it ended with {:?} although an agent was lost", self.exit));
        }
        let repeats = on_loss == LossPolicy::Rebalance;
        let counted = if repeats { BTreeSet::from(Script::COUNTED) } else { BTreeSet::new() };
        self.check_once(&counted)?;
        if is_ended {
            return Ok(());
        }
        if self.exit != one.exit && self.exit != ExitCode::Success {
            return Err(format!("it ended with {:?} ({:?}), one agent with {:?}", self.exit, self.stop, one.exit));
        }
        if repeats { self.check_taken_up(one) } else { self.check_tolerated(one) }
    }

    /// What is there is what one agent measured, as far as it was measured.
    fn check_tolerated(&self, one: &Self) -> Result<(), String> {
        match self.counted.keys().find(|number| !one.counted.contains_key(*number)) {
            Some((scenario, number)) => Err(format!("nobody was to run iteration {number} of '{scenario}'")),
            None => Ok(()),
        }
    }

    /// All that was to run has run, but for what is stated.
    fn check_taken_up(&self, one: &Self) -> Result<(), String> {
        let count = |numbers: &BTreeMap<(String, u64), u32>, name: &str| -> u64 {
            numbers.iter().filter(|((scenario, _), _)| scenario == name).map(|(_, times)| u64::from(*times)).sum()
        };
        // Of an agent that is lost after the end of its scenarios nobody knows how many iterations it had not reported.
        let is_stated = !self.reasons.iter().any(|reason| reason.contains("since its last report"));
        let names: BTreeSet<&str> = one.counted.keys().map(|(scenario, _)| scenario.as_str()).collect();
        for name in names {
            let (planned, there) = (count(&one.counted, name), count(&self.counted, name));
            let missing = self.stated(name);
            let is_right = if is_stated { there + missing == planned } else { there + missing <= planned };
            if !is_right {
                return Err(format!(
                    "of {planned} iterations of '{name}' {there} are there and {missing} are stated as missing"
                ));
            }
        }
        Ok(())
    }

    /// Iterations of a scenario that are said to be missing.
    fn stated(&self, name: &str) -> u64 {
        let of = format!("of scenario '{name}' ");
        let texts = self.notices.iter().filter_map(|notice| match notice {
            Notice::Warning { message, .. } => Some(message),
            _ => None,
        });
        let parts = texts.flat_map(|text| text.split("; "));
        let stated = parts.filter_map(|part| {
            let (count, rest) = part.strip_prefix(&of)?.split_once(' ')?;
            rest.starts_with("due iteration").then(|| count.parse::<u64>().ok())?
        });
        stated.sum()
    }
}

/// All series by name. Gauges are left out: their last value depends on who is last.
fn series(merged: &Merged) -> BTreeMap<(String, String), Sink> {
    let registry = merged.registry();
    let named = merged.series().filter_map(|series| {
        let metric = registry.find(series.metric)?;
        let is_kept = metric.kind != MetricKind::Gauge;
        is_kept.then(|| ((metric.name.to_string(), format!("{:?}", series.tags)), series.sink.clone()))
    });
    named.collect()
}
