//! Deltas of many threads become steps of the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{delta::Delta, delta_sum::DeltaSum, threshold::Span};

/// What all threads of all agents measured in a part of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The time of the scenarios; `None` for what was measured before or after them.
    pub span: Option<Span>,
    /// The samples, folded.
    pub delta: Delta,
}

const NS_PER_S: u64 = 1_000_000_000;

/// Steps are a second long for five minutes, then longer, so that an hour has 780 of them and a day some 2,500: up to so many
/// seconds of the run, steps of so many seconds. Each limit is a multiple of the next length.
const LENGTHS: [(u64, u64); 4] = [(300, 1), (1_800, 5), (7_200, 10), (21_600, 30)];
/// Beyond.
const LENGTH_MAX: u64 = 60;

/// A step is open so long after the newest one began: threads hand in their samples within that time.
const OPEN_NS: u64 = 3 * NS_PER_S;

/// Folds deltas into steps.
#[derive(Debug)]
pub struct Steps {
    /// The step that a time of the scenarios belongs to.
    around: fn(u64) -> Span,
    /// By their beginnings.
    open: BTreeMap<u64, (Span, DeltaSum)>,
    /// Everything before has been given away.
    done_ns: u64,
    /// What was measured outside of the scenarios.
    outside: Option<DeltaSum>,
}

impl Steps {
    /// Steps of a second.
    pub fn of_seconds() -> Self {
        Self::new(|ns| span(ns / NS_PER_S, 1))
    }

    /// Steps that are longer the longer a run lasts, so that what keeps them all stays small.
    pub fn for_keeping() -> Self {
        Self::new(Self::kept_around)
    }

    fn new(around: fn(u64) -> Span) -> Self {
        Self { around, open: BTreeMap::new(), done_ns: 0, outside: None }
    }

    /// The step that is kept around this time of the scenarios.
    pub fn kept_around(ns: u64) -> Span {
        let second = ns / NS_PER_S;
        let length = LENGTHS.iter().find(|(until, _)| second < *until).map_or(LENGTH_MAX, |(_, length)| *length);
        span(second / length * length, length)
    }

    /// Takes a delta and the time of the scenarios it covers. Gives the steps that are over, in their order. What comes too
    /// late for its own step is in the first one that is still open: nothing is left out.
    pub fn add(&mut self, delta: &Delta, span: Option<Span>) -> Vec<Step> {
        let Some(span) = span else {
            if !delta.is_empty() {
                self.outside.get_or_insert_default().add(delta);
            }
            return Vec::new();
        };
        // Threads hand in a little before or after whole seconds: the middle is in the right one.
        let middle = span.from_ns + span.until_ns.saturating_sub(span.from_ns) / 2;
        let step = (self.around)(middle.max(self.done_ns));
        self.open.entry(step.from_ns).or_insert_with(|| (step, DeltaSum::default())).1.add(delta);
        let newest = self.open.last_key_value().map_or(0, |(from, _)| *from);
        self.take(|step| step.until_ns.saturating_add(OPEN_NS) <= newest)
    }

    /// What belongs to no step yet that was given away, as one; `None` where there is nothing. It stays here.
    pub fn open(&self) -> Option<Step> {
        let (mut sum, mut span) = (DeltaSum::default(), None);
        for (own, part) in self.open.values() {
            sum.add(&part.clone().into_delta());
            let from_ns = span.map_or(own.from_ns, |span: Span| span.from_ns);
            span = Some(Span { from_ns, until_ns: own.until_ns });
        }
        if self.done_ns == 0
            && let Some(outside) = &self.outside
        {
            sum.add(&outside.clone().into_delta());
        }
        let delta = sum.into_delta();
        (span.is_some() || !delta.is_empty()).then_some(Step { span, delta })
    }

    /// What is left, at the end of the run.
    pub fn rest(&mut self) -> Vec<Step> {
        let mut steps = self.take(|_| true);
        steps.extend(self.outside.take().map(|sum| Step { span: None, delta: sum.into_delta() }));
        steps
    }

