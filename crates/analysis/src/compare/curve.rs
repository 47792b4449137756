//! Two runs over their whole distributions: how they differ at each quantile, and which share of values lies below what.
//!
//! A shift of all requests, a slower tail and a second hump look the same in one percentile, and different here.

use onrush_metrics::Histogram;

use super::{Cells, Difference, Direction, Measure, Statistic, cells::total, difference, estimate};

/// How two runs differ at one quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// 0 to 1.
    pub quantile: f64,
    /// The first run's value.
    pub before: f64,
    /// The second run's.
    pub after: f64,
    /// How they differ, where both can say how sure they are. Each point has an interval of its own: that all of them hold at once
    /// is less probable.
    pub difference: Option<Difference>,
}

/// Quantiles that are looked at: twentieths, and the tail.
const QUANTILES: [f64; 22] = [
    0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95,
    0.99, 0.999,
];

/// How a trend of two runs differs, quantile by quantile; cells are so many seconds long. Nothing for what is no trend.
pub fn curve(metric: &str, before: &Cells, after: &Cells, seconds: f64, seed: u64) -> Vec<CurvePoint> {
    let (Cells::Values(old), Cells::Values(new)) = (before, after) else { return Vec::new() };
    let (old, new) = (total(old), total(new));
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let point = |quantile: f64| {
        let statistic = Statistic::Quantile(quantile);
        let measure = Measure { metric: metric.to_owned(), statistic, direction: Direction::Lower };
        let of = |cells, seed| estimate(cells, statistic, seconds, seed).ok();
        let both = of(before, seed).zip(of(after, seed + 1));
        CurvePoint {
            quantile,
            before: old.quantile(quantile),
            after: new.quantile(quantile),
            difference: both.map(|(before, after)| difference(&measure, &before, &after, None)),
        }
    };
    QUANTILES.into_iter().map(point).collect()
}

/// A value, and the shares of two runs' values that do not exceed it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Below {
    /// In the metric's unit.
    pub value: f64,
    /// Of the first run, 0 to 1.
    pub before: f64,
    /// Of the second.
    pub after: f64,
}

/// Values at which distributions are compared: enough for a smooth line.
const POINTS: usize = 64;

/// Both distributions, at values of equal distance on a logarithmic scale. Nothing for what is no trend of positive values.
pub fn distributions(before: &Cells, after: &Cells) -> Vec<Below> {
    let (Cells::Values(old), Cells::Values(new)) = (before, after) else { return Vec::new() };
    let (old, new) = (total(old), total(new));
    let (least, most) = (old.min().min(new.min()), old.max().max(new.max()));
    if old.is_empty() || new.is_empty() || !(least > 0.0 && most.is_finite()) {
        return Vec::new();
    }
    let (old, new) = (Cumulated::new(&old), Cumulated::new(&new));
    let value = |place: usize| match place {
        // The last one exactly.
        _ if place + 1 == POINTS => most,
        _ => least * (most / least).powf(place as f64 / (POINTS - 1) as f64),
    };
    (0..POINTS).map(value).map(|value| Below { value, before: old.below(value), after: new.below(value) }).collect()
}

/// How many values lie below the end of each bucket.
struct Cumulated {
    bounds: Vec<(f64, u64)>,
    count: u64,
}

impl Cumulated {
    fn new(histogram: &Histogram) -> Self {
        let mut sum = 0;
        let add = |bucket: onrush_metrics::Bucket| {
            sum += bucket.count;
            (bucket.outer.max(bucket.inner), sum)
        };
        Self { bounds: histogram.buckets().into_iter().map(add).collect(), count: histogram.count() }
    }

    fn below(&self, value: f64) -> f64 {
        // Half a bucket more: a value that was measured lies within the one whose end is beyond it.
        let reached = value * (1.0 + 2.0 * onrush_metrics::RELATIVE_ERROR);
        let place = self.bounds.partition_point(|(bound, _)| *bound <= reached);
        let below = place.checked_sub(1).map_or(0, |last| self.bounds[last].1);
        below as f64 / self.count.max(1) as f64
    }
}

