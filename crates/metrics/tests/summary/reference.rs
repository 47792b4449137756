//! Reads the captured runs and computes their metrics exactly, as k6 does.

#![expect(dead_code, reason = "two test binaries use different parts")]

use std::{collections::HashMap, path::Path};

use onrush_metrics::{
    Contains, MetricKind,
    summary::{
        CheckInput, GroupInput, MetricInput, RunInfo, ScopeInput, SummaryInput, ThresholdInput, TimeUnit, TrendStat,
        TrendStatKind, TrendStats, Values,
    },
};
use serde_json::Value;

/// A captured run.
pub(crate) struct Reference {
    capture: Value,
    text: String,
    series: Vec<Series>,
}

/// Scenario, and group if it is about one.
type ScopeKey = (String, Option<String>);
type ByMetric = Vec<(String, Vec<f64>)>;

struct Series {
    metric: String,
    tags: HashMap<String, String>,
    values: Vec<f64>,
}

impl Reference {
    pub(crate) fn load(case: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/summary");
        let read = |extension: &str| {
            let path = folder.join(format!("{case}.{extension}"));
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let capture: Value = serde_json::from_str(&read("json")).expect("a capture is JSON");
        let series = capture["series"].as_array().expect("a list").iter().map(Series::parse).collect();
        Self { text: indented(&read("txt")), capture, series }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn mode(&self) -> &str {
        self.capture["mode"].as_str().expect("a text")
    }

    pub(crate) fn is_coloured(&self) -> bool {
        self.capture["colour"].as_bool().expect("a flag")
    }

    pub(crate) fn handle_summary_data(&self) -> &Value {
        &self.capture["data"]
    }

    pub(crate) fn summary_export(&self) -> &Value {
        &self.capture["export"]
    }

    /// Name, kind and contents of the metrics and sub-metrics k6 chose to show.
    pub(crate) fn shown_metrics(&self) -> impl Iterator<Item = (&str, MetricKind, Contains)> {
        let metrics = self.capture["data"]["metrics"].as_object().expect("an object");
        metrics.iter().map(|(name, metric)| (name.as_str(), kind(metric), contains(metric)))
    }

    /// Metrics and expressions of all thresholds, in their order.
    pub(crate) fn threshold_sources(&self) -> Vec<(String, String)> {
        self.thresholds(1).into_iter().map(|threshold| (threshold.metric, threshold.source)).collect()
    }

    /// The samples by series, in the order of the first of each.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (&str, &HashMap<String, String>, &[f64])> {
        self.series.iter().map(|series| (series.metric.as_str(), &series.tags, series.values.as_slice()))
    }

    pub(crate) fn input(&self) -> SummaryInput<'_> {
        let data = &self.capture["data"];
        let stats: Vec<_> =
            data["options"]["summaryTrendStats"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let state = |name: &str| data["state"][name].as_bool().expect("a flag");
        let duration_ns = (data["state"]["testRunDurationMs"].as_f64().expect("a number") * 1e6).round() as u64;
        SummaryInput {
            run: RunInfo {
                duration_ns,
                trend_stats: TrendStat::parse_list(&stats).expect("k6 accepted them"),
                time_unit: TimeUnit::parse(data["options"]["summaryTimeUnit"].as_str().expect("a text"))
                    .expect("k6 accepted it"),
                no_color: data["options"]["noColor"].as_bool().expect("a flag"),
                stdout_tty: state("isStdOutTTY"),
                stderr_tty: state("isStdErrTTY"),
                setup_data: data.get("setup_data").cloned(),
            },
            metrics: self.metrics(),
            thresholds: self.thresholds(duration_ns),
            checks: self.checks(),
            groups: self.groups(),
            scopes: if self.mode() == "full" { self.scopes() } else { Vec::new() },
        }
    }

    /// The metrics and sub-metrics k6 chose to show.
    fn metrics(&self) -> Vec<MetricInput<'_>> {
        let metrics = self.capture["data"]["metrics"].as_object().expect("an object");
        metrics.iter().map(|(name, metric)| metric_input(name, metric, self.values_of(name))).collect()
    }

