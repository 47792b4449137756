//! The series of a run and the numbers that steps call them by.

use onrush_metrics::{Delta, DeltaSeries, MetricId, TagPairs};
use rustc_hash::FxHashMap;

use crate::step::push_text;

/// Gives each series a number when it is first seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    numbers: FxHashMap<(MetricId, TagPairs), u32>,
    /// Those that no record has told of yet, as JSON.
    news: String,
}

impl Table {
    /// What was measured, its series called by their numbers: the number is in the place of the metric, and there are no tags.
    pub(crate) fn numbered(&mut self, delta: &Delta) -> Delta {
        let series = delta.series.iter().map(|series| DeltaSeries {
            metric: MetricId(self.number(series)),
            tags: TagPairs::default(),
            sink: series.sink.clone(),
        });
        Delta {
            series: series.collect(),
            samples_lost: delta.samples_lost,
            outcomes: delta.outcomes.clone(),
            ..Delta::default()
        }
    }

    /// The number of a series.
    fn number(&mut self, series: &DeltaSeries) -> u32 {
        let labels = (series.metric, TagPairs::clone(&series.tags));
        if let Some(number) = self.numbers.get(&labels) {
            return *number;
        }
        // The cast is exact: a run's series are limited to far fewer.
        let number = self.numbers.len() as u32;
        if !self.news.is_empty() {
            self.news.push(',');
        }
        self.news.push_str(&format!("{{\"id\":{number},\"metric\":{},\"tags\":{{", series.metric.0));
        for (place, (name, value)) in series.tags.iter().enumerate() {
            if place > 0 {
                self.news.push(',');
            }
            push_text(&mut self.news, name);
            self.news.push(':');
            push_text(&mut self.news, value);
        }
        self.news.push_str("}}");
        self.numbers.insert(labels, number);
        number
    }

    /// The record `series` of those that were not told of yet.
    pub(crate) fn take_news(&mut self) -> Option<String> {
        let news = std::mem::take(&mut self.news);
        (!news.is_empty()).then(|| format!("{{\"series\":[{news}]}}"))
    }
}
