//! The summary of a run as plain data: computed, complete and in the order it is shown.
//!
//! Everything a renderer needs is here; what a layout hides is the renderer's business.

use rustc_hash::FxHashMap;

use crate::{
    registry::{Contains, MetricKind},
    threshold::History,
};

use super::{
    collate,
    group::{Group, Nest, Paths},
    input::{CheckInput, GroupInput, MetricInput, RunInfo, ScopeInput, SummaryInput, TrendStats, Values},
    number,
    trend_stat::{TimeUnit, TrendStat},
};

/// The scenario of a test that names none: its groups stand beside the totals, not below a scenario.
const DEFAULT_SCENARIO: &str = "default";

/// Groups of the life-cycle functions: what happens directly in them belongs to no group of the user's.
const LIFE_CYCLE_GROUPS: [&str; 2] = ["::setup", "::teardown"];

/// The metric behind the totals of checks.
const CHECKS: &str = "checks";

/// The summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryModel {
    /// The run itself.
    pub run: RunInfo,
    /// The metrics over the whole run by name, each followed by its sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// All groups and their checks, over all scenarios.
    pub root_group: Group,
    /// All checks by name, wherever they were made, in the order of their first outcome.
    pub checks: Vec<CheckTotal>,
    /// The user's top-level groups outside named scenarios.
    pub groups: Vec<Scope>,
    /// The scenarios that have a name, by name.
    pub scenarios: Vec<Scope>,
}

/// A metric or sub-metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSummary {
    /// `http_reqs`, or `http_reqs{status:200}`.
    pub name: String,
    /// What the values mean.
    pub contains: Contains,
    /// What the samples came to.
    pub values: MetricValues,
    /// Its thresholds in the user's order.
    pub thresholds: Vec<ThresholdSummary>,
}

/// What the samples of a metric came to.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValues {
    /// A sum.
    Counter {
        /// The sum.
        count: f64,
        /// The sum per second of the run.
        rate: f64,
    },
    /// The last value and the extremes.
    Gauge {
        /// The last value.
        value: f64,
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// The share of non-zero values.
    Rate {
        /// `passes` over all, 0 without values.
        rate: f64,
        /// Non-zero values.
        passes: u64,
        /// The others.
        fails: u64,
    },
    /// A distribution.
    Trend(TrendSummary),
}

/// A distribution's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendSummary {
    /// The configured columns, in their order.
    pub columns: Vec<(TrendStat, f64)>,
    /// The columns shown unless configured otherwise: avg, min, med, max, p(90), p(95).
    pub defaults: [f64; 6],
    /// Number of values.
    pub count: u64,
}

/// One threshold expression and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdSummary {
    /// The expression as the user wrote it.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// What it was compared with.
    pub observed: f64,
    /// How long it held, if that was counted.
    pub history: Option<History>,
}

/// The outcomes of the checks of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckTotal {
    /// The name.
    pub name: String,
    /// How often they held.
    pub passes: u64,
    /// How often they did not.
    pub fails: u64,
}

/// What happened in one scenario or group.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Name of the scenario or group.
    pub name: String,
    /// Its checks by name.
    pub checks: Vec<CheckTotal>,
    /// Its metrics by name; without thresholds.
    pub metrics: Vec<MetricSummary>,
    /// Groups within it, in the order they were first seen.
    pub groups: Vec<Scope>,
}

impl SummaryModel {
    /// Computes the summary.
    pub fn new(input: SummaryInput<'_>) -> Self {
        let context = Context { duration_ns: input.run.duration_ns, trend_stats: &input.run.trend_stats };
        let mut metrics = context.metrics(&input.metrics);
        for threshold in input.thresholds {
            // One on a metric that is not shown has nowhere to go; `input_from` shows all that have thresholds.
            if let Some(metric) = metrics.iter_mut().find(|metric| metric.name == threshold.metric) {
                metric.thresholds.push(ThresholdSummary {
                    source: threshold.source,
                    ok: threshold.ok,
                    observed: threshold.observed,
                    history: threshold.history,
                });
            }
        }
        let scopes =
            ScopeBuilder { context: &context, checks: &input.checks, groups: &input.groups, scopes: &input.scopes };
        let (groups, scenarios) = scopes.build();
        Self {
            root_group: Group::tree(&input.groups, &input.checks),
            checks: totals(input.checks.iter()),
            metrics,
            groups,
            scenarios,
            run: input.run,
        }
    }

    /// The run's length, ms.
    pub fn duration_ms(&self) -> f64 {
        self.run.duration_ns as f64 / 1e6
    }

