//! A histogram against exact sorting, and against itself in parts.

use proptest::prelude::*;

use super::*;

fn histogram(values: &[f64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

/// What k6 computes from all values, and the larger of the two order statistics it came from.
fn exact_quantile(values: &[f64], q: f64) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let position = q * (sorted.len() - 1) as f64;
    let (lower, upper) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    (lower + (upper - lower) * position.fract(), lower.abs().max(upper.abs()))
}

/// Values over nine decades, 10 ns to 10 s in milliseconds.
fn latency() -> impl Strategy<Value = f64> {
    (-5.0..4.0_f64).prop_map(|exponent| 10_f64.powf(exponent))
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => latency(),
        1 => latency().prop_map(|value| -value),
        1 => Just(0.0),
        1 => Just(-0.0),
        1 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
}

#[test]
fn empty() {
    let empty = Histogram::new();
    assert_eq!(
        (empty.count(), empty.sum(), empty.min(), empty.max(), empty.mean(), empty.quantile(0.5)),
        (0, 0.0, 0.0, 0.0, 0.0, 0.0)
    );
    assert!(empty.is_empty() && empty.is_exact() && empty.buckets().is_empty());
}

#[test]
fn small_runs_are_exact() {
    let one = histogram(&[12.345]);
    assert_eq!([one.quantile(0.0), one.quantile(0.37), one.quantile(1.0), one.mean()], [12.345; 4]);
    let five = histogram(&[5.0, 1.0, 2.0, 4.0, 3.0]);
    assert_eq!(five.quantile(0.5), 3.0);
    assert_eq!(five.quantile(0.9), 4.6);
    assert_eq!(five.quantile(f64::NAN), 1.0);
    assert_eq!(five.quantile(-1.0), 1.0);
    assert_eq!(five.quantile(2.0), 5.0);
}

#[test]
fn equal_values_stay_exact() {
    let mut same = Histogram::new();
    same.record_n(0.1, 1_000_000_000_000);
    assert_eq!([same.quantile(0.5), same.quantile(0.999), same.mean()], [0.1; 3]);
    assert_eq!(same.sum(), 1e11);
}

#[test]
fn infinities() {
    let mut values = vec![1.0; 100];
    values.extend([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    let wild = histogram(&values);
    assert_eq!((wild.min(), wild.max(), wild.count()), (f64::NEG_INFINITY, f64::INFINITY, 103));
    assert_eq!((wild.quantile(0.0), wild.quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!((wild.quantile(0.5) - 1.0).abs() <= RELATIVE_ERROR);
    assert!(wild.mean().is_nan());
    assert_eq!(histogram(&[f64::INFINITY, 1.0]).quantile(0.5), f64::INFINITY);
    // In buckets as well, at any rank.
    let mostly: Vec<f64> = std::iter::repeat_n(f64::INFINITY, 200).chain((0..100).map(f64::from)).collect();
    assert_eq!([0.1, 0.5, 0.95].map(|q| histogram(&mostly).quantile(q).is_infinite()), [false, true, true]);
    let negated: Vec<f64> = mostly.iter().map(|value| -value).collect();
    assert_eq!([0.05, 0.5, 0.9].map(|q| histogram(&negated).quantile(q).is_infinite()), [true, true, false]);
    let mut sides = vec![f64::NEG_INFINITY; 100];
    sides.resize(200, f64::INFINITY);
    assert_eq!(
        [0.25, 0.5, 0.75].map(|q| histogram(&sides).quantile(q)),
        [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY]
    );
    let large = vec![f64::MAX; 100];
    assert_eq!(histogram(&large).quantile(0.5), f64::MAX);
    assert_eq!(histogram(&[f64::NAN]).count(), 0);
}

#[test]
fn buckets_in_rising_order() {
    let shown: Vec<_> =
        histogram(&[-2.0, 0.0, 0.0, 1.0, 2.0]).buckets().iter().map(|bucket| (bucket.outer, bucket.count)).collect();
    assert_eq!(shown, [(-2.0, 1), (0.0, 2), (1.0, 1), (2.0, 1)]);
    let all = histogram(&[3.0; 100]).buckets();
    assert!(all.len() == 1 && all[0].inner < 3.0 && 3.0 <= all[0].outer && all[0].count == 100);
}

proptest! {
    #[test]
    fn percentiles_are_within_the_bound(values in prop::collection::vec(latency(), 1..400), q in 0.0..=1.0_f64) {
        let histogram = histogram(&values);
        for q in [q, 0.0, 0.5, 0.9, 0.95, 0.99, 1.0] {
            let (exact, _) = exact_quantile(&values, q);
            let error = (histogram.quantile(q) / exact - 1.0).abs();
            prop_assert!(error <= RELATIVE_ERROR, "p({}) is off by {}", q * 100.0, error);
            prop_assert!(!histogram.is_exact() || error < 1e-12);
        }
        let sum: f64 = values.iter().sum();
        prop_assert!((histogram.sum() / sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn percentiles_of_mixed_signs(values in prop::collection::vec(any_value(), 1..200), q in 0.0..=1.0_f64) {
        let histogram = histogram(&values);
        let (exact, magnitude) = exact_quantile(&values, q);
        // Between two values of different sign the error is relative to the larger one.
        prop_assert!(!exact.is_finite() || (histogram.quantile(q) - exact).abs() <= RELATIVE_ERROR * 2.0 * magnitude + 1e-300);
        prop_assert_eq!(histogram.quantile(0.0), values.iter().copied().fold(f64::INFINITY, f64::min));
        prop_assert_eq!(histogram.quantile(1.0), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }

    #[test]
    fn any_partition_merges_to_the_whole(
        parts in prop::collection::vec((0_usize..5, any_value(), 1_u64..3), 0..200),
        order in Just([0, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let mut whole = Histogram::new();
        let mut shares = vec![Histogram::new(); 5];
        for (share, value, times) in &parts {
            whole.record_n(*value, *times);
            for _ in 0..*times {
                shares[*share].record(*value);
            }
        }
        let mut merged = Histogram::new();
        for share in order {
            merged.merge(&shares[share]);
        }
        prop_assert!(merged == whole);
        prop_assert_eq!(merged.mean().to_bits(), whole.mean().to_bits());
        for q in [0.0, 0.25, 0.5, 0.99, 1.0] {
            prop_assert_eq!(merged.quantile(q), whole.quantile(q));
        }
        prop_assert_eq!(merged.buckets(), whole.buckets());
        prop_assert_eq!(merged.buckets().iter().map(|bucket| bucket.count).sum::<u64>(), whole.count());
    }

    #[test]
    fn drains_add_up(values in prop::collection::vec(any_value(), 0..300), every in 1_usize..150) {
        let mut recorder = Histogram::new();
        let mut merged = Histogram::new();
        for chunk in values.chunks(every) {
            for value in chunk {
                recorder.record(*value);
            }
            let drained = recorder.drain();
            prop_assert!(drained == histogram(chunk));
            merged.merge(&drained);
        }
        prop_assert!(recorder == Histogram::new());
        prop_assert!(merged == histogram(&values));
    }

    #[test]
    fn percentiles_do_not_fall(values in prop::collection::vec(any_value(), 1..200), a in 0.0..=1.0_f64, b in 0.0..=1.0_f64) {
        let histogram = histogram(&values);
        prop_assert!(histogram.quantile(a.min(b)) <= histogram.quantile(a.max(b)));
    }
}
