//! What the coordinator knows of each agent: whether it is there, where it stands, and what its numbers mean.

use std::{collections::BTreeMap, time::Duration};

use onrush_metrics::{Delta, MetricId, Registry, builtin};

use super::shares::Taking;
use crate::protocol::{Accepted, AgentId, Flushed, Init, Progress, Time, VERSION};

/// All agents of a run, those that were lost included. A share that an agent has taken over beside its own is one as well,
/// with a number of its own: it passes barriers and reports like any other, and is lost with the agent that has it.
#[derive(Debug)]
pub(super) struct Agents(BTreeMap<AgentId, Agent>);

#[derive(Debug, Default)]
pub(super) struct Agent {
    /// Who has this share, where it is not the agent's own.
    pub(super) host: Option<AgentId>,
    /// The share it was given.
    pub(super) init: Init,
    /// Its scenarios do not run yet: another agent began them.
    pub(super) taking: Option<Taking>,
    /// How far it has come, where it joined the run under way.
    pub(super) late: Option<Late>,
    /// When it did, on the test's clock.
    pub(super) joined_at: Option<Duration>,
    /// Iterations of its share that ended, by the run's scenarios.
    pub(super) ended: Vec<u64>,
    /// As many of them were over when it took up the share.
    pub(super) before: Vec<u64>,
    pub(super) is_lost: bool,
    /// It has reached the end of the current phase.
    pub(super) has_passed: bool,
    /// When it was last heard of.
    pub(super) heard_at: Time,
    pub(super) table: Option<Table>,
    pub(super) progress: Progress,
    pub(super) flushed: Option<Flushed>,
    pub(super) threads_given_up: u32,
    pub(super) trapped_writes: u64,
    /// Its share of the test, 0 to 1.
    pub(super) share: f64,
    /// How late it began, and by how much its clock may be wrong.
    pub(super) begun: Option<(Duration, Duration)>,
    /// The most VUs it had.
    pub(super) vus_max: u64,
    /// Requests it reported.
    pub(super) requests: f64,
}

/// How far an agent has come that joined the run under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Late {
    /// Its VUs are being made.
    Initializing,
    /// They are there, and it has not begun.
    Ready,
    /// It takes part and has nothing to do.
    Idle,
    /// It has a share of some scenario.
    Busy,
}

impl Agent {
    /// It is one of those that scenarios run on, and that barriers wait for.
    pub(super) fn takes_part(&self) -> bool {
        !matches!(self.late, Some(Late::Initializing | Late::Ready))
    }

    /// It joined, and has done nothing so far.
    pub(super) fn is_new(&self) -> bool {
        self.late.is_some_and(|late| late != Late::Busy)
    }

    /// Notes what it measured, its metrics known by our ids.
    pub(super) fn count(&mut self, delta: &Delta) {
        let requests = delta.series.iter().filter(|series| series.metric == builtin::HTTP_REQS);
        self.requests += requests.filter_map(|series| series.sink.counter()).sum::<f64>();
    }

    /// Notes iterations that ended, by scenario in the order it has them in.
    pub(super) fn end(&mut self, counts: &[u64]) {
        let places = self.table.iter().flat_map(|table| &table.scenarios);
        for (place, count) in places.zip(counts) {
            if let Some(ended) = place.and_then(|place| self.ended.get_mut(place)) {
                *ended = ended.saturating_add(*count);
            }
        }
    }

    /// Notes how its scenarios stand.
    pub(super) fn stands(&mut self, progress: Progress) {
        self.vus_max = self.vus_max.max(progress.vus_initialized);
        self.progress = progress;
    }
}

/// What an agent's numbers mean here.
#[derive(Debug)]
pub(super) struct Table {
    /// Our ids of its metrics; `None` where they are the same.
    metrics: Option<Vec<MetricId>>,
    /// Our indices of its scenarios.
    pub(super) scenarios: Vec<Option<usize>>,
    pub(super) threads: u32,
}

impl Agents {
    pub(super) fn new(ids: impl IntoIterator<Item = AgentId>) -> Self {
        Self(ids.into_iter().map(|id| (id, Agent::default())).collect())
    }

