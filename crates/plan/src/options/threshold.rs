//! A threshold as written. The expression stays text: `onrush-metrics` parses it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeStruct};
use serde_json::Value;

use crate::{
    duration::GoDuration,
    error::shown,
    json::{canonical_keys, decode, nested},
};

/// One threshold on a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdConfig {
    /// `p(95)<500`
    pub expression: String,
    /// End the test when it fails.
    pub abort_on_fail: bool,
    /// Do not end the test before this much of it.
    pub delay_abort_eval: Option<GoDuration>,
    /// Judge windows of this length, each on its own samples. Not in k6.
    pub over: Option<GoDuration>,
    /// As many failing windows in a row cross it. Not in k6.
    pub for_windows: Option<u64>,
    /// Samples before this much of the scenarios do not count. Not in k6.
    pub after: Option<GoDuration>,
    /// Fields that mean nothing, which k6 ignores.
    pub unknown: Vec<String>,
}

impl ThresholdConfig {
    fn is_plain(&self) -> bool {
        !self.abort_on_fail && self.over.is_none() && self.for_windows.is_none() && self.after.is_none()
    }
}

impl From<&str> for ThresholdConfig {
    fn from(expression: &str) -> Self {
        Self { expression: expression.to_owned(), ..Self::default() }
    }
}

/// As k6 writes it: plain text, unless it aborts; or says more than k6's can.
impl Serialize for ThresholdConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_plain() {
            return serializer.serialize_str(&self.expression);
        }
        let mut fields = serializer.serialize_struct("ThresholdConfig", 6)?;
        fields.serialize_field("threshold", &self.expression)?;
        fields.serialize_field("abortOnFail", &self.abort_on_fail)?;
        fields.serialize_field("delayAbortEval", &self.delay_abort_eval)?;
        if let Some(over) = &self.over {
            fields.serialize_field("over", over)?;
        }
        if let Some(count) = &self.for_windows {
            fields.serialize_field("for", count)?;
        }
        if let Some(after) = &self.after {
            fields.serialize_field("after", after)?;
        }
        fields.end()
    }
}

impl<'de> Deserialize<'de> for ThresholdConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Decoded on its own, because its keys may be in any letter case.
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Fields {
            threshold: String,
            abort_on_fail: bool,
            delay_abort_eval: Option<GoDuration>,
            over: Option<GoDuration>,
            #[serde(rename = "for")]
            for_windows: Option<u64>,
            after: Option<GoDuration>,
        }
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::default()),
            Value::String(expression) => Ok(Self { expression, ..Self::default() }),
            Value::Object(object) => {
                let (object, unknown) = canonical_keys(object, &FIELDS);
                let fields: Fields =
                    decode(Value::Object(object), "").map_err(|error| Error::custom(nested(&error)))?;
                Ok(Self {
                    expression: fields.threshold,
                    abort_on_fail: fields.abort_on_fail,
                    delay_abort_eval: fields.delay_abort_eval,
                    over: fields.over,
                    for_windows: fields.for_windows,
                    after: fields.after,
                    unknown,
                })
            }
            other => Err(Error::custom(format!("expected an expression or an object, got {other}"))),
        }
    }
}

/// Thresholds by metric. k6: a metric may have `null` for none.
pub(super) fn by_metric<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, Vec<ThresholdConfig>>>, D::Error> {
    let metrics = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        metrics @ Value::Object(_) => metrics,
        other => {
            let example = r#"{ http_req_duration: ["p(95)<500"] }"#;
            return Err(D::Error::custom(format!("expected an object such as {example}, got {}", shown(&other))));
        }
    };
    let metrics: BTreeMap<String, List> = decode(metrics, "").map_err(|error| D::Error::custom(nested(&error)))?;
    Ok(Some(metrics.into_iter().map(|(name, list)| (name, list.0)).collect()))
}

/// The thresholds of a metric; a mistake that many make is told with what to write.
struct List(Vec<ThresholdConfig>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self(Vec::new())),
            text @ Value::String(_) => {
                let text = shown(&text);
                Err(Error::custom(format!("expected a list, got {text}: write [{text}]")))
            }
            list @ Value::Array(_) => decode(list, "").map(Self).map_err(|error| Error::custom(nested(&error))),
            other => Err(Error::custom(format!("expected a list, got {}", shown(&other)))),
        }
    }
}

