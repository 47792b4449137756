//! The line of a scenario in parts: what it says before widths are known, and which lines a low terminal shows.

use onrush_plan::ScenarioPlan;
use onrush_session::protocol::ScenarioProgress;

use super::line::Screen;

/// One line, in parts.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) mark: Mark,
    pub(crate) fraction: f64,
    pub(crate) columns: Vec<String>,
}

/// The sign between name and bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Running,
    Waiting,
    Stopping,
    Done,
    Interrupted,
}

impl Mark {
    /// How a scenario stands.
    pub(super) fn new(plan: &ScenarioPlan, progress: &ScenarioProgress, fraction: f64, elapsed_ns: u64) -> Self {
        // The clock may stop a hair before the end.
        const WHOLE: f64 = 0.9999;
        if progress.over {
            // k6: also what ended by itself is marked so when it did not do all it was to do.
            let is_whole = fraction >= WHOLE && (progress.interrupted == 0 || plan.total_iterations().is_none());
            return if is_whole { Self::Done } else { Self::Interrupted };
        }
        if progress.stopping || elapsed_ns >= plan.regular_end_ns { Self::Stopping } else { Self::Running }
    }

    /// What is worth a line most.
    fn rank(self) -> u8 {
        match self {
            Self::Running | Self::Stopping => 0,
            Self::Waiting => 1,
            Self::Interrupted | Self::Done => 2,
        }
    }

    pub(super) fn text(self, color: bool) -> &'static str {
        match (self, color) {
            (Self::Running, _) => " ",
            (Self::Waiting, false) => "•",
            (Self::Waiting, true) => "\x1b[2m•\x1b[22m",
            (Self::Stopping, _) => "↓",
            (Self::Done, false) => "✓",
            (Self::Done, true) => "\x1b[32m✓\x1b[0m",
            (Self::Interrupted, false) => "✗",
            (Self::Interrupted, true) => "\x1b[31m✗\x1b[0m",
        }
    }
}

/// The columns right of the bars, padded so that they line up.
///
/// k6: a column is as wide as its widest text that is not the last of its row, and one more.
pub(super) fn joined(rows: &[Row]) -> Vec<String> {
    let count = rows.iter().map(|row| row.columns.len()).max().unwrap_or(0);
    let inner =
        |row: &Row, column: usize| if column + 1 < row.columns.len() { row.columns[column].chars().count() } else { 0 };
    let widths: Vec<usize> =
        (0..count).map(|column| rows.iter().map(|row| inner(row, column)).max().unwrap_or(0)).collect();
    let pad = |text: &String, width: usize| if width == 0 { text.clone() } else { format!("{text:<0$}", width + 1) };
    rows.iter()
        .map(|row| row.columns.iter().zip(&widths).map(|(text, width)| pad(text, *width)).collect::<Vec<_>>().join(" "))
        .collect()
}

/// The rows for which a terminal has room, and a word on the others: what is drawn over itself must not scroll away.
/// What runs is shown first, then what is still to come.
pub(super) fn fitting(rows: Vec<Row>, screen: Screen) -> (Vec<Row>, Option<String>) {
    // Beside them there are an empty line, the totals, two lines of figures, the word on the others and the cursor's
    // own line.
    const OTHERS: usize = 6;
    let room = screen.rows.saturating_sub(OTHERS).max(1);
    if rows.len() <= room {
        return (rows, None);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| rows[index].mark.rank());
    let shown = &order[..room];
    let hidden: Vec<Mark> = order[room..].iter().map(|&index| rows[index].mark).collect();
    let count = |of: &[Mark]| hidden.iter().filter(|mark| of.contains(mark)).count();
    let kinds = [
        (count(&[Mark::Running, Mark::Stopping]), "running"),
        (count(&[Mark::Waiting]), "waiting"),
        (count(&[Mark::Done, Mark::Interrupted]), "over"),
    ];
    let kinds: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let text = format!("… and {} more scenarios: {}", hidden.len(), kinds.join(", "));
    let rows = rows.into_iter().enumerate().filter(|(index, _)| shown.contains(index)).map(|(_, row)| row);
    (rows.collect(), Some(text))
}
