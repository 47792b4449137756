//! How late the iterations of arrival rates began.

use onrush_metrics::{Histogram, summary::Verdict};

/// Delays of arrival-rate iterations after the instant the plan gave them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartLag {
    /// Iterations begun.
    pub iterations: u64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// The longest, milliseconds.
    pub max_ms: f64,
}

impl std::fmt::Display for StartLag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { iterations, p99_ms, max_ms } = self;
        write!(
            f,
            "start delay of {iterations} iteration{}: p(99) {p99_ms:.3} ms, max {max_ms:.3} ms",
            if *iterations == 1 { "" } else { "s" }
        )
    }
}

impl StartLag {
    pub(super) fn of(lag: &Histogram) -> Option<Self> {
        (!lag.is_empty()).then(|| Self { iterations: lag.count(), p99_ms: lag.quantile(0.99), max_ms: lag.max() })
    }
}

/// Whether arrivals began too late, and their 99th percentile, milliseconds. A few that are late are a moment's work
/// elsewhere; when half of them are, or some by a tenth of a second, requests came in bursts that nobody asked for.
pub(super) fn late(lag: &Histogram) -> Option<(Verdict, f64)> {
    /// Iterations that start later than this after their intended start distort an open model.
    const P99_SUSPECT_MS: f64 = 10.0;
    const P99_INVALID_MS: f64 = 100.0;
    let p99_ms = lag.quantile(0.99);
    let is_invalid = p99_ms > P99_INVALID_MS || lag.quantile(0.5) > P99_SUSPECT_MS;
    let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Suspect };
    (!lag.is_empty() && p99_ms > P99_SUSPECT_MS).then_some((verdict, p99_ms))
}

/// Why late starts spoil a measurement.
pub(super) fn late_starts(p99_ms: f64) -> String {
    format!("iterations began late: p(99) of the delay after their intended start was {p99_ms:.1} ms")
}
