//! Steering a run: what may be changed while it runs, what the change means, and the journal of all changes.

use std::time::Duration;

use onrush_plan::{
    Executor, ExecutorPlan, GoDuration, Plan, ScenarioPlan,
    steer::{Ramp, Steerable, Target, TargetError, TargetRequest, Targets, Turn, replay},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::protocol::TargetChange;

/// Most changes of a run that are accepted: the journal and the bent schedules of arrivals grow with them.
pub const CHANGES_MAX: usize = 10_000;

/// The run's clock, pauses not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// Since the test's clock started, which is before `setup()`.
    pub test: Duration,
    /// Since the scenarios started; zero before.
    pub scenarios: Duration,
}

/// Somebody's wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steer {
    /// The scenario; `None` for the first that is externally controlled, as in k6's API.
    pub scenario: Option<String>,
    /// What it is to be.
    pub wanted: TargetRequest,
    /// Who wants it, for the journal.
    pub source: String,
}

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Moment,
    /// Who asked for it.
    pub source: String,
    /// The scenario; `None` for what concerns all.
    pub scenario: Option<String>,
    /// `vus`, `maxVUs`, `rate` or `paused`.
    pub what: &'static str,
    /// The value before, for the whole test; 0 and 1 for `paused`.
    pub from: u64,
    /// The value since, or once it is reached.
    pub to: u64,
    /// How long it took to get there; zero for at once.
    pub over: Duration,
}

/// Why a wish is not granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    /// k6's text for changes of VUs without a scenario that takes them.
    #[error("an externally-controlled executor needs to be configured for live configuration updates")]
    NoneExternal,
    /// No such scenario.
    #[error("there is no scenario '{name}' here; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// Out of bounds, or meaningless to the executor.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Too late.
    #[error("scenario '{0}' is over")]
    Over(String),
    /// The run as a whole is over, or about to be.
    #[error("the scenarios are over")]
    AllOver,
    /// Neither a number of VUs nor a rate was given.
    #[error("nothing to change was given: use vus, maxVUs or rate")]
    Nothing,
    /// The journal is full.
    #[error("a run takes {CHANGES_MAX} changes at most")]
    TooMany,
    /// Pausing what is paused before the start, in k6's words.
    #[error("execution is already paused")]
    PausedBeforeStart,
    /// Pausing what is paused.
    #[error("test execution was already paused")]
    AlreadyPaused,
    /// Resuming what is not paused.
    #[error("test execution wasn't paused")]
    NotPaused,
    /// k6: only externally-controlled can be paused once it runs.
    #[error("{executor} executor '{scenario}' doesn't support pause and resume operations after its start")]
    CannotPause {
        /// The executor's type.
        executor: &'static str,
        /// The scenario.
        scenario: String,
    },
}

/// How a scenario stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioTargets {
    /// Its name.
    pub name: String,
    /// Its executor's type.
    pub executor: &'static str,
    /// Nanoseconds of one `timeUnit`, for rates.
    pub time_unit_ns: Option<u64>,
    /// What it is to do now, for the whole test.
    pub targets: Targets,
    /// Its VUs or its rate, where a change is under way.
    pub ramp: Option<Ramp>,
    /// The scenario's own clock.
    pub at_ns: u64,
    /// It is past its regular end.
    pub is_over: bool,
}

/// The targets of all scenarios, and how they came to be what they are.
#[derive(Debug, Default)]
pub struct Steering {
    scenarios: Vec<Scenario>,
    journal: Vec<Change>,
    is_paused: bool,
}

#[derive(Debug)]
struct Scenario {
    plan: ScenarioPlan,
    /// What was set, by kind.
    vus: Option<Ramp>,
    max_vus: Option<u64>,
    rate: Option<Ramp>,
}

impl Steering {
    /// The scenarios of a plan, not steered yet.
    pub fn new(plan: &Plan) -> Self {
        let scenario = |plan: &ScenarioPlan| Scenario { plan: plan.clone(), vus: None, max_vus: None, rate: None };
        Self { scenarios: plan.scenarios.iter().map(scenario).collect(), ..Self::default() }
    }

    /// All changes so far, in their order.
    pub fn journal(&self) -> &[Change] {
        &self.journal
    }

