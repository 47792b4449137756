//! How long the steps of a report are: so long that it is a file one can send.

use onrush_metrics::{DeltaSum, Span};

use crate::{
    bins::Sum as _,
    health::{HealthStep, HealthSum},
    record::Body,
};

/// What is tried, in seconds.
const LENGTHS_S: [u64; 9] = [1, 5, 10, 20, 30, 60, 300, 1_800, 7_200];
/// A chart of a report has about so many steps at most.
const STEPS_MAX: usize = 480;
/// It has no fewer than so many to save room, unless the run has no more.
const STEPS_MIN: usize = 120;

/// The length of a report's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLength {
    ns: u64,
}

impl StepLength {
    /// What a run's steps can be joined to, which begin at these times: the shortest first, at least one.
    pub(crate) fn for_starts(starts: impl Iterator<Item = u64>) -> Vec<Self> {
        let starts: Vec<u64> = starts.collect();
        let count = |ns: u64| {
            let mut bins: Vec<u64> = starts.iter().map(|start| start / ns).collect();
            bins.dedup();
            bins.len()
        };
        let mut lengths = Vec::new();
        for ns in LENGTHS_S.into_iter().map(|seconds| seconds * 1_000_000_000) {
            let steps = count(ns);
            if steps <= STEPS_MAX && (lengths.is_empty() || steps >= STEPS_MIN) {
                lengths.push(Self { ns });
            }
        }
        if lengths.is_empty() {
            lengths.push(Self { ns: u64::MAX });
        }
        lengths
    }

    /// Steps as long as this.
    pub(crate) fn steps<'a>(self, steps: impl Iterator<Item = &'a Body>) -> Vec<Body> {
        let joined = |parts: Vec<&Body>| match parts.as_slice() {
            [one] => (*one).clone(),
            parts => {
                let (mut sum, mut span) = (DeltaSum::default(), None);
                for (of, delta) in parts.iter().filter_map(|part| part.unpacked()) {
                    sum.add(&delta);
                    span = over(span, of);
                }
                Body::step(span, &sum.into_delta(), false)
            }
        };
        self.grouped(steps.map(|step| (step.span(), step))).into_iter().map(joined).collect()
    }

    /// The health of generators in steps as long as this.
    pub(crate) fn health<'a>(self, steps: impl Iterator<Item = &'a Body>) -> Vec<Body> {
        let steps = steps.filter_map(Body::health).map(|step| (Some(step.span()), step));
        let joined = |parts: Vec<HealthStep>| {
            let (mut sum, mut span) = (HealthSum::default(), None);
            for part in &parts {
                sum.add(part);
                span = over(span, Some(part.span()));
            }
            span.map(|span| Body::new(sum.into_step(span).to_json()))
        };
        self.grouped(steps).into_iter().filter_map(joined).collect()
    }

    /// Parts that lie in one step. What has no time stays alone.
    fn grouped<T>(self, parts: impl Iterator<Item = (Option<Span>, T)>) -> Vec<Vec<T>> {
        let mut groups: Vec<(Option<u64>, Vec<T>)> = Vec::new();
        for (span, part) in parts {
            let bin = span.map(|span| span.from_ns / self.ns);
            match groups.last_mut() {
                Some((last, group)) if *last == bin && bin.is_some() => group.push(part),
                _ => groups.push((bin, vec![part])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// A time that is continued by another.
fn over(span: Option<Span>, next: Option<Span>) -> Option<Span> {
    match (span, next) {
        (Some(span), Some(next)) => Some(Span { until_ns: next.until_ns, ..span }),
        (span, next) => span.or(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds_of(starts_s: impl Iterator<Item = u64>) -> Vec<u64> {
        let lengths = StepLength::for_starts(starts_s.map(|second| second * 1_000_000_000));
        lengths.iter().map(|length| length.ns / 1_000_000_000).collect()
    }

    #[test]
    fn a_chart_has_enough_steps_and_not_too_many() {
        assert_eq!(seconds_of(0..480), [1]);
        assert_eq!(seconds_of(0..481), [5]);
        assert_eq!(seconds_of(0..1_200), [5, 10]);
        // An hour, and eight.
        assert_eq!(seconds_of(0..3_600), [10, 20, 30]);
        assert_eq!(seconds_of((0..8 * 3_600).step_by(30)), [60]);
        // Whatever there is, there is a length.
        assert_eq!(seconds_of(0..0), [1]);
        assert_eq!(seconds_of(0..1), [1]);
        assert_eq!(seconds_of((0..10_000).map(|number| number * 7_200)).len(), 1);
    }
}
