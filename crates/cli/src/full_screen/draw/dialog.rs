//! The row of keys at the bottom, and what lies over the view: help, questions, a target being typed.

use ratatui::layout::Rect;

use super::canvas::{BAD, BOLD, Canvas, HINT, PLAIN, REVERSED};
use crate::full_screen::{
    controls::{Controls, Dialog},
    glance::Glance,
};

/// The row of keys, or what became of the last wish.
pub(super) fn keys(canvas: &mut Canvas<'_>, area: Rect, controls: &Controls) {
    if let Some(said) = &controls.said {
        return canvas.text(area, 0, said, REVERSED);
    }
    let keys = [
        ("?", " help  "),
        ("p", " pause  "),
        ("+ - t", " target  "),
        ("Tab", " panel  "),
        ("s", " sort  "),
        ("a", " abort  "),
        ("q", " leave the view"),
    ];
    let spans: Vec<(&str, _)> = keys.iter().flat_map(|(key, what)| [(*key, HINT), (*what, PLAIN)]).collect();
    canvas.spans(area, 0, &spans);
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance, controls: &Controls) {
    match &controls.dialog {
        None => {}
        Some(Dialog::Help) => window(canvas, area, "keys", &HELP.map(str::to_owned)),
        Some(Dialog::ConfirmAbort) => {
            let lines = ["End the test now? What was measured stays.", "", "y  end it      any other key  go on"];
            window(canvas, area, "abort", &lines.map(str::to_owned));
        }
        Some(Dialog::Target(typed)) => {
            let name = glance.scenarios.get(controls.scenario).map_or("", |line| &line.row.name);
            let now = glance.target(controls.scenario).map_or(String::new(), |target| target.to_string());
            let lines = [
                format!("New target of '{name}', now {now}: {typed}_"),
                String::new(),
                "Enter  change it      Esc  leave it".to_owned(),
            ];
            window(canvas, area, "target", &lines);
        }
    }
}

const HELP: [&str; 13] = [
    "p, Space     pause the test, or go on",
    "+, -         raise or lower the chosen scenario's target by a tenth",
    "t            type its target: VUs, or iterations per time unit",
    "Tab          the next panel: scenarios, errors, log",
    "Up, Down     choose a scenario, scroll errors or the log",
    "PgUp, PgDn   ten rows; Home, End: to the ends",
    "s            sort errors by another column",
    "a            abort the test; it asks first",
    "q            leave the view: the test goes on below your prompt",
    "Ctrl+C       end the test in order, as without the view; twice: at once",
    "Ctrl+Z       stop the program; fg resumes it",
    "",
    "any key closes this",
];

/// A window in the middle of the screen.
fn window(canvas: &mut Canvas<'_>, area: Rect, title: &str, lines: &[String]) {
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = u16::try_from(widest + 4).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 3).unwrap_or(u16::MAX).min(area.height);
    let window = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    canvas.erase(window);
    let inner = canvas.titled(window, title, true);
    let inner = Rect { x: inner.x + 2, width: inner.width.saturating_sub(4), ..inner };
    for (line, row) in lines.iter().zip(1..) {
        let style = if title == "abort" && row == 1 { BAD } else { PLAIN };
        canvas.text(inner, row, line, style);
    }
    canvas.text(window, window.height - 1, &canvas.signs.rule().repeat(usize::from(width)), BOLD);
}
