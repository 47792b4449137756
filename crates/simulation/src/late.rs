//! Agents that join a run under way, and steps of its targets: each is met by all agents together, whoever joined before it.

use std::{collections::VecDeque, time::Duration};

use onrush_plan::steer::TargetRequest;
use onrush_session::{
    Coordinator, RunPhase, Steer,
    protocol::{AgentId, Time},
};

use crate::{
    faults::{AgentFaults, Faults},
    host::SimHost,
    script::mix,
    world::{World, at},
};

/// A step has reached everybody by then, however bad the network is.
const SETTLED: Duration = Duration::from_secs(4);
/// The scenarios of [`crate::Script::steered`] end after so long.
const LAST_STEP_MS: u64 = 24_000;

/// Who joins when, and what is wanted when, in milliseconds of the run; both in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Late {
    joins: VecDeque<(u64, AgentFaults)>,
    steps: VecDeque<Step>,
    /// The step that is under way, and when all have to have made it.
    made: Option<Made>,
    /// Steps that were met.
    pub(crate) met: u32,
}

/// A step that was made.
#[derive(Debug, Clone)]
struct Made {
    step: Step,
    at: Time,
    /// By then all have to have made it.
    until: Time,
}

/// A target.
#[derive(Debug, Clone)]
struct Step {
    at_ms: u64,
    scenario: &'static str,
    target: u64,
    over: Option<Duration>,
}

impl Late {
    /// One or more agents, and steps before and after.
    pub(crate) fn of(seed: u64, faults: &Faults) -> Self {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(211) ^ (kind << 20)) % max;
        let mut joins: Vec<u64> = (0..1 + of(1, 3)).map(|number| of(10 + number, 20_000)).collect();
        joins.sort_unstable();
        let mut steps = Vec::new();
        let mut at_ms = 2_000 + of(2, 4_000);
        while at_ms < LAST_STEP_MS {
            let kind = 100 + steps.len() as u64;
            let (scenario, least, most) = match of(kind, 3) {
                0 => ("outside", 0, 20),
                1 => ("users", 0, 25),
                _ => ("rate", 0, 60),
            };
            let over = (of(kind << 8, 3) == 0).then(|| Duration::from_millis(200 + of(kind << 9, 1_500)));
            steps.push(Step { at_ms, scenario, target: least + of(kind << 10, most + 1), over });
            at_ms += 1_000 + of(kind << 11, 9_000);
        }
        let first = faults.agents.len();
        let joins = joins.into_iter().zip(first..).map(|(at_ms, number)| (at_ms, faults.late(seed, number)));
        Self { joins: joins.collect(), steps: steps.into(), ..Self::default() }
    }
}

impl World {
    /// Agents join, and targets change, at moments of the seed's choice.
    #[must_use]
    pub fn with_late(mut self, seed: u64) -> Self {
        self.late = Late::of(seed, &self.faults);
        self
    }

    /// Whoever is to join does, what is wanted is asked for.
    pub(crate) fn make_late(&mut self, now: Time) {
        while let Some((_, faults)) = self.late.joins.pop_front_if(|(at_ms, _)| now >= at(*at_ms)) {
            let number = self.hosts.len();
            self.faults.agents.push(faults.clone());
            self.add_host(SimHost::new(&self.script, number, faults, now), now);
            let orders = self.coordinator.join(AgentId(number as u32), Coordinator::AVERAGE_WEIGHT, now);
            self.send(orders, now);
        }
        self.look_at_step(now);
        while let Some(step) = self.late.steps.pop_front_if(|step| now >= at(step.at_ms)) {
            let over = step.over.unwrap_or_default();
            let target = i64::try_from(step.target).unwrap_or(i64::MAX);
            let over_ns = step.over.map(|over| over.as_nanos() as u64);
            let wanted = match step.scenario {
                "rate" => TargetRequest { rate: Some(target), over_ns, ..TargetRequest::default() },
                _ => TargetRequest { vus: Some(target), over_ns, ..TargetRequest::default() },
            };
            let steer = Steer { scenario: Some(step.scenario.to_owned()), wanted, source: "simulation".to_owned() };
            let Ok(orders) = self.coordinator.steer(steer, now) else { continue };
            self.send(orders, now);
            self.late.made = Some(Made { step, at: now, until: now + SETTLED + over });
        }
    }

    /// What is under way has until later.
    pub(crate) fn wait_for_step(&mut self, now: Time) {
        if let Some(made) = &mut self.late.made {
            made.until = made.until.max(now + SETTLED);
        }
    }

    /// By a while after a step all agents together do what is wanted, and each that joined before has a part in it.
    fn look_at_step(&mut self, now: Time) {
        // What is asked for before the start is made with it.
        let is_settled = self.coordinator.scenarios_at().is_some_and(|began| now >= began + SETTLED);
        let made = self.late.made.take_if(|made| is_settled && now >= made.until);
        let Some(Made { step, at, .. }) = made else { return };
        let is_running = self.coordinator.phase() == RunPhase::Running && !self.coordinator.is_stopped();
        let is_well = self.lost.is_empty() && !self.faults.agents.iter().any(|agent| agent.has_begun(now));
        if !is_running || !is_well {
            return;
        }
        let Step { scenario, target, .. } = step;
        let loads: Vec<(u64, f64)> = self.hosts.iter().map(|host| host.load(scenario, now)).collect();
        let sum = match scenario {
            "rate" => loads.iter().map(|(_, rate)| *rate).sum::<f64>(),
            _ => loads.iter().map(|(vus, _)| *vus as f64).sum(),
        };
        if (sum - target as f64).abs() > 1e-6 {
            self.violations.push(format!("'{scenario}' was to reach {target}, and is at {sum}: {loads:?}"));
        }
        let was_there = |id: AgentId| {
            (id.0 as usize) < self.began_with || self.joined_at.get(&id).is_some_and(|joined| at >= *joined)
        };
        let agents = self.coordinator.overview().into_iter().map(|agent| agent.id).filter(|id| was_there(*id));
        let agents: Vec<usize> = agents.map(|id| id.0 as usize).collect();
        let has_part = |number: usize| loads[number].0 > 0 || loads[number].1 > 0.0;
        if target >= 3 * self.hosts.len() as u64
            && let Some(idle) = agents.iter().find(|number| !has_part(**number))
        {
            self.violations.push(format!("agent {idle} has no part of {target} of '{scenario}': {loads:?}"));
        }
        self.late.met += 1;
    }
}
