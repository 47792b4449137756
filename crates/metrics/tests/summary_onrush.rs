//! The summary where k6 gives no reference: from our own pipeline, with our footer, and for odd input.

#[path = "summary/reference.rs"]
mod reference;

use std::{collections::BTreeMap, sync::Arc};

use onrush_metrics::{
    Contains, Limits, Merged, MetricKind, Phase, RELATIVE_ERROR, Registry, Shard, Subscriptions, TagNode,
    ThresholdSource, Thresholds,
    summary::{
        self, Footer, MachineInfo, MetricInput, RunInfo, SummaryInput, SummaryMode, SummaryModel, TextOptions,
        ThresholdInput, TrendStat, TrendStats, Values, Verdict,
    },
};
use proptest::prelude::*;
use reference::Reference;

/// The captured samples, through shards, deltas, merging and thresholds, give k6's text as well: with so few samples a
/// histogram is exact.
#[test]
fn the_pipeline_prints_what_k6_prints() {
    for case in ["mixed.compact", "mixed.full", "mixed.legacy", "scenarios.full", "scenarios.legacy"] {
        let reference = Reference::load(case);
        let mut run = Pipeline::of(&reference);
        let input = run.input(&reference);
        let mode = SummaryMode::parse(reference.mode()).expect("a mode of k6");
        let text = summary::render(&SummaryModel::new(input), &TextOptions { mode, ..TextOptions::default() });
        reference::assert_same_text(&summary::to_stdout(&text), reference.text(), case);
    }
}

struct Pipeline {
    merged: Merged,
    thresholds: Thresholds,
}

impl Pipeline {
    fn of(reference: &Reference) -> Self {
        let mut registry = Registry::new();
        for (name, kind, contains) in reference.shown_metrics() {
            if !name.contains('{') {
                registry.declare(name, kind, contains).expect("k6 declared it");
            }
        }
        let mut sources: BTreeMap<String, Vec<ThresholdSource>> = BTreeMap::new();
        for (metric, expression) in reference.threshold_sources() {
            let source = ThresholdSource { expression, abort_on_fail: false, ..ThresholdSource::default() };
            sources.entry(metric).or_default().push(source);
        }
        let thresholds = Thresholds::parse(&sources, &registry).expect("k6 accepted them");
        let mode = SummaryMode::parse(reference.mode()).expect("a mode of k6");
        let mut subscriptions = summary::subscribe(Subscriptions::builder(), mode);
        for submetric in thresholds.submetrics() {
            subscriptions = subscriptions.submetric(submetric);
        }
        let subscriptions = Arc::new(subscriptions.build());
        let mut merged = Merged::new(&registry);
        // Each series of the capture in a delta of its own, from one of two shards in turn.
        let mut shards = [0, 1].map(|_| Shard::new(&registry, Arc::clone(&subscriptions), Limits::default()));
        for (index, (metric, tags, values)) in reference.samples().enumerate() {
            let shard = &mut shards[index % 2];
            let mut node = TagNode::ROOT;
            for (name, value) in tags {
                if let Some(key) = subscriptions.key(name) {
                    node = shard.with(node, key, value);
                }
            }
            let series = shard.series(registry.lookup(metric).expect("declared"), node);
            for value in values {
                shard.add(series, *value);
            }
            merged.add(&shard.drain());
        }
        Self { merged, thresholds }
    }

    fn input(&mut self, reference: &Reference) -> SummaryInput<'_> {
        let expect = reference.input();
        self.thresholds.evaluate(&self.merged, expect.run.duration_ns, Phase::End);
        let (duration_ns, trend_stats) = (expect.run.duration_ns, expect.run.trend_stats);
        let mode = SummaryMode::parse(reference.mode()).expect("a mode of k6's");
        summary::input_from(
            &self.merged,
            &self.thresholds,
            RunInfo { duration_ns, trend_stats, ..RunInfo::default() },
            mode,
        )
    }
}

/// A trend whose statistics are what one says they are.
struct Stated(f64);

impl TrendStats for Stated {
    fn avg(&self) -> f64 {
        self.0
    }
    fn min(&self) -> f64 {
        self.0
    }
    fn max(&self) -> f64 {
        self.0
    }
    fn count(&self) -> u64 {
        3
    }
    fn quantile(&self, _: f64) -> f64 {
        self.0
    }
}

