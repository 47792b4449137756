//! Finds where two results differ.

use std::fmt;

use serde_json::Value;

/// One place where a result is not k6's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Keys from the root, with ` > ` between them, for names of metrics have dots and colons.
    pub(super) at: String,
    /// Nothing where k6 has none.
    pub(super) k6: Option<Value>,
    pub(super) onrush: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        write!(f, "{}: k6 {}, onrush {}", self.at, shown(&self.k6), shown(&self.onrush))
    }
}

/// All differences, in the order of keys.
pub(super) fn compare(k6: &Value, onrush: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(String::new(), Some(k6), Some(onrush), &mut found);
    // One refuses what the other runs: that is one difference, not one for each thing a run has.
    let ran = |result: &Value| result.get(RAN).is_some();
    if k6["exit"] != onrush["exit"] && ran(k6) != ran(onrush) {
        found.retain(|difference| difference.at == "exit");
    }
    found
}

fn walk(at: String, k6: Option<&Value>, onrush: Option<&Value>, found: &mut Vec<Difference>) {
    if let (Some(Value::Object(a)), Some(Value::Object(b))) = (k6, onrush) {
        let mut keys: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
        keys.sort();
        for key in keys {
            let below = if at.is_empty() { key.clone() } else { format!("{at} > {key}") };
            walk(below, a.get(key), b.get(key), found);
        }
    } else if k6 != onrush {
        found.push(Difference { at, k6: k6.cloned(), onrush: onrush.cloned() });
    }
}

/// What a result has if the test has begun.
const RAN: &str = "iterations";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_name_their_place() {
        let check = |k6: Value, onrush: Value, expect: &[&str]| {
            let found: Vec<String> = compare(&k6, &onrush).iter().map(Difference::to_string).collect();
            assert_eq!(found, expect);
        };
        check(json!({"a": {"b": 1}}), json!({"a": {"b": 1}}), &[]);
        check(json!({"exit": 0}), json!({"exit": 99}), &["exit: k6 0, onrush 99"]);
        check(json!({"exit": 0, "iterations": 1, "x": 2}), json!({"exit": 104}), &["exit: k6 0, onrush 104"]);
        check(
            json!({"m": {"x{a:b}": {"v": 1}, "gone": [1]}}),
            json!({"m": {"x{a:b}": {"v": 2}, "new": null}}),
            &["m > gone: k6 [1], onrush nothing", "m > new: k6 nothing, onrush null", "m > x{a:b} > v: k6 1, onrush 2"],
        );
    }
}
