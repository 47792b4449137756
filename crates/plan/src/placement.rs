//! Which worker thread each VU and each VU handle of an instance belongs to.
//!
//! A VU never leaves its thread, and no thread has more of them than its share of [`Plan::planned_vus`]. So the handles
//! of all scenarios are placed along the time line: one that begins takes a free VU of the thread where its scenario has
//! the fewest, one that ends gives it back. Since the plan's number of VUs is the most that are reserved at any moment,
//! there is always a free one. How VUs are used then is the engine's business.

use crate::{
    plan::Plan,
    share::{count_for, first_for, thread_of},
};

/// Where the VUs of an instance and the handles of its scenarios are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    threads: u64,
    planned_vus: u64,
    scenarios: Box<[ScenarioPlacement]>,
}

/// Where the handles of one scenario are. VU handle `k` is the scenario's `k`-th VU at work, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioPlacement {
    threads: u64,
    /// The thread of handle 0; where there are no planned handles, any.
    offset: u64,
    /// By handle: its thread the first time it is needed.
    first: Vec<u32>,
    /// The handles that go to another thread when they are needed again, in the order of (handle, time).
    moves: Vec<Move>,
    /// By thread: the most handles it has at once.
    most: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    handle: u64,
    /// From the scenario's start.
    at_ns: u64,
    thread: u32,
}

impl Placement {
    /// Places the planned VUs of `plan` on `threads` threads; 0 counts as 1.
    #[must_use]
    pub fn new(plan: &Plan, threads: usize) -> Self {
        let threads = threads.max(1);
        let total = threads as u64;
        let mut free: Vec<u64> = (0..total).map(|thread| count_for(plan.planned_vus, thread, total, 0)).collect();
        let mut changes: Vec<(u64, usize, u64, u64)> = Vec::new();
        for (index, scenario) in plan.scenarios.iter().enumerate() {
            for step in scenario.reservation().iter() {
                changes.push((scenario.start_ns.saturating_add(step.at_ns), index, step.at_ns, step.vus));
            }
        }
        // Stable: changes of one instant stay in the scenarios' order, as in the plan's total.
        changes.sort_by_key(|(at_ns, ..)| *at_ns);
        let empty = || ScenarioPlacement { threads: total, most: vec![0; threads], ..ScenarioPlacement::default() };
        let mut scenarios: Vec<ScenarioPlacement> = plan.scenarios.iter().map(|_| empty()).collect();
        // By scenario: the threads of the handles it holds, and how many of them each thread has.
        let mut held: Vec<Vec<u32>> = vec![Vec::new(); scenarios.len()];
        let mut counts: Vec<Vec<u64>> = vec![vec![0; threads]; scenarios.len()];
        for (_, index, at_ns, vus) in changes {
            let (held, counts, scenario) = (&mut held[index], &mut counts[index], &mut scenarios[index]);
            while held.len() as u64 > vus {
                let Some(thread) = held.pop() else { break };
                free[thread as usize] += 1;
                counts[thread as usize] -= 1;
            }
            while (held.len() as u64) < vus {
                let thread = (0..threads)
                    .filter(|&thread| free[thread] > 0)
                    .min_by_key(|&thread| (counts[thread], std::cmp::Reverse(free[thread])));
                debug_assert!(thread.is_some(), "the plan has VUs for all that is reserved at once");
                let thread = thread.unwrap_or(0);
                free[thread] = free[thread].saturating_sub(1);
                counts[thread] += 1;
                scenario.most[thread] = scenario.most[thread].max(counts[thread]);
                let number = u32::try_from(thread).unwrap_or(u32::MAX);
                scenario.place(held.len() as u64, at_ns, number);
                held.push(number);
            }
        }
        for (index, scenario) in scenarios.iter_mut().enumerate() {
            scenario.moves.sort_unstable();
            scenario.offset = scenario.first.first().map_or(index as u64 % total, |thread| u64::from(*thread));
        }
        Self { threads: total, planned_vus: plan.planned_vus, scenarios: scenarios.into() }
    }

    /// The planned VUs of a thread, by their numbers in the instance, from 0.
    pub fn vus_of(&self, thread: usize) -> impl Iterator<Item = u64> + use<> {
        (thread as u64..self.planned_vus).step_by(usize::try_from(self.threads).unwrap_or(1))
    }

    /// Where the handles of the plan's `index`-th scenario are.
    #[must_use]
    pub fn scenario(&self, index: usize) -> &ScenarioPlacement {
        &self.scenarios[index]
    }
}

impl ScenarioPlacement {
    fn place(&mut self, handle: u64, at_ns: u64, thread: u32) {
        if handle == self.first.len() as u64 {
            self.first.push(thread);
        } else {
            self.moves.push(Move { handle, at_ns, thread });
        }
    }

    /// The thread of a handle at a moment after the scenario's start. Handles that are not planned, such as those that
    /// a raised target wants, are spread evenly.
    #[must_use]
    pub fn thread_of(&self, handle: u64, at_ns: u64) -> usize {
        let Some(&first) = usize::try_from(handle).ok().and_then(|index| self.first.get(index)) else {
            return thread_of(handle, self.threads, self.offset) as usize;
        };
        let until = self.moves.partition_point(|moved| (moved.handle, moved.at_ns) <= (handle, at_ns));
        let last = until.checked_sub(1).map(|index| self.moves[index]).filter(|moved| moved.handle == handle);
        last.map_or(first, |moved| moved.thread) as usize
    }

