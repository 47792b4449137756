//! What came of a run, without what varies from run to run.
//!
//! Both tools are asked for the same files; nothing here knows which of them has written what it reads.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::{
    json::{read_json, sorted},
    lab::Lab,
    lines,
    script::Script,
};

/// What a run leaves behind.
pub(super) struct Leftovers<'a> {
    pub(super) folder: &'a Path,
    /// Knows the addresses, which are others in each run.
    pub(super) lab: &'a Lab,
    pub(super) exit: i32,
    pub(super) stdout: &'a str,
}

/// The result that is recorded and compared.
pub(super) fn of(script: &Script, leftovers: &Leftovers<'_>) -> Result<Value> {
    let mut result = Map::new();
    result.insert("exit".to_owned(), leftovers.exit.into());
    if let Some((complete, interrupted)) = iterations_of(leftovers.stdout) {
        let is_counted = !script.varies.iter().any(|metric| metric == "iterations");
        let shown = |count: u64| if is_counted { Value::from(count) } else { VARIES.into() };
        result.insert("iterations".to_owned(), json!({"complete": shown(complete), "interrupted": shown(interrupted)}));
    }
    if let Some(export) = leftovers.json(EXPORT)? {
        if export.get("results").is_some() {
            result.insert("summary".to_owned(), shape(&export));
        } else {
            summary(script, &export, &mut result);
        }
    }
    if let Some(data) = leftovers.json(HANDLED)? {
        let mut data = shape(&data);
        if let Some(metrics) = data["metrics"].as_object_mut() {
            metrics.retain(|name, _| is_compared(script, name));
        }
        result.insert("handleSummary".to_owned(), data);
    }
    for kind in &script.out {
        let path = lines_file(kind);
        if let Some(text) = leftovers.text(path)? {
            let text = leftovers.lab.without_addresses(&text);
            let keeps = |metric: &str| is_compared(script, metric);
            let lines = if kind == "json" { lines::json(&text, keeps)? } else { lines::csv(&text, keeps)? };
            result.insert(kind.clone(), lines);
        }
    }
    if !script.written.is_empty() {
        let written = script.written.iter().map(|name| {
            let text = if name == "stdout" { Some(leftovers.stdout.to_owned()) } else { leftovers.text(name)? };
            Ok((name.clone(), text.map_or(Value::Null, |text| leftovers.lab.without_addresses(&text).into())))
        });
        result.insert("written".to_owned(), Value::Object(written.collect::<Result<_>>()?));
    }
    Ok(sorted(&Value::Object(result)))
}

impl Leftovers<'_> {
    fn text(&self, name: &str) -> Result<Option<String>> {
        let path = self.folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).with_context(|| format!("cannot read {name}"))
    }

    fn json(&self, name: &str) -> Result<Option<Value>> {
        let path: PathBuf = self.folder.join(name);
        if path.is_file() { read_json(&path).map(Some) } else { Ok(None) }
    }
}

/// How many iterations the last progress line says were completed and interrupted.
fn iterations_of(stdout: &str) -> Option<(u64, u64)> {
    stdout.lines().rev().find_map(|line| {
        let (before, after) = line.split_once(" complete and ")?;
        let interrupted = after.strip_suffix(" interrupted iterations")?;
        Some((before.rsplit(' ').next()?.parse().ok()?, interrupted.parse().ok()?))
    })
}

/// Reads what `--summary-export` writes.
fn summary(script: &Script, export: &Value, result: &mut Map<String, Value>) {
    let empty = Map::new();
    let metrics = export["metrics"].as_object().unwrap_or(&empty);
    let (mut shown, mut thresholds) = (Map::new(), Map::new());
    for (name, values) in metrics.iter().filter(|(name, _)| is_compared(script, name)) {
        let values = values.as_object().unwrap_or(&empty);
        let mut kept = Map::new();
        for (key, value) in values {
            if key == "thresholds" {
                let verdicts = value.as_object().unwrap_or(&empty).iter();
                // In this file true means failed.
                let ok = verdicts.map(|(source, failed)| (source.clone(), json!(failed == &Value::Bool(false))));
                thresholds.insert(name.clone(), Value::Object(ok.collect()));
            } else {
                let is_exact = is_exact(script, name) && !(key == "rate" && values.contains_key("count"));
                kept.insert(key.clone(), if is_exact { plain(value) } else { VARIES.into() });
            }
        }
        shown.insert(name.clone(), Value::Object(kept));
    }
    let count = |metric: &str, key: &str| {
        let is_varying = script.varies.iter().any(|name| name == metric);
        let count = metrics.get(metric).map_or_else(|| json!(0), |values| plain(&values[key]));
        if is_varying { VARIES.into() } else { count }
    };
    result.insert("requests".to_owned(), count("http_reqs", "count"));
    result.insert("dropped_iterations".to_owned(), count("dropped_iterations", "count"));
    result
        .insert("checks".to_owned(), json!({"passed": count("checks", "passes"), "failed": count("checks", "fails")}));
    result.insert("thresholds".to_owned(), Value::Object(thresholds));
    // Not a list, so that a key more is a place of its own.
    let keys: Map<String, Value> =
        export.as_object().into_iter().flatten().map(|(key, _)| (key.clone(), true.into())).collect();
    let is_varying = script.varies.iter().any(|name| name == "setup_data");
    let setup_data = if is_varying { VARIES.into() } else { export["setup_data"].clone() };
    let mut groups = Map::new();
    group(script, &export["root_group"], &mut groups);
    result.insert(
        "summary".to_owned(),
        json!({"keys": keys, "metrics": shown, "groups": groups, "setup_data": setup_data}),
    );
}

