//! What a run has measured, as the instruments and data points that OpenTelemetry has: since the start, or since the last export.

use std::collections::HashMap;

use onrush_metrics::{Contains, Metric, MetricId, Registry, Sink, Step, TagPairs};
use prost::Message as _;

use super::{
    exporter::MESSAGE_BYTES,
    histogram::{explicit, exponential},
    metrics::Temporality,
    wire::{
        KeyValue,
        metrics::{
            CUMULATIVE, DELTA, Data, ExponentialHistogram, ExponentialPoint, Gauge, Histogram, HistogramPoint,
            Metric as Instrument, Number, NumberPoint, Sum,
        },
    },
};
use crate::{Counts, exponential::SCALE_FINEST};

/// How trends are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Histograms {
    /// Between fixed bounds, k6's.
    Explicit,
    /// In exponential buckets: those of Onrush.
    Exponential,
}

/// How rates are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rates {
    /// One counter, with an attribute `condition`: `zero` or `nonzero`.
    OneCounter,
    /// Two: of those that are not zero, and of all. So it was in k6 1.x.
    TwoCounters,
}

/// How metrics are told.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) prefix: String,
    pub(super) temporality: Temporality,
    pub(super) histograms: Histograms,
    pub(super) rates: Rates,
}

/// All series that are told.
pub(super) struct AllSeries {
    registry: Registry,
    style: Style,
    by_key: HashMap<Key, Series>,
    /// Up to when everything was told, nanoseconds since 1970.
    told_ns: u64,
    /// What was told later than that: the rest of its export did not arrive.
    told_alone: HashMap<Key, u64>,
}

/// A metric, and its tags.
pub(super) type Key = (MetricId, TagPairs);

struct Series {
    sink: Sink,
    /// What it has begins here, nanoseconds since 1970.
    since_ns: u64,
    /// What a counter was when it was told last.
    told: f64,
    /// Of exponential buckets.
    scale: i32,
}

/// A part of what is to be told that fits a message.
pub(super) struct Part {
    pub(super) instruments: Vec<Instrument>,
    keys: Vec<Key>,
}

impl AllSeries {
    /// Series of a run that begins now, nanoseconds since 1970.
    pub(super) fn new(registry: Registry, style: Style, now_ns: u64) -> Self {
        Self { registry, style, by_key: HashMap::new(), told_ns: now_ns, told_alone: HashMap::new() }
    }

    /// Adds what was measured.
    pub(super) fn add(&mut self, step: Step) {
        for part in step.delta.series {
            let key = (part.metric, part.tags);
            match self.by_key.get_mut(&key) {
                // Of one kind, so it is merged.
                Some(series) => _ = series.sink.merge(&part.sink),
                None => {
                    let since_ns = self.told_alone.get(&key).copied().unwrap_or(self.told_ns);
                    let series = Series { sink: part.sink, since_ns, told: 0.0, scale: SCALE_FINEST };
                    self.by_key.insert(key, series);
                }
            }
        }
    }

    /// What is to be told now, sorted by metric.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.by_key.keys().cloned().collect();
        keys.sort_unstable();
        keys
    }

    /// As much of it as fits a message, as of this time; takes it from `keys`.
    pub(super) fn part(&mut self, keys: &mut impl Iterator<Item = Key>, time_ns: u64) -> Part {
        let mut part = Part { instruments: Vec::new(), keys: Vec::new() };
        let mut bytes = 0;
        while bytes < MESSAGE_BYTES
            && let Some(key) = keys.next()
        {
            let Some((metric, series)) = self.registry.find(key.0).zip(self.by_key.get_mut(&key)) else { continue };
            for instrument in self.style.instruments(metric, series, &key.1, time_ns) {
                bytes += instrument.encoded_len();
                // The series of a metric follow each other; a rate may have two instruments.
                let mut last = part.instruments.iter_mut().rev().take(2);
                match last.find(|known| known.name == instrument.name) {
                    Some(known) => join(known, instrument),
                    None => part.instruments.push(instrument),
                }
            }
            part.keys.push(key);
        }
        part
    }

    /// A part arrived, of this time. Returns how much more of the run is there than before.
    pub(super) fn told(&mut self, part: Part, time_ns: u64) -> Counts {
        let mut counts = Counts::default();
        for key in part.keys {
            if let Some(series) = self.by_key.get_mut(&key) {
                counts.add_news(key.0, &series.sink, &mut series.told);
            }
            if self.style.temporality == Temporality::Delta {
                self.by_key.remove(&key);
                self.told_alone.insert(key, time_ns);
            }
        }
        counts
    }

    /// All parts arrived: what comes now is later than this.
    pub(super) fn told_all(&mut self, time_ns: u64) {
        if self.style.temporality == Temporality::Delta {
            self.told_ns = time_ns;
            self.told_alone.clear();
        }
    }
}

