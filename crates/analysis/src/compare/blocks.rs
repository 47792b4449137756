//! Seconds resampled in blocks: the circular moving-block bootstrap (Künsch 1989; Politis and Romano 1992).
//!
//! A run whose seconds remember each other knows less than its number of seconds says. Blocks that are drawn whole
//! keep that memory; they are as long as three times the time over which it lasts (the integrated autocorrelation time).

use fastrand::Rng;

/// How long memory may last that is looked for, as a part of the run: longer ones are not told from drift.
const LAGS_PART: usize = 4;
/// Blocks are no shorter, in cells.
const BLOCK_LEAST: usize = 2;
/// How many times as long as the memory blocks are.
const TIMES: f64 = 3.0;
/// A run has at least so many blocks: with fewer, their spread says little.
const BLOCKS_LEAST: usize = 10;
/// A run needs so many cells, however little they remember.
const CELLS_LEAST: usize = 50;
/// Of this part of the variance at most is known only from how long the memory seems to be.
const MISSING_MOST: f64 = 0.5;

/// The integrated autocorrelation time of a series, in cells: 1 for independent ones. Sokal's rule: it is summed up to a lag of six
/// times itself. Around a mean that is the series' own, each lag comes out too small by about one part in as many as there are cells.
pub(super) fn memory(series: &[f64]) -> f64 {
    /// Sokal's window, in times of memory.
    const WINDOW: f64 = 6.0;
    let count = series.len();
    let mean = series.iter().sum::<f64>() / count.max(1) as f64;
    let variance = series.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let mut time = 1.0;
    for lag in 1..count / LAGS_PART {
        let pairs = series.iter().zip(&series[lag..]);
        time += 2.0 * pairs.map(|(first, later)| (first - mean) * (later - mean)).sum::<f64>() / variance;
        if lag as f64 >= WINDOW * time {
            time /= 1.0 - (2 * lag + 1) as f64 / count as f64;
            break;
        }
    }
    time.max(1.0)
}

/// Blocks of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Layout {
    /// Cells in a block.
    pub(super) length: usize,
    /// The part of the variance that blocks of this length do not see: what neighbouring blocks share (of a memory that fades
    /// evenly, as that of an autoregressive process of first order does), and that they are drawn around the run's own mean.
    pub(super) missing: f64,
}

/// How blocks are laid for a memory that long, in cells: as long as it takes, or as a tenth of the run. `None` where too much of
/// the variance would be a guess.
pub(super) fn layout(cells: usize, memory: f64) -> Option<Layout> {
    if cells < CELLS_LEAST {
        return None;
    }
    let length = ((TIMES * memory).ceil() as usize).max(BLOCK_LEAST).min(cells / BLOCKS_LEAST);
    // The memory is an estimate, and an error of it to this side is the dangerous one. Its standard deviation is that of a sum up to
    // six times itself (Sokal 1997).
    let unsure = (2.0 * (12.0 * memory + 1.0) / cells as f64).sqrt();
    let memory = memory * (1.0 + unsure / 2.0);
    let missing = (memory * memory - 1.0) / (2.0 * memory * length as f64) + length as f64 / cells as f64;
    (missing <= MISSING_MOST).then_some(Layout { length, missing })
}

/// How many cells a run with a memory that long needs.
pub(super) fn cells_needed(memory: f64) -> usize {
    ((TIMES * memory).ceil() as usize * BLOCKS_LEAST).max(CELLS_LEAST)
}

/// Draws series as long as the run's, block by block; `seed` makes it repeatable. `draw` gets the first cells of the blocks.
pub(super) fn resample(cells: usize, length: usize, seed: u64, mut draw: impl FnMut(&[usize])) {
    /// Enough for a standard deviation to 3 %.
    const RESAMPLES: usize = 600;
    let mut random = Rng::with_seed(seed);
    let mut starts = vec![0; cells.div_ceil(length)];
    for _ in 0..RESAMPLES {
        starts.fill_with(|| random.usize(..cells));
        draw(&starts);
    }
}

/// Sums of columns over any block, in a time that does not depend on its length.
pub(super) struct Sums {
    columns: usize,
    length: usize,
    /// Row `i`: the sums over all cells before cell `i`; behind the last cell the first ones come again.
    before: Vec<f64>,
}

impl Sums {
    /// `rows` has a row of so many columns for each cell.
    pub(super) fn new(rows: &[f64], columns: usize, length: usize) -> Self {
        let count = rows.len() / columns.max(1);
        let mut before = Vec::with_capacity((count + length + 1) * columns);
        before.resize(columns, 0.0);
        for index in 0..count + length {
            let row = &rows[index % count * columns..][..columns];
            let last = before.len() - columns;
            for (column, value) in row.iter().enumerate() {
                before.push(before[last + column] + value);
            }
        }
        Self { columns, length, before }
    }

    /// The sums over blocks that begin at these cells.
    pub(super) fn over(&self, starts: &[usize], sums: &mut Vec<f64>) {
        sums.clear();
        sums.resize(self.columns, 0.0);
        for start in starts {
            let before = &self.before[start * self.columns..][..self.columns];
            let behind = &self.before[(start + self.length) * self.columns..][..self.columns];
            for ((sum, before), behind) in sums.iter_mut().zip(before).zip(behind) {
                *sum += behind - before;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that remember the one before by this part.
    fn remembering(part: f64, count: usize) -> Vec<f64> {
        let mut random = Rng::with_seed(1);
        let mut value = 0.0;
        let mut next = || {
            value = part * value + random.f64() - 0.5;
            value
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn memory_is_found() {
        for (part, expect) in [(0.0, 1.0), (0.5, 3.0), (0.8, 9.0), (0.9, 19.0)] {
            let found = memory(&remembering(part, 20_000));
            assert!((found / expect - 1.0_f64).abs() < 0.25, "{part}: {found} instead of {expect}");
        }
        assert_eq!(memory(&[3.0; 100]), 1.0);
        assert_eq!(memory(&[]), 1.0);
        // A run that drifts all the time remembers all of itself.
        let drift: Vec<_> = (0..600).map(f64::from).collect();
        assert_eq!(layout(600, memory(&drift)), None);
    }

    #[test]
    fn runs_too_short_for_their_memory_are_refused() {
        let length = |cells, memory| layout(cells, memory).map(|layout| layout.length);
        assert_eq!(length(600, 1.0), Some(3));
        assert_eq!(length(600, 11.9), Some(36));
        // No longer than a tenth.
        assert_eq!(length(600, 30.0), Some(60));
        assert_eq!(length(600, 60.0), None);
        assert_eq!(length(49, 1.0), None);
        assert_eq!((cells_needed(1.0), cells_needed(60.0)), (50, 1_800));
        assert!(layout(600, 1.0).is_some_and(|layout| layout.missing < 0.05));
        assert!(layout(600, 30.0).is_some_and(|layout| (0.4..0.5).contains(&layout.missing)));
    }

    #[test]
    fn sums_of_blocks_go_round() {
        let rows = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        let sums = Sums::new(&rows, 2, 2);
        let mut found = Vec::new();
        sums.over(&[0, 2], &mut found);
        assert_eq!(found, [1.0 + 2.0 + 3.0 + 1.0, 10.0 + 20.0 + 30.0 + 10.0]);
    }
}
