//! Whether two runs can be compared at all: what is told before any difference.

use onrush_analysis::compare::{Cells, Part, Spread};

use super::run::Recorded;
use crate::tools::result::plain;

/// Loads that differ by more than this part are different loads.
const LOAD: f64 = 0.02;
/// Names whose share of the requests differs by more than this are another mix.
const MIX: f64 = 0.01;

/// What is to be known, a sentence each.
pub(super) fn notes(
    before: &Recorded,
    after: &Recorded,
    parts: &[Part; 2],
    is_settled: bool,
    is_spread_known: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    test(before, after, &mut notes);
    for run in [before, after] {
        measurement(run, &mut notes);
    }
    load(before, after, parts, &mut notes);
    notes.extend(mix(before, after));
    if after.head.steady.is_empty() {
        notes.push("the plan never asks for the same load for a while: the whole runs are compared".to_owned());
    }
    if !is_settled {
        notes.push("the runs do not settle, or drift: what is compared depends on their length (--warm-up says what to leave out)".to_owned());
    }
    if !is_spread_known {
        notes.push(format!(
            "intervals say how sure the difference between these two runs is; how much runs of an unchanged system differ is not known (--baseline with {} runs or more says it)",
            Spread::RUNS_LEAST
        ));
    }
    notes
}

/// Whether it is the same test.
fn test(before: &Recorded, after: &Recorded, notes: &mut Vec<String>) {
    let (old, new) = (&before.head, &after.head);
    if old.fingerprint != new.fingerprint {
        let mut what = Vec::new();
        if old.script != new.script {
            what.push(format!("the scripts are {} and {}", old.script, new.script));
        }
        if old.scenarios != new.scenarios {
            what.push(format!("the scenarios were {} and {}", old.scenarios.join(", "), new.scenarios.join(", ")));
        }
        if what.is_empty() {
            what.push("the script's text or its options have changed".to_owned());
        }
        notes.push(format!("these are different tests: {}", what.join("; ")));
    }
    if old.onrush != new.onrush {
        notes.push(format!("they were run by different versions of Onrush: {} and {}", old.onrush, new.onrush));
    }
    if old.agents != new.agents {
        notes.push(format!("they were run by {} and by {} agents", old.agents, new.agents));
    }
}

/// Whether its numbers can be trusted.
fn measurement(run: &Recorded, notes: &mut Vec<String>) {
    let file = run.file.display();
    match &run.end {
        Some(end) if end.verdict == "VALID" => {}
        Some(end) => notes.push(format!("the measurement of {file} is {}: {}", end.verdict, end.reasons.join("; "))),
        None => notes.push(format!("{file} is of a run that was killed")),
    }
}

/// Whether both had the same to do.
fn load(before: &Recorded, after: &Recorded, parts: &[Part; 2], notes: &mut Vec<String>) {
    let per_second = |run: &Recorded, part: &Part, names: &[&str]| {
        let amounts = names.iter().filter_map(|name| match run.timeline.cells(name, part)? {
            Cells::Amounts(amounts) => Some(amounts.iter().sum::<f64>()),
            _ => None,
        });
        amounts.sum::<f64>() / part.seconds()
    };
    let both = |of: &dyn Fn(&Recorded, &Part) -> f64| [of(before, &parts[0]), of(after, &parts[1])];
    let differ = |[old, new]: [f64; 2]| (old - new).abs() > LOAD * old.max(new);
    if after.head.is_open {
        let started = both(&|run, part| per_second(run, part, &["iterations", "dropped_iterations"]));
        if differ(started) {
            let [old, new] = started;
            notes.push(format!("the load differs: {old:.1} and {new:.1} iterations a second were due"));
        }
        let dropped = both(&|run, part| per_second(run, part, &["dropped_iterations"]));
        for (run, dropped) in [before, after].into_iter().zip(dropped).filter(|(_, dropped)| *dropped > 0.0) {
            notes.push(format!(
                "{} dropped {dropped:.1} iterations a second: its load was not the planned one",
                run.file.display()
            ));
        }
    } else {
        let vus = both(&|run, part| run.timeline.level("vus", part).unwrap_or_default());
        if differ(vus) {
            let [old, new] = vus;
            notes.push(format!("the load differs: {old:.1} and {new:.1} VUs on average"));
        }
    }
}

/// Whether they made the same requests.
pub(super) fn mix(before: &Recorded, after: &Recorded) -> Option<String> {
    let total = |run: &Recorded| run.names.iter().map(|(_, count)| *count as f64).sum::<f64>().max(1.0);
    let share = |run: &Recorded, name: &str| {
        run.names.iter().find(|(known, _)| known == name).map_or(0.0, |(_, count)| *count as f64 / total(run))
    };
    let names = before.names.iter().chain(&after.names).map(|(name, _)| name.as_str());
    let differences = names.map(|name| (name, share(before, name), share(after, name)));
    let (name, old, new) =
        differences.max_by(|first, second| (first.1 - first.2).abs().total_cmp(&(second.1 - second.2).abs()))?;
    ((old - new).abs() > MIX).then(|| {
        format!(
            "the mix of requests differs, most of {}: {:.1} % and {:.1} % of them; percentiles over all of them are of different things",
            plain(name),
            old * 100.0,
            new * 100.0
        )
    })
}
