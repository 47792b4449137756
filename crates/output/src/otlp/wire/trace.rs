//! Traces: a request, and its spans.

use super::{KeyValue, Resource, Scope};

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Request {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub(in crate::otlp) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(in crate::otlp) scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub(in crate::otlp) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(in crate::otlp) spans: Vec<Span>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub(in crate::otlp) trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(in crate::otlp) span_id: Vec<u8>,
    /// Empty at the root.
    #[prost(bytes = "vec", tag = "4")]
    pub(in crate::otlp) parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub(in crate::otlp) name: String,
    /// [`INTERNAL`] or [`CLIENT`].
    #[prost(int32, tag = "6")]
    pub(in crate::otlp) kind: i32,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "7")]
    pub(in crate::otlp) start_ns: u64,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "8")]
    pub(in crate::otlp) end_ns: u64,
    #[prost(message, repeated, tag = "9")]
    pub(in crate::otlp) attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    pub(in crate::otlp) status: Option<Status>,
}

/// Something inside.
pub(in crate::otlp) const INTERNAL: i32 = 1;
/// Something else was asked.
pub(in crate::otlp) const CLIENT: i32 = 3;

/// How it ended, where that was not well.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(in crate::otlp) struct Status {
    #[prost(string, tag = "2")]
    pub(in crate::otlp) message: String,
    /// [`ERROR`]
    #[prost(int32, tag = "3")]
    pub(in crate::otlp) code: i32,
}

/// It failed.
pub(in crate::otlp) const ERROR: i32 = 2;