    /// Per second of the run; 0 for a run of no length.
    pub(super) fn per_second(&self, count: f64) -> f64 {
        per_second(count, self.run.duration_ns)
    }

    /// Whether any number of the summary is an estimate from a distribution.
    pub(super) fn has_trends(&self) -> bool {
        self.metrics.iter().any(|metric| matches!(&metric.values, MetricValues::Trend(trend) if trend.count > 0))
    }
}

impl ThresholdSummary {
    /// What stands left of the operator.
    pub(super) fn method(&self) -> &str {
        self.source.split(['<', '>', '=', '!']).next().unwrap_or(&self.source).trim()
    }
}

impl MetricSummary {
    /// What one of its thresholds was compared with, as people read it: `11.96ms`, `12.00%`, `3.4/s`.
    pub fn observed(&self, threshold: &ThresholdSummary, unit: Option<TimeUnit>) -> String {
        let shown = || number::value(threshold.observed, self.contains, unit);
        match &self.values {
            MetricValues::Rate { .. } => number::percent(threshold.observed),
            MetricValues::Counter { .. } if threshold.method() != "count" => format!("{}/s", shown()),
            _ => shown(),
        }
    }

    /// The metric's name and, for a sub-metric, what stands between its braces.
    pub(super) fn split_name(&self) -> (&str, Option<&str>) {
        match self.name.split_once('{') {
            Some((parent, rest)) => (parent, Some(rest.strip_suffix('}').unwrap_or(rest))),
            None => (&self.name, None),
        }
    }
}

impl MetricValues {
    /// The kind of metric.
    pub fn kind(&self) -> MetricKind {
        match self {
            Self::Counter { .. } => MetricKind::Counter,
            Self::Gauge { .. } => MetricKind::Gauge,
            Self::Rate { .. } => MetricKind::Rate,
            Self::Trend(_) => MetricKind::Trend,
        }
    }
}

impl TrendSummary {
    fn new(trend: &dyn TrendStats, stats: &[TrendStat]) -> Self {
        Self {
            columns: stats.iter().map(|stat| (stat.clone(), stat.of(trend))).collect(),
            defaults: [trend.avg(), trend.min(), trend.med(), trend.max(), trend.quantile(0.9), trend.quantile(0.95)],
            count: trend.count(),
        }
    }
}

impl Scope {
    /// Passes and fails of all checks, as its metric counted them; `None` if there was none.
    pub(super) fn check_counts(&self) -> Option<(u64, u64)> {
        check_counts(&self.metrics, &self.checks)
    }
}

/// Passes and fails over all checks. The metric knows those whose name was not kept, too.
pub(super) fn check_counts(metrics: &[MetricSummary], checks: &[CheckTotal]) -> Option<(u64, u64)> {
    let metric = metrics.iter().find(|metric| metric.name == CHECKS);
    match metric.map(|metric| &metric.values) {
        Some(MetricValues::Rate { passes, fails, .. }) => Some((*passes, *fails)),
        _ if checks.is_empty() => None,
        _ => {
            let add = |(passes, fails): (u64, u64), check: &CheckTotal| {
                (passes.saturating_add(check.passes), fails.saturating_add(check.fails))
            };
            Some(checks.iter().fold((0, 0), add))
        }
    }
}

/// `part` of `part + rest`; 0 of nothing.
pub(super) fn share(part: u64, rest: u64) -> f64 {
    let whole = part as f64 + rest as f64;
    if whole > 0.0 { part as f64 / whole } else { 0.0 }
}

/// What values are computed with.
struct Context<'a> {
    duration_ns: u64,
    trend_stats: &'a [TrendStat],
}

impl Context<'_> {
    fn metrics(&self, inputs: &[MetricInput<'_>]) -> Vec<MetricSummary> {
        let mut metrics: Vec<_> = inputs.iter().map(|input| self.metric(input)).collect();
        metrics.sort_by(|left, right| collate::compare_metrics(&left.name, &right.name));
        metrics
    }

    fn metric(&self, input: &MetricInput<'_>) -> MetricSummary {
        let values = match &input.values {
            Values::Counter { count } => {
                MetricValues::Counter { count: *count, rate: per_second(*count, self.duration_ns) }
            }
            Values::Gauge { value, min, max } => MetricValues::Gauge { value: *value, min: *min, max: *max },
            Values::Rate { hits, total } => {
                let fails = total.saturating_sub(*hits);
                MetricValues::Rate { rate: share(*hits, fails), passes: *hits, fails }
            }
            Values::Trend(trend) => MetricValues::Trend(TrendSummary::new(trend.as_ref(), self.trend_stats)),
        };
        MetricSummary { name: input.name.clone(), contains: input.contains, values, thresholds: Vec::new() }
    }
}

