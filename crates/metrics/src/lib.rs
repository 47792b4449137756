//! What a run measured: metric kinds, tag sets, histograms, deltas, thresholds and the summary.
//!
//! Every sample belongs to a *series*: one metric and the tags somebody asked
//! for ([`Subscriptions`]). A thread folds its samples into a [`Shard`], a
//! [`Delta`] leaves it once a second, and [`Merged`] adds deltas up. Adding is
//! exact and does not depend on the order or number of the parts, so one
//! thread and fifty machines give the same percentiles, verdicts and summary.
//!
//! This crate is pure: it does no I/O, reads no clock and starts no thread.
//!
//! ```
//! use std::sync::Arc;
//! use onrush_metrics::{builtin, Limits, Merged, Registry, Shard, Subscriptions, SystemTag, TagNode};
//!
//! let registry = Registry::new();
//! let subscriptions = Arc::new(Subscriptions::builder().keep(builtin::CHECKS, SystemTag::Check).build());
//! let mut shard = Shard::new(&registry, subscriptions, Limits::default());
//!
//! let node = shard.with_system(TagNode::ROOT, SystemTag::Check, "status is 200");
//! let series = shard.series(builtin::CHECKS, node);
//! shard.add(series, 1.0);
//!
//! let mut merged = Merged::new(&registry);
//! merged.add(&shard.drain());
//! let checks = merged.sink(builtin::CHECKS).expect("one sample was added");
//! assert_eq!(checks.rate(), Some((1, 1)));
//! ```

#![forbid(unsafe_code)]

pub mod builtin;
mod census;
mod delta;
mod delta_sum;
mod exact_sum;
mod histogram;
mod merged;
mod outcome;
mod own_delay;
mod registry;
mod remarks;
mod shard;
mod sink;
mod steps;
mod submetric;
mod subscriptions;
pub mod summary;
mod tag;
mod threshold;
pub mod trace;

pub use census::Census;
pub use delta::{CardinalityWarning, Delta, DeltaSeries, TagPairs};
pub use delta_sum::DeltaSum;
pub use exact_sum::ExactSum;
pub use histogram::{Bucket, EXACT_VALUES_MAX, Histogram, Kept, RELATIVE_ERROR};
pub use merged::{Merged, MergedSeries};
pub use outcome::{Ending, Outcome, Outcomes};
pub use own_delay::OwnDelay;
pub use registry::{Contains, DeclareError, Metric, MetricId, MetricKind, Registry};
pub use shard::{
    HttpIdx, HttpTimings, Limits, OTHER, RawSample, SampleBatch, SampleSink, SeriesIdx, Shard, TagNode, Tap,
};
pub use sink::{Gauge, Sink};
pub use steps::{Step, Steps};
pub use submetric::{SubMetric, SubMetricError};
pub use subscriptions::{Subscriptions, SubscriptionsBuilder};
pub use tag::{SystemTag, SystemTags, TagKey};
pub use threshold::{
    Evaluation, Expression, ExpressionError, ExpressionResult, History, Method, MetricResult, Operator, Phase, Span,
    Standing, ThresholdError, ThresholdSource, Thresholds, WindowSource, fuzz_threshold,
};
