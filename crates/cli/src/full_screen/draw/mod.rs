//! Draws a glance into the cells of a screen: which panel goes where, and what lies over them.

mod canvas;
mod dialog;
mod head;
mod heatmap;
mod lists;
mod numbers;

use ratatui::{buffer::Buffer, layout::Rect};

use self::canvas::Canvas;
use super::{controls::Controls, glance::Glance, signs::Signs};

/// Columns from which panels stand side by side.
const WIDE: u16 = 120;
/// What is too small for anything but a word.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 10;

/// The whole screen.
pub(crate) fn screen(glance: &Glance, controls: &Controls, signs: Signs, columns: u16, rows: u16) -> Buffer {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    let mut canvas = Canvas::new(&mut buffer, signs);
    if columns < COLUMNS_MIN || rows < ROWS_MIN {
        canvas.text(area, 0, "too small: q leaves the view", canvas::BOLD);
        return buffer;
    }
    let (head, rest) = cut_top(area, head::rows(glance, rows));
    head::draw(&mut canvas, head, glance);
    let (rest, keys) = cut_top(rest, rest.height.saturating_sub(1));
    dialog::keys(&mut canvas, keys, controls);
    if columns >= WIDE {
        let left = Rect { width: rest.width * 3 / 5, ..rest };
        let right = Rect { x: rest.x + left.width + 1, width: rest.width - left.width - 1, ..rest };
        stack(&mut canvas, left, &MEASURED, glance, controls);
        stack(&mut canvas, right, &LISTED, glance, controls);
    } else {
        stack(&mut canvas, rest, &[MEASURED.as_slice(), &LISTED].concat(), glance, controls);
    }
    dialog::draw(&mut canvas, area, glance, controls);
    buffer
}

/// A part of the screen with a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Rates,
    Latency,
    Heatmap,
    Scenarios,
    Agents,
    Errors,
    Log,
}

const MEASURED: [Part; 3] = [Part::Rates, Part::Latency, Part::Heatmap];
const LISTED: [Part; 4] = [Part::Scenarios, Part::Agents, Part::Errors, Part::Log];

impl Part {
    /// Rows it needs, title included, and rows it can use.
    fn rows(self, glance: &Glance) -> (u16, u16) {
        /// Rows that a list begins with.
        const LIST: u16 = 3;
        let list = |rows: usize| {
            let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(1);
            (LIST.min(wanted), wanted)
        };
        match self {
            Self::Rates => (3, 3),
            Self::Latency => (3, 3),
            Self::Heatmap => (5, 25),
            Self::Scenarios => list(glance.scenarios.len()),
            Self::Agents if glance.agents.is_empty() => (0, 0),
            Self::Agents => list(glance.agents.len()),
            Self::Errors => list(glance.errors.len().max(2)),
            Self::Log => (LIST, u16::MAX),
        }
    }

    fn draw(self, canvas: &mut Canvas<'_>, area: Rect, glance: &Glance, controls: &Controls) {
        match self {
            Self::Rates => numbers::rates(canvas, area, glance),
            Self::Latency => numbers::latency(canvas, area, glance),
            Self::Heatmap => heatmap::draw(canvas, area, &glance.history),
            Self::Scenarios => lists::scenarios(canvas, area, glance, controls),
            Self::Agents => lists::agents(canvas, area, glance),
            Self::Errors => lists::errors(canvas, area, glance, controls),
            Self::Log => lists::log(canvas, area, glance, controls),
        }
    }
}

/// Parts one below the other. What they need comes first; what is left is shared by those that can use it.
fn stack(canvas: &mut Canvas<'_>, area: Rect, parts: &[Part], glance: &Glance, controls: &Controls) {
    let wants: Vec<(u16, u16)> = parts.iter().map(|part| part.rows(glance)).collect();
    let mut top = area.y;
    for (part, height) in parts.iter().zip(heights(area.height, &wants)) {
        if height > 0 {
            part.draw(canvas, Rect { y: top, height, ..area }, glance, controls);
        }
        top += height;
    }
}

fn heights(mut left: u16, wants: &[(u16, u16)]) -> Vec<u16> {
    let mut heights: Vec<u16> = wants
        .iter()
        .map(|(least, _)| {
            let height = if *least <= left { *least } else { 0 };
            left -= height;
            height
        })
        .collect();
    while left > 0 {
        let before = left;
        for (height, (_, most)) in heights.iter_mut().zip(wants) {
            if left > 0 && *height > 0 && *height < *most {
                *height += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    heights
}

fn cut_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared() {
        assert_eq!(heights(10, &[(3, 3), (2, 5), (1, u16::MAX)]), [3, 4, 3]);
        assert_eq!(heights(30, &[(3, 3), (2, 5), (1, 4)]), [3, 5, 4]);
        // What does not fit is left out; a smaller part below may fit.
        assert_eq!(heights(4, &[(3, 3), (2, 5), (1, 9)]), [3, 0, 1]);
        assert_eq!(heights(0, &[(3, 3)]), [0]);
    }
}
