//! `onrush report`: the HTML report of a run that is over, from its result file, or from a summary that k6 or Onrush exported.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use onrush_results::{End, Head as FileHead};
use onrush_session::ExitCode;
use onrush_view::{
    Head, HealthStep, History, LineRow, Mode, State,
    report::{html, html_of_summary},
};
use serde_json::{Map, Value, json};

use super::result;
use crate::{context::Context, failure::Failure, flags::Command, run::view};

/// Longest summary that is read.
const SUMMARY_BYTES_MAX: u64 = 64 << 20;

/// Makes a report.
///
/// # Errors
/// 255 for a file that is neither, and for a report that cannot be written.
pub(crate) fn report(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Report)?;
    let [file] = files else {
        return Err(Failure::other("onrush report needs one file: a result file, or an exported summary")
            .hint("onrush run --out result=FILE writes result files, --summary-export=FILE summaries"));
    };
    let file = &result::found(cx, file)?;
    let beside = || Path::new(file).with_extension("html");
    let to = cx.flags.text("output").filter(|path| !path.is_empty()).map_or_else(beside, PathBuf::from);
    let page = match summary(file)? {
        Some(summary) => html_of_summary(&summary),
        None => of_result(cx, file)?,
    };
    if !view::write(cx, &to, &page) {
        return Ok(ExitCode::Other);
    }
    cx.terminal.stdout(format!("{}\n", to.display()));
    Ok(ExitCode::Success)
}

fn of_result(cx: &Context, file: &str) -> Result<String, Failure> {
    let file_head = result::head(Path::new(file))?;
    let (registry, _) = file_head
        .registry()
        .map_err(|error| Failure::other(format!("could not read the result file {file}: {error}")))?;
    // Steps and notes come one after the other, each with what it needs.
    let history = std::cell::RefCell::new(History::new(head(&file_head, &registry), ""));
    let mut has_state = false;
    let replayed = result::read_all(
        cx,
        file,
        |_, step| history.borrow_mut().step(step),
        |name, json| {
            let mut history = history.borrow_mut();
            // What later versions write may be different.
            match name {
                "health" => read::<HealthStep>(json).iter().for_each(|step| history.health(step)),
                "log" => read::<LineRow>(json).iter().for_each(|row| history.log(row)),
                "state" => read::<State>(json).iter().for_each(|state| {
                    has_state = true;
                    history.state(state);
                }),
                _ => {}
            }
        },
    )?;
    let mut history = history.into_inner();
    if !has_state {
        history.state(&State {
            at_ms: replayed.duration_ns as f64 / 1e6,
            elapsed_ms: replayed.duration_ns as f64 / 1e6,
            phase: "closed".to_owned(),
            thresholds: view::thresholds(&replayed.thresholds),
            verdict: replayed.end.as_ref().map(|end| end.verdict.clone()),
            ..State::default()
        });
    }
    let of_killed =
        || onrush_view::End { duration_ms: replayed.duration_ns as f64 / 1e6, ..onrush_view::End::default() };
    history.end(&replayed.end.as_ref().map_or_else(of_killed, |end: &End| view::end(end)));
    history.settle();
    Ok(html(&history, &result::exported(cx, &replayed)?))
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

/// What a file says of its run.
fn head(file: &FileHead, registry: &onrush_metrics::Registry) -> Head {
    let thresholds = file
        .thresholds
        .iter()
        .map(|(metric, sources)| (metric.clone(), sources.iter().map(|source| source.expression.clone()).collect()));
    let scenarios = file.plan.clone().and_then(|plan| serde_json::from_value(plan).ok());
    let described = |text: &String| {
        let (name, description) = text.split_once(": ").unwrap_or((text, ""));
        onrush_view::Scenario {
            name: name.to_owned(),
            description: description.to_owned(),
            ..onrush_view::Scenario::default()
        }
    };
    Head {
        onrush: file.onrush.clone(),
        mode: Mode::Report,
        script: file.script.clone(),
        started_ms: file.started_ms,
        agents: file.agents,
        is_open: file.is_open,
        // Files of the first version have no more of them.
        scenarios: scenarios.unwrap_or_else(|| file.scenarios.iter().map(described).collect()),
        thresholds: thresholds.collect(),
        trend_stats: file.trend_stats.clone(),
        time_unit: file.time_unit.clone(),
        ..Head::new(registry)
    }
}

/// A summary that k6 or Onrush exported, as `--summary-export` writes it, whatever its shape is; `None` for another file.
///
/// # Errors
/// 255 for JSON that is no summary.
fn summary(file: &str) -> Result<Option<Value>, Failure> {
    let Ok(opened) = File::open(file) else { return Ok(None) };
    let mut text = Vec::new();
    let read = opened.take(SUMMARY_BYTES_MAX).read_to_end(&mut text);
    read.map_err(|error| Failure::other(format!("could not read {file}: {error}")))?;
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Ok(None);
    }
    let wrong = |why: &str| {
        Failure::other(format!("{file} is no summary: {why}"))
            .hint("k6 run --summary-export=FILE and onrush run --summary-export=FILE write summaries")
    };
    let mut value: Value = serde_json::from_slice(&text).map_err(|error| wrong(&error.to_string()))?;
    if value.get("results").is_some_and(Value::is_object) {
        value = of_newer_shape(&value);
    }
    let Some(metrics) = value.get_mut("metrics").and_then(Value::as_object_mut) else {
        return Err(wrong("it has no metrics"));
    };
    metrics.values_mut().for_each(flatten);
    if let Some(group) = value.get_mut("root_group") {
        by_name(group, 0);
    }
    Ok(Some(value))
}

