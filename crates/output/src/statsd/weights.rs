//! A distribution as a few values, each of which stands for so many.
//!
//! Receivers of StatsD compute percentiles themselves, from single values. Sending all of them is what makes k6's output heavy; a
//! fixed share of them, chosen by chance, loses the tail. Here the sorted values are cut at fixed shares, and each piece is told by
//! its average and its length: a percentile is off by the width of a piece at most, half a percent of the values and, above the 99th
//! percentile, a tenth of that; number and sum are exact.

use onrush_metrics::Histogram;

/// A value, and how many it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    pub(super) value: f64,
    pub(super) count: u64,
}

/// Pieces of one in a hundred up to here, then of one in a thousand.
const FINE_FROM: u64 = 990;
const THOUSANDTHS: u64 = 1_000;
/// Up to so many values are told as they are.
const EXACT_MAX: u64 = 64;

/// At most 109 of them, in rising order.
pub(super) fn weighted(values: &Histogram) -> Vec<Weighted> {
    let count = values.count();
    if values.is_exact() && count <= EXACT_MAX {
        let at = |rank: u64| values.quantile(if count > 1 { rank as f64 / (count - 1) as f64 } else { 0.0 });
        return (0..count).map(|rank| Weighted { value: at(rank), count: 1 }).collect();
    }
    let ends = (10..=FINE_FROM).step_by(10).chain(FINE_FROM + 1..=THOUSANDTHS);
    // The cast cannot truncate: it is no more than `count`.
    let ends = ends.map(|end| (u128::from(count) * u128::from(end) / u128::from(THOUSANDTHS)) as u64);
    let mut buckets = values.buckets().into_iter().map(|bucket| {
        let middle = bucket.inner.midpoint(bucket.outer).clamp(values.min(), values.max());
        (middle, bucket.count)
    });
    let (mut value, mut left) = (0.0, 0);
    let mut done = 0;
    let mut pieces = Vec::new();
    for end in ends {
        let length = end.saturating_sub(done);
        let (mut sum, mut missing) = (0.0, length);
        while missing > 0 {
            if left == 0 {
                let Some(next) = buckets.next() else { break };
                (value, left) = next;
            }
            let taken = missing.min(left);
            sum += value * taken as f64;
            missing -= taken;
            left -= taken;
        }
        let taken = length - missing;
        if taken > 0 {
            pieces.push(Weighted { value: sum / taken as f64, count: taken });
        }
        done = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = f64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    /// The value below which a share of those that were told lies.
    fn percentile(told: &[Weighted], share: f64) -> f64 {
        let all: u64 = told.iter().map(|each| each.count).sum();
        let mut rank = (all as f64 * share) as u64;
        told.iter()
            .find(|each| {
                let is_here = rank < each.count;
                rank = rank.saturating_sub(each.count);
                is_here
            })
            .map_or(f64::NAN, |each| each.value)
    }

    #[test]
    fn a_few_values_are_told_as_they_are() {
        let told = weighted(&of([3.0, -1.0, 3.0, 0.5]));
        assert_eq!(told, [-1.0, 0.5, 3.0, 3.0].map(|value| Weighted { value, count: 1 }));
        assert_eq!(weighted(&of([7.0])), [Weighted { value: 7.0, count: 1 }]);
        assert!(weighted(&Histogram::new()).is_empty());
    }

    #[test]
    fn many_are_told_by_pieces_and_none_is_left_out() {
        for count in [65_u64, 101, 999, 12_345, 1_000_003] {
            // A long tail: the largest is a hundred thousand times the median.
            let values = of((0..count).map(|index| {
                let share = (index as f64 + 0.5) / count as f64;
                10.0 / (1.0 - share)
            }));
            let told = weighted(&values);
            assert!(told.len() <= 109, "{count}: {}", told.len());
            assert_eq!(told.iter().map(|each| each.count).sum::<u64>(), count);
            let sum: f64 = told.iter().map(|each| each.value * each.count as f64).sum();
            assert!((sum / values.sum() - 1.0).abs() < 0.002, "{count}: {sum} instead of {}", values.sum());
            assert!(told.windows(2).all(|pair| pair[0].value <= pair[1].value));
            for share in [0.5, 0.9, 0.95, 0.99, 0.999] {
                let width = if share < 0.99 { 0.01 } else { 0.001 } + 1.0 / count as f64;
                let (low, high) = (values.quantile(share - width), values.quantile(share + width));
                let found = percentile(&told, share);
                assert!(found >= low * 0.997 && found <= high * 1.003, "{count} {share}: {low} {found} {high}");
            }
        }
    }
}
