//! Medians with intervals, percentiles and rank correlation.

use crate::bench::series::median;

/// The mean; none of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value at that share of sorted values.
pub(super) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).or_else(|| sorted.last()).copied()
}

/// A median and where the true one is, as far as the values say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How sure it is that the true median is between low and high: 0.95 at least from six values on.
    pub(super) confidence: f64,
    pub(super) count: usize,
}

impl Estimate {
    /// From order statistics, which need no assumption on how values are distributed: between the k-th lowest and the k-th
    /// highest of n values the median is with a probability that the binomial distribution gives.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let mut estimate = Self {
            median: median(&sorted)?,
            low: *sorted.first()?,
            high: *sorted.last()?,
            confidence: coverage(count, 1),
            count,
        };
        for k in 2..=count.div_ceil(2) {
            let confidence = coverage(count, k);
            if confidence < CONFIDENCE {
                break;
            }
            estimate = Self { low: sorted[k - 1], high: sorted[count - k], confidence, ..estimate };
        }
        Some(estimate)
    }

    /// Whether a value could be the true one.
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The probability that the median is between the k-th lowest and the k-th highest of n values.
fn coverage(n: usize, k: usize) -> f64 {
    // Fewer than k of n coins show heads.
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for heads in 0..k {
        below += term;
        term *= (n - heads) as f64 / (heads + 1) as f64;
    }
    (1.0 - 2.0 * below).max(0.0)
}

/// Spearman's rank correlation of pairs; none of fewer than three, or where one side is all the same.
pub(super) fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (first, second) = (ranks(&first), ranks(&second));
    let middle = (pairs.len() + 1) as f64 / 2.0;
    let products: f64 = first.iter().zip(&second).map(|(a, b)| (a - middle) * (b - middle)).sum();
    let squares = |ranks: &[f64]| ranks.iter().map(|rank| (rank - middle).powi(2)).sum::<f64>();
    let scale = (squares(&first) * squares(&second)).sqrt();
    (scale > 0.0).then(|| products / scale)
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count();
            let same = values.iter().filter(|other| *other == value).count();
            below as f64 + (same as f64 + 1.0) / 2.0
        })
        .collect()
}

/// What intervals are to hold, where there are enough values.
const CONFIDENCE: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| percentile(&values, share)), [1.0, 50.0, 99.0, 100.0].map(Some));
        assert_eq!((percentile(&[], 0.5), mean(&[])), (None, None));
    }

    #[test]
    fn intervals_come_from_order_statistics() {
        // Known: the range of 3 values holds the median with 75 %, that of 6 with 96.9 %.
        assert!((coverage(3, 1) - 0.75).abs() < 1e-12 && (coverage(6, 1) - 0.96875).abs() < 1e-12);
        let three = Estimate::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((three.median, three.low, three.high, three.count), (2.0, 1.0, 3.0, 3));
        // Of 9, the second lowest and highest hold it with 96.1 %.
        let nine = Estimate::of(&(1..=9).map(f64::from).collect::<Vec<_>>()).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
        assert!(nine.confidence > 0.96 && nine.contains(5.0) && !nine.contains(8.5));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn intervals_hold_what_they_promise() {
        // Medians of 7 values of a sequence whose median is 0.5: most intervals hold it.
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let held = (0..1000)
            .filter(|_| Estimate::of(&(0..7).map(|_| next()).collect::<Vec<_>>()).is_some_and(|one| one.contains(0.5)))
            .count();
        assert!(held >= 950, "{held}");
    }

    #[test]
    fn correlation_of_ranks() {
        let up = [(1.0, 10.0), (2.0, 20.0), (3.0, 1e9)];
        assert_eq!(rank_correlation(&up), Some(1.0));
        assert_eq!(rank_correlation(&up.map(|(a, b)| (a, -b))), Some(-1.0));
        assert_eq!(rank_correlation(&up[..2]), None);
        assert_eq!(rank_correlation(&up.map(|(a, _)| (a, 1.0))), None);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }
}