    /// Whether the scenarios stand still.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Of each scenario, whether its iterations begin when the plan says, how many VUs it may have for that, and for how long
    /// they begin.
    pub(crate) fn open_models(&self) -> impl Iterator<Item = (bool, Option<u64>, Duration)> {
        self.scenarios.iter().map(|scenario| {
            let plan = &scenario.plan;
            let vus_max = scenario.max_vus.or_else(|| plan.targets_at(0).max_vus);
            (plan.executor.is_open(), vus_max, Duration::from_nanos(plan.regular_end_ns))
        })
    }

    /// How the scenarios stand.
    pub fn scenarios(&self, now: Moment) -> Vec<ScenarioTargets> {
        let all = self.scenarios.iter().map(|scenario| ScenarioTargets {
            at_ns: scenario.at_ns(now),
            ramp: scenario.vus.or(scenario.rate).filter(|ramp| scenario.at_ns(now) < ramp.end_ns()),
            name: scenario.plan.name().to_owned(),
            executor: scenario.plan.scenario.executor.type_name(),
            time_unit_ns: match &scenario.plan.scenario.executor {
                Executor::ConstantArrivalRate(executor) => Some(executor.time_unit_ns),
                Executor::RampingArrivalRate(executor) => Some(executor.time_unit_ns),
                _ => None,
            },
            targets: scenario.targets(scenario.at_ns(now)),
            is_over: scenario.is_over(now),
        });
        all.collect()
    }

    /// Decides on a wish: the new targets by scenario, for the whole test.
    ///
    /// # Errors
    /// Why not; then nothing is changed.
    pub fn steer(&mut self, steer: Steer, now: Moment) -> Result<Vec<(String, TargetChange)>, SteerError> {
        let index = self.index(steer.scenario.as_deref())?;
        let scenario = &mut self.scenarios[index];
        if steer.wanted.is_empty() {
            return Err(SteerError::Nothing);
        }
        if scenario.is_over(now) {
            return Err(SteerError::Over(scenario.plan.name().to_owned()));
        }
        let at_ns = scenario.at_ns(now);
        let before = scenario.targets(at_ns);
        let accepted = scenario.plan.accept(before, steer.wanted)?;
        if self.journal.len() + accepted.len() > CHANGES_MAX {
            return Err(SteerError::TooMany);
        }
        let mut changes = Vec::with_capacity(accepted.len());
        for target in accepted {
            let (from, over_ns) = match target {
                Target::Vus(_) => (before.vus, steer.wanted.over_ns),
                Target::MaxVus(_) => (before.max_vus, None),
                Target::Rate(_) => (before.rate, steer.wanted.over_ns),
            };
            let (from, over_ns) = (from.unwrap_or(0), over_ns.unwrap_or(0));
            self.journal.push(Change {
                at: now,
                source: steer.source.clone(),
                scenario: Some(scenario.plan.name().to_owned()),
                what: target.name(),
                from,
                to: target.value(),
                over: Duration::from_nanos(over_ns),
            });
            // What holds at once has no way to go.
            let from = if over_ns == 0 { target.value() } else { from };
            let ramp = Ramp { at_ns, from, to: target.value(), over_ns };
            changes.push((scenario.plan.name().to_owned(), scenario.set(target, ramp)));
        }
        Ok(changes)
    }

    /// What holds of a scenario (`None` for the first that is externally controlled) that does not move and is not over.
    pub(crate) fn stands(&self, name: Option<&str>, now: Moment) -> Option<(String, TargetChange)> {
        let scenario = &self.scenarios[self.index(name).ok()?];
        let at_ns = scenario.at_ns(now);
        let targets = scenario.targets(at_ns);
        let vus = targets.vus.map(|vus| TargetChange::Vus(Ramp::jump(at_ns, vus)));
        let rate = || targets.rate.map(|rate| TargetChange::Rate(Ramp::jump(at_ns, rate)));
        let change = vus.or_else(rate)?;
        (!targets.is_moving && !scenario.is_over(now)).then(|| (scenario.plan.name().to_owned(), change))
    }

    /// Decides whether the running scenarios may stand still, or go on.
    ///
    /// # Errors
    /// In k6's words.
    pub fn pause(&mut self, is_paused: bool, source: String, now: Moment) -> Result<(), SteerError> {
        let stubborn = self
            .scenarios
            .iter()
            .find(|scenario| !matches!(scenario.plan.executor, ExecutorPlan::ExternallyControlled(_)));
        if let (Some(scenario), true) = (stubborn, is_paused) {
            let (executor, scenario) = (scenario.plan.scenario.executor.type_name(), scenario.plan.name().to_owned());
            return Err(SteerError::CannotPause { executor, scenario });
        }
        match (self.is_paused, is_paused) {
            (true, true) => Err(SteerError::AlreadyPaused),
            (false, false) => Err(SteerError::NotPaused),
            _ => {
                self.note_pause(is_paused, source, now)?;
                self.is_paused = is_paused;
                Ok(())
            }
        }
    }

