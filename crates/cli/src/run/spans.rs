//! The time of the scenarios that each delta covers.

use std::collections::BTreeMap;

use onrush_fiber::Nanos;
use onrush_metrics::Span;

/// When each thread handed in samples last, and the bounds of the scenarios.
#[derive(Debug, Default)]
pub(super) struct Spans {
    start: Option<Nanos>,
    end: Option<Nanos>,
    previous: BTreeMap<usize, Nanos>,
}

impl Spans {
    /// The scenarios start.
    pub(super) fn start(&mut self, at: Nanos) {
        self.start = Some(at);
    }

    /// The scenarios are over.
    pub(super) fn end(&mut self, at: Nanos) {
        self.end = Some(at);
    }

    /// The span of a thread's samples taken now; `None` for what was not measured in the scenarios. A thread that was
    /// asked for its samples before the scenarios may take them after, so it says itself whether they had begun.
    pub(super) fn next(&mut self, thread: usize, at: Nanos, in_scenarios: bool) -> Option<Span> {
        let previous = self.previous.insert(thread, at);
        let start = self.start.filter(|_| in_scenarios)?;
        let from = previous.unwrap_or(start).max(start);
        if at <= start || self.end.is_some_and(|end| from >= end) {
            return None;
        }
        Some(Span { from_ns: from.saturating_sub(start).0, until_ns: at.saturating_sub(start).0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_the_scenarios_and_nothing_else() {
        let mut spans = Spans::default();
        assert_eq!(spans.next(0, Nanos(5), false), None);
        spans.start(Nanos(10));
        // Asked before the start, taken a little later.
        assert_eq!(spans.next(0, Nanos(11), false), None);
        assert_eq!(spans.next(0, Nanos(20), true), Some(Span { from_ns: 1, until_ns: 10 }));
        assert_eq!(spans.next(1, Nanos(20), true), Some(Span { from_ns: 0, until_ns: 10 }));
        spans.end(Nanos(25));
        assert_eq!(spans.next(0, Nanos(26), true), Some(Span { from_ns: 10, until_ns: 16 }));
        assert_eq!(spans.next(0, Nanos(30), true), None);
    }
}
