//! A threshold as written. The expression stays text: `onrush-metrics` parses it.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::duration::GoDuration;

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
        use serde::de::Error;
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
            #[serde(flatten)]
            unknown: serde_json::Map<String, Value>,
        }
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::default()),
            Value::String(expression) => Ok(Self { expression, ..Self::default() }),
            Value::Object(object) => {
                // k6: in any letter case.
                let known = |key: &str| FIELDS.into_iter().find(|known| known.eq_ignore_ascii_case(key));
                let object: serde_json::Map<String, Value> =
                    object.into_iter().map(|(key, value)| (known(&key).map_or(key, str::to_owned), value)).collect();
                let fields: Fields = serde_json::from_value(Value::Object(object)).map_err(Error::custom)?;
                Ok(Self {
                    expression: fields.threshold,
                    abort_on_fail: fields.abort_on_fail,
                    delay_abort_eval: fields.delay_abort_eval,
                    over: fields.over,
                    for_windows: fields.for_windows,
                    after: fields.after,
                    unknown: fields.unknown.keys().cloned().collect(),
                })
            }
            other => Err(Error::custom(format!("expected an expression or an object, got {other}"))),
        }
    }
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
        check(r#"{"threshold":5}"#, "invalid type: integer `5`, expected a string");
        check(r#"{"threshold":"avg<5","over":"a"}"#, "time: invalid duration \"a\"");
        check(r#"{"threshold":"avg<5","for":-1}"#, "invalid value: integer `-1`, expected u64");
        check(r#"{"threshold":"avg<5","for":1.5}"#, "invalid type: floating point `1.5`, expected u64");
        check("5", "expected an expression or an object, got 5");
    }
}
