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
}

impl From<&str> for ThresholdConfig {
    fn from(expression: &str) -> Self {
        Self { expression: expression.to_owned(), ..Self::default() }
    }
}

/// As k6 writes it: plain text, unless it aborts.
impl Serialize for ThresholdConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.abort_on_fail {
            return serializer.serialize_str(&self.expression);
        }
        let mut fields = serializer.serialize_struct("ThresholdConfig", 3)?;
        fields.serialize_field("threshold", &self.expression)?;
        fields.serialize_field("abortOnFail", &self.abort_on_fail)?;
        fields.serialize_field("delayAbortEval", &self.delay_abort_eval)?;
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
        }
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::default()),
            Value::String(expression) => Ok(Self { expression, ..Self::default() }),
            object @ Value::Object(_) => {
                let fields: Fields = serde_json::from_value(object).map_err(Error::custom)?;
                Ok(Self {
                    expression: fields.threshold,
                    abort_on_fail: fields.abort_on_fail,
                    delay_abort_eval: fields.delay_abort_eval,
                })
            }
            other => Err(Error::custom(format!("expected an expression or an object, got {other}"))),
        }
    }
}
