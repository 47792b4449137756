//! What a run has measured so far, as the series that Prometheus gets.

use std::collections::HashMap;

use onrush_metrics::{
    Contains, Histogram, MetricId, Registry, Sink, Step, TagPairs,
    summary::{TrendStat, TrendStatKind},
};

use super::{
    names,
    native::native,
    wire::{Label, NativeHistogram, Sample, TimeSeries},
};
use crate::Counts;

/// How trends are told.
#[derive(Debug, Clone, PartialEq)]
pub enum Trends {
    /// Each of these statistics is a series, over all values since the start, and so is their sum if it is wanted, which summaries do
    /// not have.
    Stats(Vec<TrendStat>, bool),
    /// A native histogram.
    Histograms,
}

/// A metric, and its labels.
pub(super) type Key = (MetricId, TagPairs);

/// A series with what has changed.
pub(super) struct Row {
    /// Of the last row that is told of something measured: what that is.
    pub(super) completes: Option<Key>,
    pub(super) kind: Kind,
    /// Its unit, where it has one.
    pub(super) unit: &'static str,
    pub(super) series: TimeSeries,
}

/// What its values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// All series of a run, since its start.
pub(super) struct AllSeries {
    registry: Registry,
    trends: Trends,
    by_labels: HashMap<Key, Series>,
    /// The labels that tags become.
    labels: HashMap<TagPairs, TagPairs>,
}

struct Series {
    sink: Sink,
    /// Samples came since it was told last.
    is_new: bool,
    /// What a counter was when it was told last.
    told: f64,
    schema: i32,
}

/// The value of a series that goes on no longer.
const STALE: u64 = 0x7ff0_0000_0000_0002;

impl AllSeries {
    pub(super) fn new(registry: Registry, trends: Trends) -> Self {
        Self { registry, trends, by_labels: HashMap::new(), labels: HashMap::new() }
    }

    /// Adds what was measured.
    pub(super) fn add(&mut self, step: Step) {
        for part in step.delta.series {
            let labels = self.labels.entry(part.tags).or_insert_with_key(names::labels).clone();
            let labels = (part.metric, labels);
            match self.by_labels.get_mut(&labels) {
                // Of one kind, so it is merged: also what is apart by its tags and one series by its labels.
                Some(series) => series.is_new |= series.sink.merge(&part.sink),
                None => {
                    let series = Series { sink: part.sink, is_new: true, told: 0.0, schema: 8 };
                    self.by_labels.insert(labels, series);
                }
            }
        }
    }

    /// What has changed since it was confirmed with [`AllSeries::told`].
    pub(super) fn news(&mut self, timestamp: i64) -> Vec<Row> {
        self.all(timestamp, |series| series.is_new)
    }

    /// The rows that complete these arrived, and all before them. Returns how much more of the run is there than before.
    pub(super) fn told(&mut self, keys: &[Key]) -> Counts {
        let mut counts = Counts::default();
        for key in keys {
            let Some(series) = self.by_labels.get_mut(key) else { continue };
            series.is_new = false;
            counts.add_news(key.0, &series.sink, &mut series.told);
        }
        counts
    }

    /// The end of every series.
    pub(super) fn stale(&mut self, timestamp: i64) -> Vec<Row> {
        let mut all = self.all(timestamp, |_| true);
        for Row { series, .. } in &mut all {
            series.samples.iter_mut().for_each(|sample| sample.value = f64::from_bits(STALE));
            for histogram in &mut series.histograms {
                *histogram = NativeHistogram { sum: f64::from_bits(STALE), timestamp, ..NativeHistogram::default() };
            }
        }
        all
    }

