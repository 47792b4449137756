//! What goes wrong in a run.

use std::{ops::Range, time::Duration};

use onrush_session::protocol::Time;

use crate::script::mix;

/// What goes wrong.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    pub(crate) delay_ms: u64,
    pub(crate) jitter_ms: u64,
    pub(crate) loss_percent: u64,
    pub(crate) double_percent: u64,
    /// By agent, in milliseconds of the run.
    pub(crate) agents: Vec<AgentFaults>,
    /// When the coordinator ends, and when another goes on from its journal; one after another.
    pub(crate) restarts: Vec<Range<u64>>,
    /// Relays that agents report over, and when each is not there. Without any agents take the direct way.
    pub(crate) relays: Vec<Range<u64>>,
}

/// What goes wrong with one agent, in milliseconds of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentFaults {
    pub(crate) dies_at: Option<u64>,
    pub(crate) freezes: Option<Range<u64>>,
    pub(crate) cut_off: Option<CutOff>,
    pub(crate) clock: Skew,
    /// When it reports directly although there is a relay.
    pub(crate) detour: Option<Range<u64>>,
}

/// Nothing comes through for a while, one way or both.
#[derive(Debug, Clone)]
pub(crate) struct CutOff {
    pub(crate) ms: Range<u64>,
    pub(crate) from_agent: bool,
    pub(crate) to_agent: bool,
}

/// How an agent's idea of the coordinator's time is wrong: by how much at first, and by how much more as time goes by.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Skew {
    pub(crate) error_ns: i64,
    pub(crate) drift_ppm: i64,
}

impl Skew {
    pub(crate) fn apply(self, now: Time) -> Time {
        let drift = i128::from(now.0) * i128::from(self.drift_ppm) / 1_000_000;
        let shown = i128::from(now.0) + drift + i128::from(self.error_ns);
        Time(u64::try_from(shown.max(0)).unwrap_or(u64::MAX))
    }
}

/// The last moment at which something begins to go wrong: tests take about so long.
const LAST_MS: u64 = 22_000;

impl Faults {
    /// A good network, and agents that stay.
    pub fn none() -> Self {
        Self { delay_ms: 1, ..Self::default() }
    }

