//! The time of the scenarios that each delta covers. Pauses are no part of it.

use std::collections::BTreeMap;

use onrush_fiber::Nanos;
use onrush_metrics::Span;

/// When each thread handed in samples last, and the bounds of the scenarios.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    start: Option<Nanos>,
    end: Option<Nanos>,
    /// In their order; the last may have no end yet.
    pauses: Vec<(Nanos, Option<Nanos>)>,
    previous: BTreeMap<usize, Nanos>,
}

impl Spans {
    /// The scenarios start.
    pub(crate) fn start(&mut self, at: Nanos) {
        self.start = Some(at);
    }

    /// The scenarios are over.
    pub(crate) fn end(&mut self, at: Nanos) {
        self.end = Some(at);
    }

    /// The scenarios stand still, or go on.
    pub(crate) fn pause(&mut self, is_paused: bool, at: Nanos) {
        match (self.pauses.last_mut(), is_paused) {
            (Some((_, end @ None)), false) => *end = Some(at),
            (Some((_, None)), true) | (_, false) => {}
            (_, true) => self.pauses.push((at, None)),
        }
    }

    /// The span of a thread's samples taken now; `None` for what was not measured in the scenarios. A thread that was
    /// asked for its samples before the scenarios may take them after, so it says itself whether they had begun.
    pub(crate) fn next(&mut self, thread: usize, at: Nanos, in_scenarios: bool) -> Option<Span> {
        let previous = self.previous.insert(thread, at);
        let start = self.start.filter(|_| in_scenarios)?;
        let from = previous.unwrap_or(start).max(start);
        if at <= start || self.end.is_some_and(|end| from >= end) {
            return None;
        }
        Some(Span { from_ns: self.clock(from, start), until_ns: self.clock(at, start) })
    }

    /// What the scenarios' clock shows at a moment.
    fn clock(&self, at: Nanos, start: Nanos) -> u64 {
        let stood = |(from, until): &(Nanos, Option<Nanos>)| until.unwrap_or(at).min(at).saturating_sub(*from).0;
        let paused: u64 = self.pauses.iter().map(stood).sum();
        at.saturating_sub(start).0.saturating_sub(paused)
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

    #[test]
    fn the_time_of_a_pause_is_in_no_span() {
        let mut spans = Spans::default();
        spans.start(Nanos(100));
        let check = |spans: &mut Spans, at, from_ns, until_ns| {
            assert_eq!(spans.next(0, Nanos(at), true), Some(Span { from_ns, until_ns }), "{at}");
        };
        check(&mut spans, 110, 0, 10);
        spans.pause(true, Nanos(115));
        check(&mut spans, 120, 10, 15);
        check(&mut spans, 130, 15, 15);
        spans.pause(false, Nanos(135));
        // Taken before it went on, and seen after.
        check(&mut spans, 134, 15, 15);
        check(&mut spans, 140, 15, 20);
        spans.pause(true, Nanos(141));
        spans.pause(true, Nanos(142));
        spans.pause(false, Nanos(151));
        check(&mut spans, 160, 20, 30);
    }
}
