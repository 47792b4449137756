//! Many runs, one after another on each of some threads.

use std::{
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use onrush_session::ExitCode;

use crate::{Case, Mistake};

/// What many runs came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Campaign {
    /// Runs.
    pub runs: u64,
    /// Runs that lost no agent.
    pub whole: u64,
    /// Runs that lost agents and went on.
    pub went_on: u64,
    /// Runs that ended because an agent was lost.
    pub ended: u64,
    /// Agents that joined a run and began.
    pub joined: u64,
    /// Changes of targets that all agents of such a run together met.
    pub steps_met: u64,
    /// Runs whose coordinator was restarted.
    pub resumed: u64,
    /// Those of them that lost no agent.
    pub resumed_whole: u64,
    /// Runs in which relays added up reports.
    pub relayed: u64,
    /// Those of them in which a sum did not count, because a part of it had come another way.
    pub refused: u64,
    /// What was wrong, by seed.
    pub violations: Vec<Violation>,
}

/// A run that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Its seed.
    pub seed: u64,
    /// What is wrong.
    pub what: String,
}

/// Violations after which no more runs are made.
const VIOLATIONS_MAX: usize = 5;

/// Runs the seeds from `first` on, `count` of them, until `look` says that it is enough. It is asked now and then, with the
/// number of runs so far.
pub fn campaign(
    first: u64,
    count: u64,
    threads: usize,
    mistake: Option<Mistake>,
    look: impl Fn(u64) -> ControlFlow<()> + Sync,
) -> Campaign {
    let (next, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let sum = Mutex::new(Campaign::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let seed = first.wrapping_add(number);
                    let case = Case::of(seed);
                    let checked = mistake.map_or_else(|| case.clone(), |mistake| case.clone().with(mistake)).check();
                    let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                    sum.runs += 1;
                    if let Ok(ended) = &checked {
                        sum.joined += u64::from(ended.joined);
                        sum.steps_met += u64::from(ended.steps_met);
                    }
                    if let Ok(ended) = &checked
                        && ended.resumed > 0
                    {
                        sum.resumed += 1;
                        sum.resumed_whole += u64::from(ended.lost.is_empty());
                    }
                    if let Ok(ended) = &checked
                        && ended.relayed > 0
                    {
                        sum.relayed += 1;
                        sum.refused += u64::from(ended.refused > 0);
                    }
                    match checked {
                        Ok(ended) if ended.lost.is_empty() => sum.whole += 1,
                        Ok(ended) if ended.exit == ExitCode::AgentLost => sum.ended += 1,
                        Ok(_) => sum.went_on += 1,
                        Err(what) => sum.violations.push(Violation { seed, what }),
                    }
                    let is_enough = sum.violations.len() >= VIOLATIONS_MAX || look(sum.runs).is_break();
                    is_over.fetch_or(is_enough, Ordering::Relaxed);
                }
            });
        }
    });
    let mut sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    sum.violations.sort();
    sum
}
