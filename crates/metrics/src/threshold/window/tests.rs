//! Windows without a clock: deltas with spans in, judgements out.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    delta::{Delta, TagPairs},
    merged::Merged,
    registry::{Contains, Registry},
    threshold::{Phase, ThresholdError, ThresholdSource, Thresholds},
};

const S: i64 = NS_PER_S as i64;

fn registry() -> Registry {
    let mut registry = Registry::new();
    for (name, kind) in [("c", MetricKind::Counter), ("r", MetricKind::Rate), ("t", MetricKind::Trend)] {
        registry.declare(&format!("my_{name}"), kind, Contains::Default).expect("a good name");
    }
    registry
}

fn parse(metric: &str, expression: &str, window: WindowSource) -> Result<Thresholds, Vec<ThresholdError>> {
    let source = ThresholdSource { expression: expression.to_owned(), window, ..ThresholdSource::default() };
    Thresholds::parse(&[(metric.to_owned(), vec![source])].into(), &registry())
}

fn window(over_s: i64, for_windows: u64, after_s: i64) -> WindowSource {
    WindowSource {
        over_ns: (over_s > 0).then_some(over_s * S),
        for_windows: (over_s > 0).then_some(for_windows),
        after_ns: Some(after_s * S),
    }
}

fn span(from_s: u64, until_s: u64) -> Span {
    Span { from_ns: from_s * NS_PER_S, until_ns: until_s * NS_PER_S }
}

fn delta(metric: &str, tags: &[(&str, &str)], values: &[f64]) -> Delta {
    let registry = registry();
    let id = registry.lookup(metric).expect("declared");
    let tags: TagPairs = tags.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect();
    let sink = match registry.metric(id).kind {
        MetricKind::Counter => {
            let mut sum = crate::ExactSum::default();
            values.iter().for_each(|value| sum.add(*value));
            Sink::Counter { sum }
        }
        MetricKind::Rate => {
            Sink::Rate { hits: values.iter().filter(|value| **value != 0.0).count() as u64, total: values.len() as u64 }
        }
        _ => {
            let mut histogram = crate::Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            Sink::Trend(histogram)
        }
    };
    let mut delta = Delta::default();
    delta.push(id, tags, sink);
    delta
}

/// One value a second; `None` is a second without samples.
fn run(mut thresholds: Thresholds, metric: &str, seconds: &[Option<f64>]) -> (bool, String) {
    let mut merged = Merged::new(&registry());
    for (second, value) in seconds.iter().enumerate() {
        let delta = value.map_or_else(Delta::default, |value| delta(metric, &[("a", "b")], &[value]));
        merged.add(&delta);
        let second = second as u64;
        thresholds.add(&delta, span(second, second + 1));
        thresholds.close_windows((second + 1) * NS_PER_S);
    }
    thresholds.finish_windows();
    let crossed = thresholds.evaluate(&merged, seconds.len() as u64 * NS_PER_S, Phase::End).crossed;
    let result = &thresholds.results()[0].expressions[0];
    let observed = result.observed.map_or_else(|| "-".to_owned(), |value| value.to_string());
    assert_eq!(result.ok, crossed.is_empty());
    (result.ok, format!("{observed}: {}", result.history.statement()))
}

fn check(metric: &str, expression: &str, source: WindowSource, seconds: &[f64], expect: (bool, &str)) {
    let thresholds = parse(metric, expression, source).expect("valid");
    let seconds: Vec<_> = seconds.iter().map(|value| (!value.is_nan()).then_some(*value)).collect();
    let (base, _) = metric.split_once('{').unwrap_or((metric, ""));
    let (ok, text) = run(thresholds, base, &seconds);
    assert_eq!((ok, &*text), expect, "{expression} {source:?} {seconds:?}");
}

const NONE: f64 = f64::NAN;

#[test]
fn each_window_counts_its_own_samples() {
    let seconds = [1.0, 1.0, 9.0, 9.0, 1.0, 1.0];
    check("my_t", "avg<5", window(2, 1, 0), &seconds, (false, "9: held in 66.6 % of 3 windows, first crossed at 4s"));
    check("my_t", "avg<5", window(3, 1, 0), &seconds, (true, "3.6666666666666665: held in 100 % of 2 windows"));
    check("my_t{a:b}", "max<5", window(1, 1, 0), &[9.0], (false, "9: held in 0 % of 1 window, first crossed at 1s"));
    check("my_t{a:c}", "max<5", window(1, 1, 0), &[9.0], (true, "-: never judged: there was no window"));
}

