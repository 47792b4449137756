//! Numbers computed from the records equal those of the summary.

use onrush_metrics::{DeltaSum, Ending, Merged, Outcome, Steps};
use proptest::prelude::*;
use serde_json::Value;

use crate::{client::Client, *};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However a run's values are split over steps, series and reads.
    #[test]
    fn percentiles_and_sums_are_those_of_the_summary(
        parts in proptest::collection::vec(
            (0..900_u64, 0..3_u8, proptest::collection::vec(prop_oneof![Just(0.0), -5.0..50.0, 1e-9..1e9], 0..120)),
            1..40,
        ),
        bytes_max in 1..20_000_usize,
    ) {
        let (mut merged, mut steps, mut history) = (Merged::new(&Registry::new()), Steps::of_seconds(), history());
        let mut sorted = parts;
        sorted.sort_by_key(|(second, _, _)| *second);
        for (second, name, values) in &sorted {
            let tags: TagPairs = [("name".into(), format!("n{name}").into())].into();
            let (mut times, mut sum) = (Histogram::new(), ExactSum::default());
            values.iter().for_each(|value| { times.record(*value); sum.add(*value); });
            let mut delta = Delta::default();
            delta.push(builtin::HTTP_REQ_DURATION, tags.clone(), Sink::Trend(times));
            delta.push(builtin::DATA_SENT, tags.clone(), Sink::Counter { sum });
            delta.push(builtin::CHECKS, tags, Sink::Rate { hits: values.len() as u64 / 2, total: values.len() as u64 });
            let outcome = Outcome { ending: Ending::Status(200), count: 1, first_ns: 0, last_ns: 0, example: "GET <a>".into() };
            delta.outcomes.push(outcome);
            merged.add(&delta);
            let span = Span { from_ns: second * NS_PER_S, until_ns: (second + 1) * NS_PER_S };
            steps.add(&delta, Some(span)).iter().for_each(|step| history.step(step));
        }
        let open = steps.open().expect("the last seconds are open");
        history.open(&open);
        // Live, with what is open.
        let mut live = Client::default();
        let mut cursor = history.cursor(None);
        loop {
            let batch = history.read(&mut cursor, bytes_max);
            if batch.is_empty() {
                break;
            }
            live.take_events(&batch.to_events());
        }
        // In a report, where it is over and long past.
        steps.rest().iter().for_each(|step| history.step(step));
        history.settle();
        let mut report = Client::default();
        report.take_lines(&lines(&history));
        prop_assert_eq!((live.heads, report.heads), (1, 1));
        for client in [&live, &report] {
            let duration = u64::from(builtin::HTTP_REQ_DURATION.0);
            let mut of_names = vec![(None, merged.sink(builtin::HTTP_REQ_DURATION).cloned())];
            for series in merged.series_of(builtin::HTTP_REQ_DURATION) {
                of_names.push((series.tag("name").map(str::to_owned), Some(series.sink.clone())));
            }
            for (name, sink) in of_names {
                let expect = sink.as_ref().and_then(Sink::trend).expect("a trend").clone();
                let got = client.trend(duration, |tags| name.is_none() || tags["name"].as_str() == name.as_deref());
                prop_assert_eq!(got.count, expect.count());
                if got.count == 0 {
                    continue;
                }
                prop_assert!(near(got.sum, expect.sum()), "sum {} {}", got.sum, expect.sum());
                // serde_json reads the last digit wrong without a feature of its own.
                prop_assert!(near(got.min, expect.min()) && near(got.max, expect.max()));
                for q in [0.0, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
                    let (got, expect) = (got.quantile(q), expect.quantile(q));
                    prop_assert!(near(got, expect), "p({}) {} {}", q, got, expect);
                }
            }
            let sent = merged.sink(builtin::DATA_SENT).and_then(Sink::counter).expect("a counter");
            // Adding what was rounded rounds again.
            prop_assert!((client.counter(u64::from(builtin::DATA_SENT.0)) - sent).abs() <= 1e-9 * 1e9 * 120.0);
            let checks = merged.sink(builtin::CHECKS).and_then(Sink::rate).expect("a rate");
            prop_assert_eq!(client.rate(u64::from(builtin::CHECKS.0)), checks);
            let outcomes = client.steps.iter().chain(&client.open).flat_map(|step| step["outcomes"].as_array().expect("a list"));
            let outcomes: u64 = outcomes.filter_map(|row| row["count"].as_u64()).sum();
            prop_assert_eq!(outcomes, sorted.len() as u64);
        }
    }
}

#[test]
fn texts_are_what_they_were() {
    let evil = "</script><b>\u{7}\n\"'`${x} data: 1\r\n\r\nevent: end\u{2028}";
    let mut step = second(0, 1, 1);
    let tags: TagPairs = [("name".into(), evil.into())].into();
    step.delta.push(builtin::CHECKS, tags, Sink::Rate { hits: 0, total: 1 });
    let ending = Ending::Error { code: 1212, text: evil.into() };
    step.delta.outcomes.push(Outcome { ending, count: 1, first_ns: 0, last_ns: 0, example: evil.into() });
    let mut history = history();
    history.step(&step);
    let mut client = Client::default();
    client.take_events(&history.read(&mut history.cursor(None), usize::MAX).to_events());
    assert!(client.series.values().any(|(_, tags)| tags["name"] == evil));
    assert_eq!(client.steps[0]["outcomes"][0]["text"], Value::from(evil));
    assert_eq!(client.end, None);
}

#[test]
fn what_was_measured_outside_of_the_scenarios_is_a_step_of_its_own() {
    let mut history = history();
    history.step(&Step { span: None, ..second(0, 1, 3) });
    history.step(&second(0, 1, 4));
    let mut client = Client::default();
    client.take_lines(&lines(&history));
    assert_eq!(client.steps[0]["fromMs"], Value::Null);
    assert_eq!(client.counter(u64::from(builtin::HTTP_REQS.0)), 7.0);
    // Gauges have their last and their extremes.
    let mut sum = DeltaSum::default();
    sum.add(&second(3, 1, 1).delta);
    sum.add(&second(7, 1, 1).delta);
    history.step(&Step { span: Some(Span { from_ns: 5 * NS_PER_S, until_ns: 6 * NS_PER_S }), delta: sum.into_delta() });
    let mut client = Client::default();
    client.take_lines(&lines(&history));
    let last = client.steps.last().expect("a step");
    assert!(
        last["values"].as_array().expect("a list").iter().any(|pair| pair[1] == serde_json::json!([17, 13, 17])),
        "{last}"
    );
}
