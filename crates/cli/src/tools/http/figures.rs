//! What a one-liner measured, taken from the merged metrics.

use std::{collections::BTreeMap, time::Duration};

use onrush_js::INTENDED_DURATION;
use onrush_metrics::{Histogram, Merged, MetricId, Sink, SubscriptionsBuilder, SystemTag, builtin};
use onrush_session::{Judgement, OwnDelayFigures, StartLag, Verdict};

/// The numbers of the report.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    /// How long it took.
    pub(super) elapsed: Duration,
    /// Requests that ended, redirects included.
    pub(super) requests: u64,
    /// Of them those that failed or whose status is 400 or above.
    pub(super) failed: u64,
    /// Requests for which no connection was free.
    pub(super) dropped: u64,
    /// Bytes.
    pub(super) received: u64,
    /// Bytes.
    pub(super) sent: u64,
    /// From the first byte sent to the last one received, milliseconds.
    pub(super) latency: Histogram,
    /// From the intended start, milliseconds; empty without a rate.
    pub(super) intended: Histogram,
    /// How late requests began.
    pub(super) start_lag: Option<StartLag>,
    pub(super) own_delay: Option<OwnDelayFigures>,
    /// Requests by status.
    pub(super) statuses: BTreeMap<String, u64>,
    /// Requests without a response by `error_code` and text.
    pub(super) errors: BTreeMap<(String, String), u64>,
    /// Whether the numbers can be trusted, and why not.
    pub(super) verdict: Verdict,
    /// Sentences.
    pub(super) reasons: Vec<String>,
}

impl Figures {
    pub(super) fn new(merged: &Merged, elapsed: Duration, judgement: &Judgement) -> Self {
        let trend = |metric: Option<MetricId>| match metric.and_then(|metric| merged.sink(metric)) {
            Some(Sink::Trend(histogram)) => histogram.clone(),
            _ => Histogram::new(),
        };
        let count = |metric: MetricId| merged.sink(metric).map_or(0, counted);
        let failed = match merged.sink(builtin::HTTP_REQ_FAILED) {
            Some(Sink::Rate { hits, .. }) => *hits,
            _ => 0,
        };
        let (mut statuses, mut errors) = (BTreeMap::new(), BTreeMap::new());
        for series in merged.series_of(builtin::HTTP_REQS) {
            let tag = |name: &str| series.tag(name).unwrap_or_default().to_owned();
            let status = tag("status");
            // k6: a request without a response has status 0.
            if status.is_empty() || status == "0" {
                *errors.entry((tag("error_code"), tag("error"))).or_default() += counted(&series.sink);
            } else {
                *statuses.entry(status).or_default() += counted(&series.sink);
            }
        }
        Self {
            elapsed,
            requests: count(builtin::HTTP_REQS),
            failed,
            dropped: count(builtin::DROPPED_ITERATIONS),
            received: count(builtin::DATA_RECEIVED),
            sent: count(builtin::DATA_SENT),
            latency: trend(Some(builtin::HTTP_REQ_DURATION)),
            intended: trend(merged.registry().lookup(INTENDED_DURATION)),
            start_lag: judgement.start_lag,
            own_delay: judgement.own_delay.clone(),
            statuses,
            errors,
            verdict: judgement.verdict,
            reasons: judgement.reasons.clone(),
        }
    }
}

/// The tags the report reads.
pub(crate) fn subscribe(builder: SubscriptionsBuilder) -> SubscriptionsBuilder {
    [SystemTag::Status, SystemTag::ErrorCode, SystemTag::Error]
        .into_iter()
        .fold(builder, |builder, tag| builder.keep(builtin::HTTP_REQS, tag))
}

/// Whether every request failed (no response, or a status of 400 or above), or none was made.
pub(crate) fn nothing_succeeded(merged: &Merged) -> bool {
    merged.sink(builtin::HTTP_REQ_FAILED).and_then(Sink::rate).is_none_or(|(failed, all)| failed >= all)
}

/// A counter's value, which is a whole number here.
fn counted(sink: &Sink) -> u64 {
    match sink {
        Sink::Counter { sum } => sum.value() as u64,
        _ => 0,
    }
}