    pub(crate) fn note_pause(&mut self, is_paused: bool, source: String, at: Moment) -> Result<(), SteerError> {
        if self.journal.len() >= CHANGES_MAX {
            return Err(SteerError::TooMany);
        }
        let (from, to) = (u64::from(!is_paused), u64::from(is_paused));
        self.journal.push(Change { at, source, scenario: None, what: "paused", from, to, over: Duration::ZERO });
        Ok(())
    }

    /// Options that have the steered scenarios do by plan what they were steered to do: an object for `scenarios`.
    /// Empty when nothing was changed that has an equivalent.
    pub fn replay(&self, now: Moment) -> Map<String, Value> {
        let mut result = Map::new();
        for scenario in &self.scenarios {
            let name = scenario.plan.name();
            let own = self.journal.iter().filter(|change| change.scenario.as_deref() == Some(name));
            let turns: Vec<Turn> = own
                .filter_map(|change| {
                    let target = match change.what {
                        "vus" => Target::Vus(change.to),
                        "maxVUs" => Target::MaxVus(change.to),
                        "rate" => Target::Rate(change.to),
                        _ => return None,
                    };
                    let over_ns = u64::try_from(change.over.as_nanos()).unwrap_or(u64::MAX);
                    Some(Turn { at_ns: scenario.at_ns(change.at), target, from: change.from, over_ns })
                })
                .collect();
            if !turns.is_empty()
                && let Some(entry) = replay(&scenario.plan.scenario, &turns, scenario.at_ns(now))
            {
                result.insert(name.to_owned(), entry);
            }
        }
        result
    }

    /// The journal and the options that replay it, as they appear in results; `None` for a run nobody steered.
    pub fn to_json(&self, now: Moment) -> Option<Value> {
        if self.journal.is_empty() {
            return None;
        }
        let changes: Vec<Value> = self.journal.iter().map(Change::to_json).collect();
        Some(json!({"version": 1, "changes": changes, "options": {"scenarios": self.replay(now)}}))
    }

    fn index(&self, name: Option<&str>) -> Result<usize, SteerError> {
        let found = match name {
            Some(name) => self.scenarios.iter().position(|scenario| scenario.plan.name() == name),
            None => self.scenarios.iter().position(|scenario| scenario.targets(0).steerable == Steerable::External),
        };
        found.ok_or_else(|| match name {
            None => SteerError::NoneExternal,
            Some(name) => {
                let known: Vec<&str> = self.scenarios.iter().map(|scenario| scenario.plan.name()).collect();
                SteerError::Unknown { name: name.to_owned(), known: known.join(", ") }
            }
        })
    }
}

impl Scenario {
    /// Its own clock.
    fn at_ns(&self, now: Moment) -> u64 {
        u64::try_from(now.scenarios.as_nanos()).unwrap_or(u64::MAX).saturating_sub(self.plan.start_ns)
    }

    fn is_over(&self, now: Moment) -> bool {
        self.at_ns(now) >= self.plan.regular_end_ns
    }

    /// What holds now: what was set, else what is planned.
    fn targets(&self, at_ns: u64) -> Targets {
        let planned = self.plan.targets_at(at_ns);
        let steered = self.vus.or(self.rate);
        Targets {
            vus: self.vus.map(|ramp| ramp.value_at(at_ns)).or(planned.vus),
            max_vus: self.max_vus.or(planned.max_vus),
            rate: self.rate.map(|ramp| ramp.value_at(at_ns)).or(planned.rate),
            is_moving: steered.map_or(planned.is_moving, |ramp| at_ns < ramp.end_ns()),
            ..planned
        }
    }

    /// Notes a new target.
    fn set(&mut self, target: Target, ramp: Ramp) -> TargetChange {
        match target {
            Target::Vus(_) => {
                self.vus = Some(ramp);
                TargetChange::Vus(ramp)
            }
            Target::MaxVus(max) => {
                self.max_vus = Some(max);
                TargetChange::MaxVus(max)
            }
            Target::Rate(_) => {
                self.rate = Some(ramp);
                TargetChange::Rate(ramp)
            }
        }
    }
}

