//! The full-screen view of a run: `--ui tui`. It sees what the ordinary progress sees, on the same thread, four times a
//! second; keys become wishes, which the loop of the run grants or refuses.
//!
//! `glance` is what it knows of a moment, `draw` turns that into cells, `controls` keys into wishes, `keys` listens. The
//! terminal itself is `crate::terminal`'s: there cells become bytes, and there it is given back.

mod clean;
mod controls;
mod draw;
mod glance;
mod history;
mod keys;
mod shape;
mod signs;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::summary::{TimeUnit, Verdict};
use onrush_plan::{FOREVER_NS, Plan, fixed_width_time};
use onrush_session::{
    Coordinator,
    protocol::{AgentId, Time},
};

use self::{
    controls::Controls,
    glance::{Glance, ScenarioLine},
    keys::Keys,
};
pub(crate) use self::{controls::Wish, history::History, shape::shape, signs::Signs};
use crate::{
    progress::{Board, Pulse, Stage, Totals},
    terminal::{Look, Message, Terminal, view},
};

/// How often the view is drawn anew; a key draws it at once.
const INTERVAL: Nanos = Nanos::from_millis(250);
/// How often the measurement is judged for it.
const JUDGE_INTERVAL: Nanos = Nanos::from_secs(1);

/// What the view and the ordinary progress learn from what is measured.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) pulse: Pulse,
    pub(crate) history: Option<History>,
}

/// The view of one run.
pub(crate) struct View {
    terminal: Terminal,
    signs: Signs,
    script: String,
    /// How long iterations are started for.
    plan_ns: u64,
    /// That of times, where the script names one.
    time_unit: Option<TimeUnit>,
    seen: Arc<Mutex<Seen>>,
    keys: Keys,
    controls: Controls,
    glance: Option<Glance>,
    drawn_at: Nanos,
    /// When the measurement was judged last, and how.
    judged: Option<(Nanos, (Verdict, Vec<String>))>,
    wishes: Vec<Wish>,
}

/// What there is to see of a run beside the coordinator.
pub(crate) struct Sight<'a> {
    pub(crate) run: &'a Coordinator,
    pub(crate) board: &'a Board,
    pub(crate) stage: Stage,
    pub(crate) totals: Totals,
    /// Names of agents; empty where the one agent is the process itself.
    pub(crate) agents: Option<&'a BTreeMap<AgentId, String>>,
    pub(crate) now: Time,
}

