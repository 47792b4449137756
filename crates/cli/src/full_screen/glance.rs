//! All that a view shows of a moment, as plain data: what is drawn depends on nothing else.

use std::collections::BTreeMap;

use onrush_metrics::{
    Contains, Ending, ExpressionResult, Merged, MetricKind, MetricResult, Registry, Sink, Thresholds, builtin,
    summary::{MetricSummary, MetricValues, ThresholdSummary, TimeUnit, TrendSummary, Verdict},
};
use onrush_session::{AgentOverview, ScenarioTargets, protocol::AgentId};

use super::history::History;
use crate::{
    progress::{Measured, Row, milliseconds, percent},
    terminal::TailLine,
};

/// A run at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Glance {
    /// The script's path or name.
    pub(crate) script: String,
    /// `running`, `paused`, …
    pub(crate) stage: String,
    /// `00m12.3s`
    pub(crate) elapsed: String,
    /// The same of the whole plan.
    pub(crate) planned: String,
    /// How much of the plan's time is over, 0 to 1.
    pub(crate) fraction: f64,
    /// What is known of the measurement so far, and why.
    pub(crate) verdict: (Verdict, Vec<String>),
    pub(crate) thresholds: Vec<ThresholdLine>,
    /// The last seconds, and how many they are.
    pub(crate) latest: Option<(Measured, usize)>,
    /// The run so far.
    pub(crate) whole: Measured,
    pub(crate) vus_active: u64,
    pub(crate) vus_initialized: u64,
    pub(crate) history: History,
    pub(crate) errors: Vec<ErrorRow>,
    pub(crate) scenarios: Vec<ScenarioLine>,
    pub(crate) agents: Vec<String>,
    pub(crate) log: Vec<TailLine>,
}

/// How a threshold stands.
#[derive(Debug, Clone)]
pub(crate) struct ThresholdLine {
    /// Metric and expression.
    pub(crate) text: String,
    pub(crate) standing: ThresholdStanding,
    /// The value it was judged by last.
    pub(crate) observed: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThresholdStanding {
    Holds,
    Crossed,
    NotJudged,
}

/// Requests that ended badly in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorRow {
    pub(crate) count: u64,
    /// `status 503`, or k6's text.
    pub(crate) what: String,
    pub(crate) example: String,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
}

/// A scenario, or what comes before them.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioLine {
    pub(crate) row: Row,
    /// What can be steered; `None` before scenarios run.
    pub(crate) targets: Option<ScenarioTargets>,
}

impl ScenarioLine {
    /// `50 VUs`, `200 per 1s`: what it is to do.
    pub(crate) fn target(&self) -> Option<String> {
        let targets = self.targets.as_ref()?;
        match (targets.targets.rate, targets.targets.vus) {
            (Some(rate), _) => Some(format!("{rate} per {}", per(targets.time_unit_ns.unwrap_or(1_000_000_000)))),
            (None, Some(vus)) => Some(format!("{vus} VUs")),
            (None, None) => None,
        }
    }
}

/// `s` of `rate per s`.
fn per(ns: u64) -> String {
    let text = onrush_plan::format_go_duration(i64::try_from(ns).unwrap_or(i64::MAX));
    if text == "1s" { "s".to_owned() } else { text }
}

/// How all thresholds stand, those that are crossed first.
pub(super) fn thresholds(thresholds: &Thresholds, registry: &Registry, unit: Option<TimeUnit>) -> Vec<ThresholdLine> {
    let line = |metric: &MetricResult, one: &ExpressionResult| ThresholdLine {
        text: format!("{} {}", metric.name, one.source),
        standing: match (one.ok, one.history.judged) {
            (false, _) => ThresholdStanding::Crossed,
            (true, 0) => ThresholdStanding::NotJudged,
            (true, _) => ThresholdStanding::Holds,
        },
        observed: one.observed.map(|value| observed(registry, metric, one, value, unit)),
    };
    let mut lines: Vec<ThresholdLine> = thresholds
        .results()
        .iter()
        .flat_map(|metric| metric.expressions.iter().map(move |one| line(metric, one)))
        .collect();
    lines.sort_by_key(|line| line.standing != ThresholdStanding::Crossed);
    lines
}

