//! How many VUs must exist at each moment: step functions of time, and the window that keeps a VU reserved while it
//! finishes its last iteration.

use std::collections::VecDeque;

/// From `at_ns` on there are `vus`, until the next step. Times never decrease along a list of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds from the scenario's (or, in a plan's total, the test's) start.
    pub at_ns: u64,
    /// How many VUs from here on.
    pub vus: u64,
}

/// From `at_ns` on the test needs `planned` VUs made beforehand, and may make `unplanned` more. Along a list times never
/// decrease; of several steps at one instant the last one lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequirementStep {
    /// Nanoseconds from the test's start.
    pub at_ns: u64,
    /// VUs that are initialised before the test.
    pub planned: u64,
    /// VUs that arrival-rate scenarios may still start while the test runs.
    pub unplanned: u64,
}

/// `count` VUs from the start to `end_ns`.
pub(crate) fn constant(count: u64, end_ns: u64) -> Vec<Step> {
    vec![Step { at_ns: 0, vus: count }, Step { at_ns: end_ns, vus: 0 }]
}

/// The value of a step function at `at_ns`; 0 before its first step.
pub(crate) fn value_at(steps: &[Step], at_ns: u64) -> u64 {
    steps.partition_point(|s| s.at_ns <= at_ns).checked_sub(1).map_or(0, |i| steps[i].vus)
}

/// The reservation over a raw staircase: a VU stays reserved for `window_ns` after it was told to stop, and no VU
/// outlives `end_ns`. In other words the largest raw value of the last `window_ns`.
///
/// k6 does otherwise in one case: when the number rises again within the window, but not as high as before, its plan
/// forgets the rise and VUs are cut that its own staircase keeps running. This plan never holds fewer than run.
pub(crate) fn windowed(raw: &[Step], window_ns: u64, end_ns: u64) -> Vec<Step> {
    // Each raw step counts from its own time until the next step's time plus the window. Both bounds grow along the
    // list, so the steps that count form a queue, and only its descending maxima matter.
    let mut maxima: VecDeque<(u64, u64)> = VecDeque::new();
    let mut plan: Vec<Step> = Vec::with_capacity(raw.len() + 1);
    let emit = |plan: &mut Vec<Step>, at_ns: u64, vus: u64| {
        if plan.last().is_none_or(|last| last.vus != vus) {
            plan.push(Step { at_ns, vus });
        }
    };
    for (i, step) in raw.iter().enumerate() {
        while let Some(&(until, _)) = maxima.front().filter(|front| front.0 <= step.at_ns) {
            maxima.pop_front();
            // Something newer is always still in the queue: the previous step counts at least up to this one.
            if until < step.at_ns
                && let Some(&(_, vus)) = maxima.front()
            {
                emit(&mut plan, until, vus);
            }
        }
        let until = match raw.get(i + 1) {
            Some(next) => next.at_ns.saturating_add(window_ns).min(end_ns),
            None => end_ns,
        };
        while maxima.back().is_some_and(|back| back.1 <= step.vus) {
            maxima.pop_back();
        }
        maxima.push_back((until, step.vus));
        if let Some(&(_, vus)) = maxima.front() {
            emit(&mut plan, step.at_ns, vus);
        }
    }
    while let Some((until, _)) = maxima.pop_front() {
        if until >= end_ns {
            break;
        }
        if let Some(&(_, vus)) = maxima.front() {
            emit(&mut plan, until, vus);
        }
    }
    emit(&mut plan, end_ns, 0);
    plan
}

