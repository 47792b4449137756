//! Follows a run once a second: how it stands, how its generators fare, what it logs. The view shows it, result files keep it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use onrush_output::{Feed, Note};
use onrush_plan::Plan;
use onrush_results::End;
use onrush_session::{
    Coordinator, RunPhase,
    protocol::{AgentId, Health, Time},
};
use onrush_view::{AgentSecond, HealthBins, HealthStep, Lines};

use super::{hub::Hub, stand};
use crate::{
    line::{Line, level_name},
    log::{Logger, fold::kind_of},
};

/// A second is told of when all agents have said something of it, but not before this much of it is over ...
const SECOND_MIN: Duration = Duration::from_millis(900);
/// ... and not later than this.
const SECOND_MAX: Duration = Duration::from_millis(1_200);

/// What was logged, and when. Any thread adds to it.
#[derive(Default)]
struct Book {
    lines: Mutex<Lines>,
    /// The time of the scenarios in nanoseconds.
    at_ns: AtomicU64,
}

impl Book {
    fn add(&self, line: &Line) {
        let at_ms = self.at_ns.load(Ordering::Relaxed) as f64 / 1e6;
        let fields: Vec<(String, String)> =
            line.fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        self.lines().add(kind_of(line), at_ms, level_name(line.level), &line.message, &fields);
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows one run.
pub(in crate::run) struct Follow {
    book: Arc<Book>,
    hub: Option<Hub>,
    /// Result files.
    files: Vec<Feed<End>>,
    bins: HealthBins,
    /// Seconds of agents that were not told of yet.
    rows: Vec<AgentSecond>,
    /// Where they begin.
    from_ms: f64,
    told_at: Option<Time>,
    /// What it was then: a change is told at once.
    told: Option<(RunPhase, bool)>,
    /// A result file had no room for something.
    lacks_notes: bool,
}

impl Follow {
    /// Follows a run for the view, if there is one, and for these files.
    pub(in crate::run) fn new(logger: &Logger, view: Option<&super::View>, files: Vec<Feed<End>>) -> Self {
        let book = Arc::new(Book::default());
        if view.is_some() || !files.is_empty() {
            let book = book.clone();
            logger.observe(move |line| book.add(line));
        }
        Self {
            book,
            hub: view.map(|view| view.hub.clone()),
            files,
            bins: HealthBins::default(),
            rows: Vec::new(),
            from_ms: 0.0,
            told_at: None,
            told: None,
            lacks_notes: false,
        }
    }

    fn is_needed(&self) -> bool {
        self.hub.is_some() || !self.files.is_empty()
    }

    /// Takes a second of an agent.
    pub(in crate::run) fn health(&mut self, agent: AgentId, health: &Health) {
        if !self.is_needed() {
            return;
        }
        let row = stand::second(agent, health);
        match self.rows.iter_mut().find(|known| known.agent == row.agent) {
            Some(known) => known.add(&row),
            None => self.rows.push(row),
        }
    }

    /// Tells how the run stands, if it is time to.
    pub(in crate::run) fn look(
        &mut self,
        run: &Coordinator,
        plan: &Plan,
        names: Option<&BTreeMap<AgentId, String>>,
        now: Time,
    ) {
        if !self.is_needed() {
            return;
        }
        let at = run.moment(now).scenarios;
        self.book.at_ns.store(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let is_news = self.told != Some((run.phase(), run.is_paused()));
        let since = self.told_at.map_or(SECOND_MAX, |told_at| now.since(told_at));
        let is_complete = || self.rows.len() >= names.map_or(1, BTreeMap::len);
        if is_news || since >= SECOND_MAX || since >= SECOND_MIN && is_complete() {
            self.tell(run, plan, names, now);
        }
    }

    fn tell(&mut self, run: &Coordinator, plan: &Plan, names: Option<&BTreeMap<AgentId, String>>, now: Time) {
        (self.told_at, self.told) = (Some(now), Some((run.phase(), run.is_paused())));
        let health = self.take_health(run.moment(now).scenarios.as_secs_f64() * 1e3);
        if let Some(over) = health.as_ref().and_then(|health| self.bins.add(health)) {
            self.note("health", &over);
        }
        let Some(hub) = &self.hub else { return };
        let (news, state) = (self.book.lines().take_news(), stand::state(run, plan, names, now));
        hub.tell(|history| {
            news.iter().for_each(|row| history.log(row));
            if let Some(health) = &health {
                history.health(health);
            }
            history.state(&state);
        });
    }

    fn take_health(&mut self, at_ms: f64) -> Option<HealthStep> {
        if self.rows.is_empty() {
            return None;
        }
        let mut agents = std::mem::take(&mut self.rows);
        agents.sort_by_key(|row| row.agent);
        Some(HealthStep { from_ms: std::mem::replace(&mut self.from_ms, at_ms), at_ms, agents })
    }

    /// The run is over and judged: tells what is left. Returns whether a result file lacks something.
    pub(in crate::run) fn end(
        mut self,
        run: &Coordinator,
        plan: &Plan,
        names: Option<&BTreeMap<AgentId, String>>,
        now: Time,
    ) -> bool {
        if !self.is_needed() {
            return false;
        }
        self.tell(run, plan, names, now);
        if let Some(rest) = self.bins.rest() {
            self.note("health", &rest);
        }
        if !self.files.is_empty() {
            let rows = self.book.lines().all();
            rows.iter().for_each(|row| self.note("log", row));
            self.note("state", &stand::state(run, plan, names, now));
        }
        self.lacks_notes
    }

    fn note(&mut self, name: &'static str, value: &impl serde::Serialize) {
        // Texts and numbers always become JSON.
        let json = serde_json::to_string(value).unwrap_or_default();
        for file in &self.files {
            self.lacks_notes |= !file.note(Note { name, json: json.clone() });
        }
    }
}