impl View {
    /// Begins to listen to keys. The terminal is taken over with the first thing that is drawn. `wake` is called when there
    /// is a key to see to.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(crate) fn start(
        terminal: Terminal,
        script: &str,
        plan: &Plan,
        time_unit: Option<TimeUnit>,
        seen: Arc<Mutex<Seen>>,
        signs: Signs,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        view::restore_on_panic();
        terminal.keep_tail(true);
        seen.lock().unwrap_or_else(PoisonError::into_inner).history = Some(History::default());
        let keys = Keys::listen(wake)?;
        Ok(Self {
            terminal,
            signs,
            script: script.to_owned(),
            plan_ns: planned_ns(plan),
            time_unit,
            seen,
            keys,
            controls: Controls::default(),
            glance: None,
            drawn_at: Nanos::ZERO,
            judged: None,
            wishes: Vec::new(),
        })
    }

    /// Shows a moment, if it is time to or a key was pressed. Returns whether the view goes on.
    pub(crate) fn show(&mut self, sight: &Sight<'_>) -> bool {
        let now = Clock::now();
        let mut is_due = now.saturating_sub(self.drawn_at) >= INTERVAL;
        for key in self.keys.pressed() {
            is_due = true;
            let Some(glance) = &self.glance else { continue };
            match self.controls.press(key, glance) {
                Some(Wish::Leave) => return false,
                Some(Wish::Suspend) => view::stop_process(&self.terminal),
                Some(wish) => self.wishes.push(wish),
                None => {}
            }
        }
        if view::is_broken() {
            return false;
        }
        if is_due {
            self.drawn_at = now;
            let glance = self.look(sight, now);
            let (columns, rows) = Look::size();
            let cells = |count: usize| u16::try_from(count).unwrap_or(u16::MAX).min(CELLS_MAX);
            let buffer = draw::screen(&glance, &self.controls, self.signs, cells(columns), cells(rows));
            self.glance = Some(glance);
            self.terminal.send(Message::View(Some(Box::new(buffer))));
        }
        true
    }

    /// What the user wants since the last time.
    pub(crate) fn wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }

    /// Says what became of a wish.
    pub(crate) fn say(&mut self, text: String) {
        self.controls.said = Some(text);
        self.drawn_at = Nanos::ZERO;
    }

    /// The name of a scenario, by its place in the view.
    pub(crate) fn scenario(&self, index: usize) -> Option<(String, bool)> {
        let targets = self.glance.as_ref()?.scenarios.get(index)?.targets.as_ref()?;
        Some((targets.name.clone(), targets.targets.rate.is_some()))
    }

    fn look(&mut self, sight: &Sight<'_>, now: Nanos) -> Glance {
        let Sight { run, board, stage, ref totals, agents, now: at } = *sight;
        let progress = run.progress();
        let rows = board.rows(stage, totals, Nanos(run.unpaused(at).0), &progress.scenarios);
        let steered = run.steering().scenarios(run.moment(at));
        let is_begun = totals.scenarios_at.is_some() && rows.len() == steered.len();
        let mut targets = steered.into_iter().map(|targets| is_begun.then_some(targets));
        let scenarios = rows.into_iter().map(|row| ScenarioLine { row, targets: targets.next().flatten() }).collect();
        let (latest, history) = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(history) = seen.history.as_mut().filter(|_| totals.scenarios_at.is_some()) {
                history.vus(totals.vus_active, now);
            }
            (seen.pulse.latest(now), seen.history.clone().unwrap_or_default())
        };
        Glance {
            script: self.script.clone(),
            stage: word(stage, totals.is_paused).to_owned(),
            elapsed: fixed_width_time(totals.elapsed.0, self.plan_ns),
            planned: fixed_width_time(self.plan_ns, self.plan_ns),
            fraction: if self.plan_ns == 0 { 0.0 } else { totals.elapsed.0 as f64 / self.plan_ns as f64 },
            verdict: self.judge(run, now),
            thresholds: glance::thresholds(run.thresholds(), run.merged().registry(), self.time_unit),
            latest,
            whole: glance::whole(run.merged()),
            vus_active: totals.vus_active,
            vus_initialized: totals.vus_initialized,
            history,
            errors: glance::errors(run.merged()),
            scenarios,
            agents: agents.map_or_else(Vec::new, |names| {
                run.overview().iter().map(|agent| glance::agent(agent, names)).collect()
            }),
            log: self.terminal.tail(),
        }
    }

    fn judge(&mut self, run: &Coordinator, now: Nanos) -> (Verdict, Vec<String>) {
        match &self.judged {
            Some((at, judged)) if now.saturating_sub(*at) < JUDGE_INTERVAL => judged.clone(),
            _ => {
                let judgement = run.judgement();
                let judged = (judgement.verdict, judgement.reasons);
                self.judged = Some((now, judged.clone()));
                judged
            }
        }
    }
}

/// Until the last scenario starts no more iterations, as the dashboard has it: graceful stops come on top, where they are needed. What
/// has no end counts as 0.
fn planned_ns(plan: &Plan) -> u64 {
    let ends = plan.scenarios.iter().map(|scenario| scenario.start_ns.saturating_add(scenario.regular_end_ns));
    ends.max().filter(|end_ns| *end_ns < FOREVER_NS).unwrap_or(0)
}

/// What the run is doing.
fn word(stage: Stage, is_paused: bool) -> &'static str {
    match stage {
        Stage::Initializing => "initializing",
        Stage::Setup => "setup()",
        Stage::Paused => "paused, p starts it",
        other => other.word(is_paused),
    }
}

/// Gives the terminal back.
impl Drop for View {
    fn drop(&mut self) {
        self.terminal.send(Message::View(None));
        self.terminal.keep_tail(false);
    }
}

/// Columns and rows that are drawn at most: more than any terminal has, and no number of a hostile one.
const CELLS_MAX: u16 = 500;

#[cfg(test)]
mod tests;
