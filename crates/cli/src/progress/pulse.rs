//! The lines a person watches while a test runs: how fast, how many errors, how slow in the last seconds, and what is wrong.

use std::{collections::VecDeque, fmt::Write as _};

use onrush_fiber::Nanos;
use onrush_metrics::{Delta, Ending, Histogram, Merged, Sink, Thresholds, builtin};

/// What the last seconds measured. Threads hand in their samples once a second.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    seconds: VecDeque<(u64, Measured)>,
    /// Since the start.
    dropped: f64,
}

/// What was measured in some time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) requests: f64,
    pub(crate) iterations: f64,
    pub(crate) dropped: f64,
    /// Requests that failed, of those that could.
    pub(crate) failed: (u64, u64),
    /// Checks that failed, of all.
    pub(crate) checks: (u64, u64),
    /// Of HTTP requests.
    pub(crate) durations: Histogram,
    /// Of iterations.
    pub(crate) iteration_durations: Histogram,
}

/// Seconds that "now" means.
pub(crate) const WINDOW: usize = 3;

impl Measured {
    /// What a thread measured.
    pub(crate) fn of(delta: &Delta) -> Self {
        let mut all = Self::default();
        for part in &delta.series {
            match (part.metric, &part.sink) {
                (builtin::HTTP_REQS, Sink::Counter { sum }) => all.requests += sum.value(),
                (builtin::ITERATIONS, Sink::Counter { sum }) => all.iterations += sum.value(),
                (builtin::DROPPED_ITERATIONS, Sink::Counter { sum }) => all.dropped += sum.value(),
                (builtin::HTTP_REQ_FAILED, Sink::Rate { hits, total }) => add(&mut all.failed, *hits, *total),
                (builtin::CHECKS, Sink::Rate { hits, total }) => add(&mut all.checks, total - hits, *total),
                (builtin::HTTP_REQ_DURATION, Sink::Trend(durations)) => all.durations.merge(durations),
                (builtin::ITERATION_DURATION, Sink::Trend(durations)) => all.iteration_durations.merge(durations),
                _ => {}
            }
        }
        all
    }

    /// Adds what was measured elsewhere, or at another time.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.iterations += other.iterations;
        self.dropped += other.dropped;
        add(&mut self.failed, other.failed.0, other.failed.1);
        add(&mut self.checks, other.checks.0, other.checks.1);
        self.durations.merge(&other.durations);
        self.iteration_durations.merge(&other.iteration_durations);
    }
}

impl Pulse {
    /// Takes what a thread measured in its last second.
    pub(crate) fn note(&mut self, measured: &Measured, now: Nanos) {
        self.dropped += measured.dropped;
        let number = now.0 / 1_000_000_000;
        match self.seconds.back_mut() {
            Some((last, second)) if *last >= number => second.merge(measured),
            _ => self.seconds.push_back((number, measured.clone())),
        }
        while self.seconds.len() > WINDOW + 1 {
            self.seconds.pop_front();
        }
    }

    /// What the last whole seconds measured, and how many they are; `None` until there was one.
    pub(crate) fn latest(&self, now: Nanos) -> Option<(Measured, usize)> {
        let this = now.0 / 1_000_000_000;
        let window = self.seconds.iter().filter(|(number, _)| *number < this && *number + WINDOW as u64 >= this);
        let (mut all, mut count) = (Measured::default(), 0);
        for (_, second) in window {
            all.merge(second);
            count += 1;
        }
        (count > 0).then_some((all, count))
    }

    /// `now 1203 req/s, 0.40% failed, p(95) 12.30ms`: the last whole seconds; `None` until there was one.
    pub(crate) fn now(&self, now: Nanos) -> Option<String> {
        let (all, seconds) = self.latest(now)?;
        let (requests, iterations) = (all.requests / seconds as f64, all.iterations / seconds as f64);
        let mut text = if requests > 0.0 {
            format!("now {} req/s", rounded(requests))
        } else {
            format!("now {} iterations/s", rounded(iterations))
        };
        if let Some(failed) = percent(all.failed) {
            let _ = write!(text, ", {failed:.2}% failed");
        }
        if !all.durations.is_empty() {
            let _ = write!(text, ", p(95) {}", milliseconds(all.durations.quantile(0.95)));
        }
        if let Some(failed) = percent(all.checks).filter(|failed| *failed > 0.0) {
            let _ = write!(text, ", {failed:.2}% of checks failed");
        }
        Some(text)
    }

