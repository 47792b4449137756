//! `data-…` attributes, their names and the types of their values.

use crate::{Document, NodeId};

/// A value as scripts get it.
#[derive(Debug, Clone, PartialEq)]
pub enum DataValue {
    /// Empty, `null` or `undefined`.
    Undefined,
    /// `true` or `false`.
    Bool(bool),
    /// A number that is written back as it was read: `1.5`, but not `1.50`.
    Number(f64),
    /// Text that begins like an object or an array: JSON if it can be read as such, else text.
    Json(String),
    /// Anything else.
    Text(String),
}

/// The attribute a key of scripts stands for, without `data-`: `twoWords` and `two-words` are `two-words`.
fn data_key(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_uppercase() {
            if !name.is_empty() {
                name.push('-');
            }
            name.extend(character.to_lowercase());
        } else {
            name.push(character);
        }
    }
    name
}

/// The key an attribute has, its name without `data-`: `two-words` is `twoWords`, `item-id` is `itemID`.
fn script_key(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for (number, word) in name.split('-').enumerate() {
        let mut characters = word.chars();
        if number == 0 {
            key.push_str(word);
        } else if INITIALISMS.contains(&word) {
            key.push_str(&word.to_uppercase());
        } else if let Some(first) = characters.next() {
            key.extend(first.to_uppercase());
            key.push_str(characters.as_str());
        }
    }
    key
}

/// k6: words that Go writes in capitals, unless they come first.
const INITIALISMS: &[&str] = &[
    "acl", "api", "ascii", "cpu", "css", "dns", "eof", "guid", "html", "http", "https", "id", "ip", "json", "lhs",
    "os", "qps", "ram", "rhs", "rpc", "sla", "smtp", "sql", "ssh", "tcp", "tls", "ttl", "udp", "ui", "uid", "uri",
    "url", "utf8", "uuid", "vm", "xml", "xmpp", "xsrf", "xss",
];

/// The type a value has.
pub fn data_value(text: &str) -> DataValue {
    match text {
        "" | "null" | "undefined" => return DataValue::Undefined,
        "true" => return DataValue::Bool(true),
        "false" => return DataValue::Bool(false),
        _ => {}
    }
    if text.starts_with(['{', '[']) {
        return DataValue::Json(text.to_owned());
    }
    match text.parse::<f64>() {
        // k6: Go writes infinity with its sign.
        Ok(number) if number.is_infinite() && !matches!(text, "+Inf" | "-Inf") => DataValue::Text(text.to_owned()),
        Ok(number) if number.is_infinite() || number.to_string() == text => DataValue::Number(number),
        _ => DataValue::Text(text.to_owned()),
    }
}

impl Document {
    /// The `data-…` attribute a key of scripts stands for: as `data` gives them, or its name in either style.
    pub fn data_attribute(&self, node: NodeId, key: &str) -> Option<&str> {
        self.attribute(node, &format!("data-{}", data_key(key))).or_else(|| {
            let mut attributes = self.attributes(node).iter();
            let found = attributes
                .find(|attribute| attribute.name.strip_prefix("data-").is_some_and(|name| script_key(name) == key));
            found.map(|attribute| &*attribute.value)
        })
    }

    /// All keys and values of a node's `data-…` attributes.
    pub fn data(&self, node: NodeId) -> Vec<(String, DataValue)> {
        let named = |name: &str| name.strip_prefix("data-").filter(|rest| !rest.is_empty()).map(script_key);
        self.attributes(node)
            .iter()
            .filter_map(|attribute| Some((named(&attribute.name)?, data_value(&attribute.value))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: DataValue) {
        assert_eq!(data_value(text), expect, "{text}");
    }

    #[test]
    fn values_have_types() {
        check("", DataValue::Undefined);
        check("null", DataValue::Undefined);
        check("true", DataValue::Bool(true));
        check("True", DataValue::Text("True".to_owned()));
        check("12", DataValue::Number(12.0));
        check("-1.5", DataValue::Number(-1.5));
        check("1.50", DataValue::Text("1.50".to_owned()));
        check("007", DataValue::Text("007".to_owned()));
        check("1e3", DataValue::Text("1e3".to_owned()));
        check("Infinity", DataValue::Text("Infinity".to_owned()));
        check("inf", DataValue::Text("inf".to_owned()));
        check("12345678901234567890", DataValue::Text("12345678901234567890".to_owned()));
        check("[1]", DataValue::Json("[1]".to_owned()));
    }

    #[test]
    fn keys_are_converted() {
        for (key, name) in [("twoWords", "two-words"), ("TwoWords", "two-words"), ("a-bC", "a-b-c"), ("x-Y", "x--y")] {
            assert_eq!(data_key(key), name);
        }
        for (name, key) in [("two-words", "twoWords"), ("x--y", "xY"), ("-z", "Z"), ("1", "1")] {
            assert_eq!(script_key(name), key);
        }
    }

    proptest! {
        #[test]
        fn any_text(text in "\\PC{0,20}") {
            let _ = (data_key(&text), script_key(&text));
            match data_value(&text) {
                DataValue::Text(same) | DataValue::Json(same) => prop_assert_eq!(same, text),
                DataValue::Number(number) => prop_assert!(number.is_infinite() || number.to_string() == text),
                DataValue::Bool(value) => prop_assert_eq!(value.to_string(), text),
                DataValue::Undefined => {}
            }
        }
    }
}
