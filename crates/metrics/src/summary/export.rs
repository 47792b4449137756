//! The summary as JSON: the argument of `handleSummary()`, the file of `--summary-export`, and the newer shape of both.
//!
//! JSON has no NaN and no infinities; where a metric holds one there is `null`.

use serde::Serialize;
use serde_json::{
    Map, Value, json,
    ser::{PrettyFormatter, Serializer},
};

use super::{
    group::{Check, Group},
    mode::SummaryMode,
    model::{CheckTotal, MetricSummary, MetricValues, SummaryModel, ThresholdSummary, check_counts, share},
    trend_stat::TrendStatKind,
};
use crate::threshold::History;

/// Version of the newer shape.
const MACHINE_READABLE_VERSION: &str = "1.0.0";

/// What `handleSummary()` is called with.
pub fn handle_summary(model: &SummaryModel) -> Value {
    let metrics = model.metrics.iter().map(|metric| (metric.name.clone(), handle_summary_metric(metric)));
    let mut data = json!({
        "root_group": group_with_lists(&model.root_group),
        "options": {
            "summaryTrendStats": model.run.trend_stats.iter().map(|stat| stat.name()).collect::<Vec<_>>(),
            "summaryTimeUnit": model.run.time_unit.map_or("", |unit| unit.as_str()),
            "noColor": model.run.no_color,
        },
        "state": {
            "isStdOutTTY": model.run.stdout_tty,
            "isStdErrTTY": model.run.stderr_tty,
            "testRunDurationMs": number(model.duration_ms()),
        },
        "metrics": metrics.collect::<Map<_, _>>(),
    });
    add_setup_data(&mut data, model);
    data
}

/// What `--summary-export` writes.
///
/// k6: here a threshold is `true` when it *failed*, and a rate's share is called `value`.
pub fn summary_export(model: &SummaryModel) -> Value {
    let metrics = model.metrics.iter().map(|metric| {
        let mut values = values(&metric.values);
        if let Some(rate) = values.remove("rate").filter(|_| matches!(metric.values, MetricValues::Rate { .. })) {
            values.insert("value".to_owned(), rate);
        } else if let MetricValues::Counter { rate, .. } = metric.values {
            values.insert("rate".to_owned(), number(rate));
        }
        if !metric.thresholds.is_empty() {
            let failed =
                metric.thresholds.iter().map(|threshold| (threshold.source.clone(), Value::Bool(!threshold.ok)));
            values.insert("thresholds".to_owned(), Value::Object(failed.collect()));
        }
        (metric.name.clone(), Value::Object(values))
    });
    let mut data = json!({
        "root_group": group_with_maps(&model.root_group),
        "metrics": metrics.collect::<Map<_, _>>(),
    });
    add_setup_data(&mut data, model);
    data
}

/// What the newer shape says about the run beside its results.
#[derive(Clone, Copy, Debug)]
pub struct MachineInfo<'a> {
    /// The source text of the script.
    pub script: &'a str,
    /// When the summary was made, RFC 3339.
    pub generated_at: &'a str,
    /// Our version.
    pub onrush_version: &'a str,
    /// The version of k6 whose behaviour this is, which readers of the shape expect.
    pub k6_version: &'a str,
    /// Which metrics to include: those the text of this mode shows.
    pub mode: SummaryMode,
}

/// The shape `--new-machine-readable-summary` asks for, in place of either of the others.
///
/// Beside k6's six fixed numbers a trend has the others of `summaryTrendStats`.
pub fn machine_readable(model: &SummaryModel, info: &MachineInfo<'_>) -> Value {
    let mut results = Map::new();
    let checks = match check_counts(&model.metrics, &model.checks) {
        Some((passes, fails)) => machine_checks(passes, fails, &model.checks),
        None => json!({ "metrics": [], "results": [] }),
    };
    results.insert("checks".to_owned(), checks);
    let shown = model.metrics.iter().filter(|metric| !info.mode.hides(&metric.name));
    results.insert("metrics".to_owned(), shown.map(machine_metric).collect());
    // k6 has none here.
    let judged = model.metrics.iter().flat_map(|metric| metric.thresholds.iter().map(move |one| (metric, one)));
    let thresholds: Vec<Value> = judged.map(|(metric, threshold)| machine_threshold(metric, threshold)).collect();
    if !thresholds.is_empty() {
        results.insert("thresholds".to_owned(), thresholds.into());
    }
    json!({
        "config": {
            "duration": number(model.run.duration_ns as f64 / 1e9),
            "execution": "local",
            "script": info.script,
        },
        "metadata": {
            "generated_at": info.generated_at,
            "k6_version": info.k6_version,
            "onrush_version": info.onrush_version,
        },
        "results": results,
        "version": MACHINE_READABLE_VERSION,
    })
}

/// The text of a file with one of these shapes: indented by four, as k6 writes it.
pub fn to_file(value: &Value) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"    "));
    // Values have no keys but strings and the buffer takes every write, so this cannot fail; if it did, compact JSON is as good.
    match value.serialize(&mut serializer).ok().and_then(|()| String::from_utf8(text).ok()) {
        Some(text) => text,
        None => value.to_string(),
    }
}

fn add_setup_data(data: &mut Value, model: &SummaryModel) {
    if let (Value::Object(fields), Some(setup_data)) = (data, &model.run.setup_data) {
        fields.insert("setup_data".to_owned(), setup_data.clone());
    }
}

