//! Thresholds as k6 judges them, and both parsers on any text.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{
    builtin,
    delta::{Delta, TagPairs},
    histogram::Histogram,
    registry::Contains,
    sink::Gauge,
};

const SECOND_NS: u64 = 1_000_000_000;

fn registry() -> Registry {
    let mut registry = Registry::new();
    for (name, kind) in [
        ("count", MetricKind::Counter),
        ("gauge", MetricKind::Gauge),
        ("rate", MetricKind::Rate),
        ("trend", MetricKind::Trend),
    ] {
        registry.declare(name, kind, Contains::Default).expect("a good name");
    }
    registry
}

fn parse(sources: &[(&str, &[&str])]) -> Result<Thresholds, Vec<ThresholdError>> {
    let sources = sources
        .iter()
        .map(|(name, expressions)| {
            let sources =
                expressions.iter().map(|text| ThresholdSource { expression: (*text).to_owned(), ..Default::default() });
            ((*name).to_owned(), sources.collect())
        })
        .collect();
    Thresholds::parse(&sources, &registry())
}

type Part<'a> = (&'a str, &'a [(&'a str, &'a str)], Sink);

fn merged(parts: &[Part<'_>]) -> Merged {
    let registry = registry();
    let mut merged = Merged::new(&registry);
    let mut delta = Delta::default();
    for (name, tags, sink) in parts {
        let tags: TagPairs = tags.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect();
        delta.push(registry.lookup(name).expect("declared"), tags, sink.clone());
    }
    merged.add(&delta);
    merged
}

fn trend(values: impl IntoIterator<Item = f64>) -> Sink {
    let mut histogram = Histogram::new();
    values.into_iter().for_each(|value| histogram.record(value));
    Sink::Trend(histogram)
}

fn count(value: f64) -> Sink {
    let mut sum = crate::ExactSum::default();
    sum.add(value);
    Sink::Counter { sum }
}

/// `✓` or `✗`, expression and observed value, by metric.
fn shown(thresholds: &Thresholds) -> String {
    let mut text = String::new();
    for metric in thresholds.results() {
        text.push_str(&metric.name);
        for result in &metric.expressions {
            let observed = result.observed.map_or_else(|| "-".to_owned(), |value| value.to_string());
            text.push_str(&format!(" {}{}={observed}", if result.ok { '✓' } else { '✗' }, result.source));
        }
        text.push('\n');
    }
    text
}

#[test]
fn without_samples() {
    let sources: &[(&str, &[&str])] = &[
        ("count", &["count>0", "count==0", "rate>0"]),
        ("count{a:b}", &["count>0"]),
        ("gauge", &["value>0", "value<1"]),
        ("rate", &["rate>0.5"]),
        ("rate{a:b}", &["rate>0.5"]),
        ("trend", &["avg>0"]),
        ("trend{a:b}", &["p(95)<5"]),
    ];
    let mut thresholds = parse(sources).expect("valid");
    let nothing = merged(&[]);
    assert_eq!(thresholds.evaluate(&nothing, SECOND_NS, Phase::Running), Evaluation::default());
    assert!(
        thresholds
            .results()
            .iter()
            .flat_map(|metric| &metric.expressions)
            .all(|result| result.ok && result.observed.is_none())
    );
    // As k6 1.8 prints it.
    let end = thresholds.evaluate(&nothing, SECOND_NS, Phase::End);
    assert_eq!(end.crossed, ["count", "count{a:b}", "gauge", "trend"]);
    assert!(!end.abort);
    assert_eq!(
        shown(&thresholds),
        "count ✗count>0=0 ✓count==0=0 ✗rate>0=0\n\
         count{a:b} ✗count>0=0\n\
         gauge ✗value>0=0 ✓value<1=0\n\
         rate ✓rate>0.5=0\n\
         rate{a:b} ✓rate>0.5=0\n\
         trend ✗avg>0=0\n\
         trend{a:b} ✓p(95)<5=0\n"
    );
}

#[test]
fn with_samples() {
    let sources: &[(&str, &[&str])] = &[
        ("count", &["count==12", "rate<6"]),
        ("count{a:b}", &["rate>=1"]),
        ("gauge", &["value===3"]),
        ("rate", &["rate!=0.5"]),
        ("trend", &["avg<2", "min<1", "max>=3", "med==2", "p(75)>2"]),
    ];
    let mut thresholds = parse(sources).expect("valid");
    let state = merged(&[
        ("count", &[("a", "b")], count(2.0)),
        ("count", &[("a", "c")], count(10.0)),
        ("gauge", &[], Sink::Gauge(Gauge::new(3.0, 1))),
        ("rate", &[], Sink::Rate { hits: 2, total: 4 }),
        ("trend", &[], trend([1.0, 2.0, 3.0])),
    ]);
    let evaluation = thresholds.evaluate(&state, 2 * SECOND_NS, Phase::Running);
    assert_eq!(evaluation.crossed, ["count", "rate", "trend"]);
    assert_eq!(
        shown(&thresholds),
        "count ✓count==12=12 ✗rate<6=6\n\
         count{a:b} ✓rate>=1=1\n\
         gauge ✓value===3=3\n\
         rate ✗rate!=0.5=0.5\n\
         trend ✗avg<2=2 ✗min<1=1 ✓max>=3=3 ✓med==2=2 ✓p(75)>2=2.5\n"
    );
    let histories: Vec<_> = thresholds.results()[0].expressions.iter().map(|result| result.history).collect();
    assert_eq!(histories[0], History { judged: 1, held: 1, first_crossed_ns: None, is_windowed: false });
    let crossed = History { judged: 1, held: 0, first_crossed_ns: Some(2 * SECOND_NS), is_windowed: false };
    assert_eq!(histories[1], crossed);
    thresholds.evaluate(&state, 0, Phase::Running);
    assert!(shown(&thresholds).starts_with("count ✓count==12=12 ✓rate<6=0\n"));
}

#[test]
fn aborting() {
    let source = |delay: Option<u64>| ThresholdSource {
        expression: "rate<0.5".to_owned(),
        abort_on_fail: true,
        delay_abort_eval_ns: delay,
        ..ThresholdSource::default()
    };
    let state = merged(&[("rate", &[], Sink::Rate { hits: 1, total: 1 })]);
    let check = |delay: Option<u64>, elapsed_ns: u64, expect: bool| {
        let sources = BTreeMap::from([("rate".to_owned(), vec![source(delay)])]);
        let mut thresholds = Thresholds::parse(&sources, &registry()).expect("valid");
        let evaluation = thresholds.evaluate(&state, elapsed_ns, Phase::Running);
        assert_eq!(
            evaluation,
            Evaluation { crossed: vec!["rate".to_owned()], abort: expect },
            "{delay:?} {elapsed_ns}"
        );
    };
    check(None, 0, true);
    check(Some(SECOND_NS), SECOND_NS - 1, false);
    check(Some(SECOND_NS), SECOND_NS, false);
    check(Some(SECOND_NS), SECOND_NS + 1, true);
}

#[test]
fn a_threshold_can_recover() {
    let mut thresholds = parse(&[("rate", &["rate>0.5"])]).expect("valid");
    let state = |hits: u64| merged(&[("rate", &[], Sink::Rate { hits, total: 10 })]);
    assert_eq!(thresholds.evaluate(&state(1), 1, Phase::Running).crossed, ["rate"]);
    assert!(thresholds.results()[0].is_tainted());
    assert!(thresholds.evaluate(&state(9), 2, Phase::End).crossed.is_empty());
    assert!(!thresholds.results()[0].is_tainted());
}

#[test]
fn every_mistake_is_told() {
    let sources: &[(&str, &[&str])] = &[
        ("count", &["count>1", "avg<1"]),
        ("gauge{a}", &["foo"]),
        ("nope", &["rate>1"]),
        ("trend", &[" count\n<1", "p(x)<1"]),
    ];
    let errors = parse(sources).expect_err("mistakes");
    let shown: Vec<_> = errors
        .iter()
        .map(|error| {
            format!(
                "{} {} {}: {error}",
                error.metric,
                error.expression.as_ref().map_or("-", |(_, text)| text),
                error.position
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "count avg<1 0: invalid threshold \"avg<1\" applied on metric count; reason: unsupported aggregation method avg on metric of type counter. supported aggregation methods for this metric are: count, rate",
            "gauge{a} foo 3: failed parsing threshold expression \"foo\"; reason: malformed threshold expression",
            "gauge{a} - 6: unable to validate threshold expressions; reason: parsing metric name failed, metric \"a\" tag expression is malformed",
            "nope - 0: invalid threshold defined on nope; reason: no metric name \"nope\" found",
            "trend p(x)<1 2: failed parsing threshold expression's \"p(x)<1\" left hand side; reason: malformed percentile value; reason: strconv.ParseFloat: parsing \"x\": invalid syntax",
            "trend  count\n<1 1: invalid threshold \" count\\n<1\" applied on metric trend; reason: unsupported aggregation method count on metric of type trend. supported aggregation methods for this metric are: avg, min, max, med, p",
        ]
    );
}

#[test]
fn mistakes_are_pointed_at() {
    let check = |expression: &str, expect: &str| {
        let errors = parse(&[("trend", &[expression])]).expect_err("a mistake");
        let text = errors[0].pointed();
        let (_, shown) = text.split_once('\n').expect("a mark");
        assert_eq!(shown, expect);
    };
    check("p(95)<5x", "  p(95)<5x\n         ^ thresholds.trend[0], character 8: expected a number without a unit");
    let method = "expected count, rate, value, avg, min, max, med or p(N)";
    check("  äöü<5", &format!("    äöü<5\n    ^ thresholds.trend[0], character 3: {method}"));
    let percentile = "expected p(N) with N from 0 to 100";
    check("p(95\t)<5", &format!("  p(95 )<5\n      ^ thresholds.trend[0], character 5: {percentile}"));
    check("p(101)<5", &format!("  p(101)<5\n    ^ thresholds.trend[0], character 3: {percentile}"));
    let brackets = "expected brackets around the number, as in p(95)";
    check("p95<5", &format!("  p95<5\n  ^ thresholds.trend[0], character 1: {brackets}"));
    check("p<5", &format!("  p<5\n  ^ thresholds.trend[0], character 1: {method}"));
    check("avg<", "  avg<\n      ^ thresholds.trend[0], character 5: expected a number without a unit");
    let comparison = "expected <, <=, >, >=, ==, === or !=";
    check("avg=5", &format!("  avg=5\n     ^ thresholds.trend[0], character 4: {comparison}"));
    check("avg≤5", &format!("  avg≤5\n     ^ thresholds.trend[0], character 4: {comparison}"));
    check("avg 5", &format!("  avg 5\n       ^ thresholds.trend[0], character 6: {comparison}"));
    check("", "  \n  ^ thresholds.trend[0], character 1: expected an expression such as p(95)<500");
    let long = format!("{}<5", "x".repeat(10_000));
    check(&long, &format!("  {}…\n  ^ thresholds.trend[0], character 1: {method}", "x".repeat(60)));
    let long = format!("avg<{}z", "5".repeat(10_000));
    check(
        &long,
        &format!(
            "  …{}z\n  {}^ thresholds.trend[0], character 10005: expected a number without a unit",
            "5".repeat(60),
            " ".repeat(61)
        ),
    );
    let shown = parse(&[("trend", &[&long])]).expect_err("a mistake")[0].pointed();
    assert!(shown.len() < 1_000, "{shown}");
    let errors = parse(&[("trend", &["avg<5", "count<5"])]).expect_err("a mistake");
    assert!(errors[0].pointed().ends_with("\n  count<5\n  ^ thresholds.trend[1], character 1"));
    let errors = parse(&[("trend{a:b}c", &["avg<5"])]).expect_err("a mistake");
    let text = errors[0].pointed();
    assert!(text.ends_with("\n  trend{a:b}c\n            ^ thresholds.trend{a:b}c, character 11"), "{text}");
}

#[test]
fn a_thousand_thresholds_are_judged() {
    let names: Vec<String> = (0..1_000).map(|index| format!("count{{a:{index}}}")).collect();
    let sources: Vec<(&str, &[&str])> = names.iter().map(|name| (&**name, &["count<1", "rate<1"][..])).collect();
    let mut thresholds = parse(&sources).expect("valid");
    let state = merged(&[("count", &[("a", "7")], count(2.0)), ("count", &[("a", "b")], count(2.0))]);
    assert_eq!(thresholds.evaluate(&state, SECOND_NS, Phase::End).crossed, ["count{a:7}"]);
}

#[test]
fn methods_by_kind() {
    let check = |metric: &str, works: &str| {
        let all = ["count", "rate", "value", "avg", "min", "max", "med", "p(1)"];
        let working: Vec<_> =
            all.into_iter().filter(|method| parse(&[(metric, &[&format!("{method}>1")])]).is_ok()).collect();
        assert_eq!(working.join(" "), works, "{metric}");
    };
    check("count", "count rate");
    check("gauge", "value");
    check("rate", "rate");
    check("trend", "avg min max med p(1)");
    check("http_req_duration{status:200}", "avg min max med p(1)");
}

#[test]
fn names_without_expressions() {
    let mut thresholds = parse(&[("trend{a: b}", &[]), ("http_reqs{vu:1,iter:2}", &[])]).expect("valid");
    assert!(thresholds.is_empty());
    assert_eq!(thresholds.submetrics().len(), 2);
    assert!(thresholds.evaluate(&merged(&[]), 0, Phase::End).crossed.is_empty());
    assert_eq!(thresholds.results()[1].submetric, Some(1));
    let warnings = thresholds.warnings();
    assert_eq!(warnings.len(), 2);
    assert_eq!(
        warnings[1],
        "The high-cardinality 'vu' metric tag was made non-indexable in k6 v0.41.0, so thresholds like 'http_reqs{vu:1,iter:2}' that are based on it won't work correctly."
    );
    assert_eq!(thresholds.submetrics()[0].metric, builtin::HTTP_REQS);
}

proptest! {
    #[test]
    fn parsers_never_panic_on_any_text(text in ".{0,60}") {
        fuzz_threshold(&text);
    }

    #[test]
    fn parsers_never_panic_on_almost_thresholds(text in "( |\t|\u{a0}|é)?(p\\(|avg|med|count|rate|vus|\\{|a:b|,)?[0-9.x_]{0,4}\\)?( )?(<|<=|>|>=|==|===|!=|=|\\})?( )?[-+0-9a-fpx_.é]{0,8}") {
        fuzz_threshold(&text);
    }

    #[test]
    fn good_expressions_parse(percent in 0.0..=100.0_f64, value in any::<f64>().prop_filter("finite", |v| v.is_finite()), operator in 0_usize..7, blank in "[ \t]{0,2}") {
        let (symbol, expect) = [
            ("<=", Operator::LessOrEqual), ("<", Operator::Less), (">=", Operator::GreaterOrEqual), (">", Operator::Greater),
            ("===", Operator::Equal), ("==", Operator::Equal), ("!=", Operator::NotEqual),
        ][operator];
        let text = format!("{blank}p({percent}){blank}{symbol}{blank}{value}{blank}");
        prop_assert_eq!(Expression::parse(&text), Ok(Expression { method: Method::Percentile(percent), operator: expect, value }));
    }
}