/// A value that a threshold was compared with, as the summary writes it.
fn observed(
    registry: &Registry,
    metric: &MetricResult,
    one: &ExpressionResult,
    value: f64,
    unit: Option<TimeUnit>,
) -> String {
    let (kind, contains) = registry
        .find(metric.metric)
        .map_or((MetricKind::Gauge, Contains::Default), |metric| (metric.kind, metric.contains));
    // The kind decides how it is written; the numbers of the metric do not matter for that.
    let values = match kind {
        MetricKind::Counter => MetricValues::Counter { count: 0.0, rate: 0.0 },
        MetricKind::Gauge => MetricValues::Gauge { value: 0.0, min: 0.0, max: 0.0 },
        MetricKind::Rate => MetricValues::Rate { rate: 0.0, passes: 0, fails: 0 },
        MetricKind::Trend => MetricValues::Trend(TrendSummary { columns: Vec::new(), defaults: [0.0; 6], count: 0 }),
    };
    let summary = MetricSummary { name: String::new(), contains, values, thresholds: Vec::new() };
    let threshold = ThresholdSummary { source: one.source.clone(), ok: one.ok, observed: value, history: None };
    summary.observed(&threshold, unit)
}

/// What ended badly: without a response, or with a status that says so.
pub(super) fn errors(merged: &Merged) -> Vec<ErrorRow> {
    let what = |ending: &Ending| match ending {
        Ending::Status(status) if *status >= 400 => Some(format!("status {status}")),
        Ending::Error { text, .. } => Some(text.to_string()),
        Ending::Status(_) | Ending::Interrupted => None,
    };
    let rows = merged.outcomes().by_count().into_iter().filter_map(|row| {
        Some(ErrorRow {
            count: row.count,
            what: what(&row.ending)?,
            example: row.example.to_string(),
            first_ns: row.first_ns,
            last_ns: row.last_ns,
        })
    });
    rows.collect()
}

/// The run so far.
pub(super) fn whole(merged: &Merged) -> Measured {
    let total = |metric| merged.sink(metric).and_then(Sink::counter).unwrap_or(0.0);
    let trend = |metric| match merged.sink(metric) {
        Some(Sink::Trend(durations)) => durations.clone(),
        _ => onrush_metrics::Histogram::new(),
    };
    let rate = |metric| merged.sink(metric).and_then(Sink::rate).unwrap_or_default();
    let (passed, checks) = rate(builtin::CHECKS);
    Measured {
        requests: total(builtin::HTTP_REQS),
        iterations: total(builtin::ITERATIONS),
        dropped: total(builtin::DROPPED_ITERATIONS),
        failed: rate(builtin::HTTP_REQ_FAILED),
        checks: (checks.saturating_sub(passed), checks),
        durations: trend(builtin::HTTP_REQ_DURATION),
        iteration_durations: trend(builtin::ITERATION_DURATION),
    }
}

/// A line of an agent.
pub(super) fn agent(agent: &AgentOverview, names: &BTreeMap<AgentId, String>) -> String {
    let AgentOverview { id, vus, vus_active, iterations, requests, health, .. } = agent;
    let name = names.get(id).map_or("", String::as_str);
    if agent.is_lost {
        return format!("{} {name}: lost", id.0);
    }
    let mut text = format!("{} {name}: {vus_active} of {vus} VUs, {iterations} iterations, {requests} requests", id.0);
    if health.seconds > 0 {
        let share = health.cores / health.available_cores.max(0.01) * 100.0;
        text.push_str(&format!(
            ", CPU {share:.0} %, lag {}, {}",
            milliseconds(health.timer_lag_max_ms),
            health.verdict.as_str()
        ));
    }
    text
}

/// `0.40 %`
pub(super) fn share(of: (u64, u64)) -> Option<String> {
    percent(of).map(|percent| format!("{percent:.2} %"))
}