/// Notes a group, its checks and the groups inside by their paths.
fn group(script: &Script, from: &Value, groups: &mut Map<String, Value>) {
    let is_counted = !script.varies.iter().any(|metric| metric == "checks");
    let count = |value: &Value| if is_counted { plain(value) } else { VARIES.into() };
    let checks = from["checks"].as_object().into_iter().flatten().map(|(name, check)| {
        (name.clone(), json!({"id": check["id"], "passes": count(&check["passes"]), "fails": count(&check["fails"])}))
    });
    let this = json!({"id": from["id"], "checks": Value::Object(checks.collect())});
    groups.insert(from["path"].as_str().unwrap_or_default().to_owned(), this);
    for (_, child) in from["groups"].as_object().into_iter().flatten() {
        group(script, child, groups);
    }
}

/// The gauges of VUs appear when a run is longer than a second, whatever the script says.
fn is_compared(script: &Script, metric: &str) -> bool {
    let base = base_of(metric);
    !["vus", "vus_max"].contains(&base) || script.keep.iter().any(|kept| kept == base)
}

/// Whether a metric's values follow from the script alone.
fn is_exact(script: &Script, metric: &str) -> bool {
    let base = base_of(metric);
    let is_measured = base.starts_with("http_req_") && base != "http_req_failed"
        || ["iteration_duration", "group_duration", "grpc_req_duration", "data_sent", "data_received"].contains(&base);
    !is_measured && !script.varies.iter().any(|varying| varying == base)
}

fn base_of(metric: &str) -> &str {
    metric.split('{').next().unwrap_or(metric)
}

/// A number as both tools would write it: whole where it is whole, else with nine decimals.
fn plain(value: &Value) -> Value {
    let Some(number) = value.as_f64() else { return value.clone() };
    let rounded = (number * DECIMALS).round() / DECIMALS;
    if rounded.fract() == 0.0 && rounded.abs() < WHOLE_MAX { json!(rounded as i64) } else { json!(rounded) }
}

/// A value with its numbers and what names this run left out. What has a name is found by it, not by its place.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| {
                    let is_ours = ["generated_at", "k6_version", "script"].contains(&key.as_str());
                    (key.clone(), if is_ours { "text".into() } else { shape(value) })
                })
                .collect(),
        ),
        Value::Array(list) if list.iter().all(|item| item["name"].is_string()) && !list.is_empty() => Value::Object(
            list.iter().map(|item| (item["name"].as_str().unwrap_or_default().to_owned(), shape(item))).collect(),
        ),
        Value::Array(list) => list.iter().map(shape).collect(),
        Value::Number(_) => "number".into(),
        other => other.clone(),
    }
}

/// The file of an output of raw samples.
pub(super) fn lines_file(kind: &str) -> &'static str {
    if kind == "json" { "lines.json" } else { "lines.csv" }
}

/// Where the summary goes, by `K6_SUMMARY_EXPORT`.
pub(super) const EXPORT: &str = "export.json";
/// Where scripts write the data their `handleSummary()` gets.
const HANDLED: &str = "data.json";
/// Stands for a value that is another one in each run.
const VARIES: &str = "varies";
const DECIMALS: f64 = 1e9;
/// Up to here every whole number is a float.
const WHOLE_MAX: f64 = 9e15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_progress_line_counts() {
        let text = "running (1s), 1/1 VUs, 0 complete and 0 interrupted iterations\n\
                    running (2s), 0/1 VUs, 12 complete and 3 interrupted iterations\ndefault done\n";
        assert_eq!(iterations_of(text), Some((12, 3)));
        assert_eq!(iterations_of("12 complete\n"), None);
    }

    #[test]
    fn summaries_keep_what_a_script_decides() {
        let script = Script { varies: vec!["mine".to_owned()], ..Script::default() };
        let export = json!({
            "metrics": {
                "http_reqs": {"count": 3, "rate": 12.5, "thresholds": {"count<3": true}},
                "http_req_duration": {"avg": 1.5},
                "mine": {"value": 7},
                "custom": {"avg": 2.0},
                "vus": {"value": 1},
            },
            "root_group": {"path": "", "id": "d4", "checks": {}, "groups": {
                "g": {"path": "::g", "id": "a", "groups": {}, "checks": {"one": {"id": "1", "passes": 2, "fails": 1}}},
            }},
        });
        let mut result = Map::new();
        summary(&script, &export, &mut result);
        assert_eq!(result["requests"], 3);
        assert_eq!(result["thresholds"], json!({"http_reqs": {"count<3": false}}));
        let metrics = json!({
            "http_reqs": {"count": 3, "rate": "varies"},
            "http_req_duration": {"avg": "varies"},
            "mine": {"value": "varies"},
            "custom": {"avg": 2},
        });
        assert_eq!(result["summary"]["metrics"], metrics);
        assert_eq!(result["summary"]["groups"]["::g"]["checks"]["one"]["fails"], 1);
    }

    #[test]
    fn shapes_have_no_numbers() {
        let value = json!({"a": [{"name": "x", "v": 1.5}], "b": [1, "s"], "script": "long"});
        assert_eq!(
            shape(&value),
            json!({"a": {"x": {"name": "x", "v": "number"}}, "b": ["number", "s"], "script": "text"})
        );
    }
}
