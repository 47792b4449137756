//! Histograms as Prometheus has them.

use std::collections::BTreeMap;

use onrush_metrics::Histogram;

use super::wire::{BucketSpan, NativeHistogram};
use crate::exponential::{Exponential, ZERO_THRESHOLD};

const SCHEMA_COARSEST: i32 = -4;
/// Receivers take so many buckets of a histogram (Mimir's default limit, and that of OpenTelemetry's SDKs).
const BUCKETS_MAX: usize = 160;

/// A histogram whose values are multiplied by `factor`, in the finest buckets of which there are not too many, but no finer than
/// `schema`, which is set to theirs: a series does not go back to finer ones.
pub(super) fn native(histogram: &Histogram, factor: f64, schema: &mut i32, timestamp: i64) -> NativeHistogram {
    let mut buckets = Exponential::of(histogram, factor);
    let is_too_fine = |buckets: &Exponential| {
        let is_large = buckets.negative.len() + buckets.positive.len() > BUCKETS_MAX;
        buckets.scale > *schema || is_large && buckets.scale > SCHEMA_COARSEST
    };
    while is_too_fine(&buckets) {
        buckets.coarsen();
    }
    *schema = buckets.scale;
    let (negative_spans, negative_deltas) = spans(&buckets.negative);
    let (positive_spans, positive_deltas) = spans(&buckets.positive);
    NativeHistogram {
        count_int: buckets.count(),
        sum: histogram.sum() * factor,
        schema: buckets.scale,
        zero_threshold: ZERO_THRESHOLD,
        zero_count_int: buckets.zeros,
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
        timestamp,
    }
}

fn spans(buckets: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, Vec<i64>) = (Vec::new(), Vec::new());
    // Where the next bucket without a gap would be.
    let (mut next, mut before) = (0, 0);
    for (index, count) in buckets {
        match spans.last_mut() {
            Some(span) if *index == next => span.length += 1,
            _ => spans.push(BucketSpan { offset: index - next, length: 1 }),
        }
        next = index + 1;
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        before = count;
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exponential::SCALE_FINEST;

    fn of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn buckets_are_those_of_prometheus() {
        let mut schema = SCALE_FINEST;
        let found = native(&of(&[1.0, 1.0, 2.0, 2.004, 0.0, -4.0]), 1.0, &mut schema, 7);
        assert_eq!((found.count_int, found.zero_count_int, found.schema, found.timestamp), (6, 1, 8, 7));
        // 1 is the end of bucket 0, 2 of bucket 256; a little more is in the next one.
        assert_eq!(found.positive_spans, [BucketSpan { offset: 0, length: 1 }, BucketSpan { offset: 255, length: 2 }]);
        assert_eq!(found.positive_deltas, [2, -1, 0]);
        assert_eq!(found.negative_spans, [BucketSpan { offset: 512, length: 1 }]);
        // Milliseconds to seconds: a thousand and twenty-four milliseconds.
        let found = native(&of(&[1_024.0]), 0.001, &mut schema, 7);
        assert_eq!(found.positive_spans.len(), 1);
        let expect = (1.024_f64.log2() * 256.0).ceil() as i32;
        assert!((found.positive_spans[0].offset - expect).abs() <= 1);
        assert_eq!(found.sum, 1.024);
    }

    #[test]
    fn no_more_buckets_than_receivers_take() {
        let mut schema = SCALE_FINEST;
        let values: Vec<f64> = (1..=10_000).map(f64::from).collect();
        let found = native(&of(&values), 0.001, &mut schema, 7);
        // Thirteen doublings with 8 buckets each.
        assert_eq!((found.schema, schema), (3, 3));
        assert!(found.positive_deltas.len() <= BUCKETS_MAX);
        assert_eq!(found.count_int, 10_000);
        // It stays as coarse as it was.
        assert_eq!(native(&of(&[1.0]), 1.0, &mut schema, 8).schema, 3);
        let found = native(&of(&[f64::INFINITY, f64::MIN_POSITIVE, -f64::INFINITY]), 1.0, &mut schema, 8);
        assert_eq!(found.count_int, 3);
    }
}
