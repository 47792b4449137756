//! What a person sees of a run while it lasts: frames on a terminal or a view of all of it, a line now and then without one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::summary::TimeUnit;
use onrush_plan::Plan;
use onrush_session::{
    Coordinator, DeltaSink, RunPhase,
    protocol::{AgentId, ThreadDelta, Time},
};

use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    full_screen::{Seen, Sight, View, Wish},
    progress::{Board, Measured, Pulse, Screen, Stage, Totals},
    terminal::{Look, Message},
};

/// Progress on a terminal.
const FRAME_INTERVAL: Nanos = Nanos::from_millis(100);
/// Progress without a terminal, and its first line.
const LINE_INTERVAL: Nanos = Nanos::from_secs(10);
const FIRST_LINE: Nanos = Nanos::from_secs(1);

/// The progress of one run.
pub(super) struct RunScreen<'a> {
    cx: &'a Context,
    is_quiet: bool,
    board: Board,
    seen: Arc<Mutex<Seen>>,
    /// What covers the terminal, where that is wanted and as long as it is.
    view: Option<View>,
    /// When the next line is due without a terminal.
    line_at: Nanos,
    /// The clock the next line was last set by: that of the test, then that of the scenarios.
    aligned_to: Option<Time>,
    /// When the last frame was drawn.
    frame_at: Nanos,
}

impl<'a> RunScreen<'a> {
    pub(super) fn new(cx: &'a Context, args: &RunArgs, plan: &Plan, now: Time) -> Self {
        Self {
            cx,
            is_quiet: args.quiet,
            board: Board::new(plan),
            seen: Arc::default(),
            view: None,
            line_at: Nanos(now.0) + LINE_INTERVAL.as_duration(),
            aligned_to: None,
            frame_at: Nanos::ZERO,
        }
    }

    /// Covers the terminal with a view. `wake` is called when there is a key to see to.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub(super) fn with_view(
        mut self,
        script: &str,
        plan: &Plan,
        time_unit: Option<TimeUnit>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, Failure> {
        let (terminal, signs) = (self.cx.terminal.clone(), self.cx.look.signs());
        let view = View::start(terminal, script, plan, time_unit, self.seen.clone(), signs, wake);
        let error = |error| Failure::other(format!("failed to start the view of --ui tui: {error}"));
        self.view = Some(view.map_err(error)?);
        Ok(self)
    }

