//! Deltas added up into one: what several threads or agents measured in the same time.

use rustc_hash::FxHashMap;

use crate::{
    delta::{Delta, DeltaSeries, TagPairs},
    registry::MetricId,
    remarks::Remarks,
};

/// Several deltas as one. Adding the sum to [`crate::Merged`] gives what adding each of them gives.
#[derive(Clone, Debug, Default)]
pub struct DeltaSum {
    series: Vec<DeltaSeries>,
    by_labels: FxHashMap<(MetricId, TagPairs), usize>,
    remarks: Remarks,
}

impl DeltaSum {
    /// Adds one.
    pub fn add(&mut self, delta: &Delta) {
        for part in &delta.series {
            let labels = (part.metric, TagPairs::clone(&part.tags));
            match self.by_labels.get(&labels) {
                // A series has one kind; what says otherwise is counted nowhere else either.
                Some(index) if !self.series[*index].sink.merge(&part.sink) => self.remarks.samples_lost += 1,
                Some(_) => {}
                None => {
                    self.by_labels.insert(labels, self.series.len());
                    self.series.push(part.clone());
                }
            }
        }
        self.remarks.add(delta);
    }

    /// All of them as one.
    pub fn into_delta(self) -> Delta {
        let Remarks { warnings, values_cut, samples_lost, outcomes } = self.remarks;
        Delta { series: self.series, warnings, values_cut, samples_lost, outcomes: outcomes.into_rows() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        builtin,
        histogram::Histogram,
        merged::Merged,
        outcome::{Ending, Outcome},
        registry::Registry,
        sink::{Gauge, Sink},
    };

    fn delta(value: f64, tag: &str) -> Delta {
        let tags: TagPairs = [("name".into(), tag.into())].into();
        let mut histogram = Histogram::new();
        histogram.record(value);
        let mut delta = Delta { values_cut: 1, ..Delta::default() };
        delta.push(builtin::HTTP_REQ_DURATION, tags.clone(), Sink::Trend(histogram));
        delta.push(builtin::HTTP_REQ_FAILED, tags, Sink::Rate { hits: 1, total: 2 });
        delta.push(builtin::VUS, TagPairs::default(), Sink::Gauge(Gauge::new(value, value as u64)));
        let ending = Ending::Status(200);
        delta.outcomes.push(Outcome { ending, count: 2, first_ns: 1, last_ns: 2, example: tag.into() });
        delta
    }

    #[test]
    fn the_sum_says_what_its_parts_say() {
        let deltas = [delta(1.5, "a"), delta(2.5, "b"), delta(0.5, "a")];
        let (mut sum, mut each) = (DeltaSum::default(), Merged::new(&Registry::new()));
        for delta in &deltas {
            sum.add(delta);
            each.add(delta);
        }
        let mut whole = Merged::new(&Registry::new());
        let sum = sum.into_delta();
        assert_eq!(sum.series.len(), 5);
        whole.add(&sum);
        assert!(whole.series().eq(each.series()));
        assert_eq!(whole.outcomes(), each.outcomes());
        assert_eq!((whole.values_cut(), whole.samples_lost()), (3, 0));
        for (metric, sink) in each.metrics() {
            assert_eq!(whole.sink(metric.id), Some(sink));
        }
    }
}