#[test]
fn only_so_many_failing_windows_in_a_row_cross() {
    let bad_good = [9.0, 1.0, 9.0, 9.0, 1.0];
    check("my_t", "avg<5", window(1, 3, 0), &bad_good, (true, "1: held in 40 % of 5 windows"));
    check("my_t", "avg<5", window(1, 2, 0), &bad_good, (false, "9: held in 40 % of 5 windows, first crossed at 4s"));
    // A window without values neither fails nor holds.
    let gap = [9.0, NONE, 8.0, 1.0];
    check("my_t", "avg<5", window(1, 2, 0), &gap, (false, "8: held in 33.3 % of 3 windows, first crossed at 3s"));
}

#[test]
fn counters_are_rates_of_their_window_and_nothing_counts_as_nothing() {
    let seconds = [10.0, 10.0, NONE, NONE, 10.0, 10.0];
    check("my_c", "rate>5", window(2, 1, 0), &seconds, (false, "0: held in 66.6 % of 3 windows, first crossed at 4s"));
    check("my_c", "count==20", window(2, 1, 4), &seconds, (true, "20: held in 100 % of 1 window"));
    check("my_r", "rate>0.4", window(2, 1, 0), &[1.0, 0.0], (true, "0.5: held in 100 % of 1 window"));
}

#[test]
fn a_warm_up_does_not_count() {
    let seconds = [9.0, 9.0, 1.0, 1.0];
    check("my_t", "avg<5", window(0, 1, 2), &seconds, (true, "1: held in 100 % of 1 evaluation"));
    check("my_t", "avg<5", window(2, 1, 1), &seconds, (false, "5: held in 0 % of 1 window, first crossed at 3s"));
    check("my_c", "rate==1", window(0, 1, 2), &seconds, (true, "1: held in 100 % of 1 evaluation"));
    check(
        "my_c",
        "count<5",
        window(0, 1, 0),
        &seconds,
        (false, "20: held in 0 % of 1 evaluation, first crossed at 4s"),
    );
}

#[test]
fn what_is_longer_than_the_test() {
    // A window that never ended is judged as far as it went.
    let seconds = [9.0, 9.0];
    check("my_t", "avg<5", window(60, 1, 0), &seconds, (false, "9: held in 0 % of 1 window, first crossed at 2s"));
    check("my_c", "rate==9", window(60, 1, 0), &seconds, (true, "9: held in 100 % of 1 window"));
    check("my_t", "avg<5", window(60, 2, 0), &seconds, (true, "9: held in 0 % of 1 window"));
    check("my_t", "avg<5", window(60, 1, 60), &seconds, (true, "-: never judged: there was no window"));
    check("my_t", "avg<5", window(0, 1, 60), &seconds, (true, "-: never judged: no samples"));
    check("my_c", "count>0", window(0, 1, 60), &seconds, (true, "-: never judged: no samples"));
}

#[test]
fn a_late_delta_counts_in_the_window_that_is_open() {
    let mut thresholds = parse("my_c", "count<2", window(1, 1, 0)).expect("valid");
    thresholds.start_scenarios(7 * NS_PER_S);
    thresholds.add(&delta("my_c", &[], &[1.0]), span(0, 1));
    thresholds.close_windows(NS_PER_S);
    thresholds.add(&delta("my_c", &[], &[1.0]), span(0, 1));
    thresholds.add(&delta("my_c", &[], &[1.0]), span(1, 2));
    thresholds.close_windows(2 * NS_PER_S);
    let result = &thresholds.results()[0].expressions[0];
    assert_eq!(result.history.statement(), "held in 50 % of 2 windows, first crossed at 9s");
    let running = thresholds.evaluate(&Merged::new(&registry()), 9 * NS_PER_S, Phase::Running);
    assert_eq!(running.crossed, ["my_c"], "though the whole run has no samples here");
}