/// Sums the needs of scenarios, each a start time and steps from there, in the scenarios' order.
///
/// k6: at one instant the changes count one by one, scenario after scenario, so a level that is left in the same
/// instant still shows in the maximum; `k6 inspect` prints that maximum as `maxVUs`.
pub(crate) fn sum(parts: &[(u64, Vec<RequirementStep>)]) -> Vec<RequirementStep> {
    let mut changes: Vec<(u64, i128, i128)> = Vec::new();
    for (start_ns, steps) in parts {
        let (mut planned, mut unplanned) = (0_i128, 0_i128);
        for step in steps {
            let (next_planned, next_unplanned) = (i128::from(step.planned), i128::from(step.unplanned));
            let at_ns = start_ns.saturating_add(step.at_ns);
            changes.push((at_ns, next_planned - planned, next_unplanned - unplanned));
            (planned, unplanned) = (next_planned, next_unplanned);
        }
    }
    // Stable, so changes of one instant stay in the scenarios' order.
    changes.sort_by_key(|change| change.0);
    let (mut planned, mut unplanned) = (0_i128, 0_i128);
    let mut total = Vec::with_capacity(changes.len());
    for (at_ns, planned_change, unplanned_change) in changes {
        planned += planned_change;
        unplanned += unplanned_change;
        let clamp = |n: i128| u64::try_from(n.max(0)).unwrap_or(u64::MAX);
        total.push(RequirementStep { at_ns, planned: clamp(planned), unplanned: clamp(unplanned) });
    }
    total.dedup_by(|next, kept| next.planned == kept.planned && next.unplanned == kept.unplanned);
    total
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps(pairs: &[(u64, u64)]) -> Vec<Step> {
        pairs.iter().map(|&(at_ns, vus)| Step { at_ns, vus }).collect()
    }

    fn check(raw: &[(u64, u64)], window: u64, end: u64, expect: &[(u64, u64)]) {
        assert_eq!(windowed(&steps(raw), window, end), steps(expect));
    }

    #[test]
    fn a_decrease_waits_for_the_window() {
        check(&[(0, 10), (5, 4)], 3, 20, &[(0, 10), (8, 4), (20, 0)]);
    }

    #[test]
    fn a_quick_return_keeps_the_reservation() {
        check(&[(0, 10), (5, 4), (7, 10)], 3, 20, &[(0, 10), (20, 0)]);
        check(&[(0, 10), (5, 4), (8, 10)], 3, 20, &[(0, 10), (20, 0)]);
        check(&[(0, 10), (5, 4), (9, 10)], 3, 20, &[(0, 10), (8, 4), (9, 10), (20, 0)]);
    }

    #[test]
    fn a_partial_return_is_seen() {
        check(&[(0, 10), (5, 4), (6, 7)], 3, 20, &[(0, 10), (8, 7), (20, 0)]);
    }

    #[test]
    fn nothing_outlives_the_end() {
        check(&[(0, 10), (5, 4)], 30, 20, &[(0, 10), (20, 0)]);
    }

    #[test]
    fn no_window_is_the_raw_staircase() {
        check(&[(0, 1), (5, 4), (6, 7), (8, 2)], 0, 20, &[(0, 1), (5, 4), (6, 7), (8, 2), (20, 0)]);
    }

    fn staircases() -> impl Strategy<Value = Vec<Step>> {
        prop::collection::vec((0u64..6, 0u64..9), 1..20).prop_map(|pairs| {
            let mut at_ns = 0;
            pairs
                .iter()
                .enumerate()
                .map(|(i, &(gap, vus))| {
                    at_ns += if i == 0 { 0 } else { gap };
                    Step { at_ns, vus }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn the_window_is_the_recent_maximum(raw in staircases(), window in 0u64..12, tail in 0u64..12) {
            let end = raw.last().unwrap().at_ns + tail + 1;
            let plan = windowed(&raw, window, end);
            prop_assert!(plan.windows(2).all(|w| w[0].at_ns <= w[1].at_ns && w[0].vus != w[1].vus));
            for t in 0..end {
                let expect = (t.saturating_sub(window)..=t).map(|s| value_at(&raw, s)).max().unwrap();
                let got = value_at(&plan, t);
                // A step of no length counts too when there is a window, so the plan may be higher, never lower.
                prop_assert!(got >= expect);
                if raw.windows(2).all(|w| w[0].at_ns < w[1].at_ns) {
                    prop_assert_eq!(got, expect, "at {}", t);
                }
            }
            prop_assert_eq!(value_at(&plan, end), 0);
        }
    }
}
