//! The highest load that holds its goals.
//!
//! A search is a function of the trials so far: [`next`] says what to try, or what was found. It keeps nothing, so a search
//! that was cut goes on from its list of trials.
//!
//! 1. *Climb*: twice the load, from the first one on, until it breaks.
//! 2. *Halve*: the geometric mean of the highest load that held and the lowest that broke, until they are close enough.
//! 3. *Confirm*: both are tried again. The limit lies where the fewest trials are wrong; where a trial moves it, halving goes
//!    on.
//!
//! After each load that broke, a low one is tried until it holds: a system that has not recovered would break under
//! anything.

#[cfg(test)]
mod simulation;

use serde::{Deserialize, Serialize};

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// The first load, more than 0.
    pub start: f64,
    /// The highest load that is tried.
    pub max: f64,
    /// How close the load that broke has to be to the one that held: 0.05 for 5 %.
    pub precision: f64,
    /// Loads are whole numbers.
    pub is_whole: bool,
}

/// A load that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The load: iterations a second, or VUs.
    pub load: f64,
    /// What for.
    pub purpose: Purpose,
    /// What came of it.
    pub outcome: Outcome,
}

/// What a load is tried for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// To find one that breaks, or any that holds.
    Climb,
    /// To narrow down.
    Halve,
    /// To be sure.
    Confirm,
    /// To see that the system is well again.
    Recover,
}

/// What came of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All goals were held.
    Held,
    /// At least one was not.
    Broke,
    /// The generator could not make this load, or not without spoiling its measurements.
    Limited,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A load to be tried.
    Try(f64, Purpose),
    /// The search is over.
    Done(Found),
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The highest load that held; `None` if none did.
    pub highest: Option<f64>,
    /// In how many trials it held, of how many.
    pub held: (u32, u32),
    /// The lowest load above it that did not.
    pub broke: Option<f64>,
    /// Why the search ended.
    pub end: End,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The two loads are close enough.
    Found,
    /// Even the highest load held.
    Unbroken,
    /// Not even a low load held.
    Broken,
    /// What broke is the generator.
    GeneratorLimit,
    /// The system did not recover.
    NotRecovered,
    /// Outcomes contradict each other too often.
    TooNoisy,
}

/// How often a load held and how often it did not.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    held: u32,
    broke: u32,
    limited: u32,
}

/// Low loads tried after one that broke.
const RECOVERIES_MAX: usize = 6;
/// Loads below the first one: so many times half.
const DESCENTS_MAX: i32 = 6;
/// Times the load that was found has to be tried, and the one above it.
const CONFIRMATIONS: [u32; 2] = [3, 3];
/// Trials in all.
const TRIALS_MAX: usize = 80;

/// What comes after these trials.
pub fn next(search: &Search, trials: &[Trial]) -> Step {
    let loads = tallies(trials);
    let (good, bad) = bracket(&loads);
    let done = |end: End| {
        let held = good.map(|(_, tally)| (tally.held, tally.held + tally.broke + tally.limited)).unwrap_or_default();
        let (highest, broke) = (good.map(|(load, _)| load), bad.map(|(load, _)| load));
        Step::Done(Found { highest, held, broke, end })
    };
    if let Some(step) = recovery(search, trials, good.map(|(load, _)| load)) {
        return step.unwrap_or_else(|| done(End::NotRecovered));
    }
    if trials.len() >= TRIALS_MAX {
        return done(End::TooNoisy);
    }
    match (good, bad) {
        (None, None) => Step::Try(search.start.min(search.max), Purpose::Climb),
        (Some((load, tally)), None) if load >= search.max => match tally.held < CONFIRMATIONS[0] {
            true => Step::Try(load, Purpose::Confirm),
            false => done(End::Unbroken),
        },
        (Some((load, _)), None) => Step::Try((load * 2.0).min(search.max), Purpose::Climb),
        (None, Some((load, _))) => match search.place(load / 2.0) {
            lower if lower < search.lowest() || lower >= load => done(End::Broken),
            lower => Step::Try(lower, Purpose::Climb),
        },
        (Some((low, held)), Some((high, broke))) => {
            let middle = search.place((low * high).sqrt());
            if high / low > 1.0 + search.precision && low < middle && middle < high {
                return Step::Try(middle, Purpose::Halve);
            }
            if held.count() < CONFIRMATIONS[0] {
                return Step::Try(low, Purpose::Confirm);
            }
            if broke.count() < CONFIRMATIONS[1] && broke.limited == 0 {
                return Step::Try(high, Purpose::Confirm);
            }
            done(if broke.limited > broke.broke { End::GeneratorLimit } else { End::Found })
        }
    }
}

impl Search {
    /// The nearest load that can be made.
    fn place(&self, load: f64) -> f64 {
        if self.is_whole { load.round().max(1.0) } else { load }
    }

    /// No lower load is tried.
    fn lowest(&self) -> f64 {
        let lowest = self.start * 0.5_f64.powi(DESCENTS_MAX);
        if self.is_whole { lowest.max(1.0) } else { lowest }
    }
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Held => self.held += 1,
            Outcome::Broke => self.broke += 1,
            Outcome::Limited => self.limited += 1,
        }
    }

    fn count(&self) -> u32 {
        self.held + self.broke + self.limited
    }
}