    /// Learns of what is measured.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        Box::new(Feed(Arc::clone(&self.seen)))
    }

    /// Shows a moment in the view, if there is one. Returns what the user wants of the run.
    pub(super) fn show_view(
        &mut self,
        run: &Coordinator,
        waits: bool,
        agents: Option<&BTreeMap<AgentId, String>>,
        now: Time,
    ) -> Vec<Wish> {
        let Some(view) = &mut self.view else { return Vec::new() };
        let stage = stage(run, waits);
        let sight = Sight { run, board: &self.board, stage, totals: totals(run, now), agents, now };
        if !view.show(&sight) {
            self.view = None;
            return Vec::new();
        }
        view.wishes()
    }

    /// The scenario at a place of the view, and whether its target is a rate.
    pub(super) fn scenario(&self, index: usize) -> Option<(String, bool)> {
        self.view.as_ref()?.scenario(index)
    }

    /// Says in the view what became of a wish.
    pub(super) fn say(&mut self, text: String) {
        if let Some(view) = &mut self.view {
            view.say(text);
        }
    }

    /// Shows how the run stands, if it is time to. `waits`: it stays paused until somebody resumes it.
    pub(super) fn show(&mut self, run: &Coordinator, waits: bool, now: Time) {
        if self.is_quiet || self.view.is_some() {
            return;
        }
        let begun = run.scenarios_at().or_else(|| run.started_at());
        if let Some(begun) = begun.filter(|begun| self.aligned_to != Some(*begun))
            && (self.aligned_to.is_none() || self.aligned_to == run.started_at())
        {
            self.aligned_to = Some(begun);
            self.line_at = Nanos(begun.0) + FIRST_LINE.as_duration();
        }
        let at = Nanos(now.0);
        if self.cx.look.stdout_tty {
            if at.saturating_sub(self.frame_at) < FRAME_INTERVAL {
                return;
            }
            self.frame_at = at;
            self.draw(run, stage(run, waits), now);
        } else if at >= self.line_at {
            // At whole tens of seconds, whenever the ticks come.
            let start = self.aligned_to.map_or(self.line_at, |begun| Nanos(begun.0));
            let tens = at.saturating_sub(start).0 / LINE_INTERVAL.0 + 1;
            self.line_at = Nanos(start.0.saturating_add(tens * LINE_INTERVAL.0));
            let stage = stage(run, waits);
            let more: Vec<String> = self.figures(run, stage).into_iter().flatten().collect();
            self.cx.terminal.stdout(self.board.line(stage, &totals(run, now), &more));
        }
    }

    /// The test is over, and its results stay to be looked at.
    pub(super) fn linger(&mut self, run: &Coordinator, now: Time) {
        self.view = None;
        if self.cx.look.stdout_tty && !self.is_quiet {
            self.draw(run, Stage::Lingering, now);
        }
    }

    fn draw(&self, run: &Coordinator, stage: Stage, now: Time) {
        let (columns, rows) = Look::size();
        let screen = Screen { columns, rows, color: self.cx.look.stdout_color() };
        let (figures, scenarios) = (self.figures(run, stage), run.progress().scenarios);
        let unpaused = Nanos(run.unpaused(now).0);
        let frame = self.board.frame(stage, &totals(run, now), unpaused, &scenarios, figures, screen);
        self.cx.terminal.send(Message::Frame(frame));
    }

    /// Figures of the last seconds and of the whole test, and what is wrong.
    fn figures(&self, run: &Coordinator, stage: Stage) -> [Vec<String>; 2] {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let pulse = &seen.pulse;
        let is_over = stage == Stage::Lingering;
        let latest = pulse.now(Clock::now()).filter(|_| !is_over);
        let figures = latest.into_iter().chain(Pulse::all(run.merged(), is_over)).collect();
        [figures, pulse.troubles(run.merged(), run.thresholds())]
    }

    /// All lines as they are now.
    pub(super) fn block(&self, run: &Coordinator, waits: bool, now: Time) -> String {
        let unpaused = Nanos(run.unpaused(now).0);
        self.board.block(stage(run, waits), &totals(run, now), unpaused, &run.progress().scenarios)
    }

    /// Leaves the place to what comes after the run.
    pub(super) fn clear(&mut self) {
        self.view = None;
        self.cx.terminal.send(Message::Frame(Vec::new()));
    }

    /// The last block, below the summary.
    pub(super) fn last(&self, block: String) {
        if !self.is_quiet {
            self.cx.terminal.stdout(block);
        }
    }
}

/// Hands what is measured to the pulse.
struct Feed(Arc<Mutex<Seen>>);

impl DeltaSink for Feed {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        let (measured, now) = (Measured::of(&part.delta), Clock::now());
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.pulse.note(&measured, now);
        if let Some(history) = &mut seen.history {
            history.note(&measured, now);
        }
    }
}

fn stage(run: &Coordinator, waits: bool) -> Stage {
    match (run.started_at(), run.scenarios_at()) {
        (Some(_), _) if run.phase() == RunPhase::Teardown => Stage::Teardown,
        (_, Some(_)) if run.is_stopped() && run.phase() == RunPhase::Running => Stage::Stopping,
        (_, Some(_)) => Stage::Running,
        (Some(_), None) => Stage::Setup,
        (None, None) if waits => Stage::Paused,
        (None, None) => Stage::Initializing,
    }
}

fn totals(run: &Coordinator, now: Time) -> Totals {
    let progress = run.progress();
    Totals {
        elapsed: Nanos::from(run.moment(now).test),
        is_paused: run.is_paused(),
        scenarios_at: run.scenarios_at().map(|at| Nanos(at.0)),
        vus_active: progress.vus_active,
        vus_initialized: progress.vus_initialized,
        complete: progress.complete,
        interrupted: progress.interrupted,
    }
}