/// The JSON of the option, from its variable.
pub(super) fn from_text(text: &str) -> Result<Option<BTreeMap<String, Vec<ThresholdConfig>>>, String> {
    #[derive(Deserialize)]
    struct Holder {
        #[serde(deserialize_with = "by_metric")]
        thresholds: Option<BTreeMap<String, Vec<ThresholdConfig>>>,
    }
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let holder: Holder = decode(serde_json::json!({ "thresholds": value }), "").map_err(|error| error.to_string())?;
    Ok(holder.thresholds)
}

const FIELDS: [&str; 6] = ["threshold", "abortOnFail", "delayAbortEval", "over", "for", "after"];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, written: &str, unknown: &[&str]) {
        let config: ThresholdConfig = serde_json::from_str(json).expect("valid");
        assert_eq!(config.unknown, unknown, "{json}");
        assert_eq!(serde_json::to_string(&config).expect("plain data"), written, "{json}");
    }

    #[test]
    fn fields() {
        check("\"avg<5\"", "\"avg<5\"", &[]);
        check(r#"{"threshold":"avg<5"}"#, "\"avg<5\"", &[]);
        check(
            r#"{"Threshold":"avg<5","abortonfail":true,"delayAbortEval":"5s"}"#,
            r#"{"threshold":"avg<5","abortOnFail":true,"delayAbortEval":"5s"}"#,
            &[],
        );
        check(
            r#"{"threshold":"avg<5","over":"60s","for":3,"after":30000,"ovre":1}"#,
            r#"{"threshold":"avg<5","abortOnFail":false,"delayAbortEval":null,"over":"1m0s","for":3,"after":"30s"}"#,
            &["ovre"],
        );
    }

    #[test]
    fn mistakes() {
        let check = |json: &str, expect: &str| {
            let error = serde_json::from_str::<ThresholdConfig>(json).expect_err("a mistake");
            assert!(error.to_string().starts_with(expect), "{json}: {error}");
        };
        check(r#"{"threshold":5}"#, "\u{1}threshold\u{1}expected a text, got 5");
        check(r#"{"threshold":"avg<5","over":"a"}"#, "\u{1}over\u{1}time: invalid duration \"a\"");
        check(r#"{"threshold":"avg<5","for":-1}"#, "\u{1}for\u{1}expected a whole number from 0, got -1");
        check(r#"{"threshold":"avg<5","for":1.5}"#, "\u{1}for\u{1}expected a whole number from 0, got 1.5");
        check(r#"{"threshold":"avg<5","For":"3"}"#, "\u{1}for\u{1}expected a whole number from 0, got \"3\"");
        check("5", "expected an expression or an object, got 5");
    }

    #[test]
    fn paths_of_mistakes() {
        let check = |json: &str, expect: &str| {
            let error = crate::parse_json(json).expect_err("a mistake");
            assert_eq!(error.to_string(), expect, "{json}");
        };
        let long = r#"{"thresholds":{"a":["avg<5",{"threshold":"avg<5","abortOnFail":"yes"}]}}"#;
        check(long, "thresholds.a[1].abortOnFail: expected true or false, got \"yes\"");
        check(
            r#"{"thresholds":{"a":[{"over":"x"}]}}"#,
            "thresholds.a[0].over: time: invalid duration \"x\": write \"30s\", \"1m30s\" or a number of milliseconds",
        );
        check(r#"{"thresholds":{"a":"avg<5"}}"#, "thresholds.a: expected a list, got \"avg<5\": write [\"avg<5\"]");
        check(r#"{"thresholds":{"a":5}}"#, "thresholds.a: expected a list, got 5");
        check(
            r#"{"thresholds":["p(95)<5"]}"#,
            r#"thresholds: expected an object such as { http_req_duration: ["p(95)<500"] }, got a list"#,
        );
    }

    #[test]
    fn metrics_without_a_list() {
        let parsed = crate::parse_json(r#"{"thresholds":{"a":null,"b":[]}}"#).expect("valid");
        let thresholds = parsed.options.thresholds.expect("set");
        assert_eq!(thresholds.into_iter().collect::<Vec<_>>(), [("a".to_owned(), vec![]), ("b".to_owned(), vec![])]);
        assert_eq!(crate::parse_json(r#"{"thresholds":null}"#).expect("valid").options.thresholds, None);
    }
}
