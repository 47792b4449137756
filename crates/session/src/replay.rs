//! The journal of a steered run, read back so that another run is steered the same way.

use std::{collections::VecDeque, time::Duration};

use onrush_plan::steer::TargetRequest;
use serde_json::Value;

use crate::Steer;

/// Changes that are still to be made, in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replay {
    steps: VecDeque<ReplayStep>,
    /// Pauses in the journal: the load does not depend on them, so they are not made again.
    pub pauses: usize,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayStep {
    /// When, on the scenarios' clock.
    pub at: Duration,
    /// What.
    pub steer: Steer,
}

/// Why a document cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It is the result of a run that nobody steered, or something else altogether.
    #[error("there is no journal of changes in it: was that run steered?")]
    NoJournal,
    /// An entry of the journal is not as Onrush writes it.
    #[error("change {number} of its journal: {what}")]
    Change {
        /// Its number, from 1.
        number: usize,
        /// What is wrong.
        what: String,
    },
}

impl Replay {
    /// Reads what `--summary-export`, `handleSummary()` or `GET /v1/steering` have.
    ///
    /// # Errors
    /// When there is no journal in it, or a broken one.
    pub fn parse(document: &Value) -> Result<Self, ReplayError> {
        let places = ["/steering/changes", "/data/attributes/changes", "/changes"];
        let changes = places.iter().find_map(|place| document.pointer(place)?.as_array());
        let mut replay = Self::default();
        for (index, change) in changes.ok_or(ReplayError::NoJournal)?.iter().enumerate() {
            let wrong = |what: String| ReplayError::Change { number: index + 1, what };
            if change["what"] == "paused" {
                replay.pauses += 1;
                continue;
            }
            let (at, name, wanted) = read(change).map_err(wrong)?;
            let steer = Steer { scenario: Some(name), wanted, source: SOURCE.to_owned() };
            match replay.steps.back_mut() {
                // What was asked for at once may only be possible at once. A second change of the same quantity is one
                // of its own.
                Some(last)
                    if last.at == at
                        && last.steer.scenario == steer.scenario
                        && are_apart(&last.steer.wanted, &wanted) =>
                {
                    let before = &mut last.steer.wanted;
                    *before = TargetRequest {
                        vus: wanted.vus.or(before.vus),
                        max_vus: wanted.max_vus.or(before.max_vus),
                        rate: wanted.rate.or(before.rate),
                        over_ns: wanted.over_ns.or(before.over_ns),
                    };
                }
                _ => replay.steps.push_back(ReplayStep { at, steer }),
            }
        }
        replay.steps.make_contiguous().sort_by_key(|step| step.at);
        Ok(replay)
    }

    /// When the next change is due, on the scenarios' clock.
    pub fn next_at(&self) -> Option<Duration> {
        self.steps.front().map(|step| step.at)
    }

    /// The next change, if it is due by `now`.
    pub fn due(&mut self, now: Duration) -> Option<ReplayStep> {
        self.steps.pop_front_if(|step| step.at <= now)
    }

    /// The changes that are still to be made.
    pub fn steps(&self) -> impl Iterator<Item = &ReplayStep> {
        self.steps.iter()
    }
}

/// Who makes the changes, for the journal.
const SOURCE: &str = "replay";

/// The two change different quantities. One that takes its time stays apart from one that holds at once.
fn are_apart(a: &TargetRequest, b: &TargetRequest) -> bool {
    let is_same_way = a.over_ns == b.over_ns || a.vus.or(a.rate).is_none() || b.vus.or(b.rate).is_none();
    let both = [(a.vus, b.vus), (a.max_vus, b.max_vus), (a.rate, b.rate)];
    is_same_way && both.iter().all(|(a, b)| a.is_none() || b.is_none())
}