    fn take(&mut self, is_over: impl Fn(Span) -> bool) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(first) = self.open.first_entry()
            && is_over(first.get().0)
        {
            let (span, sum) = first.remove();
            // What came before the scenarios comes before them.
            let before = self.outside.take_if(|_| self.done_ns == 0);
            steps.extend(before.map(|sum| Step { span: None, delta: sum.into_delta() }));
            self.done_ns = span.until_ns;
            steps.push(Step { span: Some(span), delta: sum.into_delta() });
        }
        steps
    }
}

impl Step {
    /// This one and one that follows it as one; for when there is no room for both.
    #[must_use]
    pub fn joined(&self, next: &Self) -> Self {
        let mut sum = DeltaSum::default();
        sum.add(&self.delta);
        sum.add(&next.delta);
        let span = match (self.span, next.span) {
            (Some(first), Some(second)) => {
                Some(Span { from_ns: first.from_ns.min(second.from_ns), until_ns: first.until_ns.max(second.until_ns) })
            }
            (span, other) => span.or(other),
        };
        Self { span, delta: sum.into_delta() }
    }
}

/// So many seconds from this one on.
fn span(second: u64, length: u64) -> Span {
    Span { from_ns: second.saturating_mul(NS_PER_S), until_ns: second.saturating_add(length).saturating_mul(NS_PER_S) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExactSum, builtin, delta::TagPairs, sink::Sink};

    fn delta(value: f64) -> Delta {
        let mut sum = ExactSum::default();
        sum.add(value);
        let mut delta = Delta::default();
        delta.push(builtin::HTTP_REQS, TagPairs::default(), Sink::Counter { sum });
        delta
    }

    fn count(step: &Step) -> f64 {
        step.delta.series.iter().filter_map(|series| series.sink.counter()).sum()
    }

    fn second(number: u64) -> Option<Span> {
        Some(Span { from_ns: number * NS_PER_S, until_ns: (number + 1) * NS_PER_S })
    }

    #[test]
    fn steps_lie_side_by_side() {
        let mut ns = 0;
        while ns < 100_000 * NS_PER_S {
            let step = Steps::kept_around(ns);
            assert_eq!(step.from_ns, ns);
            assert_eq!(Steps::kept_around(step.until_ns - 1), step);
            ns = step.until_ns;
        }
        assert_eq!(Steps::kept_around(u64::MAX).from_ns % NS_PER_S, 0);
    }

    #[test]
    fn what_is_open_is_seen_and_stays() {
        let mut recorder = Steps::of_seconds();
        assert_eq!(recorder.open(), None);
        recorder.add(&delta(100.0), None);
        assert_eq!(recorder.open().map(|step| (step.span, count(&step))), Some((None, 100.0)));
        let given: usize = (0..6).map(|number| recorder.add(&delta(1.0), second(number)).len()).sum();
        let open = recorder.open().expect("three seconds are open");
        let span = Span { from_ns: 2 * NS_PER_S, until_ns: 6 * NS_PER_S };
        assert_eq!((given, open.span, count(&open)), (3, Some(span), 4.0));
        assert_eq!(recorder.rest().iter().map(count).sum::<f64>(), 4.0);
    }

    #[test]
    fn threads_of_a_second_become_one_step() {
        let mut recorder = Steps::for_keeping();
        assert!(recorder.add(&delta(100.0), None).is_empty());
        let mut steps = Vec::new();
        for number in 0..10 {
            for _ in 0..3 {
                steps.extend(recorder.add(&delta(1.0), second(number)));
            }
        }
        let spans: Vec<_> = steps.iter().map(|step| (step.span, count(step))).collect();
        assert_eq!(spans[0], (None, 100.0));
        assert_eq!(spans[1..], (0..6).map(|number| (second(number), 3.0)).collect::<Vec<_>>());
        // Three seconds late: it counts in the first that is open.
        assert!(recorder.add(&delta(1.0), second(1)).is_empty());
        recorder.add(&delta(7.0), None);
        let rest = recorder.rest();
        let counts: Vec<_> = rest.iter().map(|step| (step.span, count(step))).collect();
        assert_eq!(counts[0], (second(6), 4.0));
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<f64>(), 4.0 + 3.0 * 3.0 + 7.0);
        assert!(recorder.rest().is_empty());
    }
}
