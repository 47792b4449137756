//! InfluxDB's line protocol: a point a line.

use std::fmt::Write as _;

use onrush_metrics::{Histogram, Registry, Sink, summary::TrendStat};

use super::fields::FieldKinds;
use crate::regrouped::Regrouped;

/// Writes points.
pub(super) struct Lines {
    pub(super) registry: Registry,
    pub(super) stats: Vec<TrendStat>,
    pub(super) apart: FieldKinds,
}

impl Lines {
    /// Adds a line for a series; nothing, where no number can be written.
    pub(super) fn add(&self, series: &Regrouped, time: i64, out: &mut String) {
        let Some(metric) = self.registry.find(series.metric) else { return };
        let start = out.len();
        put_name(&metric.name, out);
        series.tags.iter().for_each(|(name, value)| put_tag(name, value, out));
        let fields = out.len();
        self.numbers(&series.sink, out);
        if out.len() == fields {
            return out.truncate(start);
        }
        out.replace_range(fields..=fields, " ");
        series.apart.iter().for_each(|(name, value)| put_field(name, value, &self.apart, out));
        // Writing to memory cannot fail.
        let _ = writeln!(out, " {time}");
    }

    fn numbers(&self, sink: &Sink, out: &mut String) {
        match sink {
            Sink::Counter { sum } => number("value", sum.value(), out),
            Sink::Gauge(gauge) => {
                number("value", gauge.last, out);
                number("min", gauge.min, out);
                number("max", gauge.max, out);
            }
            Sink::Rate { hits, total } => {
                number("value", *hits as f64, out);
                whole("count", *total, out);
            }
            Sink::Trend(values) => {
                number("value", values.mean(), out);
                whole("count", values.count(), out);
                number("sum", values.sum(), out);
                self.stats.iter().for_each(|stat| number(&name(stat), statistic(stat, values), out));
            }
        }
    }
}

/// What a point is of.
pub(crate) fn put_name(metric: &str, out: &mut String) {
    escaped(metric, &[',', ' '], out);
}

/// A tag with the comma before it.
pub(crate) fn put_tag(name: &str, value: &str, out: &mut String) {
    out.push(',');
    escaped(name, &[',', '=', ' '], out);
    out.push('=');
    escaped(value, &[',', '=', ' '], out);
}

/// A tag that is a field, with the comma before it.
pub(crate) fn put_field(name: &str, value: &str, apart: &FieldKinds, out: &mut String) {
    out.push(',');
    escaped(name, &[',', '=', ' '], out);
    out.push('=');
    apart.write(name, value, out);
}

fn statistic(stat: &TrendStat, values: &Histogram) -> f64 {
    stat.of(values)
}

/// `p(99.9)` is `p99_9`: points and brackets would have to be quoted in queries.
fn name(stat: &TrendStat) -> String {
    stat.name()
        .chars()
        .filter(|sign| !['(', ')'].contains(sign))
        .map(|sign| if sign == '.' { '_' } else { sign })
        .collect()
}

/// There is no way to write numbers that are none.
fn number(name: &str, value: f64, out: &mut String) {
    if value.is_finite() {
        let _ = write!(out, ",{name}={value}");
    }
}

fn whole(name: &str, value: u64, out: &mut String) {
    let _ = write!(out, ",{name}={}i", i64::try_from(value).unwrap_or(i64::MAX));
}

/// A name or the value of a tag. Lines cannot be broken, and nothing may end in a backslash: it would stand before what follows.
fn escaped(text: &str, special: &[char], out: &mut String) {
    let body = text.trim_end_matches('\\');
    for sign in body.chars() {
        if special.contains(&sign) {
            out.push('\\');
        }
        if sign.is_control() {
            // It has to be escaped as a blank.
            out.push_str("\\ ");
        } else {
            out.push(sign);
        }
    }
    out.extend(std::iter::repeat_n('/', text.len() - body.len()));
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Delta, ExactSum, Gauge, Step, TagPairs, builtin};

    use super::*;
    use crate::regrouped::regrouped;

    fn check(tags: &[(&str, &str)], metric: onrush_metrics::MetricId, sink: Sink, expect: &str) {
        let stats = TrendStat::parse_list(&["min", "p(99.9)", "max"]).expect("valid");
        let apart = FieldKinds::parse("url,n:int,f:float,b:bool").expect("valid");
        let tags: TagPairs = tags.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let mut delta = Delta::default();
        delta.push(metric, tags, sink);
        let lines = Lines { registry: Registry::new(), stats, apart };
        let mut out = String::new();
        for series in regrouped(Step { span: None, delta }, |name| lines.apart.has(name)) {
            lines.add(&series, 7, &mut out);
        }
        assert_eq!(out, expect);
    }

    fn counter(value: f64) -> Sink {
        let mut sum = ExactSum::default();
        sum.add(value);
        Sink::Counter { sum }
    }

    #[test]
    fn points() {
        check(&[], builtin::HTTP_REQS, counter(3.0), "http_reqs value=3 7\n");
        check(&[], builtin::HTTP_REQS, counter(f64::INFINITY), "");
        let gauge = Sink::Gauge(Gauge { last: 2.0, min: 1.0, max: 2.5, updated: 1 });
        check(&[], builtin::VUS, gauge, "vus value=2,min=1,max=2.5 7\n");
        check(&[], builtin::CHECKS, Sink::Rate { hits: 1, total: 4 }, "checks value=1,count=4i 7\n");
        let mut values = Histogram::new();
        [1.0, 2.0, 6.0].into_iter().for_each(|value| values.record(value));
        let line = "http_req_duration value=3,count=3i,sum=9,min=1,p99_9=5.992000000000001,max=6 7\n";
        check(&[], builtin::HTTP_REQ_DURATION, Sink::Trend(values), line);
    }

    #[test]
    fn whatever_tags_say_is_one_line() {
        let check = |tags: &[(&str, &str)], expect: &str| {
            check(tags, builtin::HTTP_REQS, counter(1.0), &format!("http_reqs{expect} 7\n"));
        };
        check(&[("a b", "x, y=z")], ",a\\ b=x\\,\\ y\\=z value=1");
        check(&[("line", "1\n2\r3")], ",line=1\\ 2\\ 3 value=1");
        check(&[("end", "a\\b\\\\"), ("z", "\\")], ",end=a\\b//,z=/ value=1");
        check(&[("none", ""), ("", "none"), ("ü", "💥")], ",ü=💥 value=1");
        // Out of the index.
        check(&[("url", "http://\"a\"\\ b\n")], " value=1,url=\"http://\\\"a\\\"\\\\ b\n\"");
        check(&[("n", "5"), ("f", "0.5"), ("b", "true")], " value=1,n=5i,f=0.5,b=true");
        check(&[("n", "five"), ("f", "NaN"), ("b", "maybe")], " value=1,n=\"five\",f=\"NaN\",b=\"maybe\"");
    }
}