impl Change {
    /// `12.5s: vus of 'api' from 10 to 50 (REST API)`
    pub fn text(&self) -> String {
        let at = format!("{:.1}s", self.at.test.as_secs_f64());
        match &self.scenario {
            Some(scenario) => {
                let over = GoDuration::from_ns(i64::try_from(self.over.as_nanos()).unwrap_or(i64::MAX));
                let over = if self.over.is_zero() { String::new() } else { format!(" over {over}") };
                let Self { what, from, to, source, .. } = self;
                format!("{at}: {what} of '{scenario}' from {from} to {to}{over} ({source})")
            }
            None => format!("{at}: {} ({})", if self.to == 1 { "paused" } else { "resumed" }, self.source),
        }
    }

    fn to_json(&self) -> Value {
        // To the nanosecond, as far as tests last: a replay does the same at the same moment.
        let seconds = |time: Duration| time.as_secs_f64();
        let value = |value: u64| if self.what == "paused" { json!(value == 1) } else { json!(value) };
        json!({
            "atSeconds": seconds(self.at.test),
            "scenarioClockSeconds": seconds(self.at.scenarios),
            "source": self.source,
            "scenario": self.scenario,
            "what": self.what,
            "from": value(self.from),
            "to": value(self.to),
            "overSeconds": seconds(self.over),
        })
    }
}

#[cfg(test)]
mod tests {
    use onrush_plan::{Options, Tier, consolidate, parse_json};

    use super::*;