    /// The planned handles that are a thread's at a moment after the scenario's start, ascending.
    #[must_use]
    pub fn planned_of(&self, thread: usize, at_ns: u64) -> Vec<u64> {
        (0..self.first.len() as u64).filter(|&handle| self.thread_of(handle, at_ns) == thread).collect()
    }

    /// The handles below `end` that are a thread's and not planned, ascending.
    pub fn unplanned_of(&self, thread: usize, end: u64) -> impl Iterator<Item = u64> + use<> {
        let (planned, step) = (self.first.len() as u64, usize::try_from(self.threads).unwrap_or(1));
        let first = first_for(thread as u64, self.threads, self.offset);
        // The first of the thread's indexes that is not below the planned ones.
        let rounds = planned.saturating_sub(first).div_ceil(self.threads);
        (first.saturating_add(rounds.saturating_mul(self.threads))..end).step_by(step)
    }

    /// The most planned VUs of the scenario that a thread has at once.
    #[must_use]
    pub fn most_on(&self, thread: usize) -> u64 {
        self.most.get(thread).copied().unwrap_or(0)
    }

    /// The first arrival of a thread; its others follow every `threads`.
    #[must_use]
    pub fn first_event(&self, thread: usize) -> u64 {
        first_for(thread as u64, self.threads, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Options, Tier, consolidate, parse_json};

    fn plan(scenarios: &str) -> Plan {
        let options = parse_json(&format!(r#"{{"scenarios": {{{scenarios}}}}}"#)).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        Plan::new(&test.scenarios, &test.share).unwrap()
    }

    fn constant(name: usize, vus: u64, start_s: u64) -> String {
        format!(
            r#""c{name}": {{"executor": "constant-vus", "vus": {vus}, "duration": "3s", "startTime": "{start_s}s", "gracefulStop": "0s"}}"#
        )
    }

    #[test]
    fn one_vu_each_in_turn_is_one_vu() {
        let plan = plan(&[constant(0, 1, 0), constant(1, 1, 3), constant(2, 1, 6)].join(","));
        let placement = Placement::new(&plan, 2);
        assert_eq!((placement.vus_of(0).count(), placement.vus_of(1).count()), (1, 0));
        for index in 0..3 {
            assert_eq!(placement.scenario(index).thread_of(0, 0), 0);
        }
    }

    #[test]
    fn scenarios_are_spread() {
        let placement = Placement::new(&plan(&[constant(0, 3, 0), constant(1, 3, 0)].join(",")), 2);
        let counts = |index: usize| [0, 1].map(|thread| placement.scenario(index).most_on(thread));
        assert_eq!((counts(0), counts(1)), ([2, 1], [1, 2]));
        assert_eq!(placement.scenario(1).planned_of(1, 0), [0, 2]);
        // More than planned alternate, too.
        assert_eq!(placement.scenario(1).unplanned_of(0, 7).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(placement.scenario(1).unplanned_of(1, 7).collect::<Vec<_>>(), [4, 6]);
    }

    fn scenario() -> impl Strategy<Value = (u64, u64, Option<Vec<(u64, u64)>>)> {
        let stages = prop::collection::vec((0_u64..4, 0_u64..7), 1..5);
        (1_u64..6, 0_u64..8, prop::option::of(stages))
    }

    proptest! {
        /// No thread is asked for more VUs than it has, whatever the scenarios do and on however many threads.
        #[test]
        fn no_thread_needs_more_than_it_has(all in prop::collection::vec(scenario(), 1..6), threads in 1_usize..6, window in 0_u64..3) {
            let texts: Vec<String> = all.iter().enumerate().map(|(name, (vus, start_s, stages))| match stages {
                None => constant(name, *vus, *start_s),
                Some(stages) => {
                    let stages: Vec<String> = stages
                        .iter()
                        .map(|(seconds, target)| format!(r#"{{"duration": "{seconds}s", "target": {target}}}"#))
                        .collect();
                    format!(
                        r#""r{name}": {{"executor": "ramping-vus", "startVUs": {vus}, "startTime": "{start_s}s", "gracefulStop": "1s", "gracefulRampDown": "{window}s", "stages": [{}]}}"#,
                        stages.join(",")
                    )
                }
            }).collect();
            let plan = plan(&texts.join(","));
            let placement = Placement::new(&plan, threads);
            let has: Vec<u64> = (0..threads).map(|thread| placement.vus_of(thread).count() as u64).collect();
            prop_assert_eq!(has.iter().sum::<u64>(), plan.planned_vus);
            let mut times: Vec<u64> = plan
                .scenarios
                .iter()
                .flat_map(|s| s.reservation().iter().map(|step| s.start_ns + step.at_ns).collect::<Vec<_>>())
                .collect();
            times.sort_unstable();
            for at_ns in times {
                let mut needs = vec![0; threads];
                for (index, scenario) in plan.scenarios.iter().enumerate() {
                    let Some(own_ns) = at_ns.checked_sub(scenario.start_ns) else { continue };
                    for handle in 0..scenario.reserved_at(own_ns) {
                        needs[placement.scenario(index).thread_of(handle, own_ns)] += 1;
                    }
                }
                prop_assert!(needs.iter().zip(&has).all(|(needs, has)| needs <= has), "{needs:?} {has:?} at {at_ns}");
            }
        }
    }
}