fn empty_run() -> SummaryInput<'static> {
    SummaryInput {
        run: RunInfo { duration_ns: 2_000_000_000, ..RunInfo::default() },
        metrics: Vec::new(),
        thresholds: Vec::new(),
        checks: Vec::new(),
        groups: Vec::new(),
        scopes: Vec::new(),
    }
}

fn metric(name: &str, contains: Contains, values: Values<'static>) -> MetricInput<'static> {
    MetricInput { name: name.to_owned(), contains, values }
}

fn small_run() -> SummaryInput<'static> {
    SummaryInput {
        metrics: vec![
            metric("http_reqs", Contains::Default, Values::Counter { count: 10.0 }),
            metric("http_req_duration", Contains::Time, Values::Trend(Box::new(Stated(1.5)))),
            metric("http_req_waiting", Contains::Time, Values::Trend(Box::new(Stated(1.25)))),
            metric("data_sent", Contains::Data, Values::Counter { count: 71_000.0 }),
        ],
        thresholds: vec![ThresholdInput {
            metric: "http_reqs".to_owned(),
            source: "rate!=5".to_owned(),
            ok: false,
            observed: 5.0,
            history: None,
        }],
        checks: vec![summary::CheckInput {
            scenario: String::new(),
            group: "::g".to_owned(),
            name: "status is 200".to_owned(),
            passes: 2,
            fails: 1,
        }],
        ..empty_run()
    }
}

/// Each line between bars, so that spaces at either end and blank lines show.
fn framed(text: &str) -> String {
    text.split('\n').map(|line| format!("|{line}|\n")).collect()
}

fn text(input: SummaryInput<'_>, mode: SummaryMode, color: bool, footer: Option<&Footer>) -> String {
    summary::render(&SummaryModel::new(input), &TextOptions { mode, color, footer, ..TextOptions::default() })
}

