//! What the coordinator knows of each agent: whether it is there, where it stands, and what its numbers mean.

use std::collections::BTreeMap;

use onrush_metrics::{Delta, MetricId, Registry};

use crate::protocol::{Accepted, AgentId, Flushed, Progress, Time, VERSION};

/// All agents of a run, those that were lost included.
#[derive(Debug)]
pub(super) struct Agents(BTreeMap<AgentId, Agent>);

#[derive(Debug, Default)]
pub(super) struct Agent {
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

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those that are not lost.
    pub(super) fn live(&self) -> impl Iterator<Item = (AgentId, &Agent)> {
        self.0.iter().filter(|(_, agent)| !agent.is_lost).map(|(id, agent)| (*id, agent))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Agent> {
        self.0.values()
    }

    pub(super) fn ids(&self) -> Vec<AgentId> {
        self.0.keys().copied().collect()
    }

    pub(super) fn live_ids(&self) -> Vec<AgentId> {
        self.live().map(|(id, _)| id).collect()
    }

    /// An agent that is not lost.
    pub(super) fn get_mut(&mut self, id: AgentId) -> Option<&mut Agent> {
        self.0.get_mut(&id).filter(|agent| !agent.is_lost)
    }

    /// All that are left have passed, and some are left.
    pub(super) fn have_passed(&self) -> bool {
        let mut live = self.live().peekable();
        live.peek().is_some() && live.all(|(_, agent)| agent.has_passed)
    }

    pub(super) fn begin_phase(&mut self) {
        self.0.values_mut().for_each(|agent| agent.has_passed = false);
    }

    /// Those that hold back the current phase.
    pub(super) fn waited_for(&self) -> Vec<AgentId> {
        self.live().filter(|(_, agent)| !agent.has_passed).map(|(id, _)| id).collect()
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