/// The value that this share of a mixture does not exceed: each part counts by its weight, however many values it has. `None` where
/// no part has both.
pub fn mixed_quantile(parts: &[(f64, &Histogram)], q: f64) -> Option<f64> {
    let parts = || parts.iter().filter(|(weight, values)| *weight > 0.0 && !values.is_empty());
    let all: f64 = parts().map(|(weight, _)| weight).sum();
    let mut weighed: Vec<(f64, f64)> = parts()
        .flat_map(|(weight, values)| {
            let each = weight / values.count() as f64;
            values
                .buckets()
                .into_iter()
                .map(move |bucket| (middle(bucket.inner, bucket.outer), each * bucket.count as f64))
        })
        .collect();
    weighed.sort_by(|first, second| first.0.total_cmp(&second.0));
    let mut sum = 0.0;
    let reached = weighed.iter().find(|(_, weight)| {
        sum += weight;
        sum >= q * all
    });
    reached.or_else(|| weighed.last()).map(|(value, _)| *value)
}

/// The geometric middle of a bucket.
fn middle(inner: f64, outer: f64) -> f64 {
    (inner.abs() * outer.abs()).sqrt().copysign(outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of ten minutes whose values are these, a little different each second.
    fn cells(values: &[f64], seed: u64) -> Cells {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut cell = || {
            let mut histogram = Histogram::new();
            let factor = 0.98 + 0.04 * random.f64();
            values.iter().for_each(|value| (0..5).for_each(|_| histogram.record(value * factor)));
            histogram
        };
        Cells::Values(std::iter::repeat_with(&mut cell).take(600).collect())
    }

    fn spread() -> Vec<f64> {
        (0..20).map(|place| 10.0 * 1.1_f64.powi(place)).collect()
    }

    #[test]
    fn a_slower_tail_is_seen_where_it_is() {
        let before = spread();
        let mut after = before.clone();
        after[18..].iter_mut().for_each(|value| *value *= 1.5);
        let points = curve("x", &cells(&before, 1), &cells(&after, 2), 1.0, 1);
        let at = |q: f64| {
            points.iter().find(|point| point.quantile == q).and_then(|point| point.difference).expect("a point")
        };
        let (middle, tail) = (at(0.5), at(0.99));
        assert!(middle.size.abs() < 0.02, "{middle:?}");
        assert!((0.4..0.6).contains(&tail.size) && tail.low > 0.3, "{tail:?}");
        // They only ever rise.
        assert!(points.windows(2).all(|pair| pair[0].before <= pair[1].before && pair[0].after <= pair[1].after));
    }

    #[test]
    fn distributions_rise_from_none_to_all() {
        let (before, after) = (cells(&spread(), 1), cells(&[30.0], 2));
        let points = distributions(&before, &after);
        assert!(points.windows(2).all(|pair| pair[0].before <= pair[1].before && pair[0].after <= pair[1].after));
        let last = points.last().expect("points");
        assert_eq!((last.before, last.after), (1.0, 1.0));
        let at = points.iter().find(|point| point.value >= 25.0).expect("points");
        assert!((0.4..0.6).contains(&at.before) && at.after == 0.0, "{at:?}");
        assert!(distributions(&before, &Cells::Values(Vec::new())).is_empty());
        assert!(distributions(&Cells::Shares(Vec::new()), &after).is_empty());
    }

    #[test]
    fn another_mix_of_the_same_parts_is_no_difference() {
        let of = |value: f64, count: u64| {
            let mut histogram = Histogram::new();
            histogram.record_n(value, count);
            histogram
        };
        let (fast, slow) = (of(10.0, 900), of(100.0, 100));
        let (fewer, more) = (of(10.0, 500), of(100.0, 500));
        // With the weights of the first run, the second has its percentile.
        for (q, expect) in [(0.5, 10.0), (0.95, 100.0)] {
            let found = mixed_quantile(&[(900.0, &fewer), (100.0, &more)], q).expect("values");
            let own = mixed_quantile(&[(900.0, &fast), (100.0, &slow)], q).expect("values");
            assert!((found / expect - 1.0).abs() < 0.002 && found == own, "{q}: {found} {own}");
        }
        assert!(mixed_quantile(&[(0.0, &fast), (1.0, &Histogram::new())], 0.5).is_none());
    }
}