/// What `--new-machine-readable-summary` writes becomes what `handleSummary()` is called with.
fn of_newer_shape(summary: &Value) -> Value {
    let list = |place: &str| summary.pointer(place).and_then(Value::as_array).into_iter().flatten();
    let mut metrics = Map::new();
    for metric in list("/results/metrics").chain(list("/results/checks/metrics")) {
        let (name, kind) = (&metric["name"], &metric["type"]);
        let (Some(name), Some(values)) = (name.as_str(), metric["values"].as_object()) else { continue };
        metrics.insert(name.to_owned(), json!({ "type": kind, "values": older_values(values) }));
    }
    for threshold in list("/results/thresholds") {
        let (Some(metric), Some(source)) = (threshold["metric"].as_str(), threshold["source"].as_str()) else {
            continue;
        };
        // One of a sub-metric may be all there is of it.
        let metric = metrics.entry(metric).or_insert_with(|| json!({ "values": {} }));
        metric["thresholds"][source] = json!({ "ok": threshold["ok"] });
    }
    let checks: Vec<&Value> = list("/results/checks/results").collect();
    let mut older = json!({ "metrics": metrics, "root_group": { "name": "", "groups": [], "checks": checks } });
    if let Some(seconds) = summary.pointer("/config/duration").and_then(Value::as_f64) {
        older["state"] = json!({ "testRunDurationMs": seconds * 1e3 });
    }
    if let Some(measurement) = summary.get("measurement") {
        older["measurement"] = measurement.clone();
    }
    older
}

/// Percentiles and the parts of a rate have other names there.
fn older_values(values: &Map<String, Value>) -> Map<String, Value> {
    let number = |name: &str| values.get(name).and_then(Value::as_f64);
    let parts = number("matches").zip(number("total"));
    let renamed = values.iter().filter(|(name, _)| parts.is_none() || *name == "rate").map(|(name, value)| {
        let percent = name.strip_prefix('p').filter(|percent| percent.parse::<f64>().is_ok());
        (percent.map_or_else(|| name.clone(), |percent| format!("p({percent})")), value.clone())
    });
    let mut renamed: Map<String, Value> = renamed.collect();
    if let Some((matches, total)) = parts {
        renamed.insert("passes".to_owned(), json!(matches));
        renamed.insert("fails".to_owned(), json!(total - matches));
    }
    renamed
}