    fn steering(scenarios: &str) -> Steering {
        let options = parse_json(&format!(r#"{{"scenarios": {scenarios}}}"#)).unwrap().options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).unwrap();
        Steering::new(&Plan::new(&test.scenarios, &test.share).unwrap())
    }

    fn at(seconds: f64) -> Moment {
        let time = Duration::from_secs_f64(seconds);
        Moment { test: time, scenarios: time }
    }

    fn wish(scenario: Option<&str>, wanted: TargetRequest) -> Steer {
        Steer { scenario: scenario.map(str::to_owned), wanted, source: "test".to_owned() }
    }

    fn vus(vus: i64) -> TargetRequest {
        TargetRequest { vus: Some(vus), ..TargetRequest::default() }
    }

    fn rate(rate: i64) -> TargetRequest {
        TargetRequest { rate: Some(rate), ..TargetRequest::default() }
    }

    const BOTH: &str = r#"{
        "users": {"executor": "constant-vus", "vus": 10, "duration": "10s"},
        "ext": {"executor": "externally-controlled", "vus": 1, "maxVUs": 5, "duration": "20s"},
        "late": {"executor": "constant-arrival-rate", "startTime": "5s", "rate": 10, "duration": "10s", "preAllocatedVUs": 1}}"#;

    #[test]
    fn changes_are_decided_and_noted() {
        let mut steering = steering(BOTH);
        // Scenarios are in the order of their start, then by name.
        let changes = steering.steer(wish(Some("users"), vus(30)), at(2.0)).unwrap();
        assert_eq!(changes, [("users".to_owned(), TargetChange::Vus(Ramp::jump(2_000_000_000, 30)))]);
        let changes = steering.steer(wish(None, vus(3)), at(3.0)).unwrap();
        assert_eq!(changes, [("ext".to_owned(), TargetChange::Vus(Ramp::jump(3_000_000_000, 3)))]);
        assert_eq!(steering.steer(wish(Some("users"), vus(30)), at(4.0)).unwrap(), []);
        let texts: Vec<String> = steering.journal().iter().map(Change::text).collect();
        assert_eq!(texts, ["2.0s: vus of 'users' from 10 to 30 (test)", "3.0s: vus of 'ext' from 1 to 3 (test)"]);
        let result = steering.to_json(at(9.0)).unwrap();
        assert_eq!(result["changes"][0]["atSeconds"], 2.0);
        assert_eq!(result["options"]["scenarios"]["users"]["stages"][1]["target"], 30);
        assert!(result["options"]["scenarios"].get("late").is_none());
    }

    #[test]
    fn a_rate_changes_on_the_scenarios_own_clock() {
        let changed = |seconds: f64, to: i64| {
            let changes = steering(BOTH).steer(wish(Some("late"), rate(to)), at(seconds)).unwrap();
            assert_eq!(changes.len(), 1);
            changes[0].1
        };
        assert_eq!(changed(10.0, 20), TargetChange::Rate(Ramp::jump(5_000_000_000, 20)));
        // Before it starts it is changed from its start on.
        assert_eq!(changed(1.0, 1), TargetChange::Rate(Ramp::jump(0, 1)));
    }

    #[test]
    fn a_change_may_take_its_time() {
        let mut steering = steering(BOTH);
        let over = |wanted: TargetRequest| TargetRequest { over_ns: Some(4_000_000_000), ..wanted };
        steering.steer(wish(Some("users"), over(vus(30))), at(2.0)).unwrap();
        let users = |steering: &Steering, seconds: f64| steering.scenarios(at(seconds))[1].clone();
        assert_eq!([2.0, 3.0, 4.0, 9.0].map(|s| users(&steering, s).targets.vus), [10, 15, 20, 30].map(Some));
        assert_eq!([2.0, 5.9, 6.0].map(|s| users(&steering, s).ramp.is_some()), [true, true, false]);
        // To stay at what has been reached on the way.
        steering.steer(wish(Some("users"), vus(20)), at(4.0)).unwrap();
        assert_eq!(users(&steering, 9.0).targets.vus, Some(20));
        let texts: Vec<String> = steering.journal().iter().map(Change::text).collect();
        assert_eq!(
            texts,
            ["2.0s: vus of 'users' from 10 to 30 over 4s (test)", "4.0s: vus of 'users' from 20 to 20 (test)"]
        );
        assert_eq!(steering.to_json(at(9.0)).unwrap()["changes"][0]["overSeconds"], 4.0);
        let changes = steering.steer(wish(Some("late"), over(rate(20))), at(7.0)).unwrap();
        let ramp = Ramp { at_ns: 2_000_000_000, from: 10, to: 20, over_ns: 4_000_000_000 };
        assert_eq!(changes, [("late".to_owned(), TargetChange::Rate(ramp))]);
    }

    #[test]
    fn wishes_that_cannot_be_granted_change_nothing() {
        let mut steering = steering(BOTH);
        let mut check = |steer: Steer, now: Moment, expect: &str| {
            assert_eq!(steering.steer(steer, now).unwrap_err().to_string(), expect);
        };
        check(wish(Some("x"), vus(1)), at(1.0), "there is no scenario 'x' here; there are: ext, users, late");
        check(wish(Some("users"), vus(1)), at(10.0), "scenario 'users' is over");
        check(
            wish(Some("users"), TargetRequest::default()),
            at(1.0),
            "nothing to change was given: use vus, maxVUs or rate",
        );
        check(
            wish(Some("users"), rate(1)),
            at(1.0),
            "scenario 'users' has the executor constant-vus, which has no rate: change its vus",
        );
        assert!(steering.journal().is_empty() && steering.to_json(at(1.0)).is_none());
        let mut none = self::steering(r#"{"a": {"executor": "constant-vus", "duration": "1s"}}"#);
        assert_eq!(none.steer(wish(None, vus(1)), at(0.0)), Err(SteerError::NoneExternal));
    }

    /// The texts were printed by k6 1.8.1.
    #[test]
    fn only_externally_controlled_pauses_once_it_runs() {
        let pause = |steering: &mut Steering, on| {
            steering.pause(on, "test".to_owned(), at(1.0)).map_err(|error| error.to_string())
        };
        let text = "constant-vus executor 'users' doesn't support pause and resume operations after its start";
        assert_eq!(pause(&mut steering(BOTH), true), Err(text.to_owned()));
        let mut external = steering(r#"{"ext": {"executor": "externally-controlled", "duration": 0}}"#);
        assert_eq!(pause(&mut external, false), Err("test execution wasn't paused".to_owned()));
        assert_eq!(pause(&mut external, true), Ok(()));
        assert_eq!(pause(&mut external, true), Err("test execution was already paused".to_owned()));
        assert_eq!(pause(&mut external, false), Ok(()));
    }

    #[test]
    fn the_journal_is_bounded() {
        let mut steering = steering(BOTH);
        for i in 0..CHANGES_MAX {
            let number = i64::try_from(i % 2).expect("small");
            assert!(steering.steer(wish(Some("users"), vus(number)), at(1.0)).is_ok());
        }
        assert_eq!(steering.steer(wish(Some("users"), vus(7)), at(1.0)), Err(SteerError::TooMany));
    }
}
