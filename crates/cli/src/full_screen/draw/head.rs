//! The first rows: what runs, for how long, and what there is to say about it in words.

use onrush_metrics::summary::Verdict;
use ratatui::layout::Rect;

use super::canvas::{BAD, BOLD, Canvas, DIM, GOOD, PLAIN, WARNING};
use crate::full_screen::glance::{Glance, ThresholdLine, ThresholdStanding};

/// Rows of a screen with so many that go to the head.
pub(super) fn rows(glance: &Glance, rows: u16) -> u16 {
    /// Thresholds that a usual screen shows one by one.
    const FEW: u16 = 1;
    let room = if rows >= 40 { 6 } else { FEW };
    2 + u16::try_from(glance.thresholds.len()).unwrap_or(u16::MAX).clamp(1, room)
}

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance) {
    let Glance { script, stage, elapsed, planned, fraction, .. } = glance;
    let bar = canvas.signs.bar(*fraction, 20);
    let time = format!("{elapsed} of {planned} [{bar}] {:3.0} %", fraction.clamp(0.0, 1.0) * 100.0);
    let width = u16::try_from(time.chars().count() + 1).unwrap_or(u16::MAX);
    let before = Rect { width: area.width.saturating_sub(width), ..area };
    canvas.spans(before, 0, &[("onrush ", BOLD), (stage, BOLD), ("  ", PLAIN), (script, PLAIN)]);
    canvas.at_end(area, 0, &time, PLAIN);
    let (verdict, reasons) = &glance.verdict;
    let style = match verdict {
        Verdict::Valid => GOOD,
        Verdict::Suspect => WARNING,
        Verdict::Invalid => BAD,
    };
    let reasons = match reasons.first() {
        Some(first) if reasons.len() > 1 => format!(": {first} (and {} more)", reasons.len() - 1),
        Some(first) => format!(": {first}"),
        None => ": the generator keeps up".to_owned(),
    };
    canvas.spans(area, 1, &[("measurement ", PLAIN), (verdict.as_str(), style), (&reasons, PLAIN)]);
    thresholds(canvas, Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area }, &glance.thresholds);
}

fn thresholds(canvas: &mut Canvas<'_>, area: Rect, all: &[ThresholdLine]) {
    let count = |standing| all.iter().filter(|line| line.standing == standing).count();
    if all.is_empty() {
        return canvas.text(area, 0, "no thresholds", DIM);
    }
    if all.len() <= usize::from(area.height) {
        all.iter().zip(0..).for_each(|(line, row)| one(canvas, area, row, line, "threshold "));
        return;
    }
    let holds = count(ThresholdStanding::Holds);
    let waiting = match count(ThresholdStanding::NotJudged) {
        0 => String::new(),
        waiting => format!(", {waiting} not judged yet"),
    };
    let counted = format!("{holds} of {} thresholds hold{waiting} ", all.len());
    // Those that are crossed come first.
    for (line, row) in all.iter().zip(0..area.height) {
        one(canvas, area, row, line, if row == 0 { &counted } else { "threshold " });
    }
}

fn one(canvas: &mut Canvas<'_>, area: Rect, row: u16, line: &ThresholdLine, before: &str) {
    let (word, style) = match line.standing {
        ThresholdStanding::Holds => ("holds", GOOD),
        ThresholdStanding::Crossed => ("CROSSED", BAD),
        ThresholdStanding::NotJudged => ("not judged yet", DIM),
    };
    let observed = line.observed.as_ref().map_or(String::new(), |value| format!(" ({value})"));
    canvas.spans(area, row, &[(before, PLAIN), (word, style), (": ", PLAIN), (&line.text, PLAIN), (&observed, PLAIN)]);
}
