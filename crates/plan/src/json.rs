//! Values out of JSON as k6 takes them: any letter case of a key, numbers as text where a number is meant, and errors
//! that name the place. What options mean is not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::{OptionsError, shown};

/// Gives every known key its canonical spelling (k6 accepts any letter case) and splits off the unknown ones. The last
/// of several spellings wins.
pub(crate) fn canonical_keys(fields: Map<String, Value>, known: &[&str]) -> (Map<String, Value>, Vec<String>) {
    let mut canonical = Map::new();
    let mut unknown = Vec::new();
    for (key, value) in fields {
        let name = known.iter().find(|k| **k == key).or_else(|| known.iter().find(|k| k.eq_ignore_ascii_case(&key)));
        match name {
            Some(name) => {
                canonical.insert((*name).to_owned(), value);
            }
            None => unknown.push(key),
        }
    }
    (canonical, unknown)
}

/// Decodes an object whose keys may be in any letter case; `null` is an empty one, as in Go. serde alone would take a
/// list of the fields' values as well. `example` is what an error shows.
pub(crate) fn object<'de, T, D>(deserializer: D, known: &[&str], example: &str) -> Result<T, D::Error>
where
    T: Default + DeserializeOwned,
    D: Deserializer<'de>,
{
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(T::default()),
        Value::Object(fields) => {
            let (mut fields, unknown) = canonical_keys(fields, known);
            // Whether they are an error is the decoder's to say.
            fields.extend(unknown.into_iter().map(|key| (key, Value::Null)));
            decode(Value::Object(fields), "").map_err(|error| Error::custom(nested(&error)))
        }
        other => Err(Error::custom(format!("expected an object such as {example}, got {}", shown(&other)))),
    }
}

/// An error as the text of another decoder, which [`decode`] takes apart again to tell the whole path.
pub(crate) fn nested(error: &OptionsError) -> String {
    format!("{NESTED}{}{NESTED}{}", error.path, error.message)
}

/// Decodes with the path of what went wrong, below `base`.
pub(crate) fn decode<T: DeserializeOwned>(value: Value, base: &str) -> Result<T, OptionsError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let text = error.into_inner().to_string();
        let (deeper, text) = match text.strip_prefix(NESTED).and_then(|rest| rest.split_once(NESTED)) {
            Some((place, message)) if place.starts_with('[') => (place.to_owned(), message),
            Some((path, message)) => (format!(".{path}"), message),
            None => (String::new(), text.as_str()),
        };
        let path = match (base, inner.as_str()) {
            ("", ".") => "options".to_owned(),
            ("", inner) => inner.to_owned(),
            (base, ".") => base.to_owned(),
            (base, inner) => format!("{base}.{inner}"),
        };
        OptionsError::new(path + &deeper, plain(text))
    })
}

/// serde's words for a wrong type in those of JavaScript.
fn plain(message: &str) -> String {
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    let Some((got, expected)) = wrong.and_then(|rest| rest.split_once(", expected ")) else {
        return message.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "a string" => "a text",
        "a boolean" => "true or false",
        "u64" => "a whole number from 0",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    let got = match got {
        "map" => "an object",
        "sequence" => "a list",
        other => other.split_once(' ').filter(|_| other.ends_with(['`', '"'])).map_or(other, |(kind, value)| {
            // A number between backticks, a text between quotes.
            if kind == "string" { value } else { other.split('`').nth(1).unwrap_or(value) }
        }),
    };
    format!("expected {expected}, got {got}")
}

/// A whole number, also as text; an empty text is unset, as in k6.
pub(crate) fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    use serde::de::Error;
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => {
            text.parse().map(Some).map_err(|_| Error::custom(format!("{text:?} is not a whole number")))
        }
        Value::Number(number) => {
            if let Some(n) = number.as_i64() {
                return Ok(Some(n));
            }
            match number.as_f64() {
                // 2^63 is exact as a float.
                Some(f) if f.fract() == 0.0 && f.abs() < 9_223_372_036_854_775_808.0 => Ok(Some(f as i64)),
                _ => Err(Error::custom(format!("{number} is not a whole number within 64 bits"))),
            }
        }
        other => Err(Error::custom(format!("expected a whole number, got {}", shown(&other)))),
    }
}

/// Texts by name. k6: `null` is an empty text, as Go's decoder has it.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    let texts = Option::<BTreeMap<String, Option<String>>>::deserialize(deserializer)?;
    Ok(texts.map(|texts| texts.into_iter().map(|(name, text)| (name, text.unwrap_or_default())).collect()))
}

/// Stands around the path of an error that another decoder found; no text of ours has it.
const NESTED: char = '\u{1}';
