//! The signs that pictures are made of: block characters, or ASCII where the terminal may not have them.

/// Which signs a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signs {
    Blocks,
    Ascii,
}

impl Signs {
    /// A column of so many eighths of a cell.
    pub(crate) fn column(self, eighths: usize) -> char {
        let signs = match self {
            Self::Blocks => [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => [' ', '.', '.', ':', ':', '-', '=', '+', '#'],
        };
        signs[eighths.min(8)]
    }

    /// A row of so many eighths of a cell.
    pub(crate) fn row(self, eighths: usize) -> char {
        let signs = match self {
            Self::Blocks => [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
            Self::Ascii => [' ', ' ', ' ', '-', '-', '-', '=', '=', '#'],
        };
        signs[eighths.min(8)]
    }

    /// Heat, from none to all of it.
    pub(crate) fn heat(self, level: usize) -> char {
        let signs = match self {
            Self::Blocks => [' ', '·', '░', '▒', '▓', '█'],
            Self::Ascii => [' ', '.', ':', '+', '*', '#'],
        };
        signs[level.min(HEAT_MAX)]
    }

    /// A line between panels.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Blocks => "─",
            Self::Ascii => "-",
        }
    }

    /// A line of values, the largest of which fills a cell.
    pub(crate) fn sparkline(self, values: impl IntoIterator<Item = f64> + Clone) -> String {
        let most = values.clone().into_iter().fold(0.0, f64::max);
        let eighths = |value: f64| if value > 0.0 && most > 0.0 { ((value / most) * 8.0).ceil() as usize } else { 0 };
        values.into_iter().map(|value| self.column(eighths(value))).collect()
    }

    /// A bar of so many cells.
    pub(crate) fn bar(self, fraction: f64, cells: usize) -> String {
        // NaN becomes 0.
        let eighths = (fraction.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
        (0..cells).map(|cell| self.row(eighths.saturating_sub(cell * 8).min(8))).collect()
    }
}

/// The highest level of [`Signs::heat`].
pub(crate) const HEAT_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures() {
        assert_eq!(Signs::Blocks.sparkline([0.0, 1.0, 4.0, 8.0]), " ▁▄█");
        assert_eq!(Signs::Ascii.sparkline([0.0, 1.0, 4.0, 8.0]), " .:#");
        assert_eq!(Signs::Blocks.sparkline([0.0, 0.0]), "  ");
        assert_eq!(Signs::Blocks.bar(0.5, 3), "█▌ ");
        assert_eq!(Signs::Ascii.bar(0.5, 3), "#- ");
        assert_eq!(Signs::Ascii.bar(f64::NAN, 3), "   ");
        assert_eq!([0, 5, 9].map(|level| Signs::Blocks.heat(level)), [' ', '█', '█']);
    }
}