    /// A network as bad as the seed wants it, and clocks that are not quite right.
    pub fn network(seed: u64, agents: u64) -> Self {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(97) ^ kind) % max;
        Self {
            delay_ms: 1 + of(1, 80),
            jitter_ms: of(2, 120),
            loss_percent: of(3, 25),
            double_percent: of(4, 20),
            agents: (0..agents)
                .map(|agent| AgentFaults { clock: Self::skew(seed, agent), ..AgentFaults::default() })
                .collect(),
            restarts: Vec::new(),
            relays: Vec::new(),
        }
    }

    /// What goes wrong with an agent that joins as this number: its clock, if any does.
    pub(crate) fn late(&self, seed: u64, number: usize) -> AgentFaults {
        let is_skewed = self.agents.iter().any(|agent| agent.clock.error_ns != 0);
        let clock = Self::skew(seed, number as u64);
        if is_skewed { AgentFaults { clock, ..AgentFaults::default() } } else { AgentFaults::default() }
    }

    fn skew(seed: u64, agent: u64) -> Skew {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(97) ^ kind) % max;
        Skew {
            error_ns: of(100 + agent, 40_000_000) as i64 - 20_000_000,
            drift_ppm: of(200 + agent, 1_000) as i64 - 500,
        }
    }

    /// One of the agents dies.
    #[must_use]
    pub fn with_death(mut self, seed: u64) -> Self {
        let count = self.agents.len().max(1) as u64;
        let agent = (mix(seed ^ 0xdead) % count) as usize;
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.dies_at = Some(mix(seed ^ 0xbeef) % LAST_MS);
        }
        self
    }

    /// Some agents die, freeze or are cut off.
    #[must_use]
    pub fn with_trouble(mut self, seed: u64) -> Self {
        for (number, agent) in self.agents.iter_mut().enumerate() {
            let of = |kind: u64, max: u64| mix(seed.wrapping_mul(131) ^ (kind << 8) ^ number as u64) % max;
            let window = |kind: u64| {
                let from = of(kind, LAST_MS);
                from..from + 100 + of(kind + 1, 9_000)
            };
            match of(1, 10) {
                0 | 1 => agent.dies_at = Some(of(2, LAST_MS)),
                2 => agent.freezes = Some(window(3)),
                3 | 4 => {
                    let ways = of(5, 3);
                    agent.cut_off = Some(CutOff { ms: window(6), from_agent: ways != 0, to_agent: ways != 1 });
                }
                _ => {}
            }
        }
        self
    }

    /// The coordinator ends once or twice, and is restarted: mostly within the lease.
    #[must_use]
    pub fn with_restarts(mut self, seed: u64) -> Self {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(173) ^ (kind << 16)) % max;
        let mut from = of(0, LAST_MS);
        for number in 0..1 + of(1, 2) {
            let away = match of(2 + number, 8) {
                0 => 4_000 + of(10 + number, 8_000),
                _ => 50 + of(20 + number, 2_500),
            };
            self.restarts.push(from..from + away);
            from += away + 200 + of(30 + number, 8_000);
        }
        self
    }

    /// The same, and each time another coordinator is there in less than so long.
    #[must_use]
    pub fn with_restarts_within(self, seed: u64, most: Duration) -> Self {
        let mut own = self.with_restarts(seed);
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        own.restarts.iter_mut().for_each(|window| window.end = window.end.min(window.start + most));
        own
    }

    /// Agents report over one or two relays. Each relay ends once and is restarted, and some agents leave theirs for a while.
    #[must_use]
    pub fn with_relays(mut self, seed: u64) -> Self {
        let of = |kind: u64, max: u64| mix(seed.wrapping_mul(193) ^ (kind << 24)) % max;
        for number in 0..1 + of(0, 2) {
            let from = of(10 + number, LAST_MS);
            self.relays.push(from..from + 50 + of(20 + number, 4_000));
        }
        for (agent, number) in self.agents.iter_mut().zip(0..) {
            let from = of(100 + number, LAST_MS);
            agent.detour = (of(200 + number, 3) == 0).then(|| from..from + 20 + of(300 + number, 3_000));
        }
        self
    }

    /// The relay an agent reports over now.
    pub(crate) fn relay_of(&self, number: usize, now: Time) -> Option<usize> {
        let is_direct = |agent: &AgentFaults| agent.detour.as_ref().is_some_and(|window| window.contains(&ms(now)));
        let relay = number.checked_rem(self.relays.len())?;
        (self.has_relay(relay, now) && !self.agents.get(number).is_some_and(is_direct)).then_some(relay)
    }

    pub(crate) fn has_relay(&self, relay: usize, now: Time) -> bool {
        self.relays.get(relay).is_some_and(|away| !away.contains(&ms(now)))
    }

    /// How long nobody coordinated in all.
    pub(crate) fn without_coordinator(&self) -> Duration {
        Duration::from_millis(self.restarts.iter().map(|window| window.end - window.start).sum())
    }

    pub(crate) fn of_agent(&self, number: usize) -> AgentFaults {
        self.agents.get(number).cloned().unwrap_or_default()
    }
}

impl AgentFaults {
    pub(crate) fn is_dead(&self, now: Time) -> bool {
        self.dies_at.is_some_and(|at| ms(now) >= at)
    }

    pub(crate) fn is_frozen(&self, now: Time) -> bool {
        self.freezes.as_ref().is_some_and(|window| window.contains(&ms(now)))
    }

    /// Something has gone wrong by now.
    pub(crate) fn has_begun(&self, now: Time) -> bool {
        let cut_off = self.cut_off.as_ref().map(|cut| cut.ms.start);
        let first = [self.dies_at, self.freezes.as_ref().map(|window| window.start), cut_off];
        first.into_iter().flatten().any(|first| ms(now) >= first)
    }

    /// Whether what is sent now is lost for sure.
    pub(crate) fn is_cut_off(&self, from_agent: bool, now: Time) -> bool {
        self.cut_off
            .as_ref()
            .is_some_and(|cut| cut.ms.contains(&ms(now)) && if from_agent { cut.from_agent } else { cut.to_agent })
    }

    /// It dies, or nothing is heard of it for longer than that.
    pub(crate) fn is_away_from(&self, silence: Duration) -> Option<u64> {
        let long = |window: &Range<u64>| window.end - window.start > silence.as_millis() as u64;
        let frozen = self.freezes.as_ref().filter(|window| long(window)).map(|window| window.start);
        let cut = self.cut_off.as_ref().filter(|cut| cut.from_agent && long(&cut.ms)).map(|cut| cut.ms.start);
        self.dies_at.into_iter().chain(frozen).chain(cut).min()
    }
}

fn ms(now: Time) -> u64 {
    now.0 / 1_000_000
}
