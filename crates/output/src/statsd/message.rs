//! The lines of StatsD and of Datadog's dialect.

use std::{collections::BTreeMap, fmt::Write as _};

use onrush_metrics::{Registry, Sink, builtin};

use super::weights::{Weighted, weighted};
use crate::regrouped::Regrouped;

/// How trends are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A line for each value, as timings.
    StatsD,
    /// Several values in a line, as distributions: Datadog's servers put those of all hosts together.
    Datadog,
}

/// Writes lines.
pub(super) struct Messages {
    pub(super) registry: Registry,
    pub(super) dialect: Dialect,
    pub(super) namespace: String,
    /// Whether lines have tags.
    pub(super) has_tags: bool,
    /// Bytes of the longest line.
    pub(super) line_bytes_max: usize,
}

impl Messages {
    /// Adds the lines for a series.
    pub(super) fn add(&self, series: &Regrouped, out: &mut Vec<String>) {
        let Some(metric) = self.registry.find(series.metric) else { return };
        let name = format!("{}{}", self.namespace, fit(&metric.name));
        let tags = self.tags(series);
        let one = |name: &str, value: f64, kind: &str| {
            // There is no way to write numbers that are none.
            value.is_finite().then(|| format!("{name}:{value}|{kind}{tags}"))
        };
        match &series.sink {
            Sink::Counter { sum } => out.extend(one(&name, sum.value(), "c")),
            Sink::Gauge(gauge) => {
                // A sign would mean a change by that much.
                if gauge.last < 0.0 {
                    out.extend(one(&name, 0.0, "g"));
                }
                out.extend(one(&name, gauge.last, "g"));
            }
            Sink::Rate { hits, total } => {
                out.extend(one(&name, *hits as f64, "c"));
                // k6 has none: without it, no rate can be computed.
                out.extend(one(&format!("{name}.total"), *total as f64, "c"));
                let check = series.tags.iter().find(|(tag, _)| **tag == *"check").map(|(_, name)| fit(name));
                if let Some(check) = check.filter(|_| series.metric == builtin::CHECKS) {
                    let outcomes = [("pass", *hits), ("fail", total.saturating_sub(*hits))];
                    for (outcome, count) in outcomes.into_iter().filter(|(_, count)| *count > 0) {
                        out.extend(one(&format!("{}check.{check}.{outcome}", self.namespace), count as f64, "c"));
                    }
                }
            }
            Sink::Trend(values) => self.add_values(&name, &weighted(values), &tags, out),
        }
    }

    /// Values that stand for as many are in one line, where the dialect has that.
    fn add_values(&self, name: &str, values: &[Weighted], tags: &str, out: &mut Vec<String>) {
        let mut by_count: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for each in values.iter().filter(|each| each.value.is_finite()) {
            by_count.entry(each.count).or_default().push(each.value);
        }
        let kind = match self.dialect {
            Dialect::StatsD => "ms",
            Dialect::Datadog => "d",
        };
        for (count, values) in by_count {
            let share = if count == 1 { String::new() } else { format!("|@{}", share_of(count)) };
            let end = format!("|{kind}{share}{tags}");
            let mut line = name.to_owned();
            let mut has_values = false;
            for value in values {
                let value = format!(":{value}");
                let is_full =
                    self.dialect == Dialect::StatsD || line.len() + value.len() + end.len() > self.line_bytes_max;
                if has_values && is_full {
                    out.push(std::mem::replace(&mut line, name.to_owned()) + &end);
                }
                line += &value;
                has_values = true;
            }
            if has_values {
                out.push(line + &end);
            }
        }
    }

    fn tags(&self, series: &Regrouped) -> String {
        let mut text = String::new();
        for (index, (name, value)) in series.tags.iter().enumerate().filter(|_| self.has_tags) {
            let before = if index == 0 { "|#" } else { "," };
            // Writing to memory cannot fail.
            let _ = write!(text, "{before}{}:{}", fit(name), fit_value(value));
        }
        text
    }
}

/// The share of samples that are told, where one stands for `count`. Receivers divide by it, and cut what comes out to a whole number.
fn share_of(count: u64) -> f64 {
    let mut share = 1.0 / count as f64;
    while ((1.0 / share) as u64) < count {
        share = share.next_down();
    }
    share
}

/// A name without what ends it.
fn fit(text: &str) -> String {
    let is_special =
        |sign: char| matches!(sign, ':' | '|' | '@' | '#' | ',') || sign.is_control() || sign.is_whitespace();
    text.chars().map(|sign| if is_special(sign) { '_' } else { sign }).collect()
}

