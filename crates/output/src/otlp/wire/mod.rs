//! The messages of OTLP 1, as far as they are sent and received. Field numbers are those of `opentelemetry-proto`; its collector
//! reads them in the tests.

pub(super) mod metrics;
pub(super) mod trace;

/// What something is called: a name and a value.
#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(in crate::otlp) key: String,
    #[prost(message, optional, tag = "2")]
    pub(in crate::otlp) value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    pub(in crate::otlp) value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(in crate::otlp) enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Integer(i64),
}

impl KeyValue {
    pub(in crate::otlp) fn text(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), value: Some(AnyValue { value: Some(Value::Text(value.to_owned())) }) }
    }
}

/// Who measured.
#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) attributes: Vec<KeyValue>,
}

impl Resource {
    /// With these attributes.
    pub(in crate::otlp) fn of(attributes: &[(String, String)]) -> Self {
        Self { attributes: attributes.iter().map(|(name, value)| KeyValue::text(name, value)).collect() }
    }
}

/// What measured, inside of it.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(in crate::otlp) struct Scope {
    #[prost(string, tag = "1")]
    pub(in crate::otlp) name: String,
    #[prost(string, tag = "2")]
    pub(in crate::otlp) version: String,
}

/// The answer to an export of either kind.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(in crate::otlp) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(in crate::otlp) partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(in crate::otlp) struct PartialSuccess {
    /// Data points or spans.
    #[prost(int64, tag = "1")]
    pub(in crate::otlp) rejected: i64,
    #[prost(string, tag = "2")]
    pub(in crate::otlp) error_message: String,
}