    fn all(&mut self, timestamp: i64, is_wanted: impl Fn(&Series) -> bool) -> Vec<Row> {
        let mut all = Vec::new();
        for (key, series) in &mut self.by_labels {
            let ((metric, tags), before) = (key, all.len());
            let Some(metric) = self.registry.find(*metric).filter(|_| is_wanted(series)) else { continue };
            let is_time = metric.contains == Contains::Time;
            let unit = if is_time { 0.001 } else { 1.0 };
            let unit_name = match metric.contains {
                Contains::Time => "seconds",
                Contains::Data => "bytes",
                Contains::Default => "",
            };
            let mut one = |name: String, kind: Kind, unit: &'static str, value: f64| {
                let samples = vec![Sample { value, timestamp }];
                let series = TimeSeries { labels: labels(&name, tags), samples, histograms: Vec::new() };
                all.push(Row { completes: None, kind, unit, series });
            };
            match (&series.sink, &self.trends) {
                (Sink::Counter { .. }, _) => {
                    let sum = series.sink.counter().unwrap_or_default();
                    one(names::counter(&metric.name), Kind::Counter, unit_name, sum);
                }
                (Sink::Gauge(gauge), _) => one(names::gauge(&metric.name), Kind::Gauge, unit_name, gauge.last),
                (Sink::Rate { hits, total }, _) => {
                    one(names::rate(&metric.name), Kind::Gauge, "", *hits as f64 / (*total).max(1) as f64);
                }
                (Sink::Trend(values), Trends::Stats(stats, has_sum)) => {
                    if *has_sum {
                        one(names::sum(&metric.name), Kind::Gauge, unit_name, values.sum() * unit);
                    }
                    for stat in stats {
                        let unit_name = if stat.kind() == TrendStatKind::Count { "" } else { unit_name };
                        let value = statistic(values, stat, unit);
                        one(names::statistic(&metric.name, stat), Kind::Gauge, unit_name, value);
                    }
                }
                (Sink::Trend(values), Trends::Histograms) => {
                    let histogram = native(values, unit, &mut series.schema, timestamp);
                    let labels = labels(&names::histogram(&metric.name, metric.contains), tags);
                    let series = TimeSeries { labels, samples: Vec::new(), histograms: vec![histogram] };
                    all.push(Row { completes: None, kind: Kind::Histogram, unit: unit_name, series });
                }
            }
            if let Some(last) = all[before..].last_mut() {
                last.completes = Some(key.clone());
            }
        }
        all
    }
}

fn statistic(values: &Histogram, stat: &TrendStat, unit: f64) -> f64 {
    // A count has no unit. (k6 divides it by a thousand.)
    if stat.kind() == TrendStatKind::Count { stat.of(values) } else { stat.of(values) * unit }
}

