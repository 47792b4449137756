//! Scenarios, agents, errors and the log: lists that may be longer than their panel.

use ratatui::layout::Rect;

use super::canvas::{BAD, BOLD, Canvas, DIM, GOOD, HINT, PLAIN, REVERSED, WARNING};
use crate::{
    full_screen::{
        controls::{Controls, Panel, Sort},
        glance::{ErrorRow, Glance},
    },
    line::Level,
    progress::{Mark, cut},
};

/// Columns of a scenario's name, at most.
const NAME: usize = 20;
/// Cells of its bar.
const BAR: usize = 12;

pub(super) fn scenarios(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance, controls: &Controls) {
    let is_focused = controls.focus == Panel::Scenarios;
    let running = glance.scenarios.iter().filter(|line| line.targets.as_ref().is_some_and(|one| !one.is_over));
    let title = match glance.scenarios.len() {
        1 => "scenario".to_owned(),
        count => format!("{count} scenarios, {} not over", running.count()),
    };
    let inner = canvas.titled(area, &title, is_focused);
    let rows = usize::from(inner.height);
    // The chosen one is always among those shown.
    let first = controls.scenario.saturating_sub(rows.saturating_sub(1));
    for ((index, line), row) in glance.scenarios.iter().enumerate().skip(first).zip(0..inner.height) {
        let (mark, style) = match line.row.mark {
            Mark::Running => (" ", PLAIN),
            Mark::Waiting => (".", DIM),
            Mark::Stopping => ("v", WARNING),
            Mark::Done => ("+", GOOD),
            Mark::Interrupted => ("x", BAD),
        };
        let is_chosen = is_focused && index == controls.scenario;
        let name = format!("{:<NAME$}", cut(&line.row.name, NAME));
        let bar = format!(" [{}] {:3.0} % ", canvas.signs.bar(line.row.fraction, BAR), line.row.fraction * 100.0);
        let target = line.target().map_or(String::new(), |target| format!(", target {target}"));
        let text = line.row.columns.join("  ") + &target;
        let name_style = if is_chosen { REVERSED } else { BOLD };
        canvas.spans(inner, row, &[(&name, name_style), (" ", PLAIN), (mark, style), (&bar, PLAIN), (&text, PLAIN)]);
    }
}

pub(super) fn agents(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance) {
    let inner = canvas.titled(area, &format!("{} agents", glance.agents.len()), false);
    glance.agents.iter().zip(0..inner.height).for_each(|(line, row)| canvas.text(inner, row, line, PLAIN));
}

pub(super) fn errors(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance, controls: &Controls) {
    let mut rows: Vec<&ErrorRow> = glance.errors.iter().collect();
    match controls.sort {
        Sort::Count => {}
        Sort::Latest => rows.sort_by_key(|row| std::cmp::Reverse(row.last_ns)),
        Sort::First => rows.sort_by_key(|row| row.first_ns),
        Sort::Text => rows.sort_by(|a, b| a.what.cmp(&b.what)),
    }
    let title = match rows.len() {
        0 => "errors".to_owned(),
        count => format!("errors: {count} kinds, {}", controls.sort.name()),
    };
    let inner = canvas.titled(area, &title, controls.focus == Panel::Errors);
    if rows.is_empty() {
        return canvas.text(inner, 0, "none", DIM);
    }
    let first = controls.error.min(rows.len() - 1);
    for (error, row) in rows.iter().skip(first).zip(0..inner.height) {
        let second = |ns: u64| ns / 1_000_000_000;
        let when = format!("  {} to {} s  ", second(error.first_ns), second(error.last_ns));
        let count = format!("{:>9}  ", error.count);
        canvas.spans(inner, row, &[(&count, BAD), (&error.what, PLAIN), (&when, DIM), (&error.example, DIM)]);
    }
}

pub(super) fn log(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance, controls: &Controls) {
    let title = match controls.log_back {
        0 => "log".to_owned(),
        back => format!("log, {back} lines back"),
    };
    let inner = canvas.titled(area, &title, controls.focus == Panel::Log);
    let end = glance.log.len().saturating_sub(controls.log_back);
    let start = end.saturating_sub(usize::from(inner.height));
    for (line, row) in glance.log.iter().take(end).skip(start).zip(0..inner.height) {
        let (word, style) = match line.level {
            Level::Debug => ("debug ", DIM),
            Level::Info => ("info  ", HINT),
            Level::Warn => ("warn  ", WARNING),
            Level::Error => ("error ", BAD),
        };
        canvas.spans(inner, row, &[(word, style), (&line.text, PLAIN)]);
    }
}