#[test]
fn footer_of_a_valid_run() {
    let footer = Footer { percentile_error: Some(RELATIVE_ERROR), verdict: Some(Verdict::Valid), ..Footer::default() };
    insta::assert_snapshot!(framed(&text(small_run(), SummaryMode::Compact, false, Some(&footer))), @r"
    ||
    |  █ THRESHOLDS |
    ||
    |    http_reqs|
    |    ✗ 'rate!=5' rate=5/s|
    ||
    ||
    |  █ TOTAL RESULTS |
    ||
    |    checks_total.......: 3      1.5/s|
    |    checks_succeeded...: 66.66% 2 out of 3|
    |    checks_failed......: 33.33% 1 out of 3|
    ||
    |    ✗ status is 200|
    |      ↳  66% — ✓ 2 / ✗ 1|
    ||
    |    HTTP|
    |    http_req_duration...: avg=1.5ms min=1.5ms med=1.5ms max=1.5ms p(90)=1.5ms p(95)=1.5ms|
    |    http_reqs...........: 10    5/s|
    ||
    |    NETWORK|
    |    data_sent...........: 71 kB 36 kB/s|
    ||
    ||
    |  █ MEASUREMENT |
    ||
    |    ✓ measurement VALID|
    |    percentiles are within ±0.14 % (exponential histogram)|
    ||
    ||
    ");
}

#[test]
fn footer_of_an_invalid_run_in_the_legacy_layout() {
    let reasons =
        vec!["CPU was at 98 % for 40 s of 60 s".to_owned(), "iterations started\nup to 800 ms late".to_owned()];
    let footer = Footer {
        percentile_error: Some(RELATIVE_ERROR),
        verdict: Some(Verdict::Invalid),
        reasons,
        ..Footer::default()
    };
    insta::assert_snapshot!(framed(&text(small_run(), SummaryMode::Legacy, false, Some(&footer))), @r"
    |     █ g|
    ||
    |       ✗ status is 200|
    |        ↳  66% — ✓ 2 / ✗ 1|
    ||
    |     data_sent...........: 71 kB 36 kB/s|
    |     http_req_duration...: avg=1.5ms  min=1.5ms  med=1.5ms  max=1.5ms  p(90)=1.5ms  p(95)=1.5ms |
    |     http_req_waiting....: avg=1.25ms min=1.25ms med=1.25ms max=1.25ms p(90)=1.25ms p(95)=1.25ms|
    |   ✗ http_reqs...........: 10    5/s|
    ||
    |     ✗ measurement INVALID|
    |       ↳ CPU was at 98 % for 40 s of 60 s|
    |       ↳ iterations started up to 800 ms late|
    |     percentiles are within ±0.14 % (exponential histogram)|
    ");
}

#[test]
fn footer_in_colour() {
    let footer = Footer {
        percentile_error: None,
        verdict: Some(Verdict::Suspect),
        reasons: vec!["why".to_owned()],
        ..Footer::default()
    };
    let expect = "\n  █ \x1b[1mTOTAL RESULTS\x1b[0m \n\n\n  █ \x1b[1mMEASUREMENT\x1b[0m \n\n    \x1b[33m! measurement SUSPECT\x1b[0m\n      ↳ why\n\n";
    assert_eq!(text(empty_run(), SummaryMode::Compact, true, Some(&footer)), expect);
}

#[test]
fn nothing_measured() {
    let footer = Footer { percentile_error: Some(RELATIVE_ERROR), ..Footer::default() };
    assert_eq!(text(empty_run(), SummaryMode::Full, false, Some(&footer)), "\n  █ TOTAL RESULTS \n\n");
    assert_eq!(text(empty_run(), SummaryMode::Legacy, false, Some(&footer)), "");
    assert_eq!(summary::to_stdout(&text(small_run(), SummaryMode::Disabled, false, Some(&footer))), "");
}

#[test]
fn machine_readable_shape() {
    let info = MachineInfo {
        script: "export default () => {}",
        generated_at: "2026-11-21T22:10:40.219229699Z",
        onrush_version: "0.1.0",
        k6_version: "2.2.0",
        mode: SummaryMode::Compact,
    };
    let mut input = small_run();
    input.run.trend_stats = TrendStat::parse_list(&["avg", "p(99.90)", "count"]).expect("they are valid");
    let value = summary::machine_readable(&SummaryModel::new(input), &info);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("it is JSON"), @r#"
    {
      "config": {
        "duration": 2,
        "execution": "local",
        "script": "export default () => {}"
      },
      "metadata": {
        "generated_at": "2026-11-21T22:10:40.219229699Z",
        "k6_version": "2.2.0",
        "onrush_version": "0.1.0"
      },
      "results": {
        "checks": {
          "metrics": [
            {
              "contains": "default",
              "name": "checks_total",
              "type": "counter",
              "values": {
                "count": 3
              }
            },
            {
              "contains": "default",
              "name": "checks_failed",
              "type": "rate",
              "values": {
                "matches": 1,
                "rate": 0.3333333333333333,
                "total": 3
              }
            },
            {
              "contains": "default",
              "name": "checks_succeeded",
              "type": "rate",
              "values": {
                "matches": 2,
                "rate": 0.6666666666666666,
                "total": 3
              }
            }
          ],
          "results": [
            {
              "fails": 1,
              "name": "status is 200",
              "passes": 2
            }
          ]
        },
        "metrics": [
          {
            "contains": "data",
            "name": "data_sent",
            "type": "counter",
            "values": {
              "count": 71000
            }
          },
          {
            "contains": "time",
            "name": "http_req_duration",
            "type": "trend",
            "values": {
              "avg": 1.5,
              "count": 3,
              "max": 1.5,
              "med": 1.5,
              "min": 1.5,
              "p90": 1.5,
              "p95": 1.5,
              "p99.9": 1.5
            }
          },
          {
            "contains": "default",
            "name": "http_reqs",
            "type": "counter",
            "values": {
              "count": 10
            }
          }
        ],
        "thresholds": [
          {
            "history": null,
            "metric": "http_reqs",
            "observed": 5,
            "ok": false,
            "source": "rate!=5"
          }
        ]
      },
      "version": "1.0.0"
    }
    "#);
    let none = summary::machine_readable(&SummaryModel::new(empty_run()), &info);
    assert_eq!(summary::to_file(&none["results"]["checks"]), "{\n    \"metrics\": [],\n    \"results\": []\n}");
    assert_eq!(none["results"].to_string(), r#"{"checks":{"metrics":[],"results":[]},"metrics":[]}"#);
}

#[test]
fn numbers_that_json_cannot_say() {
    let mut input = empty_run();
    for (index, value) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate() {
        for (name, contains) in [("plain", Contains::Default), ("time", Contains::Time), ("data", Contains::Data)] {
            input.metrics.push(metric(
                &format!("{name}{index}"),
                contains,
                Values::Gauge { value, min: value, max: value },
            ));
            input.metrics.push(metric(
                &format!("{name}{index}_trend"),
                contains,
                Values::Trend(Box::new(Stated(value))),
            ));
            input.metrics.push(metric(&format!("{name}{index}_sum"), contains, Values::Counter { count: value }));
        }
    }
    let model = SummaryModel::new(input);
    let data = summary::handle_summary(&model);
    assert_eq!(data["metrics"]["plain0"]["values"].to_string(), r#"{"value":null,"min":null,"max":null}"#);
    assert_eq!(data["metrics"]["time1_sum"]["values"].to_string(), r#"{"count":null,"rate":null}"#);
    let text = summary::render(&model, &TextOptions::default());
    assert!(text.contains("data0..........: NaN B ") && text.contains("time2_sum......: -Infinity "), "{text}");
}

#[test]
fn rates_of_a_run_of_no_length() {
    let model = SummaryModel::new(SummaryInput { run: RunInfo::default(), ..small_run() });
    assert_eq!(
        summary::handle_summary(&model)["metrics"]["http_reqs"]["values"].to_string(),
        r#"{"count":10,"rate":0}"#
    );
}

fn any_values() -> impl Strategy<Value = (MetricKind, f64, u64, u64)> {
    let kind = prop_oneof![
        Just(MetricKind::Counter),
        Just(MetricKind::Gauge),
        Just(MetricKind::Rate),
        Just(MetricKind::Trend)
    ];
    (kind, any::<f64>(), any::<u64>(), any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the numbers and names, there is a text and a JSON that parses.
    #[test]
    fn any_input_renders(
        duration_ns in any::<u64>(),
        metrics in proptest::collection::vec(("[a-z_]{1,3}(\\{.{0,4}\\}?)?", any_values()), 0..12),
        checks in proptest::collection::vec(("[ab]?", "(::[ab:]?){0,60}", ".{0,3}", any::<u64>(), any::<u64>()), 0..12),
        thresholds in proptest::collection::vec((0..12_usize, ".{0,8}", any::<bool>(), any::<f64>()), 0..6),
        unit in prop_oneof![Just("" ), Just("s"), Just("ms"), Just("us")],
    ) {
        let contains = |index: usize| [Contains::Default, Contains::Time, Contains::Data][index % 3];
        let inputs = || metrics.iter().enumerate().map(|(index, (name, (kind, value, hits, total)))| {
            let values = match kind {
                MetricKind::Counter => Values::Counter { count: *value },
                MetricKind::Gauge => Values::Gauge { value: *value, min: -*value, max: *value },
                MetricKind::Rate => Values::Rate { hits: *hits, total: *total },
                MetricKind::Trend => Values::Trend(Box::new(Stated(*value))),
            };
            metric(name, contains(index), values)
        }).collect::<Vec<_>>();
        let checks: Vec<_> = checks.iter().map(|(scenario, group, name, passes, fails)| summary::CheckInput {
            scenario: scenario.clone(), group: group.clone(), name: name.clone(), passes: *passes, fails: *fails,
        }).collect();
        let thresholds = thresholds.iter().filter_map(|(index, source, ok, observed)| Some(ThresholdInput {
            metric: metrics.get(*index)?.0.clone(), source: source.clone(), ok: *ok, observed: *observed, history: None,
        })).collect();
        let scopes = checks.iter().map(|check| summary::ScopeInput {
            scenario: check.scenario.clone(), group: Some(check.group.clone()), metrics: inputs(),
        }).collect();
        let model = SummaryModel::new(SummaryInput {
            run: RunInfo {
                duration_ns,
                time_unit: summary::TimeUnit::parse(unit).expect("one of k6's"),
                ..RunInfo::default()
            },
            thresholds, checks, scopes,
            metrics: inputs(),
            ..empty_run()
        });
        for mode in [SummaryMode::Compact, SummaryMode::Full, SummaryMode::Legacy] {
            let plain = summary::render(&model, &TextOptions { mode, ..TextOptions::default() });
            let coloured = summary::render(&model, &TextOptions { mode, color: true, ..TextOptions::default() });
            prop_assert!(plain.len() <= coloured.len());
        }
        let info = MachineInfo { script: "", generated_at: "", onrush_version: "", k6_version: "", mode: SummaryMode::Full };
        for value in [summary::handle_summary(&model), summary::summary_export(&model), summary::machine_readable(&model, &info)] {
            let text = serde_json::to_string(&value).expect("values serialise");
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }
}