/// The value of a tag: it may have colons.
fn fit_value(text: &str) -> String {
    let is_special = |sign: char| matches!(sign, '|' | '#' | ',') || sign.is_control();
    text.chars().map(|sign| if is_special(sign) { '_' } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, ExactSum, Gauge, Histogram, MetricId, Step, TagPairs};

    use super::*;
    use crate::regrouped::regrouped;

    fn lines(dialect: Dialect, tags: &[(&str, &str)], metric: MetricId, sink: Sink) -> Vec<String> {
        let tags: TagPairs = tags.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let mut delta = Delta::default();
        delta.push(metric, tags, sink);
        let (registry, namespace) = (Registry::new(), "k6.".to_owned());
        let messages =
            Messages { registry, dialect, namespace, has_tags: dialect == Dialect::Datadog, line_bytes_max: 60 };
        let mut out = Vec::new();
        regrouped(Step { span: None, delta }, |name| name == "url")
            .iter()
            .for_each(|series| messages.add(series, &mut out));
        out
    }

    #[test]
    fn kinds() {
        use Dialect::{Datadog, StatsD};
        let counter = |value: f64| {
            let mut sum = ExactSum::default();
            sum.add(value);
            Sink::Counter { sum }
        };
        let tags = [("a:b", "http://x|y,z"), ("url", "u"), ("z", "\n")];
        assert_eq!(lines(StatsD, &tags, builtin::HTTP_REQS, counter(3.0)), ["k6.http_reqs:3|c"]);
        assert_eq!(lines(Datadog, &tags, builtin::HTTP_REQS, counter(3.0)), ["k6.http_reqs:3|c|#a_b:http://x_y_z,z:_"]);
        assert!(lines(StatsD, &[], builtin::HTTP_REQS, counter(f64::INFINITY)).is_empty());
        let gauge = |last| Sink::Gauge(Gauge::new(last, 1));
        assert_eq!(lines(StatsD, &[], builtin::VUS, gauge(5.0)), ["k6.vus:5|g"]);
        assert_eq!(lines(StatsD, &[], builtin::VUS, gauge(-5.0)), ["k6.vus:0|g", "k6.vus:-5|g"]);
        let rate = Sink::Rate { hits: 3, total: 4 };
        let found = lines(StatsD, &[("check", "it is: ok")], builtin::CHECKS, rate);
        let expect =
            ["k6.checks:3|c", "k6.checks.total:4|c", "k6.check.it_is__ok.pass:3|c", "k6.check.it_is__ok.fail:1|c"];
        assert_eq!(found, expect);
    }

    #[test]
    fn trends() {
        let few = || {
            let mut values = Histogram::new();
            [1.5, 2.0, 4.0].into_iter().for_each(|value| values.record(value));
            Sink::Trend(values)
        };
        let found = lines(Dialect::StatsD, &[], builtin::HTTP_REQ_DURATION, few());
        assert_eq!(found, [1.5, 2.0, 4.0].map(|value| format!("k6.http_req_duration:{value}|ms")));
        let found = lines(Dialect::Datadog, &[], builtin::HTTP_REQ_DURATION, few());
        assert_eq!(found, ["k6.http_req_duration:1.5:2:4|d"]);
        let mut values = Histogram::new();
        (0..20_000).for_each(|value| values.record(f64::from(value % 200) + 1.0));
        let found = lines(Dialect::Datadog, &[], builtin::HTTP_REQ_DURATION, Sink::Trend(values.clone()));
        assert!(found.iter().all(|line| line.len() <= 60 + "|@0.00000000000000000".len()), "{found:?}");
        // What receivers make of it.
        for dialect in [Dialect::StatsD, Dialect::Datadog] {
            let counts =
                lines(dialect, &[], builtin::HTTP_REQ_DURATION, Sink::Trend(values.clone())).into_iter().map(|line| {
                    let (before, after) = line.split_once('|').expect("a kind");
                    let share: f64 = after.split_once('@').map_or(1.0, |(_, share)| share.parse().expect("a share"));
                    (before.split(':').count() as u64 - 1) * (1.0 / share) as u64
                });
            assert_eq!(counts.sum::<u64>(), 20_000);
        }
    }

    #[test]
    fn shares_give_whole_numbers_back() {
        for count in (1..10_000).chain([u64::from(u32::MAX), 1 << 52]) {
            assert_eq!((1.0 / share_of(count)) as u64, count);
        }
    }
}
