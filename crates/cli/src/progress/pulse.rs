//! The lines a person watches while a test runs: how fast, how many errors, how slow in the last seconds, and what is wrong.

use std::{collections::VecDeque, fmt::Write as _};

use onrush_fiber::Nanos;
use onrush_metrics::{Delta, Ending, Histogram, Merged, Sink, Thresholds, builtin};

/// What the last seconds measured. Threads hand in their samples once a second.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    seconds: VecDeque<Second>,
    /// Since the start.
    dropped: f64,
}

/// What arrived in one second.
#[derive(Debug, Default)]
struct Second {
    number: u64,
    requests: f64,
    iterations: f64,
    failed: (u64, u64),
    checks: (u64, u64),
    durations: Histogram,
}

/// Seconds that "now" means.
const WINDOW: usize = 3;

impl Pulse {
    /// Takes what a thread measured in its last second.
    pub(crate) fn note(&mut self, delta: &Delta, now: Nanos) {
        let second = self.second(now);
        let mut dropped = 0.0;
        for part in &delta.series {
            match (part.metric, &part.sink) {
                (builtin::HTTP_REQS, Sink::Counter { sum }) => second.requests += sum.value(),
                (builtin::ITERATIONS, Sink::Counter { sum }) => second.iterations += sum.value(),
                (builtin::DROPPED_ITERATIONS, Sink::Counter { sum }) => dropped += sum.value(),
                (builtin::HTTP_REQ_FAILED, Sink::Rate { hits, total }) => add(&mut second.failed, *hits, *total),
                (builtin::CHECKS, Sink::Rate { hits, total }) => add(&mut second.checks, total - hits, *total),
                (builtin::HTTP_REQ_DURATION, Sink::Trend(durations)) => second.durations.merge(durations),
                _ => {}
            }
        }
        self.dropped += dropped;
    }

    fn second(&mut self, now: Nanos) -> &mut Second {
        let number = now.0 / 1_000_000_000;
        let is_new = self.seconds.back().is_none_or(|last| last.number < number);
        if is_new || self.seconds.is_empty() {
            self.seconds.push_back(Second { number, ..Second::default() });
            while self.seconds.len() > WINDOW + 1 {
                self.seconds.pop_front();
            }
        }
        let last = self.seconds.len() - 1;
        &mut self.seconds[last]
    }

    /// `now 1203 req/s, 0.40% failed, p(95) 12.30ms`: the last whole seconds; `None` until there was one.
    pub(crate) fn now(&self, now: Nanos) -> Option<String> {
        let this = now.0 / 1_000_000_000;
        let window =
            || self.seconds.iter().filter(|second| second.number < this && second.number + WINDOW as u64 >= this);
        let count = window().count();
        if count == 0 {
            return None;
        }
        let sum = |of: fn(&Second) -> f64| window().map(of).sum::<f64>() / count as f64;
        let (requests, iterations) = (sum(|second| second.requests), sum(|second| second.iterations));
        let mut text = if requests > 0.0 {
            format!("now {} req/s", rounded(requests))
        } else {
            format!("now {} iterations/s", rounded(iterations))
        };
        let share = |of: fn(&Second) -> (u64, u64)| {
            let (part, whole) = window().map(of).fold((0, 0), |sum, (part, whole)| (sum.0 + part, sum.1 + whole));
            (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
        };
        if let Some(failed) = share(|second| second.failed) {
            let _ = write!(text, ", {failed:.2}% failed");
        }
        let mut durations = Histogram::new();
        window().for_each(|second| durations.merge(&second.durations));
        if !durations.is_empty() {
            let _ = write!(text, ", p(95) {}", milliseconds(durations.quantile(0.95)));
        }
        if let Some(failed) = share(|second| second.checks).filter(|failed| *failed > 0.0) {
            let _ = write!(text, ", {failed:.2}% of checks failed");
        }
        Some(text)
    }

    /// `total 120345 requests, 0.02% failed`: since the start.
    pub(crate) fn all(merged: &Merged) -> Option<String> {
        let total = |metric| merged.sink(metric).and_then(Sink::counter).unwrap_or(0.0);
        let requests = total(builtin::HTTP_REQS);
        if requests <= 0.0 {
            return None;
        }
        let mut text = format!("total {requests:.0} requests");
        let failed = merged.sink(builtin::HTTP_REQ_FAILED).and_then(Sink::rate).filter(|(_, all)| *all > 0);
        if let Some((failed, all)) = failed {
            let _ = write!(text, ", {:.2}% failed", failed as f64 * 100.0 / all as f64);
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

fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

fn milliseconds(ms: f64) -> String {
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
            pulse.note(&requests(&mut shard, 100, second >= 7, 2.0), Nanos::from_secs(second));
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
