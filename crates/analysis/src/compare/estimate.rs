//! What a run says about a measure, and how sure it is of it.

use onrush_metrics::Histogram;

use super::{
    Cells, Statistic, blocks,
    cells::{sums, total},
};

/// A statistic of one run with what its own noise makes of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// What the run measured: in the metric's unit, as a share, or a second.
    pub value: f64,
    /// On the scale of comparison: the natural logarithm of the value; of shares the value itself.
    pub scaled: f64,
    /// The standard error of `scaled`.
    pub error: f64,
    /// Independent parts it rests on: its blocks.
    pub blocks: f64,
    /// Seconds it rests on.
    pub seconds: f64,
}

/// Why a run cannot say how sure it is of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unclear {
    /// The metric has no such values.
    Nothing,
    /// It has too few seconds for any statement: it needs so many.
    TooShort {
        /// Seconds it would need.
        needed: f64,
    },
    /// Its seconds remember each other for so long that it has too few that are independent, or it drifts.
    TooSimilar {
        /// Seconds it would need, if it does not drift.
        needed: f64,
    },
    /// Too few values lie above the quantile.
    TooFewBeyond {
        /// How many do.
        values: u64,
    },
}

/// A quantile with fewer values beyond it is decided by single requests.
const BEYOND_LEAST: u64 = 50;

/// Estimates a statistic of cells that are `seconds` long each; `seed` makes resampling repeatable.
///
/// # Errors
/// Why nothing can be said.
pub fn estimate(cells: &Cells, statistic: Statistic, seconds: f64, seed: u64) -> Result<Estimate, Unclear> {
    let (cells, times) = cells.coarse();
    let seconds = seconds * times as f64;
    match (&cells, statistic) {
        (Cells::Values(values), Statistic::Quantile(q)) => quantile(values, q, seconds, seed),
        (Cells::Values(values), Statistic::Mean) => {
            let rows = values.iter().flat_map(|cell| [cell.sum(), cell.count() as f64]).collect();
            let all = total(values);
            if all.is_empty() || all.mean() <= 0.0 {
                Err(Unclear::Nothing)
            } else {
                ratio(rows, seconds, seed, f64::ln)
            }
        }
        (Cells::Shares(shares), Statistic::Share) => {
            let rows = shares.iter().flat_map(|(hits, of)| [*hits as f64, *of as f64]).collect();
            let (hits, of) = sums(shares);
            if of == 0 {
                return Err(Unclear::Nothing);
            }
            let mut found = ratio(rows, seconds, seed, |share| share)?;
            // No failure among so many does not say that there are none: at least the error of independent requests.
            let likely = (hits as f64 + 1.0) / (of as f64 + 2.0);
            found.error = found.error.max((likely * (1.0 - likely) / of as f64).sqrt());
            Ok(found)
        }
        (Cells::Amounts(amounts), Statistic::PerSecond) => {
            let rows = amounts.iter().flat_map(|amount| [*amount, seconds]).collect();
            let total = amounts.iter().sum::<f64>();
            if total <= 0.0 {
                return Err(Unclear::Nothing);
            }
            let mut found = ratio(rows, seconds, seed, f64::ln)?;
            // Even of a rate without any noise one event may fall on this or that side of the end.
            found.error = found.error.max(1.0 / total);
            Ok(found)
        }
        _ => Err(Unclear::Nothing),
    }
}

/// What a run measured, whether or not it can say how sure that is; `None` where it has no samples.
pub fn value(cells: &Cells, statistic: Statistic, seconds: f64) -> Option<f64> {
    let found = match (cells, statistic) {
        (Cells::Values(values), Statistic::Quantile(q)) => {
            Some(total(values)).filter(|all| !all.is_empty())?.quantile(q)
        }
        (Cells::Values(values), Statistic::Mean) => Some(total(values)).filter(|all| !all.is_empty())?.mean(),
        (Cells::Shares(shares), Statistic::Share) => {
            let (hits, of) = sums(shares);
            hits as f64 / of as f64
        }
        (Cells::Amounts(amounts), Statistic::PerSecond) => {
            amounts.iter().sum::<f64>() / (amounts.len() as f64 * seconds)
        }
        _ => return None,
    };
    found.is_finite().then_some(found)
}

/// How a run's cells are resampled.
#[derive(Clone, Copy)]
struct Blocks {
    cells: usize,
    /// Cells in a block.
    length: usize,
    /// Seconds in a cell.
    seconds: f64,
    /// By how much blocks of this length find too small an error.
    correction: f64,
}

impl Blocks {
    /// For a series of cells.
    fn new(series: &[f64], seconds: f64) -> Result<Self, Unclear> {
        let cells = series.len();
        let memory = blocks::memory(series);
        let Some(blocks::Layout { length, missing }) = blocks::layout(cells, memory) else {
            let needed = blocks::cells_needed(memory) as f64 * seconds;
            let is_short = blocks::layout(cells, 1.0).is_none();
            return Err(if is_short { Unclear::TooShort { needed } } else { Unclear::TooSimilar { needed } });
        };
        Ok(Self { cells, length, seconds, correction: (1.0 - missing).sqrt().recip() })
    }

    fn finished(self, value: f64, scaled: f64, drawn: &[f64]) -> Estimate {
        Estimate {
            value,
            scaled,
            error: deviation(drawn) * self.correction,
            blocks: self.cells as f64 / self.length as f64,
            seconds: self.cells as f64 * self.seconds,
        }
    }
}

