//! Totals, watched sub-metrics, and what is refused.

use std::sync::Arc;

use super::*;
use crate::{builtin, sink::Gauge};

fn tags(pairs: &[(&str, &str)]) -> TagPairs {
    pairs.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect()
}

fn rate(hits: u64, total: u64) -> Sink {
    Sink::Rate { hits, total }
}

type Part<'a> = (MetricId, &'a [(&'a str, &'a str)], Sink);

fn delta(parts: &[Part<'_>]) -> Delta {
    let mut delta = Delta::default();
    for (metric, pairs, sink) in parts {
        delta.push(*metric, tags(pairs), sink.clone());
    }
    delta
}

#[test]
fn totals_follow_the_series() {
    let registry = Registry::new();
    let mut merged = Merged::new(&registry);
    assert_eq!(merged.sink(builtin::CHECKS), None);
    merged.add(&delta(&[(builtin::CHECKS, &[("check", "a")], rate(1, 1))]));
    assert_eq!(merged.sink(builtin::CHECKS), Some(&rate(1, 1)));
    merged.add(&delta(&[
        (builtin::CHECKS, &[("check", "b")], rate(0, 2)),
        (builtin::CHECKS, &[("check", "a")], rate(2, 3)),
        (builtin::VUS, &[], Sink::Gauge(Gauge::new(3.0, 1))),
    ]));
    merged.add(&delta(&[(builtin::CHECKS, &[("check", "c")], rate(5, 5))]));
    assert_eq!(merged.sink(builtin::CHECKS), Some(&rate(8, 11)));
    let names: Vec<_> = merged
        .series_of(builtin::CHECKS)
        .map(|series| (series.tag("check").unwrap_or(""), series.sink.rate()))
        .collect();
    assert_eq!(names, [("a", Some((3, 4))), ("b", Some((0, 2))), ("c", Some((5, 5)))]);
    let metrics: Vec<_> = merged.metrics().map(|(metric, _)| &*metric.name).collect();
    assert_eq!(metrics, ["vus", "checks"]);
    assert_eq!(merged.series_len(), 4);
}

#[test]
fn watched_or_not_a_sub_metric_is_the_same() {
    let registry = Registry::new();
    let sub = SubMetric::parse("checks{a:1}", &registry).expect("well-formed");
    let deltas = [
        delta(&[(builtin::CHECKS, &[("a", "1")], rate(1, 1)), (builtin::CHECKS, &[("a", "2")], rate(0, 4))]),
        delta(&[(builtin::CHECKS, &[("a", "1"), ("b", "x")], rate(2, 3)), (builtin::CHECKS, &[], rate(1, 1))]),
        delta(&[(builtin::CHECKS, &[("a", "1")], rate(1, 2))]),
    ];
    // Watched before the first, the second, the third delta, and never.
    for watched_from in 0..4 {
        let mut merged = Merged::new(&registry);
        for (index, delta) in deltas.iter().enumerate() {
            if index == watched_from {
                merged.watch(&sub);
                merged.watch(&sub);
            }
            merged.add(delta);
        }
        assert_eq!(merged.submetric(&sub).as_deref(), Some(&rate(4, 6)), "{watched_from}");
    }
    let none = SubMetric::parse("checks{a:3}", &registry).expect("well-formed");
    let mut merged = Merged::new(&registry);
    merged.watch(&none);
    merged.add(&deltas[0]);
    assert_eq!(merged.submetric(&none), None);
}

#[test]
fn what_does_not_fit_is_counted_not_merged() {
    let registry = Registry::new();
    let mut merged = Merged::new(&registry);
    merged.add(&delta(&[(builtin::CHECKS, &[], Sink::Gauge(Gauge::new(1.0, 1))), (MetricId(9_999), &[], rate(1, 1))]));
    assert_eq!((merged.series_len(), merged.samples_lost()), (0, 2));
}

#[test]
fn warnings_come_once_a_tag() {
    let mut merged = Merged::new(&Registry::new());
    let warning = CardinalityWarning { tag: Arc::from("name"), examples: vec!["x".to_owned()] };
    for _ in 0..2 {
        merged.add(&Delta { warnings: vec![warning.clone()], values_cut: 2, samples_lost: 1, ..Delta::default() });
    }
    assert_eq!(merged.warnings(), [warning]);
    assert_eq!((merged.values_cut(), merged.samples_lost()), (4, 2));
}