    /// All values of a metric or sub-metric.
    fn values_of(&self, name: &str) -> Vec<f64> {
        let (parent, tags) = name.split_once('{').unwrap_or((name, ""));
        let tags: Vec<(&str, &str)> =
            tags.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once(':')).collect();
        let matches = |series: &&Series| {
            series.metric == parent
                && tags
                    .iter()
                    .all(|(key, value)| series.tags.get(key.trim()).is_some_and(|actual| actual == value.trim()))
        };
        self.series.iter().filter(matches).flat_map(|series| series.values.clone()).collect()
    }

    fn thresholds(&self, duration_ns: u64) -> Vec<ThresholdInput> {
        let metrics = self.capture["data"]["metrics"].as_object().expect("an object");
        let mut thresholds = Vec::new();
        for (name, metric) in metrics {
            let ordered = self.in_written_order(name);
            for source in ordered {
                let ok = metric["thresholds"][&source]["ok"].as_bool().expect("an outcome");
                let observed = observe(&source, metric, self.values_of(name), duration_ns);
                thresholds.push(ThresholdInput { metric: name.clone(), source, ok, observed, history: None });
            }
        }
        thresholds
    }

    /// k6's JSON has thresholds in any order; its text has them as written.
    fn in_written_order(&self, metric: &str) -> Vec<String> {
        let Some(thresholds) = self.capture["data"]["metrics"][metric]["thresholds"].as_object() else {
            return Vec::new();
        };
        let mut sources: Vec<String> = thresholds.keys().cloned().collect();
        let script = self.capture["command"]
            .as_str()
            .and_then(|command| command.split(' ').next_back())
            .expect("it ends in the script");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/summary").join(script);
        let script = std::fs::read_to_string(path).expect("the script");
        sources.sort_by_key(|source| script.find(&format!("'{source}'")).expect("a threshold of the script"));
        sources
    }

    fn checks(&self) -> Vec<CheckInput> {
        let mut checks: Vec<CheckInput> = Vec::new();
        for series in self.series.iter().filter(|series| series.metric == "checks") {
            let Some(name) = series.tags.get("check") else { continue };
            let passes = series.values.iter().filter(|value| **value != 0.0).count() as u64;
            let fails = series.values.len() as u64 - passes;
            checks.push(CheckInput {
                scenario: series.tag("scenario"),
                group: series.tag("group"),
                name: name.clone(),
                passes,
                fails,
            });
        }
        checks
    }

    fn groups(&self) -> Vec<GroupInput> {
        let mut groups: Vec<GroupInput> = Vec::new();
        for series in self.series.iter().filter(|series| !series.tag("group").is_empty()) {
            let group = GroupInput { scenario: series.tag("scenario"), path: series.tag("group"), is_entered: true };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    fn scopes(&self) -> Vec<ScopeInput<'_>> {
        let mut values: Vec<(ScopeKey, ByMetric)> = Vec::new();
        for series in &self.series {
            let (scenario, group) = (series.tag("scenario"), series.tag("group"));
            let mut keys = Vec::new();
            if !scenario.is_empty() {
                keys.push((scenario.clone(), None));
            }
            if !group.is_empty() {
                keys.push((scenario, Some(group)));
            }
            for key in keys {
                let scope = entry(&mut values, key);
                entry(scope, series.metric.clone()).extend(&series.values);
            }
        }
        let scope = |((scenario, group), metrics): (ScopeKey, ByMetric)| ScopeInput {
            scenario,
            group,
            metrics: metrics
                .into_iter()
                .map(|(name, values)| metric_input(&name, &self.capture["data"]["metrics"][&name], values))
                .collect(),
        };
        values.into_iter().map(scope).collect()
    }
}

impl Series {
    fn parse(row: &Value) -> Self {
        let tags = row[1].as_object().expect("an object").iter();
        let values = row[2].as_str().expect("a text").split(' ').flat_map(|run| {
            let (value, times) = run.split_once('*').unwrap_or((run, "1"));
            vec![value.parse().expect("a number"); times.parse().expect("a count")]
        });
        Self {
            metric: row[0].as_str().expect("a name").to_owned(),
            tags: tags.map(|(key, value)| (key.clone(), value.as_str().expect("a text").to_owned())).collect(),
            values: values.collect(),
        }
    }

    fn tag(&self, name: &str) -> String {
        self.tags.get(name).cloned().unwrap_or_default()
    }
}

/// All values, sorted, with their sum in the order they came.
struct Exact {
    sorted: Vec<f64>,
    sum: f64,
}

impl TrendStats for Exact {
    fn avg(&self) -> f64 {
        if self.sorted.is_empty() { 0.0 } else { self.sum / self.sorted.len() as f64 }
    }
    fn min(&self) -> f64 {
        self.sorted.first().copied().unwrap_or_default()
    }
    fn max(&self) -> f64 {
        self.sorted.last().copied().unwrap_or_default()
    }
    fn count(&self) -> u64 {
        self.sorted.len() as u64
    }
    fn quantile(&self, q: f64) -> f64 {
        if self.sorted.is_empty() {
            return 0.0;
        }
        let position = q * (self.sorted.len() as f64 - 1.0);
        let (below, above) = (self.sorted[position.floor() as usize], self.sorted[position.ceil() as usize]);
        below + (above - below) * (position - position.floor())
    }
}