    /// `total 120345 requests up to 1s ago, 0.02% failed`: since the start. Threads hand in their samples once a second, while
    /// the count of iterations beside this one is of the moment.
    pub(crate) fn all(merged: &Merged, is_over: bool) -> Option<String> {
        let total = |metric| merged.sink(metric).and_then(Sink::counter).unwrap_or(0.0);
        let requests = total(builtin::HTTP_REQS);
        if requests <= 0.0 {
            return None;
        }
        let until = if is_over { "" } else { " up to 1s ago" };
        let mut text = format!("total {requests:.0} requests{until}");
        if let Some(failed) = merged.sink(builtin::HTTP_REQ_FAILED).and_then(Sink::rate).and_then(percent) {
            let _ = write!(text, ", {failed:.2}% failed");
        }
        Some(text)
    }

    /// What is wrong, worst first, and how thresholds stand: `✗ http_req_duration p(95)<200 (2 of 3 thresholds hold)`,
    /// `12 iterations dropped`, `35 errors: dial: connection refused`.
    pub(crate) fn troubles(&self, merged: &Merged, thresholds: &Thresholds) -> Vec<String> {
        let mut troubles = Vec::new();
        let all =
            || thresholds.results().iter().flat_map(|metric| metric.expressions.iter().map(move |one| (metric, one)));
        let judged = || all().filter(|(_, one)| one.history.judged > 0);
        let (count, holds) = (all().count(), judged().filter(|(_, one)| one.ok).count());
        let crossed = all().find(|(_, one)| !one.ok);
        match crossed {
            Some((metric, one)) => {
                troubles.push(format!("✗ {} {} ({holds} of {count} thresholds hold)", metric.name, one.source));
            }
            None if count > 0 && holds == count => troubles.push(format!("✓ {count} thresholds hold")),
            // Nothing is said before the first of them was judged.
            None if judged().count() > 0 => {
                troubles.push(format!("✓ {holds} of {count} thresholds hold, the others are not judged yet"));
            }
            None => {}
        }
        if self.dropped > 0.0 {
            troubles.push(format!("{:.0} iterations dropped", self.dropped));
        }
        let errors = merged.outcomes().errors();
        if errors > 0 {
            let rows = merged.outcomes().by_count();
            let text = rows.iter().find_map(|row| match &row.ending {
                Ending::Error { text, .. } => Some(&**text),
                _ => None,
            });
            let noun = if errors == 1 { "error" } else { "errors" };
            troubles.push(format!("{errors} {noun}: {}", text.unwrap_or_default()));
        }
        troubles
    }
}

fn add(sum: &mut (u64, u64), part: u64, whole: u64) {
    sum.0 += part;
    sum.1 += whole;
}

/// Of a hundred; `None` of none.
pub(crate) fn percent((part, whole): (u64, u64)) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

pub(crate) fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

pub(crate) fn milliseconds(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms:.2}ms") } else { format!("{:.2}s", ms / 1000.0) }
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{HttpTimings, Limits, Registry, Shard, Subscriptions};

    use super::*;

    fn shard() -> Shard {
        Shard::new(&Registry::new(), Subscriptions::builder().build().into(), Limits::default())
    }

    fn requests(shard: &mut Shard, count: u64, failed: bool, ms: f64) -> Delta {
        let block = shard.http(onrush_metrics::TagNode::ROOT);
        let timings = HttpTimings { duration: ms, ..HttpTimings::default() };
        for _ in 0..count {
            shard.record_http(block, &timings, Some(failed));
        }
        shard.drain()
    }

    /// Everything fails now, and did not before: that is what is to be seen.
    #[test]
    fn now_is_the_last_seconds() {
        let (mut pulse, mut shard) = (Pulse::default(), shard());
        assert_eq!(pulse.now(Nanos::from_secs(1)), None);
        for second in 0..10 {
            let delta = requests(&mut shard, 100, second >= 7, 2.0);
            pulse.note(&Measured::of(&delta), Nanos::from_secs(second));
        }
        let text = pulse.now(Nanos::from_secs(10)).expect("three seconds");
        assert!(text.starts_with("now 100 req/s, 100.00% failed, p(95) 2.0"), "{text}");
        let earlier = pulse.now(Nanos::from_secs(9)).expect("three seconds");
        assert!(earlier.starts_with("now 100 req/s, 66.67% failed"), "{earlier}");
        // Nothing has come for a while.
        assert_eq!(pulse.now(Nanos::from_secs(60)), None);
        assert!(pulse.seconds.len() <= WINDOW + 1);
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([rounded(3.26), rounded(69.4)], ["3.3", "69"]);
        assert_eq!([milliseconds(0.5), milliseconds(1500.0)], ["0.50ms", "1.50s"]);
    }
}
