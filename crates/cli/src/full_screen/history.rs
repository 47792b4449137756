//! How the run went so far, for sparklines and the heatmap: a limited number of columns that become wider as it goes on.

use std::collections::VecDeque;

use onrush_fiber::Nanos;
use onrush_metrics::Histogram;

use crate::progress::Measured;

/// The run so far.
#[derive(Debug, Clone)]
pub(crate) struct History {
    columns: VecDeque<Column>,
    /// Seconds that a column covers.
    seconds: u64,
    /// The first second of the first column, in the process's clock.
    began: Option<u64>,
    /// What the heat is of.
    of: Heated,
}

/// What durations are shown of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Heated {
    #[default]
    Iterations,
    /// As soon as there is one.
    Requests,
}

/// What happened in a span of time.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) requests: f64,
    pub(crate) failed: f64,
    pub(crate) iterations: f64,
    /// The most VUs.
    pub(crate) vus: u64,
    /// How many durations fell into each bin.
    pub(crate) heat: [u32; BINS],
}

/// Columns that are kept: more than the widest terminals have.
const COLUMNS_MAX: usize = 512;
/// Bins of durations: from 0.01 ms to 1,000 s, each a sixth of a factor of ten wide.
pub(crate) const BINS: usize = BINS_PER_DECADE * 8;
const BINS_PER_DECADE: usize = 6;
const LEAST_MS: f64 = 0.01;

impl Default for History {
    fn default() -> Self {
        Self { columns: VecDeque::new(), seconds: 1, began: None, of: Heated::default() }
    }
}

impl Default for Column {
    fn default() -> Self {
        Self { requests: 0.0, failed: 0.0, iterations: 0.0, vus: 0, heat: [0; BINS] }
    }
}

impl Heated {
    /// The metric's name.
    pub(crate) fn metric(self) -> &'static str {
        match self {
            Self::Iterations => "iteration_duration",
            Self::Requests => "http_req_duration",
        }
    }

    /// Its durations.
    pub(crate) fn durations(self, measured: &Measured) -> &Histogram {
        match self {
            Self::Iterations => &measured.iteration_durations,
            Self::Requests => &measured.durations,
        }
    }
}

impl History {
    /// Takes what a thread measured.
    pub(crate) fn note(&mut self, measured: &Measured, now: Nanos) {
        if self.of == Heated::Iterations && !measured.durations.is_empty() {
            // One scale for all columns.
            self.of = Heated::Requests;
            self.columns.iter_mut().for_each(|column| column.heat = [0; BINS]);
        }
        let of = self.of;
        let column = self.column(now);
        column.requests += measured.requests;
        column.failed += measured.failed.0 as f64;
        column.iterations += measured.iterations;
        for bucket in of.durations(measured).buckets() {
            let bin = &mut column.heat[bin(bucket.outer)];
            *bin = bin.saturating_add(u32::try_from(bucket.count).unwrap_or(u32::MAX));
        }
    }

    /// How many VUs there are now.
    pub(crate) fn vus(&mut self, vus: u64, now: Nanos) {
        let column = self.column(now);
        column.vus = column.vus.max(vus);
    }

    /// What the heat is of.
    pub(crate) fn heated(&self) -> Heated {
        self.of
    }

    /// The same in so many columns at most, and how many seconds each of them covers.
    pub(crate) fn fitted(&self, columns: usize) -> (Vec<Column>, u64) {
        let group = self.columns.len().div_ceil(columns.max(1)).max(1);
        let all: Vec<&Column> = self.columns.iter().collect();
        let fitted = all.chunks(group).map(|chunk| {
            let mut sum = Column::default();
            chunk.iter().for_each(|column| sum.merge(column));
            sum
        });
        (fitted.collect(), self.seconds * group as u64)
    }

