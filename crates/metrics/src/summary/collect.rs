//! From merged metrics and evaluated thresholds to what the summary needs to know.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    input::{
        CheckInput, GroupInput, MetricInput, RunInfo, ScopeInput, SummaryInput, ThresholdInput, TrendStats, Values,
    },
    mode::SummaryMode,
};
use crate::{
    builtin,
    delta::TagPairs,
    histogram::Histogram,
    merged::{Merged, MergedSeries},
    registry::{Metric, MetricId},
    sink::Sink,
    submetric::SubMetric,
    subscriptions::SubscriptionsBuilder,
    tag::SystemTag,
    threshold::Thresholds,
};

/// Makes metrics keep the tags that the summary of this mode reads. Those of thresholds come on top.
#[must_use]
pub fn subscribe(subscriptions: SubscriptionsBuilder, mode: SummaryMode) -> SubscriptionsBuilder {
    match mode {
        SummaryMode::Disabled => subscriptions,
        SummaryMode::Compact | SummaryMode::Legacy => subscriptions.for_summary(),
        SummaryMode::Full => subscriptions
            .for_summary()
            .keep_everywhere(SystemTag::Scenario)
            .keep_everywhere(SystemTag::Group)
            // The table of requests by name.
            .keep(builtin::HTTP_REQ_DURATION, SystemTag::Name)
            .keep(builtin::HTTP_REQ_FAILED, SystemTag::Name),
    }
}

/// Gathers the summary's input. The thresholds must have been evaluated at the end of the run. Scenarios and groups are
/// told apart for the full layout only, whose tags [`subscribe`] has kept.
pub fn input_from<'a>(
    merged: &'a Merged,
    thresholds: &Thresholds,
    run: RunInfo,
    mode: SummaryMode,
) -> SummaryInput<'a> {
    SummaryInput {
        run,
        metrics: metrics(merged, thresholds),
        thresholds: judged(thresholds),
        checks: checks(merged),
        groups: groups(merged),
        scopes: if mode == SummaryMode::Full { scopes(merged) } else { Vec::new() },
    }
}

impl TrendStats for Histogram {
    fn avg(&self) -> f64 {
        self.mean()
    }
    fn min(&self) -> f64 {
        self.min()
    }
    fn max(&self) -> f64 {
        self.max()
    }
    fn count(&self) -> u64 {
        self.count()
    }
    fn quantile(&self, q: f64) -> f64 {
        self.quantile(q)
    }
}

impl<T: TrendStats + ?Sized> TrendStats for &T {
    fn avg(&self) -> f64 {
        (**self).avg()
    }
    fn min(&self) -> f64 {
        (**self).min()
    }
    fn med(&self) -> f64 {
        (**self).med()
    }
    fn max(&self) -> f64 {
        (**self).max()
    }
    fn count(&self) -> u64 {
        (**self).count()
    }
    fn quantile(&self, q: f64) -> f64 {
        (**self).quantile(q)
    }
}

/// Metrics with samples or thresholds, and sub-metrics with thresholds. The sub-metric of expected responses is always
/// among them if it has samples.
fn metrics<'a>(merged: &'a Merged, thresholds: &Thresholds) -> Vec<MetricInput<'a>> {
    let registry = merged.registry();
    // k6: thresholds make a metric appear that got no sample, and so do those of its sub-metrics.
    let named: FxHashSet<MetricId> = thresholds.results().iter().map(|result| result.metric).collect();
    let mut inputs = Vec::new();
    for metric in registry.iter() {
        match merged.sink(metric.id) {
            Some(sink) => inputs.push(input(metric.name.to_string(), metric, Some(Cow::Borrowed(sink)))),
            None if named.contains(&metric.id) => inputs.push(input(metric.name.to_string(), metric, None)),
            None => {}
        }
    }
    let expected = SubMetric::expected_response(registry);
    if let Some(sink) = merged.submetric(&expected)
        && thresholds.submetrics().iter().all(|submetric| submetric.name != expected.name)
    {
        inputs.push(input(expected.name, registry.metric(expected.metric), Some(sink)));
    }
    for submetric in thresholds.submetrics() {
        if let Some(metric) = registry.find(submetric.metric) {
            inputs.push(input(submetric.name.clone(), metric, merged.submetric(submetric)));
        }
    }
    inputs
}

fn input<'a>(name: String, metric: &Metric, sink: Option<Cow<'a, Sink>>) -> MetricInput<'a> {
    let values = sink.map_or_else(|| Values::empty(metric.kind), values_of);
    MetricInput { name, contains: metric.contains, values }
}

