//! Metrics: a request, its instruments, their data points.

use super::{KeyValue, Resource, Scope};

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Request {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub(in crate::otlp) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(in crate::otlp) scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub(in crate::otlp) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(in crate::otlp) metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Metric {
    #[prost(string, tag = "1")]
    pub(in crate::otlp) name: String,
    #[prost(string, tag = "3")]
    pub(in crate::otlp) unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9, 10")]
    pub(in crate::otlp) data: Option<Data>,
}

impl Metric {
    /// How many data points it has.
    pub(in crate::otlp) fn points(&self) -> u64 {
        let points = match &self.data {
            None => 0,
            Some(Data::Gauge(gauge)) => gauge.data_points.len(),
            Some(Data::Sum(sum)) => sum.data_points.len(),
            Some(Data::Histogram(histogram)) => histogram.data_points.len(),
            Some(Data::Exponential(histogram)) => histogram.data_points.len(),
        };
        points as u64
    }
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(in crate::otlp) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    Histogram(Histogram),
    #[prost(message, tag = "10")]
    Exponential(ExponentialHistogram),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) data_points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) data_points: Vec<NumberPoint>,
    /// [`DELTA`] or [`CUMULATIVE`].
    #[prost(int32, tag = "2")]
    pub(in crate::otlp) temporality: i32,
    #[prost(bool, tag = "3")]
    pub(in crate::otlp) is_monotonic: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct Histogram {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) data_points: Vec<HistogramPoint>,
    /// [`DELTA`] or [`CUMULATIVE`].
    #[prost(int32, tag = "2")]
    pub(in crate::otlp) temporality: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ExponentialHistogram {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) data_points: Vec<ExponentialPoint>,
    /// [`DELTA`] or [`CUMULATIVE`].
    #[prost(int32, tag = "2")]
    pub(in crate::otlp) temporality: i32,
}

/// What happened since the last export.
pub(in crate::otlp) const DELTA: i32 = 1;
/// What happened since the start.
pub(in crate::otlp) const CUMULATIVE: i32 = 2;

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct NumberPoint {
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "2")]
    pub(in crate::otlp) start_ns: u64,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub(in crate::otlp) time_ns: u64,
    #[prost(oneof = "Number", tags = "4, 6")]
    pub(in crate::otlp) value: Option<Number>,
    #[prost(message, repeated, tag = "7")]
    pub(in crate::otlp) attributes: Vec<KeyValue>,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub(in crate::otlp) enum Number {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Integer(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct HistogramPoint {
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "2")]
    pub(in crate::otlp) start_ns: u64,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub(in crate::otlp) time_ns: u64,
    #[prost(fixed64, tag = "4")]
    pub(in crate::otlp) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(in crate::otlp) sum: Option<f64>,
    /// One more than bounds: the last one is without end.
    #[prost(fixed64, repeated, tag = "6")]
    pub(in crate::otlp) bucket_counts: Vec<u64>,
    /// Each belongs to the bucket it ends.
    #[prost(double, repeated, tag = "7")]
    pub(in crate::otlp) explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    pub(in crate::otlp) attributes: Vec<KeyValue>,
    #[prost(double, optional, tag = "11")]
    pub(in crate::otlp) min: Option<f64>,
    #[prost(double, optional, tag = "12")]
    pub(in crate::otlp) max: Option<f64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::otlp) struct ExponentialPoint {
    #[prost(message, repeated, tag = "1")]
    pub(in crate::otlp) attributes: Vec<KeyValue>,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "2")]
    pub(in crate::otlp) start_ns: u64,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub(in crate::otlp) time_ns: u64,
    #[prost(fixed64, tag = "4")]
    pub(in crate::otlp) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(in crate::otlp) sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    pub(in crate::otlp) scale: i32,
    #[prost(fixed64, tag = "7")]
    pub(in crate::otlp) zero_count: u64,
    #[prost(message, optional, tag = "8")]
    pub(in crate::otlp) positive: Option<Buckets>,
    #[prost(message, optional, tag = "9")]
    pub(in crate::otlp) negative: Option<Buckets>,
    #[prost(double, optional, tag = "12")]
    pub(in crate::otlp) min: Option<f64>,
    #[prost(double, optional, tag = "13")]
    pub(in crate::otlp) max: Option<f64>,
    #[prost(double, tag = "14")]
    pub(in crate::otlp) zero_threshold: f64,
}

/// Buckets without a gap.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(in crate::otlp) struct Buckets {
    /// The number of the first one. Bucket `i` begins after 2^(i * 2^-scale): one less than Prometheus counts.
    #[prost(sint32, tag = "1")]
    pub(in crate::otlp) offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    pub(in crate::otlp) counts: Vec<u64>,
}