fn handle_summary_metric(metric: &MetricSummary) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), metric.values.kind().as_str().into());
    fields.insert("contains".to_owned(), metric.contains.as_str().into());
    fields.insert("values".to_owned(), Value::Object(values(&metric.values)));
    if !metric.thresholds.is_empty() {
        let results =
            metric.thresholds.iter().map(|threshold| (threshold.source.clone(), handle_summary_threshold(threshold)));
        fields.insert("thresholds".to_owned(), Value::Object(results.collect()));
    }
    Value::Object(fields)
}

/// k6 has `ok` alone, and so has what always held: scripts compare what they are given.
fn handle_summary_threshold(threshold: &ThresholdSummary) -> Value {
    let mut fields = json!({ "ok": threshold.ok });
    let history = threshold.history.filter(History::is_telling);
    if let (Value::Object(fields), Some(history)) = (&mut fields, history) {
        fields.insert("history".to_owned(), history_fields(&history));
    }
    fields
}

fn machine_threshold(metric: &MetricSummary, threshold: &ThresholdSummary) -> Value {
    json!({
        "history": threshold.history.as_ref().map(history_fields),
        "metric": metric.name,
        "observed": number(threshold.observed),
        "ok": threshold.ok,
        "source": threshold.source,
    })
}

fn history_fields(history: &History) -> Value {
    json!({
        "firstCrossedAtMs": history.first_crossed_ns.map(|ns| number(ns as f64 / 1e6)),
        "held": history.held,
        "judged": history.judged,
        "windowed": history.is_windowed,
    })
}

fn values(values: &MetricValues) -> Map<String, Value> {
    let pairs =
        |pairs: &[(&str, Value)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    match values {
        MetricValues::Counter { count, rate } => pairs(&[("count", number(*count)), ("rate", number(*rate))]),
        MetricValues::Gauge { value, min, max } => {
            pairs(&[("value", number(*value)), ("min", number(*min)), ("max", number(*max))])
        }
        MetricValues::Rate { rate, passes, fails } => {
            pairs(&[("rate", number(*rate)), ("passes", (*passes).into()), ("fails", (*fails).into())])
        }
        MetricValues::Trend(trend) => {
            trend.columns.iter().map(|(stat, value)| (stat.name().to_owned(), number(*value))).collect()
        }
    }
}

fn group_with_lists(group: &Group) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": group.id,
        "groups": group.groups.iter().map(group_with_lists).collect::<Vec<_>>(),
        "checks": group.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn group_with_maps(group: &Group) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": group.id,
        "groups": group.groups.iter().map(|inner| (inner.name.clone(), group_with_maps(inner))).collect::<Map<_, _>>(),
        "checks": group.checks.iter().map(|inner| (inner.name.clone(), check(inner))).collect::<Map<_, _>>(),
    })
}

fn check(check: &Check) -> Value {
    json!({ "name": check.name, "path": check.path, "id": check.id, "passes": check.passes, "fails": check.fails })
}

fn machine_checks(passes: u64, fails: u64, checks: &[CheckTotal]) -> Value {
    let total = passes.saturating_add(fails);
    let rate = |name: &str, part: u64, rest: u64| {
        let values = json!({ "matches": part, "rate": number(share(part, rest)), "total": total });
        json!({ "contains": "default", "name": name, "type": "rate", "values": values })
    };
    let results =
        checks.iter().map(|check| json!({ "fails": check.fails, "name": check.name, "passes": check.passes }));
    json!({
        "metrics": [
            { "contains": "default", "name": "checks_total", "type": "counter", "values": { "count": total } },
            rate("checks_failed", fails, passes),
            rate("checks_succeeded", passes, fails),
        ],
        "results": results.collect::<Vec<_>>(),
    })
}

fn machine_metric(metric: &MetricSummary) -> Value {
    let values = match &metric.values {
        MetricValues::Counter { count, .. } => json!({ "count": number(*count) }),
        MetricValues::Gauge { value, min, max } => {
            json!({ "max": number(*max), "min": number(*min), "value": number(*value) })
        }
        MetricValues::Rate { rate, passes, fails } => {
            json!({ "matches": passes, "rate": number(*rate), "total": passes.saturating_add(*fails) })
        }
        MetricValues::Trend(trend) => {
            let names = ["avg", "min", "med", "max", "p90", "p95"];
            let mut values: Map<_, _> =
                names.into_iter().zip(trend.defaults).map(|(name, value)| (name.to_owned(), number(value))).collect();
            for (stat, value) in &trend.columns {
                let name = match stat.kind() {
                    TrendStatKind::Percentile(percent) => format!("p{percent}"),
                    _ => stat.name().to_owned(),
                };
                values.entry(name).or_insert_with(|| number(*value));
            }
            values.sort_keys();
            Value::Object(values)
        }
    };
    json!({ "contains": metric.contains.as_str(), "name": metric.name, "type": metric.values.kind().as_str(), "values": values })
}

/// Whole numbers without a decimal point, as JavaScript writes them.
pub(super) fn number(value: f64) -> Value {
    /// Every whole number up to here has a float of its own: 2^53.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        // The cast is exact within these bounds.
        Value::from(value as i64)
    } else {
        // `null` for what JSON cannot say.
        Value::from(value)
    }
}