/// All labels of a series, sorted.
fn labels(name: &str, labels: &TagPairs) -> Vec<Label> {
    let name = Label { name: "__name__".to_owned(), value: names::fit(name, true) };
    let own = labels.iter().map(|(name, value)| Label { name: name.to_string(), value: value.to_string() });
    let mut all: Vec<Label> = own.chain([name]).collect();
    all.sort_by(|first, second| first.name.cmp(&second.name));
    all
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, ExactSum, builtin};

    use super::*;

    fn step(hits: u64) -> Step {
        let tags: TagPairs =
            [("Größe".into(), "x".into()), ("__name__".into(), "evil".into()), ("empty".into(), "".into())].into();
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQ_FAILED, tags.clone(), Sink::Rate { hits, total: 4 });
        let mut times = Histogram::new();
        [100.0, 200.0, 300.0].into_iter().for_each(|value| times.record(value));
        delta.push(builtin::HTTP_REQ_DURATION, tags, Sink::Trend(times));
        Step { span: None, delta }
    }

    fn texts(all: &[Row]) -> Vec<String> {
        let text = |Row { series, .. }: &Row| {
            let labels: Vec<_> = series.labels.iter().map(|label| format!("{}={}", label.name, label.value)).collect();
            let values: Vec<_> = series.samples.iter().map(|sample| sample.value.to_string()).collect();
            format!("{} {}", labels.join(","), values.join(","))
        };
        let mut texts: Vec<_> = all.iter().map(text).collect();
        texts.sort();
        texts
    }

    fn completed(rows: &[Row]) -> Vec<Key> {
        rows.iter().filter_map(|row| row.completes.clone()).collect()
    }

    #[test]
    fn tags_that_become_the_same_labels_are_one_series() {
        let mut all = AllSeries::new(Registry::new(), Trends::Stats(Vec::new(), false));
        for (name, value, count) in
            [("a-b", "x", 1.0), ("a.b", "x", 10.0), ("a_b", "x", 100.0), ("e", "", 1_000.0), ("", "y", 10_000.0)]
        {
            let (mut sum, mut delta) = (ExactSum::default(), Delta::default());
            sum.add(count);
            let tags: TagPairs = [(name.into(), value.into())].into();
            delta.push(builtin::ITERATIONS, tags, Sink::Counter { sum });
            all.add(Step { span: None, delta });
        }
        let rows = all.news(1_000);
        assert_eq!(texts(&rows), ["__name__=k6_iterations_total 11000", "__name__=k6_iterations_total,a_b=x 111"]);
        assert_eq!(all.told(&completed(&rows)).iterations, 11_111.0);
    }

    #[test]
    fn what_arrived_alone_is_known() {
        let mut all = AllSeries::new(Registry::new(), Trends::Stats(Vec::new(), false));
        let add = |all: &mut AllSeries, scenario: &str, count: f64| {
            let (mut sum, mut delta) = (ExactSum::default(), Delta::default());
            sum.add(count);
            let tags: TagPairs = [("scenario".into(), scenario.into())].into();
            delta.push(builtin::ITERATIONS, tags.clone(), Sink::Counter { sum });
            delta.push(builtin::HTTP_REQS, tags, Sink::Counter { sum: ExactSum::default() });
            all.add(Step { span: None, delta });
        };
        add(&mut all, "a", 3.0);
        add(&mut all, "b", 5.0);
        let of_a: Vec<Key> = completed(&all.news(1)).into_iter().filter(|(_, tags)| &*tags[0].1 == "a").collect();
        assert_eq!(all.told(&of_a).iterations, 3.0);
        // The others are told again, and only they.
        assert_eq!(all.news(2).len(), 2);
        add(&mut all, "a", 4.0);
        let rest = completed(&all.news(3));
        assert_eq!((rest.len(), all.told(&rest).iterations), (4, 9.0));
    }

    #[test]
    fn names_and_values_are_those_of_k6() {
        let stats = TrendStat::parse_list(&["count", "p(99.9)", "max"]).expect("valid");
        let mut all = AllSeries::new(Registry::new(), Trends::Stats(stats, false));
        all.add(step(1));
        all.add(step(2));
        let tags = "Gr__e=x";
        let expect = [
            format!("{tags},__name__=k6_http_req_duration_count,tag__name__=evil 6"),
            format!("{tags},__name__=k6_http_req_duration_max,tag__name__=evil 0.3"),
            format!("{tags},__name__=k6_http_req_duration_p999,tag__name__=evil 0.3"),
            format!("{tags},__name__=k6_http_req_failed_rate,tag__name__=evil 0.375"),
        ];
        assert_eq!(texts(&all.news(1)), expect);
        // Until they arrived.
        assert_eq!(all.news(2).len(), 4);
        let told = completed(&all.news(2));
        assert_eq!(all.told(&told), Counts::default());
        assert!(all.news(3).is_empty());
        assert!(all.stale(4).iter().all(|row| row.series.samples[0].value.to_bits() == STALE));
        let mut all = AllSeries::new(Registry::new(), Trends::Histograms);
        all.add(step(1));
        let news = all.news(5);
        let histogram = news.iter().find(|row| row.kind == Kind::Histogram).expect("a histogram");
        let histogram = &histogram.series;
        assert!(histogram.labels.iter().any(|label| label.value == "k6_http_req_duration_seconds"));
        assert_eq!((histogram.histograms[0].count_int, histogram.histograms[0].timestamp), (3, 5));
    }
}