fn metric_input<'a>(name: &str, metric: &Value, values: Vec<f64>) -> MetricInput<'a> {
    MetricInput { name: name.to_owned(), contains: contains(metric), values: values_input(kind(metric), values) }
}

fn contains(metric: &Value) -> Contains {
    match metric["contains"].as_str().expect("a text") {
        "time" => Contains::Time,
        "data" => Contains::Data,
        _ => Contains::Default,
    }
}

fn kind(metric: &Value) -> MetricKind {
    match metric["type"].as_str().expect("a text") {
        "counter" => MetricKind::Counter,
        "gauge" => MetricKind::Gauge,
        "rate" => MetricKind::Rate,
        _ => MetricKind::Trend,
    }
}

fn values_input<'a>(kind: MetricKind, values: Vec<f64>) -> Values<'a> {
    match kind {
        MetricKind::Counter => Values::Counter { count: values.iter().sum::<f64>() + 0.0 },
        MetricKind::Gauge => Values::Gauge {
            value: values.last().copied().unwrap_or_default(),
            min: values.iter().copied().reduce(f64::min).unwrap_or_default(),
            max: values.iter().copied().reduce(f64::max).unwrap_or_default(),
        },
        MetricKind::Rate => Values::Rate {
            hits: values.iter().filter(|value| **value != 0.0).count() as u64,
            total: values.len() as u64,
        },
        MetricKind::Trend => {
            let sum = values.iter().sum::<f64>();
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            Values::Trend(Box::new(Exact { sorted, sum }))
        }
    }
}

/// What a threshold was compared with.
fn observe(source: &str, metric: &Value, values: Vec<f64>, duration_ns: u64) -> f64 {
    let method = source.trim().split(['<', '>', '=', '!']).next().expect("it has an operator").trim();
    match values_input(kind(metric), values) {
        Values::Counter { count } if method == "rate" => count / (duration_ns as f64 / 1e9),
        Values::Counter { count } => count,
        Values::Gauge { value, .. } => value,
        Values::Rate { total: 0, .. } => 0.0,
        Values::Rate { hits, total } => hits as f64 / total as f64,
        Values::Trend(trend) => match TrendStat::parse(method).expect("a trend's method").kind() {
            TrendStatKind::Percentile(percent) => trend.quantile(percent / 100.0),
            _ => TrendStat::parse(method).expect("it parsed above").of(trend.as_ref()),
        },
    }
}

/// The value of a key in a list of pairs, made if need be.
fn entry<K: PartialEq, V: Default>(pairs: &mut Vec<(K, V)>, key: K) -> &mut V {
    let index = pairs.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        pairs.push((key, V::default()));
        pairs.len() - 1
    });
    &mut pairs[index].1
}

/// On purpose the lines of a name after its first are indented, so that none looks like one of the summary: k6 begins them
/// where they are, and nothing else there.
fn indented(text: &str) -> String {
    let begins_a_line = |line: &&str| line.starts_with(char::is_alphanumeric);
    let lines = text.split('\n').map(|line| match Some(line).filter(begins_a_line) {
        Some(line) => format!("{:20}{line}", ""),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Compares line by line, so that a failure shows the line.
pub(crate) fn assert_same_text(actual: &str, expect: &str, case: &str) {
    for (index, (actual, expect)) in actual.lines().zip(expect.lines()).enumerate() {
        assert_eq!(actual, expect, "{case}, line {}", index + 1);
    }
    assert_eq!(actual, expect, "{case}");
}

/// Compares JSON; numbers may differ in the last digits, as sums in another order do.
pub(crate) fn assert_same(actual: &Value, expect: &Value, at: &str) {
    match (actual, expect) {
        (Value::Object(actual), Value::Object(expect)) => {
            let sorted = |object: &serde_json::Map<String, Value>| {
                let mut keys: Vec<_> = object.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(sorted(actual), sorted(expect), "keys at {at}");
            for (key, value) in actual {
                assert_same(value, &expect[key], &format!("{at}.{key}"));
            }
        }
        (Value::Array(actual), Value::Array(expect)) => {
            assert_eq!(actual.len(), expect.len(), "length at {at}");
            for (index, (actual, expect)) in actual.iter().zip(expect).enumerate() {
                assert_same(actual, expect, &format!("{at}[{index}]"));
            }
        }
        (Value::Number(actual), Value::Number(expect)) => {
            let (actual, expect) = (actual.as_f64().expect("a float"), expect.as_f64().expect("a float"));
            assert!((actual - expect).abs() <= expect.abs() * 1e-12, "{actual} is not {expect} at {at}");
        }
        _ => assert_eq!(actual, expect, "{at}"),
    }
}
