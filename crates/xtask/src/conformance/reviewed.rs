//! The reviewed list of differences: what Onrush does otherwise on purpose, and why.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{compare::Difference, json::read_json};

/// The list, and which of its entries have explained something.
#[derive(Debug)]
pub(super) struct Reviewed {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    /// A script's name, or its start and `*`.
    script: String,
    /// A place, or its start and `*`; `*` alone is every place but the exit code.
    at: String,
    /// What k6 has there, if that matters; JSON null stands for nothing.
    k6: Option<Value>,
    onrush: Option<Value>,
    is_used: bool,
}

impl Reviewed {
    /// Reads the list.
    ///
    /// # Errors
    /// When it is not as its README says.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        Self::parse(&read_json(&folder.join(FILE))?)
    }

    fn parse(list: &Value) -> Result<Self> {
        let list = list.as_array().with_context(|| format!("{FILE} must be a list"))?;
        let entries = list.iter().enumerate().map(|(index, entry)| {
            let text = |key: &str| {
                let text = entry[key].as_str().filter(|text| !text.trim().is_empty());
                text.map(str::to_owned).with_context(|| format!("{FILE}: entry {}: `{key}` is missing", index + 1))
            };
            text("why")?;
            for (key, _) in entry.as_object().into_iter().flatten() {
                if !["script", "at", "k6", "onrush", "why"].contains(&key.as_str()) {
                    bail!("{FILE}: entry {}: `{key}` is not known", index + 1);
                }
            }
            let (script, at) = (text("script")?, text("at")?);
            Ok(Entry { script, at, k6: entry.get("k6").cloned(), onrush: entry.get("onrush").cloned(), is_used: false })
        });
        Ok(Self { entries: entries.collect::<Result<_>>()? })
    }

    /// Whether a difference is on the list.
    pub(super) fn explains(&self, script: &str, difference: &Difference) -> bool {
        self.entries.iter().any(|entry| entry.explains(script, difference))
    }

    /// The same, and remembers that the entry still holds.
    pub(super) fn note(&mut self, script: &str, difference: &Difference) -> bool {
        let mut is_explained = false;
        for entry in self.entries.iter_mut().filter(|entry| entry.explains(script, difference)) {
            entry.is_used = true;
            is_explained = true;
        }
        is_explained
    }

    /// How many entries hold.
    pub(super) fn used(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_used).count()
    }

    /// Entries that explain nothing any more.
    pub(super) fn unused(&self) -> Vec<String> {
        self.entries
            .iter()
            .filter(|entry| !entry.is_used)
            .map(|entry| format!("{} {}", entry.script, entry.at))
            .collect()
    }
}

impl Entry {
    fn explains(&self, script: &str, difference: &Difference) -> bool {
        let is = |wanted: &Option<Value>, got: &Option<Value>| {
            wanted.as_ref().is_none_or(|wanted| wanted == got.as_ref().unwrap_or(&Value::Null))
        };
        let is_at = matches(&self.at, &difference.at) && (self.at != "*" || difference.at != "exit");
        matches(&self.script, script) && is_at && is(&self.k6, &difference.k6) && is(&self.onrush, &difference.onrush)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == text, |start| text.starts_with(start))
}

/// Below the folder of scripts.
pub(super) const FILE: &str = "differences.json";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_explain_what_they_name() {
        let list = json!([
            {"script": "a/b", "at": "exit", "k6": 0, "onrush": 104, "why": "stricter"},
            {"script": "c/*", "at": "json > *", "why": "order"},
            {"script": "d", "at": "exit", "onrush": null, "why": "none"},
            {"script": "e", "at": "*", "why": "all but the exit code"},
        ]);
        let mut reviewed = Reviewed::parse(&list).unwrap();
        let difference = |at: &str, onrush: Option<Value>| Difference { at: at.to_owned(), k6: Some(json!(0)), onrush };
        assert!(reviewed.note("a/b", &difference("exit", Some(json!(104)))));
        assert!(!reviewed.note("a/b", &difference("exit", Some(json!(99)))));
        assert!(!reviewed.note("a/c", &difference("exit", Some(json!(104)))));
        assert!(reviewed.explains("c/x", &difference("json > points", None)));
        assert!(reviewed.explains("d", &difference("exit", None)));
        assert!(reviewed.explains("e", &difference("checks > passed", None)));
        assert!(!reviewed.explains("e", &difference("exit", None)));
        assert_eq!(reviewed.used(), 1);
        assert_eq!(reviewed.unused(), ["c/* json > *", "d exit", "e *"]);
        for wrong in
            [json!({}), json!([{"script": "a", "at": "b"}]), json!([{"script": "a", "at": "b", "why": "c", "x": 1}])]
        {
            assert!(Reviewed::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