impl Style {
    /// What a series is told as: each instrument with one data point.
    fn instruments(&self, metric: &Metric, series: &mut Series, tags: &TagPairs, time_ns: u64) -> Vec<Instrument> {
        let unit = match metric.contains {
            Contains::Time => "ms",
            Contains::Data => "By",
            Contains::Default => "",
        };
        let temporality = match self.temporality {
            Temporality::Cumulative => CUMULATIVE,
            Temporality::Delta => DELTA,
        };
        let start_ns = series.since_ns.min(time_ns);
        let instrument = |suffix: &str, unit: &str, data: Data| Instrument {
            name: format!("{}{}{suffix}", self.prefix, metric.name),
            unit: unit.to_owned(),
            data: Some(data),
        };
        let number = |value: Number, attributes| NumberPoint { start_ns, time_ns, value: Some(value), attributes };
        let counter = |data_points| Data::Sum(Sum { data_points, temporality, is_monotonic: true });
        match &series.sink {
            Sink::Counter { sum } => {
                vec![instrument("", unit, counter(vec![number(Number::Double(sum.value()), attributes(tags))]))]
            }
            Sink::Gauge(gauge) => {
                let point = NumberPoint { start_ns: 0, ..number(Number::Double(gauge.last), attributes(tags)) };
                vec![instrument("", unit, Data::Gauge(Gauge { data_points: vec![point] }))]
            }
            Sink::Rate { hits, total } => {
                let count = |count: u64| Number::Integer(i64::try_from(count).unwrap_or(i64::MAX));
                match self.rates {
                    Rates::OneCounter => {
                        let point = |condition: &str, value: u64| {
                            let mut attributes = attributes(tags);
                            attributes.retain(|attribute| attribute.key != CONDITION);
                            attributes.push(KeyValue::text(CONDITION, condition));
                            number(count(value), attributes)
                        };
                        let points = vec![point("nonzero", *hits), point("zero", total.saturating_sub(*hits))];
                        vec![instrument(".total", "", counter(points))]
                    }
                    Rates::TwoCounters => {
                        let point = |value: u64| counter(vec![number(count(value), attributes(tags))]);
                        vec![instrument(".occurred", "", point(*hits)), instrument(".total", "", point(*total))]
                    }
                }
            }
            Sink::Trend(values) => {
                let data = match self.histograms {
                    Histograms::Explicit => {
                        let point =
                            HistogramPoint { start_ns, time_ns, attributes: attributes(tags), ..explicit(values) };
                        Data::Histogram(Histogram { data_points: vec![point], temporality })
                    }
                    Histograms::Exponential => {
                        let point = exponential(values, &mut series.scale);
                        let point = ExponentialPoint { start_ns, time_ns, attributes: attributes(tags), ..point };
                        Data::Exponential(ExponentialHistogram { data_points: vec![point], temporality })
                    }
                };
                vec![instrument("", unit, data)]
            }
        }
    }
}

/// What tells the two data points of a rate apart.
const CONDITION: &str = "condition";

