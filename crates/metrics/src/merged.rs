//! Everything measured so far: the sum of all deltas, by series, by metric and by sub-metric.
//!
//! Totals of metrics and of watched sub-metrics are kept up to date as deltas arrive, so that thresholds read them at
//! no cost. Each answer is the same for every way the samples were split into deltas.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::{
    delta::{CardinalityWarning, Delta, DeltaSeries, TagPairs},
    outcome::Outcomes,
    registry::{Metric, MetricId, Registry},
    remarks::Remarks,
    sink::Sink,
    submetric::SubMetric,
};

/// The merged stream of a run.
#[derive(Clone, Debug)]
pub struct Merged {
    registry: Registry,
    series: Vec<MergedSeries>,
    by_labels: FxHashMap<(MetricId, TagPairs), usize>,
    /// By metric id.
    metrics: Vec<MetricTotal>,
    watched: Vec<Watched>,
    remarks: Remarks,
    mismatches: u64,
}

/// One series of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedSeries {
    /// The metric.
    pub metric: MetricId,
    /// The tags it keeps, sorted by name.
    pub tags: TagPairs,
    /// All its samples.
    pub sink: Sink,
    /// Watched sub-metrics it belongs to.
    watched_by: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct MetricTotal {
    /// In first-seen order.
    series: Vec<usize>,
    /// The sum over the series, once there are two.
    total: Option<Sink>,
}

#[derive(Clone, Debug)]
struct Watched {
    submetric: SubMetric,
    total: Option<Sink>,
}

impl Merged {
    /// Nothing measured yet.
    pub fn new(registry: &Registry) -> Self {
        Self {
            registry: registry.clone(),
            series: Vec::new(),
            by_labels: FxHashMap::default(),
            metrics: Vec::new(),
            watched: Vec::new(),
            remarks: Remarks::default(),
            mismatches: 0,
        }
    }

    /// The metrics it knows.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Learns metrics that were declared since.
    pub fn sync(&mut self, registry: &Registry) {
        self.registry = registry.clone();
    }

    /// Keeps the total of a sub-metric up to date from now on, past samples included.
    pub fn watch(&mut self, submetric: &SubMetric) {
        if self.find_watched(submetric).is_some() {
            return;
        }
        let index = self.watched.len();
        let mut total = None;
        for series in self.series.iter_mut().filter(|series| series.is_in(submetric)) {
            series.watched_by.push(index);
            merge_into(&mut total, &series.sink);
        }
        self.watched.push(Watched { submetric: submetric.clone(), total });
    }

    /// Adds what a shard measured.
    pub fn add(&mut self, delta: &Delta) {
        for part in &delta.series {
            self.add_series(part);
        }
        self.remarks.add(delta);
    }

    /// What became of requests.
    pub fn outcomes(&self) -> &Outcomes {
        &self.remarks.outcomes
    }

    /// All samples of a metric; `None` if there are none.
    pub fn sink(&self, metric: MetricId) -> Option<&Sink> {
        let metric = self.metrics.get(metric.0 as usize)?;
        metric.total.as_ref().or_else(|| Some(&self.series[*metric.series.first()?].sink))
    }

    /// All samples of a sub-metric; `None` if there are none. Cheap if it is watched, else added up now.
    pub fn submetric(&self, submetric: &SubMetric) -> Option<Cow<'_, Sink>> {
        if let Some(index) = self.find_watched(submetric) {
            return self.watched[index].total.as_ref().map(Cow::Borrowed);
        }
        let mut total = None;
        for series in self.series_of(submetric.metric).filter(|series| submetric.matches(&series.tags)) {
            merge_into(&mut total, &series.sink);
        }
        total.map(Cow::Owned)
    }

    /// Every series in first-seen order.
    pub fn series(&self) -> impl Iterator<Item = &MergedSeries> {
        self.series.iter()
    }

    /// The series of one metric in first-seen order.
    pub fn series_of(&self, metric: MetricId) -> impl Iterator<Item = &MergedSeries> {
        let indices = self.metrics.get(metric.0 as usize).map_or(&[][..], |metric| &metric.series);
        indices.iter().map(|index| &self.series[*index])
    }

    /// The metrics that have samples, by id.
    pub fn metrics(&self) -> impl Iterator<Item = (&Metric, &Sink)> {
        self.registry.iter().filter_map(|metric| Some((metric, self.sink(metric.id)?)))
    }

    /// How many series there are.
    pub fn series_len(&self) -> usize {
        self.series.len()
    }

    /// Tags that had too many values, each once.
    pub fn warnings(&self) -> &[CardinalityWarning] {
        &self.remarks.warnings
    }

    /// Tag values that were cut because they were too long.
    pub fn values_cut(&self) -> u64 {
        self.remarks.values_cut
    }

    /// Samples no shard could count, and series whose kind is not their metric's: 0 unless something is broken.
    pub fn samples_lost(&self) -> u64 {
        self.remarks.samples_lost + self.mismatches
    }

    fn add_series(&mut self, part: &DeltaSeries) {
        let kind = self.registry.find(part.metric).map(|metric| metric.kind);
        if kind != Some(part.sink.kind()) {
            self.mismatches += 1;
            return;
        }
        // From here on all kinds agree, so no merge is refused.
        let index = match self.by_labels.get(&(part.metric, TagPairs::clone(&part.tags))) {
            Some(index) => {
                merge_same_kind(&mut self.series[*index].sink, &part.sink);
                *index
            }
            None => self.insert(part),
        };
        for watched in &self.series[index].watched_by {
            merge_into(&mut self.watched[*watched].total, &part.sink);
        }
        let metric = &mut self.metrics[part.metric.0 as usize];
        match &mut metric.total {
            Some(total) => merge_same_kind(total, &part.sink),
            // The second series: from here on the total is kept.
            None if metric.series.len() > 1 => {
                for series in &metric.series {
                    merge_into(&mut metric.total, &self.series[*series].sink);
                }
            }
            None => {}
        }
    }

    fn insert(&mut self, part: &DeltaSeries) -> usize {
        let index = self.series.len();
        let position = part.metric.0 as usize;
        if self.metrics.len() <= position {
            self.metrics.resize_with(position + 1, MetricTotal::default);
        }
        self.metrics[position].series.push(index);
        let mut series = MergedSeries {
            metric: part.metric,
            tags: TagPairs::clone(&part.tags),
            sink: part.sink.clone(),
            watched_by: Vec::new(),
        };
        series.watched_by =
            (0..self.watched.len()).filter(|index| series.is_in(&self.watched[*index].submetric)).collect();
        self.series.push(series);
        self.by_labels.insert((part.metric, TagPairs::clone(&part.tags)), index);
        index
    }

    fn find_watched(&self, submetric: &SubMetric) -> Option<usize> {
        self.watched.iter().position(|watched| {
            watched.submetric.metric == submetric.metric && watched.submetric.tags == submetric.tags
        })
    }
}

impl MergedSeries {
    /// The value of one of its tags.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(key, _)| **key == *name).map(|(_, value)| &**value)
    }

    fn is_in(&self, submetric: &SubMetric) -> bool {
        self.metric == submetric.metric && submetric.matches(&self.tags)
    }
}

fn merge_into(total: &mut Option<Sink>, part: &Sink) {
    match total {
        Some(total) => merge_same_kind(total, part),
        None => *total = Some(part.clone()),
    }
}

fn merge_same_kind(sink: &mut Sink, part: &Sink) {
    let merged = sink.merge(part);
    debug_assert!(merged, "a metric's series are of its kind");
}

#[cfg(test)]
mod tests;