/// Of each load, lowest first.
fn tallies(trials: &[Trial]) -> Vec<(f64, Tally)> {
    let mut loads: Vec<(f64, Tally)> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.purpose != Purpose::Recover) {
        match loads.iter_mut().find(|(load, _)| load.total_cmp(&trial.load).is_eq()) {
            Some((_, tally)) => tally.add(trial.outcome),
            None => {
                let mut tally = Tally::default();
                tally.add(trial.outcome);
                loads.push((trial.load, tally));
            }
        }
    }
    loads.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    loads
}

type Load = Option<(f64, Tally)>;

/// The two loads between which the limit lies: where the fewest trials are wrong, that is, broke below or held above. In noise
/// this is more often right than the lowest load that broke, since all trials have a say. `None` on a side without loads.
fn bracket(loads: &[(f64, Tally)]) -> (Load, Load) {
    let wrong = |split: usize| -> u32 {
        let below = loads[..split].iter().map(|(_, tally)| tally.broke + tally.limited);
        below.chain(loads[split..].iter().map(|(_, tally)| tally.held)).sum()
    };
    let least = (0..=loads.len()).map(wrong).min().unwrap_or_default();
    let splits: Vec<usize> = (0..=loads.len()).filter(|split| wrong(*split) == least).collect();
    // Of several the middle one.
    let split = splits[splits.len() / 2];
    (split.checked_sub(1).map(|below| loads[below]), loads.get(split).copied())
}

/// After a load that broke, a low one that has to hold; `Some(None)` where it does not.
fn recovery(search: &Search, trials: &[Trial], good: Option<f64>) -> Option<Option<Step>> {
    let tried = trials.iter().rev().take_while(|trial| trial.purpose == Purpose::Recover).count();
    let before = trials.len().checked_sub(tried + 1).map(|index| trials[index])?;
    let has_recovered = tried > 0 && trials.last().is_some_and(|trial| trial.outcome == Outcome::Held);
    // Where nothing held yet, a lower load is what comes next anyway.
    let (true, Some(good), false) = (before.outcome == Outcome::Broke, good, has_recovered) else { return None };
    if tried >= RECOVERIES_MAX {
        return Some(None);
    }
    Some(Some(Step::Try(search.place(good / 2.0), Purpose::Recover)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search = Search { start: 10.0, max: 10_000.0, precision: 0.05, is_whole: false };

    fn found(search: &Search, outcome: impl Fn(f64) -> Outcome) -> (Found, Vec<Trial>) {
        let mut trials = Vec::new();
        loop {
            match next(search, &trials) {
                Step::Done(found) => return (found, trials),
                Step::Try(load, purpose) => trials.push(Trial { load, purpose, outcome: outcome(load) }),
            }
        }
    }

    fn cliff(at: f64) -> impl Fn(f64) -> Outcome {
        move |load| if load <= at { Outcome::Held } else { Outcome::Broke }
    }

    #[test]
    fn a_cliff_is_found_wherever_it_is() {
        for at in [0.7, 9.9, 10.0, 77.0, 5_000.0, 9_999.0] {
            let (found, trials) = found(&SEARCH, cliff(at));
            let highest = found.highest.expect("something held");
            assert_eq!(found.end, End::Found, "{at}");
            assert!(highest <= at && highest * 1.05 >= at, "{highest} of {at}");
            assert_eq!(found.held, (3, 3));
            assert!(trials.len() < 40, "{} trials for {at}", trials.len());
        }
    }

    #[test]
    fn a_search_that_finds_no_end_says_so() {
        assert_eq!(found(&SEARCH, |_| Outcome::Held).0.end, End::Unbroken);
        assert_eq!(found(&SEARCH, |_| Outcome::Held).0.highest, Some(10_000.0));
        let broken = found(&SEARCH, |_| Outcome::Broke).0;
        assert_eq!((broken.end, broken.highest), (End::Broken, None));
        let limited = found(&SEARCH, |load| if load < 500.0 { Outcome::Held } else { Outcome::Limited }).0;
        assert_eq!(limited.end, End::GeneratorLimit);
    }

    #[test]
    fn a_system_that_stays_broken_is_left_alone() {
        let broke = std::cell::Cell::new(false);
        let (found, trials) = found(&SEARCH, |load| {
            broke.set(broke.get() || load > 100.0);
            if broke.get() { Outcome::Broke } else { Outcome::Held }
        });
        assert_eq!((found.end, found.highest), (End::NotRecovered, Some(80.0)));
        assert_eq!(trials.iter().filter(|trial| trial.purpose == Purpose::Recover).count(), RECOVERIES_MAX);
    }

    #[test]
    fn whole_loads_are_found_to_one() {
        let search = Search { start: 8.0, max: 1_000.0, precision: 0.001, is_whole: true };
        for at in [1.0, 2.0, 7.0, 13.0, 500.0] {
            let (found, trials) = found(&search, cliff(at));
            assert_eq!((found.highest, found.broke), (Some(at), Some(at + 1.0)));
            assert!(trials.iter().all(|trial| trial.load.fract() == 0.0));
        }
        assert_eq!(found(&search, cliff(0.5)).0.end, End::Broken);
    }

    #[test]
    fn a_search_goes_on_from_its_trials() {
        let (whole, trials) = found(&SEARCH, cliff(777.0));
        for cut in 0..trials.len() {
            let Step::Try(load, purpose) = next(&SEARCH, &trials[..cut]) else { panic!("over after {cut}") };
            assert_eq!((load, purpose), (trials[cut].load, trials[cut].purpose));
        }
        assert_eq!(next(&SEARCH, &trials), Step::Done(whole));
    }
}