/// Puts the data points of two instruments of one name together.
fn join(known: &mut Instrument, other: Instrument) {
    match (&mut known.data, other.data) {
        (Some(Data::Gauge(known)), Some(Data::Gauge(other))) => known.data_points.extend(other.data_points),
        (Some(Data::Sum(known)), Some(Data::Sum(other))) => known.data_points.extend(other.data_points),
        (Some(Data::Histogram(known)), Some(Data::Histogram(other))) => known.data_points.extend(other.data_points),
        (Some(Data::Exponential(known)), Some(Data::Exponential(other))) => known.data_points.extend(other.data_points),
        // A metric is of one kind.
        _ => {}
    }
}

/// All tags that say something.
fn attributes(tags: &TagPairs) -> Vec<KeyValue> {
    let tags = tags.iter().filter(|(name, value)| !name.is_empty() && !value.is_empty());
    tags.map(|(name, value)| KeyValue::text(name, value)).collect()
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, ExactSum, Gauge as GaugeSink, Histogram as Values, builtin};

    use super::*;

    fn step(hits: u64, added: f64) -> Step {
        let tags: TagPairs =
            [("condition".into(), "mine".into()), ("empty".into(), "".into()), ("größe".into(), "x".into())].into();
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQ_FAILED, tags.clone(), Sink::Rate { hits, total: 4 });
        let mut sum = ExactSum::default();
        sum.add(added);
        delta.push(builtin::DATA_SENT, TagPairs::default(), Sink::Counter { sum });
        delta.push(builtin::VUS, TagPairs::default(), Sink::Gauge(GaugeSink::new(added, 1)));
        let mut times = Values::new();
        [100.0, 200.0, 300.0].into_iter().for_each(|value| times.record(value));
        delta.push(builtin::HTTP_REQ_DURATION, tags, Sink::Trend(times));
        Step { span: None, delta }
    }

    fn series(temporality: Temporality, histograms: Histograms, rates: Rates) -> AllSeries {
        let style = Style { prefix: "k6_".to_owned(), temporality, histograms, rates };
        AllSeries::new(Registry::new(), style, 1_000)
    }

    fn texts(part: &Part) -> Vec<String> {
        let number = |point: &NumberPoint| {
            let attributes: Vec<_> = point.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
            let value = match point.value {
                Some(Number::Double(value)) => value.to_string(),
                Some(Number::Integer(value)) => format!("{value}i"),
                None => "nothing".to_owned(),
            };
            format!("{}..{} {} {value}", point.start_ns, point.time_ns, attributes.join(","))
        };
        let text = |instrument: &Instrument| {
            let points: Vec<String> = match instrument.data.as_ref().expect("data") {
                Data::Gauge(gauge) => gauge.data_points.iter().map(number).collect(),
                Data::Sum(sum) => sum.data_points.iter().map(number).collect(),
                Data::Histogram(histogram) => {
                    histogram.data_points.iter().map(|point| format!("{} of {}", point.count, point.start_ns)).collect()
                }
                Data::Exponential(histogram) => {
                    histogram.data_points.iter().map(|point| format!("{} in {}", point.count, point.scale)).collect()
                }
            };
            format!("{}[{}] {}", instrument.name, instrument.unit, points.join(" | "))
        };
        part.instruments.iter().map(text).collect()
    }

    fn whole(all: &mut AllSeries, time_ns: u64) -> Part {
        let keys = all.keys();
        all.part(&mut keys.into_iter(), time_ns)
    }

    #[test]
    fn what_is_told_since_the_start() {
        let mut all = series(Temporality::Cumulative, Histograms::Explicit, Rates::OneCounter);
        all.add(step(1, 5.0));
        all.add(step(2, 7.0));
        let part = whole(&mut all, 3_000);
        let expect = [
            "k6_vus[] 0..3000  7",
            "k6_http_req_failed.total[] 1000..3000 größe,condition 3i | 1000..3000 größe,condition 5i",
            "k6_http_req_duration[ms] 6 of 1000",
            "k6_data_sent[By] 1000..3000  12",
        ];
        let mut found = texts(&part);
        found.sort_by_key(|text| expect.iter().position(|expect| expect == text));
        assert_eq!(found, expect);
        // It is told again, whether it is new or not.
        all.told(part, 3_000);
        all.told_all(3_000);
        assert_eq!(whole(&mut all, 4_000).instruments.len(), 4);
    }

    #[test]
    fn what_is_told_since_the_last_time() {
        let mut all = series(Temporality::Delta, Histograms::Exponential, Rates::TwoCounters);
        all.add(step(1, 5.0));
        let first = whole(&mut all, 3_000);
        assert!(texts(&first).contains(&"k6_http_req_failed.occurred[] 1000..3000 condition,größe 1i".to_owned()));
        assert!(texts(&first).contains(&"k6_http_req_failed.total[] 1000..3000 condition,größe 4i".to_owned()));
        assert!(texts(&first).contains(&"k6_http_req_duration[ms] 3 in 8".to_owned()));
        // It did not arrive: it is in the next one.
        all.add(step(2, 7.0));
        let second = whole(&mut all, 4_000);
        assert!(texts(&second).contains(&"k6_data_sent[By] 1000..4000  12".to_owned()), "{:?}", texts(&second));
        all.told(second, 4_000);
        all.told_all(4_000);
        assert!(whole(&mut all, 5_000).instruments.is_empty());
        all.add(step(0, 1.0));
        let third = texts(&whole(&mut all, 5_000));
        assert!(third.contains(&"k6_data_sent[By] 4000..5000  1".to_owned()), "{third:?}");
    }

    #[test]
    fn how_much_arrived_is_known() {
        for temporality in [Temporality::Cumulative, Temporality::Delta] {
            let mut all = series(temporality, Histograms::Explicit, Rates::OneCounter);
            let arrived =
                [(2_000, 3.0, true), (3_000, 4.0, false), (4_000, 5.0, true)].map(|(time_ns, count, arrives)| {
                    let (mut sum, mut delta) = (ExactSum::default(), Delta::default());
                    sum.add(count);
                    delta.push(builtin::ITERATIONS, TagPairs::default(), Sink::Counter { sum });
                    all.add(Step { span: None, delta });
                    let part = whole(&mut all, time_ns);
                    if arrives { all.told(part, time_ns).iterations } else { 0.0 }
                });
            assert_eq!(arrived, [3.0, 0.0, 9.0], "{temporality:?}");
        }
    }

    #[test]
    fn what_is_large_is_told_in_parts() {
        let mut all = series(Temporality::Delta, Histograms::Exponential, Rates::OneCounter);
        let mut delta = Delta::default();
        for number in 0..5_000 {
            let tags: TagPairs = [("url".into(), format!("{number}{}", "x".repeat(2_000)).into())].into();
            delta.push(builtin::HTTP_REQ_FAILED, tags, Sink::Rate { hits: 1, total: 2 });
        }
        all.add(Step { span: None, delta });
        let mut keys = all.keys().into_iter();
        let (mut parts, mut points) = (0, 0);
        loop {
            let part = all.part(&mut keys, 2_000);
            let Some(instrument) = part.instruments.first() else { break };
            assert!(instrument.encoded_len() < MESSAGE_BYTES + 10_000);
            let Some(Data::Sum(sum)) = &instrument.data else { panic!("{instrument:?}") };
            points += sum.data_points.len();
            parts += 1;
            // What arrived is not told again, even where the rest did not arrive.
            if parts == 1 {
                all.told(part, 2_000);
            }
        }
        assert_eq!((points, all.keys().len() < 5_000), (10_000, true));
        assert!(parts > 5, "{parts}");
        // And what comes of it then begins where it was told up to.
        let tags: TagPairs = [("url".into(), format!("0{}", "x".repeat(2_000)).into())].into();
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQ_FAILED, tags.clone(), Sink::Rate { hits: 1, total: 2 });
        all.add(Step { span: None, delta });
        let part = all.part(&mut std::iter::once((builtin::HTTP_REQ_FAILED, tags)), 3_000);
        assert!(texts(&part)[0].contains("2000..3000 url,condition 1i"), "{:?}", texts(&part));
    }
}