/// A metric as `handleSummary()` has it becomes one as `--summary-export` writes it.
fn flatten(metric: &mut Value) {
    let Some(fields) = metric.as_object_mut() else { return };
    let Some(Value::Object(mut values)) = fields.remove("values") else { return };
    if fields.get("type").and_then(Value::as_str) == Some("rate")
        && let Some(rate) = values.remove("rate")
    {
        values.insert("value".to_owned(), rate);
    }
    if let Some(Value::Object(thresholds)) = fields.remove("thresholds") {
        // There a threshold is true when it failed.
        let failed = thresholds.into_iter().map(|(source, result)| {
            let is_ok = result.get("ok").and_then(Value::as_bool).unwrap_or(false);
            (source, Value::Bool(!is_ok))
        });
        values.insert("thresholds".to_owned(), Value::Object(failed.collect()));
    }
    *metric = Value::Object(values);
}

/// The same of a group: its groups and checks are lists there.
fn by_name(group: &mut Value, depth: usize) {
    /// Deeper ones are left as they are.
    const DEPTH_MAX: usize = 100;
    for key in ["groups", "checks"] {
        let Some(list) = group.get_mut(key) else { continue };
        if let Value::Array(items) = list {
            let named = std::mem::take(items)
                .into_iter()
                .map(|item| (item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(), item));
            *list = Value::Object(named.collect::<Map<_, _>>());
        }
        if key == "groups" && depth < DEPTH_MAX {
            list.as_object_mut().into_iter().flatten().for_each(|(_, group)| by_name(group, depth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_of_summaries_are_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("summary.json");
        let check = |text: &str, expect: Result<Option<Value>, &str>| {
            std::fs::write(&path, text).expect("it is written");
            let read = summary(&path.to_string_lossy());
            match (read, expect) {
                (Ok(read), Ok(expect)) => assert_eq!(read, expect, "{text}"),
                (Err(failure), Err(expect)) => assert!(failure.message.contains(expect), "{}", failure.message),
                (read, expect) => panic!("{text}: {:?}, not {expect:?}", read.map_err(|failure| failure.message)),
            }
        };
        let exported = serde_json::json!({
            "metrics": {"checks": {"value": 0.5, "passes": 1, "fails": 1, "thresholds": {"rate>0.9": true}}},
            "root_group": {"groups": {"a": {"name": "a", "groups": {}, "checks": {"b": {"name": "b"}}}}, "checks": {}},
        });
        check(&exported.to_string(), Ok(Some(exported.clone())));
        let handled = r#"{
            "metrics": {"checks": {"type": "rate", "contains": "default", "values": {"rate": 0.5, "passes": 1, "fails": 1},
                                   "thresholds": {"rate>0.9": {"ok": false}}}},
            "root_group": {"groups": [{"name": "a", "groups": [], "checks": [{"name": "b"}]}], "checks": []}}"#;
        check(handled, Ok(Some(exported)));
        let newer = r#"{
            "config": {"duration": 2.5}, "measurement": {"verdict": "VALID"},
            "results": {
                "checks": {"metrics": [{"name": "checks_total", "type": "counter", "values": {"count": 3}}],
                           "results": [{"name": "b", "passes": 2, "fails": 1}]},
                "metrics": [{"name": "odd", "type": "rate", "values": {"matches": 1, "rate": 0.25, "total": 4}},
                            {"name": "size", "type": "trend", "values": {"avg": 1.5, "p99.9": 3}}],
                "thresholds": [{"metric": "odd", "source": "rate>0.5", "ok": false},
                               {"metric": "size{a:b}", "source": "avg<2", "ok": true}]}}"#;
        let older = json!({
            "metrics": {
                "checks_total": {"count": 3},
                "odd": {"value": 0.25, "passes": 1.0, "fails": 3.0, "thresholds": {"rate>0.5": true}},
                "size": {"avg": 1.5, "p(99.9)": 3},
                "size{a:b}": {"thresholds": {"avg<2": false}},
            },
            "root_group": {"name": "", "groups": {}, "checks": {"b": {"name": "b", "passes": 2, "fails": 1}}},
            "state": {"testRunDurationMs": 2500.0},
            "measurement": {"verdict": "VALID"},
        });
        check(newer, Ok(Some(older)));
        check("onrush result 2\n", Ok(None));
        check("{\"a\": 1}", Err("it has no metrics"));
        check("{\"a\": ", Err("is no summary"));
    }
}
