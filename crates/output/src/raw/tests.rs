//! The formatters against what k6 wrote; see `tests/data/README.md`.

use onrush_metrics::{MetricId, RawSample, Registry, SubMetric, SystemTag, TagPairs};
use serde_json::Value;

use super::{CsvFormat, Format, JsonFormat, MetricInfo, Sample, TimeFormat};
use crate::time::WallClock;

const JSON: &str = include_str!("../../tests/data/raw.k6.json");
const CSV: &str = include_str!("../../tests/data/raw.k6.csv");

/// A recorded sample.
struct Recorded {
    line: &'static str,
    metric: String,
    unix_ns: i128,
    value: f64,
    tags: TagPairs,
    metadata: Option<TagPairs>,
}

fn pairs(object: &Value) -> TagPairs {
    let object = object.as_object().expect("an object");
    let mut pairs: Vec<_> =
        object.iter().map(|(name, value)| (name.as_str().into(), value.as_str().expect("a text").into())).collect();
    pairs.sort();
    pairs.into()
}

fn recorded() -> Vec<Recorded> {
    let parse = |line: &'static str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        (value["type"] == "Point").then(|| {
            let data = &value["data"];
            let at: jiff::Timestamp = data["time"].as_str().expect("a time").parse().expect("a time");
            Recorded {
                line,
                metric: value["metric"].as_str().expect("a name").to_owned(),
                unix_ns: at.as_nanosecond(),
                value: data["value"].as_f64().expect("a number"),
                tags: pairs(&data["tags"]),
                metadata: data.get("metadata").map(pairs),
            }
        })
    };
    JSON.lines().filter_map(parse).collect()
}

/// The registry of the recorded script, and what is said about its metrics.
fn metrics() -> (Registry, Vec<MetricInfo>) {
    use onrush_metrics::{Contains, MetricKind};
    let mut registry = Registry::new();
    for (name, kind, contains) in [
        ("my_counter", MetricKind::Counter, Contains::Default),
        ("my_gauge", MetricKind::Gauge, Contains::Default),
        ("my_rate", MetricKind::Rate, Contains::Default),
        ("my_trend", MetricKind::Trend, Contains::Time),
    ] {
        registry.declare(name, kind, contains).expect("a good name");
    }
    let submetrics = [
        SubMetric::parse("http_reqs{kind:a}", &registry).expect("a sub-metric"),
        SubMetric::expected_response(&registry),
    ];
    let thresholds = |name: &str| match name {
        "http_req_duration" => serde_json::json!([
            "p(95)<5000",
            {"threshold": "avg<9000", "abortOnFail": true, "delayAbortEval": "10s"}
        ]),
        "my_rate" => serde_json::json!(["rate>=0"]),
        _ => serde_json::json!([]),
    };
    let info = registry.iter().map(|metric| {
        let own: Vec<_> = submetrics.iter().filter(|submetric| submetric.metric == metric.id).collect();
        MetricInfo::new(metric, thresholds(&metric.name).as_array().expect("a list"), &own)
    });
    let info = info.collect();
    (registry, info)
}

fn write(format: &mut dyn Format, registry: &Registry, recorded: &[Recorded]) -> String {
    let mut out = Vec::new();
    format.head(&mut out);
    for (index, sample) in recorded.iter().enumerate() {
        let metric: MetricId = registry.lookup(&sample.metric).expect("a metric");
        let raw = RawSample { metric, tags: index as u32, metadata: 0, time: 0, value: sample.value };
        let sample = Sample {
            thread: index % 2,
            raw: &raw,
            tags: &sample.tags,
            metadata: sample.metadata.as_ref(),
            unix_ns: sample.unix_ns,
        };
        format.sample(&sample, &mut out);
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn json_lines_are_k6s() {
    let (registry, info) = metrics();
    let recorded = recorded();
    assert!(recorded.len() > 100);
    let mut format = JsonFormat::new(info.into());
    format.clock = WallClock::utc();
    let text = write(&mut format, &registry, &recorded);
    assert_eq!(text.lines().count(), JSON.lines().count());
    for (ours, theirs) in text.lines().zip(JSON.lines()) {
        assert_eq!(ours, theirs);
    }
    assert!(recorded.iter().any(|sample| sample.line.contains("metadata")));
}

/// k6 gives the pairs of the last two columns in no order.
fn sorted(row: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for char in row.chars() {
        match char {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                fields.push(String::new());
                continue;
            }
            _ => {}
        }
        fields.last_mut().expect("one field at least").push(char);
    }
    let metadata = fields.len() - 1;
    for field in &mut fields[metadata - 1..] {
        let mut pairs: Vec<&str> = field.trim_matches('"').split('&').collect();
        pairs.sort_unstable();
        *field = pairs.join("&");
    }
    fields
}

/// Rows, which may hold line breaks within quotes.
fn rows(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match rows.last_mut().filter(|_| is_open) {
            Some(row) => {
                row.push('\n');
                row.push_str(line);
            }
            None => rows.push(line.to_owned()),
        }
        is_open ^= line.matches('"').count() % 2 == 1;
    }
    rows
}

#[test]
fn csv_rows_are_k6s() {
    let (registry, info) = metrics();
    let mut format = CsvFormat::new(info.into(), TimeFormat::Unix, SystemTag::DEFAULTS);
    let text = write(&mut format, &registry, &recorded());
    let (ours, theirs) = (rows(&text), rows(CSV));
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(ours[0], theirs[0]);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(sorted(ours), sorted(theirs));
    }
}

#[test]
fn times_in_csv() {
    let check = |name: &str, expect: &str| {
        let time = TimeFormat::parse(name).expect("a known name");
        let mut format = CsvFormat::new(Vec::new().into(), time, SystemTag::DEFAULTS);
        format.clock = WallClock::utc();
        let mut out = Vec::new();
        format.write_time(1_786_000_000_120_034_000, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expect);
    };
    check("unix", "1786000000");
    check("unix_milli", "1786000000120");
    check("unix_micro", "1786000000120034");
    check("unix_nano", "1786000000120034000");
    check("rfc3339", "2026-08-06T07:06:40Z");
    check("rfc3339_nano", "2026-08-06T07:06:40.120034Z");
    assert_eq!(TimeFormat::parse("UNIX"), None);
}
