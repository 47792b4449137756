//! The lines of raw outputs, without times and measured values: what is compared is keys, order and tags.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::json::sorted;

/// Lines of `--out json`: metrics as they are declared, and how many points had which tags.
///
/// # Errors
/// When a line is not JSON.
pub(super) fn json(text: &str, keeps: impl Fn(&str) -> bool) -> Result<Value> {
    let (mut metrics, mut points, mut keys) = (Map::new(), BTreeMap::<String, usize>::new(), BTreeMap::new());
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
        let name = line["metric"].as_str().with_context(|| format!("a line names no metric: {line}"))?;
        if !keeps(name) {
            continue;
        }
        let kind = line["type"].as_str().unwrap_or_default().to_owned();
        keys.entry(kind.clone()).or_insert_with(|| format!("{} / {}", keys_of(&line), keys_of(&line["data"])));
        if kind == "Metric" {
            metrics.insert(name.to_owned(), line["data"].clone());
        } else {
            let metadata =
                line["data"].get("metadata").map_or_else(String::new, |data| format!(" metadata {}", sorted(data)));
            let point = format!("{name} {}{metadata}", line["data"]["tags"]);
            *points.entry(point).or_default() += 1;
        }
    }
    Ok(json!({"keys": keys, "metrics": metrics, "points": points}))
}

/// Lines of `--out csv`: the header, and how many rows had which values; times and values are left out.
///
/// # Errors
/// When there is no header.
pub(super) fn csv(text: &str, keeps: impl Fn(&str) -> bool) -> Result<Value> {
    let mut lines = text.lines();
    let header = lines.next().context("the csv file has no header")?;
    let columns: Vec<&str> = header.split(',').collect();
    let mut rows = BTreeMap::<String, usize>::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if !keeps(fields[0]) {
            continue;
        }
        let shown = fields.iter().enumerate().map(|(index, field)| match columns.get(index) {
            Some(&"timestamp") => digits_as_zeros(field),
            Some(&"metric_value") => decimals_of(field),
            Some(&("extra_tags" | "metadata")) => sorted_pairs(field),
            _ => (*field).to_owned(),
        });
        *rows.entry(shown.collect::<Vec<_>>().join(",")).or_default() += 1;
    }
    Ok(json!({"header": header, "rows": rows}))
}

/// The keys of an object in their order.
fn keys_of(value: &Value) -> String {
    value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ")
}

/// A time's format: `1795314213` is `0000000000`, `2026-11-22T…Z` is `0000-00-00T…Z`.
fn digits_as_zeros(field: &str) -> String {
    let (whole, fraction) = field.split_once('.').unwrap_or((field, ""));
    let zeros: String = whole.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    // Trailing zeros of a fraction are not written, so its length varies.
    if fraction.is_empty() {
        zeros
    } else {
        format!("{zeros}.{}", fraction.trim_start_matches(|c: char| c.is_ascii_digit()))
    }
}

/// `b=2&a=1` in the order of names: k6 has none.
fn sorted_pairs(field: &str) -> String {
    let mut pairs: Vec<&str> = field.split('&').collect();
    pairs.sort_unstable();
    pairs.join("&")
}

/// A value's format: how many decimals it has.
fn decimals_of(field: &str) -> String {
    let decimals = field.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{decimals} decimals")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_become_counts() {
        let text = r#"{"type":"Metric","data":{"name":"m","type":"gauge"},"metric":"m"}
{"metric":"m","type":"Point","data":{"time":"t","value":1,"tags":{"error":"x","b":"c"}}}
{"metric":"m","type":"Point","data":{"time":"u","value":2,"tags":{"error":"x","b":"c"},"metadata":{"vu":"1","iter":"0"}}}
{"metric":"vus","type":"Point","data":{}}"#;
        let got = json(text, |metric| metric != "vus").unwrap();
        assert_eq!(got["metrics"]["m"]["type"], "gauge");
        assert_eq!(got["keys"]["Point"], "metric type data / time value tags");
        assert_eq!(
            got["points"],
            json!({r#"m {"error":"x","b":"c"}"#: 1, r#"m {"error":"x","b":"c"} metadata {"iter":"0","vu":"1"}"#: 1})
        );
    }

    #[test]
    fn csv_rows_become_counts() {
        let text = "metric_name,timestamp,metric_value,error,x\nm,123,1.000000,a,b\nm,456,2.000000,a,b\nvus,1,1,,\n";
        let got = csv(text, |metric| metric != "vus").unwrap();
        assert_eq!(got["rows"], json!({"m,000,6 decimals,a,b": 2}));
        assert_eq!(digits_as_zeros("2026-11-22T02:23:33.0278Z"), "0000-00-00T00:00:00.Z");
    }
}