    fn column(&mut self, now: Nanos) -> &mut Column {
        let second = now.0 / 1_000_000_000;
        let began = *self.began.get_or_insert(second);
        let mut index = second.saturating_sub(began) / self.seconds;
        while index >= COLUMNS_MAX as u64 {
            self.halve();
            index = second.saturating_sub(began) / self.seconds;
        }
        // The cast is exact: it is below COLUMNS_MAX.
        let index = index as usize;
        while self.columns.len() <= index {
            self.columns.push_back(Column::default());
        }
        &mut self.columns[index]
    }

    fn halve(&mut self) {
        let (halved, _) = self.fitted(self.columns.len().div_ceil(2));
        self.columns = halved.into();
        self.seconds *= 2;
    }
}

impl Column {
    fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.iterations += other.iterations;
        self.vus = self.vus.max(other.vus);
        for (own, more) in self.heat.iter_mut().zip(other.heat) {
            *own = own.saturating_add(more);
        }
    }
}

/// The bin of a duration in milliseconds.
fn bin(ms: f64) -> usize {
    // NaN and what is below become 0.
    (((ms / LEAST_MS).log10() * BINS_PER_DECADE as f64).max(0.0) as usize).min(BINS - 1)
}

/// Where a bin begins, in milliseconds.
pub(crate) fn bin_ms(bin: usize) -> f64 {
    LEAST_MS * 10_f64.powf(bin as f64 / BINS_PER_DECADE as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(requests: f64, ms: f64) -> Measured {
        let mut durations = Histogram::new();
        durations.record_n(ms, requests as u64);
        Measured { requests, durations, ..Measured::default() }
    }

    #[test]
    fn long_runs_have_wider_columns_and_lose_nothing() {
        let mut history = History::default();
        let seconds = 3 * COLUMNS_MAX as u64;
        for second in 0..seconds {
            history.note(&measured(2.0, 5.0), Nanos::from_secs(100 + second));
            history.vus(second, Nanos::from_secs(100 + second));
        }
        assert_eq!((history.columns.len(), history.seconds), (seconds as usize / 4, 4));
        assert_eq!(history.columns.iter().map(|column| column.requests).sum::<f64>(), 2.0 * seconds as f64);
        assert_eq!(history.columns.back().expect("columns").vus, seconds - 1);
        let heat: u32 = history.columns.iter().flat_map(|column| column.heat).sum();
        assert_eq!(u64::from(heat), 2 * seconds);
        let (fitted, each) = history.fitted(100);
        assert_eq!((fitted.len(), each), (96, 16));
        assert_eq!(fitted.iter().map(|column| column.requests).sum::<f64>(), 2.0 * seconds as f64);
    }

    #[test]
    fn bins_are_of_equal_width_on_a_logarithmic_scale() {
        let check = |ms: f64, expect: usize| assert_eq!(bin(ms), expect, "{ms}");
        check(f64::NAN, 0);
        check(-3.0, 0);
        check(0.0, 0);
        check(0.011, 0);
        check(0.11, BINS_PER_DECADE);
        check(11.0, 3 * BINS_PER_DECADE);
        check(1e300, BINS - 1);
        assert!((bin_ms(2 * BINS_PER_DECADE) - 1.0).abs() < 1e-9);
    }

    /// A test without requests shows its iterations; one with requests shows these alone.
    #[test]
    fn requests_count_as_soon_as_there_are_some() {
        let mut history = History::default();
        let mut iterations = Measured::default();
        iterations.iteration_durations.record(100.0);
        history.note(&iterations, Nanos::from_secs(1));
        assert_eq!(history.heated().metric(), "iteration_duration");
        let heat = |history: &History| -> u32 { history.columns.iter().flat_map(|column| column.heat).sum() };
        assert_eq!(heat(&history), 1);
        history.note(&measured(3.0, 1.0), Nanos::from_secs(2));
        history.note(&iterations, Nanos::from_secs(2));
        assert_eq!((history.heated().metric(), heat(&history)), ("http_req_duration", 3));
    }
}