    /// Adds an agent that joins.
    pub(super) fn insert(&mut self, id: AgentId, agent: Agent) {
        self.0.insert(id, agent);
    }

    /// Forgets an agent.
    pub(super) fn remove(&mut self, id: AgentId) {
        self.0.remove(&id);
    }

    /// Agents that joined and have come so far.
    pub(super) fn late(&self, late: Late) -> Vec<AgentId> {
        self.live().filter(|(_, agent)| agent.late == Some(late)).map(|(id, _)| id).collect()
    }

    /// The agent that joined as this one.
    pub(super) fn joined(&self, number: u32) -> Option<AgentId> {
        let mut own = self.0.iter().filter(|(_, agent)| agent.init.joined == Some(number) && agent.host.is_none());
        own.next().map(|(id, _)| *id)
    }

    /// Those of the agents that began with the run, or of one that joined, that take part; with shares of theirs that were
    /// taken over.
    pub(super) fn of_group(&self, joined: Option<u32>) -> Vec<AgentId> {
        let own = self.taking_part().filter(|(_, agent)| agent.init.joined == joined);
        own.map(|(id, _)| id).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those that are not lost and take part, without the shares that they took over.
    pub(super) fn hosts(&self) -> Vec<AgentId> {
        self.taking_part().filter(|(_, agent)| agent.host.is_none()).map(|(id, _)| id).collect()
    }

    /// An agent and the shares it took over, as far as they are not lost.
    pub(super) fn with_shares(&self, id: AgentId) -> Vec<AgentId> {
        self.live().filter(|(own, agent)| *own == id || agent.host == Some(id)).map(|(own, _)| own).collect()
    }

    /// Who has a share that is not its own, and the share's number.
    pub(super) fn host_of(&self, id: AgentId) -> Option<(AgentId, u32)> {
        Some((self.0.get(&id)?.host?, id.0 & !Self::SHARES))
    }

    /// Marks the numbers of shares that were taken over; agents have lower ones.
    const SHARES: u32 = 1 << 31;

    /// The number here of a share that was taken over.
    pub(super) fn id_of_share(share: u32) -> AgentId {
        AgentId(share | Self::SHARES)
    }

    /// Adds a share that an agent takes over.
    pub(super) fn add_share(&mut self, agent: Agent) -> AgentId {
        let count = self.0.range(AgentId(Self::SHARES)..).count();
        let id = Self::id_of_share(u32::try_from(count).unwrap_or(u32::MAX));
        self.0.insert(id, agent);
        id
    }

    /// Any, also one that is lost.
    pub(super) fn get(&self, id: AgentId) -> Option<&Agent> {
        self.0.get(&id)
    }

    /// Those that are not lost.
    pub(super) fn live(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        self.0.iter().filter(|(_, agent)| !agent.is_lost).map(|(id, agent)| (*id, agent))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Agent> {
        self.0.values()
    }

    /// Those that were lost included.
    pub(super) fn iter(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        self.0.iter().map(|(id, agent)| (*id, agent))
    }

    /// An agent and the shares it took over, also when they are lost.
    pub(super) fn lost_with(&mut self, id: AgentId) -> impl Iterator<Item = (&AgentId, &mut Agent)> {
        self.0.iter_mut().filter(move |(own, agent)| agent.is_lost && (**own == id || agent.host == Some(id)))
    }

    pub(super) fn live_mut(&mut self) -> impl Iterator<Item = &mut Agent> {
        self.0.values_mut().filter(|agent| !agent.is_lost)
    }

    pub(super) fn ids(&self) -> Vec<AgentId> {
        self.0.keys().copied().collect()
    }

    /// Those that are not lost, and have begun where they joined.
    pub(super) fn taking_part(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        self.live().filter(|(_, agent)| agent.takes_part())
    }

    /// An agent that is not lost.
    pub(super) fn get_mut(&mut self, id: AgentId) -> Option<&mut Agent> {
        self.0.get_mut(&id).filter(|agent| !agent.is_lost)
    }

    /// All that are left have passed, and some are left.
    pub(super) fn have_passed(&self) -> bool {
        let mut live = self.taking_part().peekable();
        live.peek().is_some() && live.all(|(_, agent)| agent.has_passed)
    }

    pub(super) fn begin_phase(&mut self) {
        self.0.values_mut().for_each(|agent| agent.has_passed = false);
    }

    /// Those that hold back the current phase.
    pub(super) fn waited_for(&self) -> Vec<AgentId> {
        self.taking_part().filter(|(_, agent)| !agent.has_passed).map(|(id, _)| id).collect()
    }
}

impl Table {
    /// Translates an agent's numbers.
    ///
    /// # Errors
    /// What does not fit together.
    pub(super) fn new(accepted: &Accepted, registry: &Registry, scenarios: &[String]) -> Result<Self, String> {
        if accepted.version != VERSION {
            return Err(format!(
                "it speaks version {} of the protocol, this coordinator version {VERSION}: use the same version of Onrush everywhere",
                accepted.version
            ));
        }
        let mut metrics = Vec::with_capacity(accepted.metrics.len());
        for metric in &accepted.metrics {
            let known = registry.lookup(&metric.name).map(|id| registry.metric(id));
            match known.filter(|known| known.kind == metric.kind) {
                Some(known) => metrics.push(known.id),
                None => return Err(format!("its metric '{}' is not the test's: it runs another script", metric.name)),
            }
        }
        let is_same = metrics.iter().enumerate().all(|(index, id)| id.0 as usize == index);
        let place = |name: &String| scenarios.iter().position(|own| own == name);
        Ok(Self {
            metrics: (!is_same).then_some(metrics),
            scenarios: accepted.scenarios.iter().map(place).collect(),
            threads: accepted.threads,
        })
    }

    /// Gives the series of a delta our metric ids. What has no name is left out, and counted as lost.
    pub(super) fn translate(&self, delta: &mut Delta) {
        let Some(metrics) = &self.metrics else { return };
        let before = delta.series.len();
        delta.series.retain_mut(|series| match metrics.get(series.metric.0 as usize) {
            Some(id) => {
                series.metric = *id;
                true
            }
            None => false,
        });
        delta.samples_lost = delta.samples_lost.saturating_add((before - delta.series.len()) as u64);
    }
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{Contains, MetricKind, Sink};

    use super::*;
    use crate::protocol::MetricName;

    fn accepted(names: &[&str]) -> Accepted {
        let metric = |name: &&str| MetricName {
            name: (*name).to_owned(),
            kind: MetricKind::Counter,
            contains: Contains::Default,
        };
        Accepted {
            version: VERSION,
            metrics: names.iter().map(metric).collect(),
            scenarios: vec!["b".to_owned()],
            threads: 2,
        }
    }

    #[test]
    fn metrics_are_known_by_their_names() {
        let mut registry = Registry::new();
        let first = registry.declare("first", MetricKind::Counter, Contains::Default).unwrap();
        let second = registry.declare("second", MetricKind::Counter, Contains::Default).unwrap();
        let table = Table::new(&accepted(&["second", "first"]), &registry, &["a".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(table.scenarios, [Some(1)]);
        let mut delta = Delta::default();
        for id in [0, 1, 7] {
            delta.push(MetricId(id), Vec::new().into(), Sink::Rate { hits: 0, total: 1 });
        }
        table.translate(&mut delta);
        assert_eq!(delta.series.iter().map(|series| series.metric).collect::<Vec<_>>(), [second, first]);
        assert_eq!(delta.samples_lost, 1);
    }

    #[test]
    fn agents_of_another_test_are_refused() {
        let check = |accepted: Accepted, expect: &str| {
            let error = Table::new(&accepted, &Registry::new(), &[]).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(accepted(&["mine"]), "its metric 'mine' is not the test's");
        // A built-in metric of another kind.
        check(accepted(&["http_req_duration"]), "http_req_duration");
        check(Accepted { version: 9, ..accepted(&[]) }, "version 9");
    }
}
