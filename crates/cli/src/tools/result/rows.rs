//! What a series measured in a step, as numbers in columns: for exports, and for `--out summary-csv`.

use onrush_metrics::{DeltaSeries, Histogram, Metric, Sink, Span, TagPairs};

/// A series in a step.
pub(crate) struct Row<'a> {
    span: Option<Span>,
    pub(super) metric: &'a str,
    pub(super) kind: &'static str,
    pub(super) tags: &'a TagPairs,
    sink: &'a Sink,
}

/// The columns of a table of rows, but for [`VALUES`].
pub(crate) const COLUMNS: [&str; 5] = ["from", "seconds", "metric", "type", "tags"];

/// The columns of numbers.
pub(crate) const VALUES: [&str; 12] =
    ["count", "sum", "rate", "value", "min", "avg", "med", "p(90)", "p(95)", "p(99)", "p(99.9)", "max"];

impl<'a> Row<'a> {
    /// A series of a step with this span; `None` where it is not of the metric's kind.
    pub(crate) fn new(span: Option<Span>, metric: &'a Metric, series: &'a DeltaSeries) -> Option<Self> {
        let row =
            Self { span, metric: &metric.name, kind: metric.kind.as_str(), tags: &series.tags, sink: &series.sink };
        (metric.kind == series.sink.kind()).then_some(row)
    }

    /// When it began and how long it is, in seconds of the scenarios.
    pub(super) fn time(&self) -> Option<(f64, f64)> {
        self.span.map(|span| (span.from_ns as f64 / 1e9, (span.until_ns - span.from_ns) as f64 / 1e9))
    }

    /// What [`VALUES`] say about it; `None` for what its type has not.
    pub(super) fn values(&self) -> [Option<f64>; VALUES.len()] {
        let mut values = [None; VALUES.len()];
        let mut set = |name: &str, value: f64| {
            if let Some(place) = VALUES.iter().position(|known| *known == name) {
                values[place] = Some(value);
            }
        };
        match self.sink {
            Sink::Counter { .. } => {
                let sum = self.sink.counter().unwrap_or_default();
                set("sum", sum);
                self.time()
                    .filter(|(_, seconds)| *seconds > 0.0)
                    .into_iter()
                    .for_each(|(_, seconds)| set("rate", sum / seconds));
            }
            Sink::Gauge(gauge) => {
                set("value", gauge.last);
                set("min", gauge.min);
                set("max", gauge.max);
            }
            Sink::Rate { hits, total } => {
                set("count", *total as f64);
                set("sum", *hits as f64);
                set("rate", if *total == 0 { 0.0 } else { *hits as f64 / *total as f64 });
            }
            Sink::Trend(times) => {
                set("count", times.count() as f64);
                set("sum", times.sum());
                for (name, value) in trend(times) {
                    set(name, value);
                }
            }
        }
        values
    }

    /// The cells of a table with [`COLUMNS`] and [`VALUES`]; what it has not is empty.
    pub(crate) fn cells(&self) -> impl Iterator<Item = String> + use<> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let time = self.time();
        let tags = self.tags.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let texts = [
            number(time.map(|(from, _)| from)),
            number(time.map(|(_, seconds)| seconds)),
            self.metric.to_owned(),
            self.kind.to_owned(),
            tags,
        ];
        texts.into_iter().chain(self.values().map(number))
    }
}

fn trend(times: &Histogram) -> [(&'static str, f64); 8] {
    [
        ("min", times.min()),
        ("avg", times.mean()),
        ("med", times.quantile(0.5)),
        ("p(90)", times.quantile(0.9)),
        ("p(95)", times.quantile(0.95)),
        ("p(99)", times.quantile(0.99)),
        ("p(99.9)", times.quantile(0.999)),
        ("max", times.max()),
    ]
}
