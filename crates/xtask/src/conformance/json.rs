//! JSON files: reading them, and values in a form that compares and diffs well.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// Reads a JSON file.
pub(super) fn read_json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// The same value with its keys in order, at all depths.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            Value::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_all_depths() {
        let value = json!({"b": [{"d": 1, "c": 2}], "a": null});
        assert_eq!(sorted(&value).to_string(), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
    }
}
