//! How durations went: time from left to right, slower above, denser signs where more of a moment's durations were.

use ratatui::layout::Rect;

use super::canvas::{Canvas, DIM, PLAIN};
use crate::{
    full_screen::{
        history::{BINS, Column, History, bin_ms},
        signs::HEAT_MAX,
    },
    progress::milliseconds,
};

/// Columns of the scale at the left.
const SCALE: u16 = 10;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, history: &History) {
    let (columns, seconds) = history.fitted(usize::from(area.width.saturating_sub(SCALE)));
    let levels: String = (1..=HEAT_MAX).map(|level| canvas.signs.heat(level)).collect();
    let title = format!("{} over time ({levels}: few to most), {seconds} s a column", history.heated().metric());
    let inner = canvas.titled(area, &title, false);
    let used = |bin: usize| columns.iter().any(|column| column.heat[bin] > 0);
    let (Some(first), Some(last)) = ((0..BINS).find(|bin| used(*bin)), (0..BINS).rfind(|bin| used(*bin))) else {
        return canvas.text(inner, 0, "nothing yet", DIM);
    };
    let rows = usize::from(inner.height).max(1);
    let each = (last + 1 - first).div_ceil(rows).max(1);
    // A scale that moves with every column could not be read.
    let count = (last + 1 - first).div_ceil(each);
    for row in 0..count.min(rows) {
        let from = first + (count - 1 - row) * each;
        let to = (from + each).min(BINS);
        let cells: String = columns.iter().map(|column| canvas.signs.heat(level(column, from..to))).collect();
        let scale = format!("{:>9} ", milliseconds(bin_ms(to)));
        // The cast is exact: rows of a screen.
        canvas.spans(inner, row as u16, &[(&scale, DIM), (&cells, PLAIN)]);
    }
}

/// How much of a column's durations lies there.
fn level(column: &Column, bins: std::ops::Range<usize>) -> usize {
    let all: u64 = column.heat.iter().map(|count| u64::from(*count)).sum();
    let here: u64 = column.heat[bins].iter().map(|count| u64::from(*count)).sum();
    if here == 0 {
        return 0;
    }
    let share = here as f64 / all as f64;
    1 + SHARES.iter().filter(|least| share >= **least).count()
}

/// From which share of a moment's durations on a sign is denser: the few slow ones must be seen, too.
const SHARES: [f64; HEAT_MAX - 1] = [0.01, 0.05, 0.2, 0.5];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_is_seen() {
        let mut column = Column::default();
        (column.heat[3], column.heat[9]) = (999_999, 1);
        assert_eq!([0..3, 3..5, 5..9, 9..12].map(|bins| level(&column, bins)), [0, HEAT_MAX, 0, 1]);
    }
}
