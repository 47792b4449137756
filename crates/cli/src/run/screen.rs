//! What a person sees of a run while it lasts: frames on a terminal, a line now and then without one.

use std::sync::{Arc, Mutex, PoisonError};

use onrush_fiber::{Clock, Nanos};
use onrush_plan::Plan;
use onrush_session::{
    Coordinator, DeltaSink, RunPhase,
    protocol::{AgentId, ThreadDelta, Time},
};

use crate::{
    context::Context,
    progress::{Board, Pulse, Screen, Stage, Totals},
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
    pulse: Arc<Mutex<Pulse>>,
    /// When the next line is due without a terminal.
    line_at: Nanos,
    /// The clock the next line was last set by: that of the test, then that of the scenarios.
    aligned_to: Option<Time>,
    /// When the last frame was drawn.
    frame_at: Nanos,
}

impl<'a> RunScreen<'a> {
    pub(super) fn new(cx: &'a Context, is_quiet: bool, plan: &Plan, now: Time) -> Self {
        Self {
            cx,
            is_quiet,
            board: Board::new(plan),
            pulse: Arc::default(),
            line_at: Nanos(now.0) + LINE_INTERVAL.as_duration(),
            aligned_to: None,
            frame_at: Nanos::ZERO,
        }
    }

    /// Learns of what is measured.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        Box::new(Feed(Arc::clone(&self.pulse)))
    }

    /// Shows how the run stands, if it is time to. `waits`: it stays paused until somebody resumes it.
    pub(super) fn show(&mut self, run: &Coordinator, waits: bool, now: Time) {
        if self.is_quiet {
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
    pub(super) fn linger(&self, run: &Coordinator, now: Time) {
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
        let pulse = self.pulse.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = pulse.now(Clock::now()).filter(|_| stage != Stage::Lingering);
        [latest.into_iter().chain(Pulse::all(run.merged())).collect(), pulse.troubles(run.merged(), run.thresholds())]
    }

    /// All lines as they are now.
    pub(super) fn block(&self, run: &Coordinator, waits: bool, now: Time) -> String {
        let unpaused = Nanos(run.unpaused(now).0);
        self.board.block(stage(run, waits), &totals(run, now), unpaused, &run.progress().scenarios)
    }

    /// Leaves the place to what comes after the run.
    pub(super) fn clear(&self) {
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
struct Feed(Arc<Mutex<Pulse>>);

impl DeltaSink for Feed {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).note(&part.delta, Clock::now());
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
