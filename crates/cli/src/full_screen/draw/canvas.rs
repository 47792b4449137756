//! The cells of a screen, and how texts get into them: cleaned, and never past an edge.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
};

use crate::full_screen::{clean::clean, signs::Signs};

/// What is drawn on.
pub(super) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    pub(super) signs: Signs,
}

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(super) const GOOD: Style = Style::new().fg(Color::Green);
pub(super) const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
pub(super) const WARNING: Style = Style::new().fg(Color::Yellow);
pub(super) const HINT: Style = Style::new().fg(Color::Cyan);

impl<'a> Canvas<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, signs: Signs) -> Self {
        Self { buffer, signs }
    }

    /// A text in a row of an area, as far as it fits.
    pub(super) fn text(&mut self, area: Rect, row: u16, text: &str, style: Style) {
        self.spans(area, row, &[(text, style)]);
    }

    /// Texts one after the other in a row of an area, as far as they fit.
    pub(super) fn spans(&mut self, area: Rect, row: u16, spans: &[(&str, Style)]) {
        if row < area.height {
            let line: Line<'_> = spans.iter().map(|(text, style)| Span::styled(clean(text), *style)).collect();
            self.buffer.set_line(area.x, area.y + row, &line, area.width);
        }
    }

    /// A text that ends where the row ends.
    pub(super) fn at_end(&mut self, area: Rect, row: u16, text: &str, style: Style) {
        let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX).min(area.width);
        self.text(Rect { x: area.x + area.width - width, width, ..area }, row, text, style);
    }

    /// A title in the first row of an area and a line behind it. Returns what is below.
    pub(super) fn titled(&mut self, area: Rect, title: &str, is_focused: bool) -> Rect {
        self.text(area, 0, &self.signs.rule().repeat(usize::from(area.width)), DIM);
        let (mark, style) = if is_focused { (">", REVERSED) } else { (" ", BOLD) };
        let title = format!("{mark}{title} ");
        self.text(Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area }, 0, &title, style);
        Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
    }

    /// Empties an area.
    pub(super) fn erase(&mut self, area: Rect) {
        (0..area.height).for_each(|row| self.text(area, row, &" ".repeat(usize::from(area.width)), PLAIN));
    }
}
