//! The buckets of a [`Histogram`] by their numbers, as receivers of whole distributions want them.

use std::collections::BTreeMap;

use onrush_metrics::Histogram;

/// Buckets that grow by 2^(2^-scale): bucket `i` ends with 2^(i * 2^-scale), which is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exponential {
    /// How fine they are.
    pub(crate) scale: i32,
    /// By magnitude.
    pub(crate) negative: BTreeMap<i32, u64>,
    /// Values that are not above [`ZERO_THRESHOLD`].
    pub(crate) zeros: u64,
    /// The others.
    pub(crate) positive: BTreeMap<i32, u64>,
}

/// The scale of [`Histogram`].
pub(crate) const SCALE_FINEST: i32 = 8;
/// Values below are zero: the default of Prometheus's own clients.
pub(crate) const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

impl Exponential {
    /// A histogram whose values are multiplied by `factor`.
    ///
    /// A bucket's values go to where their middle is: with a factor of 1 that is the same bucket; with another, where bounds do not
    /// meet, they are off by one bucket at most.
    pub(crate) fn of(histogram: &Histogram, factor: f64) -> Self {
        let mut this = Self { scale: SCALE_FINEST, ..Self::default() };
        for bucket in histogram.buckets() {
            // Both ends of a bucket are on one side of zero.
            let middle = (bucket.inner.abs() * bucket.outer.abs()).sqrt() * factor;
            let middle = if middle > 0.0 { middle } else { bucket.outer.abs() * factor };
            if middle <= ZERO_THRESHOLD {
                this.zeros += bucket.count;
                continue;
            }
            let side = if bucket.outer < 0.0 { &mut this.negative } else { &mut this.positive };
            *side.entry(index(middle)).or_insert(0) += bucket.count;
        }
        this
    }

    /// The same in buckets twice as wide: exact.
    pub(crate) fn coarsen(&mut self) {
        self.scale -= 1;
        for side in [&mut self.negative, &mut self.positive] {
            let mut wider = BTreeMap::new();
            for (index, count) in std::mem::take(side) {
                *wider.entry(((index - 1) >> 1) + 1).or_insert(0) += count;
            }
            *side = wider;
        }
    }

    /// All values.
    pub(crate) fn count(&self) -> u64 {
        self.zeros + self.negative.values().sum::<u64>() + self.positive.values().sum::<u64>()
    }
}

/// The bucket of a magnitude.
fn index(magnitude: f64) -> i32 {
    // Infinite values are among the largest.
    (magnitude.min(f64::MAX).log2() * 256.0).ceil() as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn buckets_are_those_of_the_histogram(values in proptest::collection::vec(-1e12_f64..1e12, 1..300)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            let found = Exponential::of(&histogram, 1.0);
            // Each of its buckets ends where one of ours does, and holds as many.
            let ends = |side: &BTreeMap<i32, u64>, sign: f64| -> Vec<(f64, u64)> {
                side.iter().map(|(index, count)| (sign * (f64::from(*index) / 256.0).exp2(), *count)).collect()
            };
            let mut expect = histogram.buckets().into_iter().filter(|bucket| bucket.outer != 0.0);
            let mut found = ends(&found.negative, -1.0).into_iter().rev().chain(ends(&found.positive, 1.0));
            loop {
                match (expect.next(), found.next()) {
                    (Some(bucket), Some((end, count))) => {
                        prop_assert_eq!(bucket.count, count);
                        prop_assert!((end / bucket.outer - 1.0).abs() < 1e-12, "{} is not {}", end, bucket.outer);
                    }
                    (None, None) => break,
                    different => prop_assert!(false, "{:?}", different),
                }
            }
        }

        #[test]
        fn coarser_buckets_hold_the_same(values in proptest::collection::vec(1e-3_f64..1e6, 1..300), steps in 0_i32..12) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            let mut found = Exponential::of(&histogram, 1.0);
            (0..steps).for_each(|_| found.coarsen());
            prop_assert_eq!(found.count(), values.len() as u64);
            prop_assert_eq!(found.scale, SCALE_FINEST - steps);
            // Where its middle is, a fine bucket lies in the wide one of the same number shifted.
            let base = f64::from(-found.scale).exp2();
            for bucket in histogram.buckets() {
                let middle = (bucket.inner * bucket.outer).sqrt();
                let index = (middle.log2() / base).ceil() as i32;
                prop_assert!(found.positive.contains_key(&index), "{} in {:?}", middle, found);
            }
        }
    }
}
