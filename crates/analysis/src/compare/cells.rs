//! What a run measured, second by second.

use onrush_metrics::Histogram;

/// One metric of a run; each cell is a second (or whatever the run's steps are).
#[derive(Debug, Clone)]
pub enum Cells {
    /// A trend: the distribution of each second.
    Values(Vec<Histogram>),
    /// A rate: how often it was true, and out of how many.
    Shares(Vec<(u64, u64)>),
    /// A counter: by how much it grew.
    Amounts(Vec<f64>),
}

/// More cells than this are added up in twos before they are resampled: intervals need no more, and eight hours of seconds
/// would need gigabytes.
const CELLS_MAX: usize = 1_200;

impl Cells {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Values(cells) => cells.len(),
            Self::Shares(cells) => cells.len(),
            Self::Amounts(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those from `first` until before `end`; fewer where there are fewer.
    #[must_use]
    pub fn part(&self, first: usize, end: usize) -> Self {
        let end = end.min(self.len());
        let range = first.min(end)..end;
        match self {
            Self::Values(cells) => Self::Values(cells[range].to_vec()),
            Self::Shares(cells) => Self::Shares(cells[range].to_vec()),
            Self::Amounts(cells) => Self::Amounts(cells[range].to_vec()),
        }
    }

    /// The same in at most [`CELLS_MAX`] cells, and how many of the old ones are in a new one. What is left at the end goes
    /// to the last.
    pub(super) fn coarse(&self) -> (Self, usize) {
        let times = self.len().div_ceil(CELLS_MAX).max(1);
        let ranges = || {
            let count = (self.len() / times).max(1);
            (0..count).map(move |index| {
                let end = if index + 1 == count { self.len() } else { (index + 1) * times };
                index * times..end
            })
        };
        let cells = match self {
            _ if times == 1 => self.clone(),
            Self::Values(cells) => Self::Values(ranges().map(|range| total(&cells[range])).collect()),
            Self::Shares(cells) => Self::Shares(ranges().map(|range| sums(&cells[range])).collect()),
            Self::Amounts(cells) => Self::Amounts(ranges().map(|range| cells[range].iter().sum()).collect()),
        };
        (cells, times)
    }
}

/// All distributions in one.
pub(super) fn total(cells: &[Histogram]) -> Histogram {
    let mut all = Histogram::new();
    cells.iter().for_each(|cell| all.merge(cell));
    all
}

/// All shares in one.
pub(super) fn sums(cells: &[(u64, u64)]) -> (u64, u64) {
    cells.iter().fold((0, 0), |(hits, of), (more, more_of)| (hits + more, of + more_of))
}
