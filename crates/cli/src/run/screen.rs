//! What a person sees of a run while it lasts: frames on a terminal, blocks of lines without one.

use onrush_fiber::Nanos;
use onrush_plan::Plan;
use onrush_session::{Coordinator, protocol::Time};

use super::Surroundings;
use crate::{
    progress::{Board, Pulse, Screen, Stage, Totals},
    terminal::{Look, Message},
};

/// Progress on a terminal.
const FRAME_INTERVAL: Nanos = Nanos::from_millis(100);
/// Progress without a terminal.
const BLOCK_INTERVAL: Nanos = Nanos::from_secs(1);

/// The progress of one run.
pub(super) struct RunScreen<'a> {
    around: &'a Surroundings,
    is_quiet: bool,
    board: Board,
    pulse: Pulse,
    /// When the last plain block was printed.
    block_at: Nanos,
    /// Blocks come at whole seconds of the test.
    is_aligned: bool,
    /// When the last frame was drawn.
    frame_at: Nanos,
}

impl<'a> RunScreen<'a> {
    pub(super) fn new(around: &'a Surroundings, is_quiet: bool, plan: &Plan, now: Time) -> Self {
        Self {
            around,
            is_quiet,
            board: Board::new(plan),
            pulse: Pulse::default(),
            block_at: Nanos(now.0),
            is_aligned: false,
            frame_at: Nanos::ZERO,
        }
    }

    /// Shows how the run stands, if it is time to. `waits`: it stays paused until somebody resumes it.
    pub(super) fn show(&mut self, run: &Coordinator, waits: bool, now: Time) {
        if self.is_quiet {
            return;
        }
        if let Some(started) = run.started_at().filter(|_| !self.is_aligned) {
            self.is_aligned = true;
            self.block_at = Nanos(started.0);
        }
        let at = Nanos(now.0);
        if self.around.look.stdout_tty {
            if at.saturating_sub(self.frame_at) < FRAME_INTERVAL {
                return;
            }
            self.frame_at = at;
            let (columns, rows) = Look::size();
            let screen = Screen { columns, rows, color: self.around.look.stdout_color() };
            let totals = totals(run, now);
            let pulse = self.pulse.line(run.merged(), at, columns);
            let scenarios = run.progress().scenarios;
            let unpaused = Nanos(run.unpaused(now).0);
            let frame = self.board.frame(stage(run, waits), &totals, unpaused, &scenarios, pulse, screen);
            self.around.terminal.send(Message::Frame(frame));
        } else if at.saturating_sub(self.block_at) >= BLOCK_INTERVAL {
            // From one block to the next it is a second on average, whenever the ticks come.
            self.block_at = self.block_at + BLOCK_INTERVAL;
            let block = self.block(run, waits, now);
            self.around.terminal.stdout(block);
        }
    }

    /// All lines as they are now.
    pub(super) fn block(&self, run: &Coordinator, waits: bool, now: Time) -> String {
        let unpaused = Nanos(run.unpaused(now).0);
        self.board.block(stage(run, waits), &totals(run, now), unpaused, &run.progress().scenarios)
    }

    /// Leaves the place to what comes after the run.
    pub(super) fn clear(&self) {
        self.around.terminal.send(Message::Frame(Vec::new()));
    }

    /// The last block, below the summary.
    pub(super) fn last(&self, block: String) {
        if !self.is_quiet {
            self.around.terminal.stdout(block);
        }
    }
}

fn stage(run: &Coordinator, waits: bool) -> Stage {
    match (run.started_at(), run.scenarios_at()) {
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