/// A sum divided by another one; each row has both.
fn ratio(rows: Vec<f64>, seconds: f64, seed: u64, scale: impl Fn(f64) -> f64) -> Result<Estimate, Unclear> {
    let pairs = || rows.chunks_exact(2);
    let (above, below) = pairs().fold((0.0, 0.0), |(above, below), row| (above + row[0], below + row[1]));
    let value = above / below;
    // How each second pulls at the ratio: its memory is what counts.
    let series: Vec<_> = pairs().map(|row| row[0] - value * row[1]).collect();
    let how = Blocks::new(&series, seconds)?;
    let table = blocks::Sums::new(&rows, 2, how.length);
    let (mut drawn, mut found) = (Vec::new(), Vec::new());
    blocks::resample(how.cells, how.length, seed, |starts| {
        table.over(starts, &mut drawn);
        if drawn[1] > 0.0 {
            found.push(scale(drawn[0] / drawn[1]));
        }
    });
    found.retain(|value| value.is_finite());
    Ok(how.finished(value, scale(value), &found))
}

fn quantile(cells: &[Histogram], q: f64, seconds: f64, seed: u64) -> Result<Estimate, Unclear> {
    let all = total(cells);
    let value = all.quantile(q);
    if all.is_empty() || value <= 0.0 {
        return Err(Unclear::Nothing);
    }
    let beyond = (all.count() as f64 * (1.0 - q)) as u64;
    if beyond < BEYOND_LEAST {
        return Err(Unclear::TooFewBeyond { values: beyond });
    }
    // How many of a second's values lie below: what makes the quantile move.
    let below = |cell: &Histogram| {
        cell.buckets().iter().filter(|bucket| bucket.outer <= value).map(|bucket| bucket.count as f64).sum::<f64>()
    };
    let series: Vec<f64> = cells.iter().map(|cell| below(cell) - q * cell.count() as f64).collect();
    let how = Blocks::new(&series, seconds)?;
    let bounds: Vec<f64> = all.buckets().iter().map(|bucket| bucket.outer).collect();
    // The run's own quantile as resampled ones are found.
    let mut scaled = value.ln();
    // Those are close to it, so few buckets are looked at; more where they are not.
    let mut reach = 1.25;
    let drawn = loop {
        let window = Window::new(&bounds, value, reach);
        if let Some(drawn) = window.resampled(cells, q, how, seed) {
            let mut counts = vec![0.0; window.columns()];
            window.count(&all, &mut counts);
            scaled = window.quantile(&counts, q).map_or(scaled, f64::ln);
            break drawn;
        }
        if window.is_whole() {
            return Err(Unclear::Nothing);
        }
        reach *= reach;
    };
    let mut found = how.finished(value, scaled, &drawn);
    // What falls into one bucket is off by half of it, however often it is drawn.
    found.error = found.error.max(onrush_metrics::RELATIVE_ERROR / 2.0);
    Ok(found)
}

/// The buckets around a quantile; values below and above are counted, not told apart.
struct Window<'a> {
    /// Ends of the run's buckets.
    bounds: &'a [f64],
    first: usize,
    end: usize,
}

impl<'a> Window<'a> {
    /// The buckets up to `reach` times the value, and down to so small a part of it.
    fn new(bounds: &'a [f64], value: f64, reach: f64) -> Self {
        let first = bounds.partition_point(|bound| *bound < value / reach);
        let end = bounds.partition_point(|bound| *bound <= value * reach);
        Self { bounds, first, end }
    }

    fn is_whole(&self) -> bool {
        self.first == 0 && self.end == self.bounds.len()
    }

    /// A column for what is below, one for each bucket, one for what is above.
    fn columns(&self) -> usize {
        self.end - self.first + 2
    }

    /// Adds a cell's values to a row of columns.
    fn count(&self, cell: &Histogram, row: &mut [f64]) {
        for bucket in cell.buckets() {
            let place = self.bounds.partition_point(|bound| *bound < bucket.outer).min(self.end);
            let column = if place < self.first { 0 } else { place - self.first + 1 };
            row[column] += bucket.count as f64;
        }
    }

    /// Logarithms of resampled quantiles; `None` if one is not among the buckets.
    fn resampled(&self, cells: &[Histogram], q: f64, how: Blocks, seed: u64) -> Option<Vec<f64>> {
        let columns = self.columns();
        let mut rows = vec![0.0; cells.len() * columns];
        cells.iter().zip(rows.chunks_exact_mut(columns)).for_each(|(cell, row)| self.count(cell, row));
        let table = blocks::Sums::new(&rows, columns, how.length);
        drop(rows);
        let (mut drawn, mut found) = (Vec::new(), Some(Vec::new()));
        blocks::resample(how.cells, how.length, seed, |starts| {
            if let Some(quantiles) = &mut found {
                table.over(starts, &mut drawn);
                match self.quantile(&drawn, q) {
                    Some(value) => quantiles.push(value.ln()),
                    None => found = None,
                }
            }
        });
        found
    }

    /// The quantile of counted values, interpolated geometrically within its bucket.
    fn quantile(&self, counts: &[f64], q: f64) -> Option<f64> {
        let rank = q * counts.iter().sum::<f64>();
        let mut below = counts[0];
        if below > rank {
            return None;
        }
        for (index, bound) in (self.first..self.end).zip(&self.bounds[self.first..self.end]) {
            let count = counts[index - self.first + 1];
            if count > 0.0 && below + count >= rank {
                // Buckets are this wide; the one before may be far away.
                let inner = bound / (1.0 + 2.0 * onrush_metrics::RELATIVE_ERROR);
                let inner = index.checked_sub(1).map_or(inner, |before| inner.max(self.bounds[before]));
                let part = ((rank - below) / count).clamp(0.0, 1.0);
                return (*bound > 0.0).then(|| inner * (bound / inner).powf(part));
            }
            below += count;
        }
        None
    }
}

fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
}
