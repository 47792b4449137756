//! Distributions as OTLP has them: in exponential buckets, which are ours, or between given bounds.

use onrush_metrics::Histogram;

use super::wire::metrics::{Buckets, ExponentialPoint, HistogramPoint};
use crate::exponential::{Exponential, ZERO_THRESHOLD};

/// Buckets of a distribution from the first that is used to the last: ten doublings at scale 8, from a millisecond to a second.
/// Beyond, buckets are put together in twos.
pub(super) const BUCKETS_MAX: usize = 2_560;
/// The coarsest that OpenTelemetry knows.
const SCALE_COARSEST: i32 = -10;

/// k6's bounds, which are those of OpenTelemetry's SDKs.
const BOUNDS: [f64; 15] =
    [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 2_500.0, 5_000.0, 7_500.0, 10_000.0];

/// In the finest buckets of which there are not too many, but no finer than `scale`, which is set to theirs: what is told of a
/// series since its start does not go back to finer ones.
pub(super) fn exponential(histogram: &Histogram, scale: &mut i32) -> ExponentialPoint {
    let mut buckets = Exponential::of(histogram, 1.0);
    while buckets.scale > *scale || width(&buckets) > BUCKETS_MAX && buckets.scale > SCALE_COARSEST {
        buckets.coarsen();
    }
    *scale = buckets.scale;
    ExponentialPoint {
        count: buckets.count(),
        sum: Some(histogram.sum()),
        scale: buckets.scale,
        zero_count: buckets.zeros,
        positive: side(&buckets.positive),
        negative: side(&buckets.negative),
        min: Some(histogram.min()),
        max: Some(histogram.max()),
        zero_threshold: ZERO_THRESHOLD,
        ..ExponentialPoint::default()
    }
}

/// Between k6's bounds. Values of a bucket of ours that has a bound inside go to where the bucket's middle is.
pub(super) fn explicit(histogram: &Histogram) -> HistogramPoint {
    let mut counts = vec![0; BOUNDS.len() + 1];
    for bucket in histogram.buckets() {
        let middle = (bucket.inner.abs() * bucket.outer.abs()).sqrt().copysign(bucket.outer);
        counts[BOUNDS.partition_point(|bound| *bound < middle)] += bucket.count;
    }
    HistogramPoint {
        count: histogram.count(),
        sum: Some(histogram.sum()),
        bucket_counts: counts,
        explicit_bounds: BOUNDS.to_vec(),
        min: Some(histogram.min()),
        max: Some(histogram.max()),
        ..HistogramPoint::default()
    }
}

type Side = std::collections::BTreeMap<i32, u64>;

/// From the first bucket in use to the last, on both sides.
fn width(buckets: &Exponential) -> usize {
    let of = |side: &Side| match (side.first_key_value(), side.last_key_value()) {
        (Some((first, _)), Some((last, _))) => last.abs_diff(*first) as usize + 1,
        _ => 0,
    };
    of(&buckets.negative) + of(&buckets.positive)
}

fn side(counts: &Side) -> Option<Buckets> {
    let (first, last) = (*counts.first_key_value()?.0, *counts.last_key_value()?.0);
    let counts = (first..=last).map(|index| counts.get(&index).copied().unwrap_or(0)).collect();
    Some(Buckets { offset: first - 1, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn exponential_buckets_are_ours() {
        let mut scale = 8;
        let point = exponential(&of(&[1.0, 1.0, 2.0, 2.004, 0.0, -4.0]), &mut scale);
        assert_eq!((point.count, point.zero_count, point.scale, scale), (6, 1, 8, 8));
        assert_eq!((point.min, point.max), (Some(-4.0), Some(2.004)));
        // 1 ends bucket -1, 2 ends bucket 255.
        let positive = point.positive.expect("some");
        assert_eq!((positive.offset, positive.counts.len()), (-1, 258));
        assert_eq!([positive.counts[0], positive.counts[256], positive.counts[257]], [2, 1, 1]);
        assert_eq!(point.negative, Some(Buckets { offset: 511, counts: vec![1] }));
    }

    #[test]
    fn no_more_buckets_than_said() {
        let mut scale = 8;
        // Ten doublings fit.
        let point = exponential(&of(&[1.000_1, 1_024.0]), &mut scale);
        assert_eq!((scale, point.positive.map(|buckets| buckets.counts.len())), (8, Some(BUCKETS_MAX)));
        let point = exponential(&of(&[1.0, 1_024.0]), &mut scale);
        assert_eq!((scale, point.positive.map(|buckets| buckets.counts.len())), (7, Some(BUCKETS_MAX / 2 + 1)));
        // It stays as coarse as it was.
        assert_eq!(exponential(&of(&[1.0]), &mut scale).scale, 7);
        // The widest there is.
        let point = exponential(&of(&[f64::INFINITY, 1e-38, -f64::INFINITY, -1e-38, f64::MIN_POSITIVE]), &mut scale);
        assert_eq!((point.count, point.zero_count), (5, 1));
        assert!(scale < 3 && point.positive.expect("some").counts.len() <= BUCKETS_MAX, "{scale}");
    }

    #[test]
    fn bounds_belong_to_the_bucket_they_end() {
        let point = explicit(&of(&[-1.0, 0.0, 3.0, 7.0, 7.0, 99.0, 20_000.0]));
        assert_eq!(point.bucket_counts, [2, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((point.count, point.bucket_counts.len()), (7, point.explicit_bounds.len() + 1));
    }
}
