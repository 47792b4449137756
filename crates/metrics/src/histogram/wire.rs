//! A histogram as it travels: each bucket as how far it is behind the one before, and its count. What comes in is checked, so
//! that no message can make later arithmetic fail or take memory beyond a histogram's own.

use serde::{Deserialize, Serialize};

use super::{EXACT_VALUES_MAX, Histogram, bucket, pages::Pages};
use crate::exact_sum::ExactSum;

/// Most values in one histogram that is sent: 2^24 of them still add up in 64 bits.
const COUNT_MAX: u64 = 1 << 40;

#[derive(Serialize, Deserialize)]
pub(super) struct Wire {
    count: u64,
    sum: ExactSum,
    /// Smallest and largest value; `None` without values, since not every format has infinities.
    range: Option<(f64, f64)>,
    /// All values, if they are not in buckets.
    values: Option<Vec<f64>>,
    zeros: u64,
    positive: Vec<(i32, u64)>,
    negative: Vec<(i32, u64)>,
}

impl From<Histogram> for Wire {
    fn from(histogram: Histogram) -> Self {
        Self {
            count: histogram.count,
            sum: histogram.sum,
            range: (histogram.count > 0).then_some((histogram.min, histogram.max)),
            values: (!histogram.bucketed).then_some(histogram.values),
            zeros: histogram.zeros,
            positive: gaps(&histogram.positive),
            negative: gaps(&histogram.negative),
        }
    }
}

impl TryFrom<Wire> for Histogram {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        if wire.count > COUNT_MAX {
            return Err("a histogram of more values than a second can have");
        }
        let (positive, negative) = (pages(&wire.positive)?, pages(&wire.negative)?);
        let buckets = wire.positive.iter().chain(&wire.negative).map(|(_, count)| *count);
        let counted = buckets.chain([wire.zeros]).try_fold(0_u64, u64::checked_add);
        let kept = wire.values.as_ref().map_or(0, Vec::len);
        let is_exact = wire.values.is_some();
        let adds_up = match is_exact {
            true => counted == Some(0) && wire.count == kept as u64 && kept <= EXACT_VALUES_MAX,
            false => counted == Some(wire.count),
        };
        if !adds_up {
            return Err("a histogram whose count is not that of its values");
        }
        let (min, max) = match wire.range {
            Some((min, max)) if wire.count > 0 && min <= max => (min, max),
            None if wire.count == 0 => (f64::INFINITY, f64::NEG_INFINITY),
            _ => return Err("a histogram without its range"),
        };
        let values = wire.values.unwrap_or_default();
        if !values.iter().all(|value| *value >= min && *value <= max) {
            return Err("a histogram with values outside its range");
        }
        Ok(Self {
            count: wire.count,
            sum: wire.sum,
            min,
            max,
            bucketed: !is_exact,
            values,
            zeros: wire.zeros,
            positive,
            negative,
        })
    }
}

/// Neighbours take a byte each: few samples lie far from the others.
fn gaps(pages: &Pages) -> Vec<(i32, u64)> {
    let mut before = 0;
    let gap = |(index, count)| (index - std::mem::replace(&mut before, index), count);
    pages.iter().map(gap).collect()
}

fn pages(gaps: &[(i32, u64)]) -> Result<Pages, &'static str> {
    let all = bucket::index_of(f64::from_bits(1))..=bucket::index_of(f64::MAX);
    let mut pages = Pages::default();
    let mut before: Option<i32> = None;
    for (gap, count) in gaps {
        let index = before.unwrap_or(0).checked_add(*gap).filter(|index| all.contains(index) && *count <= COUNT_MAX);
        let index = index.ok_or("a histogram with a bucket that no number is in")?;
        if before.is_some_and(|before| index <= before) {
            return Err("a histogram whose buckets are not in their order");
        }
        pages.add(index, *count);
        before = Some(index);
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(histogram: &Histogram) -> Wire {
        Wire::from(histogram.clone())
    }

    #[test]
    fn what_is_sent_is_what_comes() {
        let check = |values: &[f64]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            let bytes = postcard::to_allocvec(&histogram).expect("plain data");
            assert_eq!(postcard::from_bytes::<Histogram>(&bytes).expect("as sent"), histogram);
        };
        check(&[]);
        check(&[0.0, -1.5, 1e300, f64::INFINITY]);
        let many: Vec<f64> = (0..500).map(|number| f64::from(number) * 1.7 - 90.0).collect();
        check(&many);
        check(&[1e-310; 70]);
    }

    #[test]
    fn what_cannot_be_a_histogram_is_refused() {
        let check = |change: fn(&mut Wire)| {
            for count in [3, 300] {
                let mut histogram = Histogram::new();
                (0..count).for_each(|number| histogram.record(f64::from(number)));
                let mut wire = wire(&histogram);
                change(&mut wire);
                assert!(Histogram::try_from(wire).is_err(), "{count}");
            }
        };
        check(|wire| wire.count += 1);
        check(|wire| wire.count = u64::MAX);
        check(|wire| wire.range = None);
        check(|wire| wire.range = Some((f64::NAN, 1.0)));
        check(|wire| wire.zeros = u64::MAX);
        check(|wire| wire.positive.push((i32::MAX, 1)));
        check(|wire| wire.negative.push((i32::MIN, 1)));
        check(|wire| wire.positive.extend([(1, 0), (0, 0)]));
        check(|wire| wire.positive.extend([(1, 0), (-1, 0)]));
        check(|wire| wire.values = Some(vec![0.5]));
    }
}