/// Sorts what was measured per scenario and group into a tree.
struct ScopeBuilder<'a> {
    context: &'a Context<'a>,
    checks: &'a [CheckInput],
    groups: &'a [GroupInput],
    scopes: &'a [ScopeInput<'a>],
}

/// What belongs to one scenario, or to none that is named.
struct ScenarioParts<'a> {
    paths: Paths,
    /// The scenario's own metrics at index 0, those of its groups at theirs.
    metrics: FxHashMap<usize, &'a [MetricInput<'a>]>,
    checks: Vec<(usize, &'a CheckInput)>,
}

impl<'a> ScopeBuilder<'a> {
    /// The top-level groups outside named scenarios, and the named scenarios.
    fn build(&self) -> (Vec<Scope>, Vec<Scope>) {
        if self.scopes.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let mut parts: FxHashMap<&str, ScenarioParts<'a>> = FxHashMap::default();
        for group in self.groups {
            parts_of(&mut parts, &group.scenario).enter(&group.path);
        }
        for check in self.checks {
            let parts = parts_of(&mut parts, &check.scenario);
            let index = parts.enter(&check.group);
            parts.checks.push((index, check));
        }
        for scope in self.scopes {
            let parts = parts_of(&mut parts, &scope.scenario);
            let index = parts.enter(scope.group.as_deref().unwrap_or_default());
            // What is measured in a life-cycle function itself has the root's index too, but comes with a path.
            if (index == 0) == scope.group.is_none() {
                parts.metrics.entry(index).or_insert(&scope.metrics);
            }
        }
        let outside = parts.remove("").map(|parts| self.tree("", parts).groups).unwrap_or_default();
        let mut scenarios: Vec<_> = parts.into_iter().map(|(name, parts)| self.tree(name, parts)).collect();
        scenarios.sort_by(|left, right| collate::compare(&left.name, &right.name));
        (outside, scenarios)
    }

    /// A scenario with its groups.
    fn tree(&self, scenario: &str, mut parts: ScenarioParts<'a>) -> Scope {
        let mut checks: Vec<Vec<&CheckInput>> = vec![Vec::new(); parts.paths.len()];
        for (index, check) in &parts.checks {
            if *index != 0 {
                checks[*index].push(check);
            }
            // A scenario counts the checks in its groups as well.
            checks[0].push(check);
        }
        parts.paths.into_tree(|index, name, _| Scope {
            name: if index == 0 { scenario.to_owned() } else { name },
            checks: totals(checks[index].drain(..)),
            metrics: parts.metrics.remove(&index).map(|metrics| self.context.metrics(metrics)).unwrap_or_default(),
            groups: Vec::new(),
        })
    }
}

impl ScenarioParts<'_> {
    /// The index of a group. A life-cycle function is none by itself, only around a group.
    fn enter(&mut self, path: &str) -> usize {
        if LIFE_CYCLE_GROUPS.contains(&path) { 0 } else { self.paths.at(path) }
    }
}

impl Nest for Scope {
    fn inner(&mut self) -> &mut Vec<Self> {
        &mut self.groups
    }
}

fn parts_of<'m, 'a>(
    parts: &'m mut FxHashMap<&'a str, ScenarioParts<'a>>,
    scenario: &'a str,
) -> &'m mut ScenarioParts<'a> {
    // k6: the default scenario's groups stand with those of no scenario.
    let name = if scenario == DEFAULT_SCENARIO { "" } else { scenario };
    parts.entry(name).or_insert_with(|| ScenarioParts {
        paths: Paths::new(),
        metrics: FxHashMap::default(),
        checks: Vec::new(),
    })
}

/// k6: checks are told apart by name only, so the same name in two groups is one line.
fn totals<'a>(checks: impl Iterator<Item = &'a CheckInput>) -> Vec<CheckTotal> {
    let mut totals: Vec<CheckTotal> = Vec::new();
    let mut index = FxHashMap::default();
    for check in checks {
        let at = *index.entry(&*check.name).or_insert_with(|| {
            totals.push(CheckTotal { name: check.name.clone(), passes: 0, fails: 0 });
            totals.len() - 1
        });
        totals[at].passes = totals[at].passes.saturating_add(check.passes);
        totals[at].fails = totals[at].fails.saturating_add(check.fails);
    }
    totals
}

fn per_second(count: f64, duration_ns: u64) -> f64 {
    if duration_ns == 0 { 0.0 } else { count / (duration_ns as f64 / 1e9) }
}