#[test]
fn a_crossed_window_may_end_the_run() {
    let source = ThresholdSource {
        expression: "count<2".to_owned(),
        abort_on_fail: true,
        delay_abort_eval_ns: Some(5 * NS_PER_S),
        window: window(1, 1, 0),
    };
    let mut thresholds = Thresholds::parse(&[("my_c".to_owned(), vec![source])].into(), &registry()).expect("valid");
    thresholds.add(&delta("my_c", &[], &[5.0]), span(0, 1));
    thresholds.close_windows(NS_PER_S);
    let merged = Merged::new(&registry());
    assert!(!thresholds.evaluate(&merged, 4 * NS_PER_S, Phase::Running).abort);
    assert!(thresholds.evaluate(&merged, 6 * NS_PER_S, Phase::Running).abort);
}

#[test]
fn names_and_mistakes() {
    let name = |window| parse("my_t", "avg<5", window).expect("valid").results()[0].expressions[0].source.clone();
    assert_eq!(name(window(60, 3, 30)), "avg<5 over 1m0s for 3 after 30s");
    assert_eq!(name(window(0, 1, 3_661)), "avg<5 after 1h1m1s");
    assert_eq!(name(WindowSource { after_ns: Some(0), ..WindowSource::default() }), "avg<5");
    let mistake = |over_ns, for_windows, after_ns, expect: &str| {
        let errors = parse("my_t", "avg<5", WindowSource { over_ns, for_windows, after_ns }).expect_err("a mistake");
        let expect = format!("invalid threshold \"avg<5\" applied on metric my_t; reason: {expect}");
        assert_eq!(errors[0].message, expect);
    };
    let over = "'over' must be a whole number of seconds from 1s, such as '60s'";
    mistake(Some(S / 2), None, None, over);
    mistake(Some(0), None, None, over);
    mistake(Some(-S), None, None, over);
    mistake(Some(S + 1), None, None, over);
    mistake(Some(i64::MAX), None, None, over);
    mistake(None, None, Some(-1), "'after' must be a whole number of seconds, such as '30s'");
    mistake(None, Some(3), None, "'for' counts windows, so it needs their length: 'over'");
    mistake(Some(S), Some(0), None, "'for' must be at least 1");
}

proptest! {
    /// However samples are spread over threads, and in whatever order these report, windows are the same.
    #[test]
    fn windows_do_not_depend_on_threads(
        samples in prop::collection::vec((0_u64..20, 0_usize..7, -10.0..10.0_f64), 0..80),
        over in 1_i64..6, count in 1_u64..4, after in 0_i64..8, reversed: bool,
    ) {
        let judged = |threads: usize| {
            let mut thresholds = parse("my_t", "avg<1", window(over, count, after)).expect("valid");
            for second in 0..20_u64 {
                let mut order: Vec<usize> = (0..threads).collect();
                if reversed { order.reverse(); }
                for thread in order {
                    let own: Vec<f64> = samples.iter()
                        .filter(|(at, by, _)| *at == second && by % threads == thread).map(|(_, _, value)| *value).collect();
                    let delta = if own.is_empty() { Delta::default() } else { delta("my_t", &[], &own) };
                    thresholds.add(&delta, span(second, second + 1));
                }
                thresholds.close_windows((second + 1) * NS_PER_S);
            }
            thresholds.finish_windows();
            thresholds.evaluate(&Merged::new(&registry()), 20 * NS_PER_S, Phase::End);
            let result = &thresholds.results()[0].expressions[0];
            (result.ok, result.observed.map(f64::to_bits), result.history)
        };
        let whole = judged(1);
        for threads in [2, 3, 7] {
            prop_assert_eq!(judged(threads), whole);
        }
        // And they are what a look at all samples gives.
        let windows = (20 - after) / over;
        let mut streak = 0;
        let mut held = 0;
        let mut found = 0;
        let mut ok = true;
        for number in 0..windows {
            let from = (after + number * over) as u64;
            let own: Vec<f64> = samples.iter().filter(|(at, ..)| (from..from + over as u64).contains(at)).map(|(.., value)| *value).collect();
            if own.is_empty() { continue; }
            found += 1;
            let mut sum = crate::ExactSum::default();
            own.iter().for_each(|value| sum.add(*value));
            if sum.value() / own.len() as f64 >= 1.0 { streak += 1; } else { streak = 0; held += 1; }
            ok &= streak < count;
        }
        prop_assert_eq!((whole.0, whole.2.judged, whole.2.held), (ok, found, held));
    }
}