fn values_of(sink: Cow<'_, Sink>) -> Values<'_> {
    match sink {
        Cow::Borrowed(Sink::Trend(histogram)) => Values::Trend(Box::new(histogram)),
        Cow::Owned(Sink::Trend(histogram)) => Values::Trend(Box::new(histogram)),
        Cow::Borrowed(sink) => plain_values(sink),
        Cow::Owned(sink) => plain_values(&sink),
    }
}

fn plain_values(sink: &Sink) -> Values<'static> {
    match sink {
        Sink::Counter { sum } => Values::Counter { count: sum.value() },
        Sink::Gauge(gauge) => Values::Gauge { value: gauge.last, min: gauge.min, max: gauge.max },
        Sink::Rate { hits, total } => Values::Rate { hits: *hits, total: *total },
        Sink::Trend(histogram) => Values::Trend(Box::new(histogram.clone())),
    }
}

fn judged(thresholds: &Thresholds) -> Vec<ThresholdInput> {
    let results = thresholds
        .results()
        .iter()
        .flat_map(|metric| metric.expressions.iter().map(move |expression| (metric, expression)));
    results
        .filter_map(|(metric, expression)| {
            // Nothing was observed if nothing was evaluated, as under `--no-thresholds`: then there is no result to show.
            // A threshold whose windows or warm-up were longer than the test says so.
            let observed = expression.observed.or_else(|| thresholds.is_final().then_some(0.0))?;
            Some(ThresholdInput {
                metric: metric.name.clone(),
                source: expression.source.clone(),
                ok: expression.ok,
                observed,
                history: Some(expression.history),
            })
        })
        .collect()
}

fn checks(merged: &Merged) -> Vec<CheckInput> {
    let check = |series: &MergedSeries| {
        let name = tag(&series.tags, SystemTag::Check)?.to_owned();
        let (hits, total) = series.sink.rate()?;
        let scenario = tag(&series.tags, SystemTag::Scenario).unwrap_or_default().to_owned();
        let group = tag(&series.tags, SystemTag::Group).unwrap_or_default().to_owned();
        Some(CheckInput { scenario, group, name, passes: hits, fails: total.saturating_sub(hits) })
    };
    merged.series_of(builtin::CHECKS).filter_map(check).collect()
}

/// Every group that any sample names, in first-seen order.
fn groups(merged: &Merged) -> Vec<GroupInput> {
    let mut index: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    let mut groups: Vec<GroupInput> = Vec::new();
    for series in merged.series() {
        let scenario = tag(&series.tags, SystemTag::Scenario).unwrap_or_default();
        let path = tag(&series.tags, SystemTag::Group).unwrap_or_default();
        if path.is_empty() {
            continue;
        }
        let at = *index.entry((scenario, path)).or_insert_with(|| {
            groups.push(GroupInput { scenario: scenario.to_owned(), path: path.to_owned(), is_entered: false });
            groups.len() - 1
        });
        groups[at].is_entered |= [builtin::CHECKS, builtin::GROUP_DURATION].contains(&series.metric);
    }
    groups
}

/// The metrics of each scenario and of each group in it, in first-seen order.
fn scopes(merged: &Merged) -> Vec<ScopeInput<'_>> {
    type Key<'a> = (&'a str, Option<&'a str>);
    let mut order: Vec<(Key<'_>, Vec<(MetricId, Sink)>)> = Vec::new();
    let mut index: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    let mut place: FxHashMap<(usize, MetricId), usize> = FxHashMap::default();
    for series in merged.series() {
        let scenario = tag(&series.tags, SystemTag::Scenario).unwrap_or_default();
        let group = tag(&series.tags, SystemTag::Group).filter(|group| !group.is_empty());
        let whole = (!scenario.is_empty()).then_some((scenario, None));
        for key in whole.into_iter().chain(group.map(|group| (scenario, Some(group)))) {
            let at = *index.entry(key).or_insert_with(|| {
                order.push((key, Vec::new()));
                order.len() - 1
            });
            let sinks = &mut order[at].1;
            match place.get(&(at, series.metric)) {
                Some(known) => {
                    let merged = sinks[*known].1.merge(&series.sink);
                    debug_assert!(merged, "series of one metric are of one kind");
                }
                None => {
                    place.insert((at, series.metric), sinks.len());
                    sinks.push((series.metric, series.sink.clone()));
                }
            }
        }
    }
    let registry = merged.registry();
    let scope = |((scenario, group), sinks): (Key<'_>, Vec<(MetricId, Sink)>)| ScopeInput {
        scenario: scenario.to_owned(),
        group: group.map(str::to_owned),
        metrics: sinks
            .into_iter()
            .filter_map(|(id, sink)| {
                let metric = registry.find(id)?;
                Some(input(metric.name.to_string(), metric, Some(Cow::Owned(sink))))
            })
            .collect(),
    };
    order.into_iter().map(scope).collect()
}

pub(super) fn tag(tags: &TagPairs, tag: SystemTag) -> Option<&str> {
    tags.iter().find(|(name, _)| **name == *tag.as_str()).map(|(_, value)| &**value)
}