fn read(change: &Value) -> Result<(Duration, String, TargetRequest), String> {
    let seconds = |name: &str| {
        let time = change[name].as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        time.ok_or_else(|| format!("{name} must be a number of seconds"))
    };
    let at = seconds("scenarioClockSeconds")?;
    let name = change["scenario"].as_str().ok_or("scenario must be a text")?.to_owned();
    let to = Some(change["to"].as_i64().ok_or("to must be a whole number")?);
    let over = if change["overSeconds"].is_null() { Duration::ZERO } else { seconds("overSeconds")? };
    let over_ns = Some(over).filter(|over| !over.is_zero());
    let over_ns = over_ns.map(|over| u64::try_from(over.as_nanos()).unwrap_or(u64::MAX));
    let wanted = match change["what"].as_str() {
        Some("vus") => TargetRequest { vus: to, over_ns, ..TargetRequest::default() },
        Some("maxVUs") => TargetRequest { max_vus: to, ..TargetRequest::default() },
        Some("rate") => TargetRequest { rate: to, over_ns, ..TargetRequest::default() },
        _ => return Err("what must be vus, maxVUs, rate or paused".to_owned()),
    };
    Ok((at, name, wanted))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(at: f64, what: &str, to: i64) -> Value {
        json!({"scenarioClockSeconds": at, "scenario": "a", "what": what, "from": 1, "to": to})
    }

    #[test]
    fn journals_become_changes() {
        let mut ramp = change(2.103_865_917, "rate", 9);
        ramp["overSeconds"] = json!(1.5);
        let changes = json!([change(1.0, "maxVUs", 8), change(1.0, "vus", 7), ramp, {"what": "paused", "to": true}]);
        let wanted = TargetRequest { vus: Some(7), max_vus: Some(8), ..TargetRequest::default() };
        for document in [
            json!({"steering": {"changes": changes}}),
            json!({"changes": changes}),
            json!({"data": {"attributes": {"changes": changes}}}),
        ] {
            let mut replay = Replay::parse(&document).unwrap();
            assert_eq!((replay.pauses, replay.steps().count()), (1, 2));
            assert_eq!(replay.due(Duration::from_millis(999)), None);
            assert_eq!(replay.due(Duration::from_secs(1)).unwrap().steer.wanted, wanted);
            assert_eq!(replay.next_at(), Some(Duration::from_nanos(2_103_865_917)));
            let step = replay.due(Duration::from_secs(9)).unwrap();
            assert_eq!((step.steer.wanted.rate, step.steer.wanted.over_ns), (Some(9), Some(1_500_000_000)));
            assert_eq!(replay.next_at(), None);
        }
    }

    /// `to 50 over 4s` and then, at the same moment, `to 20`: the second was at once and stays so.
    #[test]
    fn changes_of_one_quantity_at_the_same_moment_stay_apart() {
        let mut ramp = change(1.0, "vus", 50);
        ramp["overSeconds"] = json!(4.0);
        let mut replay = Replay::parse(&json!({"changes": [ramp, change(1.0, "vus", 20)]})).unwrap();
        let mut next = || replay.due(Duration::from_secs(1)).unwrap().steer.wanted;
        assert_eq!(next(), TargetRequest { vus: Some(50), over_ns: Some(4_000_000_000), ..TargetRequest::default() });
        assert_eq!(next(), TargetRequest { vus: Some(20), ..TargetRequest::default() });
    }

    #[test]
    fn what_is_no_journal_says_so() {
        let check = |document: Value, expect: &str| {
            assert_eq!(Replay::parse(&document).unwrap_err().to_string(), expect);
        };
        let none = "there is no journal of changes in it: was that run steered?";
        check(json!({"metrics": {}}), none);
        check(json!([1]), none);
        check(json!({"changes": 5}), none);
        check(json!({"changes": [5]}), "change 1 of its journal: scenarioClockSeconds must be a number of seconds");
        check(
            json!({"changes": [change(-1.0, "vus", 1)]}),
            "change 1 of its journal: scenarioClockSeconds must be a number of seconds",
        );
        let text = "change 2 of its journal: what must be vus, maxVUs, rate or paused";
        check(json!({"changes": [change(1.0, "vus", 1), change(1.0, "x", 1)]}), text);
    }
}
