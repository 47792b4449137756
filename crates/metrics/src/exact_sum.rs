//! A sum of `f64` values without rounding, so that the order of adding cannot show.
//!
//! Floating-point addition is not associative: two ways of splitting the same samples over threads would give sums that
//! differ in the last digits, and so would averages and thresholds close to their limit. Here every finite value is
//! added exactly and only [`ExactSum::value`] rounds, once.
//!
//! Values from 2^-18 (4 ns in ms) to 2^33 (99 days in ms, 8 GB in bytes) go to one 128-bit integer in units of 2^-70,
//! which costs a shift and an add. Others go to one 128-bit integer per binary exponent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An exact sum.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct ExactSum {
    /// Sum of the values inside the window, in units of 2^-70.
    window: i128,
    /// Everything else, if there is anything.
    spill: Option<Box<Spill>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Spill {
    /// Sums of signed 53-bit mantissas by biased exponent `e`: the bin's unit is 2^(e-1075). A bin holds 2^74
    /// additions, more than a run can make.
    bins: BTreeMap<u16, i128>,
    infinities_positive: u64,
    infinities_negative: u64,
}

impl ExactSum {
    /// Adds one value. NaN is ignored: the script API refuses it before it gets here.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        match Windowed::of_magnitude(bits & !SIGN_BIT) {
            Some(Windowed(magnitude)) if bits & SIGN_BIT == 0 => self.add_window(magnitude),
            Some(Windowed(magnitude)) => self.add_window(-magnitude),
            None => self.add_outside(value, 1),
        }
    }

    /// Adds `value` `times` times.
    pub fn add_times(&mut self, value: f64, times: u64) {
        let product = Windowed::of_magnitude(value.to_bits() & !SIGN_BIT)
            .and_then(|Windowed(magnitude)| magnitude.checked_mul(i128::from(times)))
            .map(|magnitude| if value < 0.0 { -magnitude } else { magnitude });
        match product {
            Some(product) => self.add_window(product),
            None => self.add_outside(value, times),
        }
    }

    /// Adds what [`Windowed`] values were summed up to.
    #[inline]
    pub(crate) fn add_window(&mut self, addend: i128) {
        match self.window.checked_add(addend) {
            Some(sum) => self.window = sum,
            None => self.overflow(addend),
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.add_window(other.window);
        if let Some(more) = &other.spill {
            let spill = self.spill.get_or_insert_default();
            for (exponent, sum) in &more.bins {
                let bin = spill.bins.entry(*exponent).or_insert(0);
                *bin = bin.saturating_add(*sum);
            }
            spill.infinities_positive = spill.infinities_positive.saturating_add(more.infinities_positive);
            spill.infinities_negative = spill.infinities_negative.saturating_add(more.infinities_negative);
        }
    }

    /// The sum, rounded once to the nearest `f64`.
    pub fn value(&self) -> f64 {
        match &self.spill {
            // The conversion rounds to nearest, the power of two is exact.
            None => self.window as f64 * WINDOW_UNIT,
            Some(spill) => match (spill.infinities_positive, spill.infinities_negative) {
                (0, 0) => self.wide(spill).round(),
                (_, 0) => f64::INFINITY,
                (0, _) => f64::NEG_INFINITY,
                _ => f64::NAN,
            },
        }
    }

    #[cold]
    fn add_outside(&mut self, value: f64, times: u64) {
        if value == 0.0 || value.is_nan() || times == 0 {
            return;
        }
        let spill = self.spill.get_or_insert_default();
        if value.is_infinite() {
            let count = if value > 0.0 { &mut spill.infinities_positive } else { &mut spill.infinities_negative };
            *count = count.saturating_add(times);
            return;
        }
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA_BITS & EXPONENT_MASK) as u16;
        let mantissa = if exponent == 0 { bits & MANTISSA_MASK } else { bits & MANTISSA_MASK | IMPLICIT_BIT };
        // Below 2^53 * 2^64.
        let magnitude = i128::from(mantissa) * i128::from(times);
        let bin = spill.bins.entry(exponent.max(1)).or_insert(0);
        *bin = bin.saturating_add(if value < 0.0 { -magnitude } else { magnitude });
    }

    /// Moves the window to the bins, where it has more room, and starts it anew with `addend`.
    #[cold]
    fn overflow(&mut self, addend: i128) {
        let window = std::mem::replace(&mut self.window, addend);
        let spill = self.spill.get_or_insert_default();
        *spill.bins.entry(WINDOW_BIN).or_insert(0) += window & i128::from(u64::MAX);
        *spill.bins.entry(WINDOW_BIN + 64).or_insert(0) += window >> 64;
    }

    fn wide(&self, spill: &Spill) -> Wide {
        let mut wide = Wide([0; WIDE_WORDS]);
        wide.add(self.window, WINDOW_BIN);
        for (exponent, sum) in &spill.bins {
            wide.add(*sum, *exponent);
        }
        wide
    }
}

/// What a sum from elsewhere has to be checked for.
#[derive(Deserialize)]
struct Wire {
    window: i128,
    spill: Option<Box<Spill>>,
}

impl TryFrom<Wire> for ExactSum {
    type Error = &'static str;

    fn try_from(Wire { window, spill }: Wire) -> Result<Self, Self::Error> {
        let is_exponent = |exponent: &u16| (1..=EXPONENT_MAX).contains(exponent);
        if spill.as_ref().is_some_and(|spill| !spill.bins.keys().all(is_exponent)) {
            return Err("a sum with an exponent that no number has");
        }
        Ok(Self { window, spill })
    }
}

/// A value inside the window, in its units. Up to 2^24 of them can be summed up in an `i128`.
pub(crate) struct Windowed(pub(crate) i128);

impl Windowed {
    /// From the bits of a value that is not negative (else it is `None`).
    #[inline]
    pub(crate) fn of_magnitude(bits: u64) -> Option<Self> {
        let shift = (bits >> MANTISSA_BITS).wrapping_sub(EXPONENT_LOW);
        if shift > SHIFT_MAX {
            return None;
        }
        // The same as a 128-bit shift, for a shift known to be below 64.
        let mantissa = bits & MANTISSA_MASK | IMPLICIT_BIT;
        let (low, high) = (mantissa << shift, mantissa >> 1 >> (63 - shift));
        Some(Self(i128::from(high) << 64 | i128::from(low)))
    }
}

/// Equal if the exact sums are, however they are stored.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        if self.spill.is_none() && other.spill.is_none() {
            return self.window == other.window;
        }
        let empty = Spill::default();
        let left = self.spill.as_deref().unwrap_or(&empty);
        let right = other.spill.as_deref().unwrap_or(&empty);
        left.infinities_positive == right.infinities_positive
            && left.infinities_negative == right.infinities_negative
            && self.wide(left).0 == other.wide(right).0
    }
}

/// A two's complement integer in units of 2^-1074 that holds every sum: 2^1024 needs 2,098 bits, 64 more are room for
/// the number of addends, one for the sign.
struct Wide([u64; WIDE_WORDS]);

impl Wide {
    /// Adds `value` * 2^(`exponent` - 1075).
    fn add(&mut self, value: i128, exponent: u16) {
        let offset = usize::from(exponent - 1);
        let (word, shift) = (offset / 64, offset % 64);
        // The value as three words, shifted and sign-extended.
        let low = (value as u128) << shift;
        let high = if shift == 0 { value >> 127 } else { value >> (128 - shift) };
        let sign = (value >> 127) as u64;
        let parts = [low as u64, (low >> 64) as u64, high as u64];
        let mut carry = false;
        for (index, target) in self.0.iter_mut().skip(word).enumerate() {
            let part = parts.get(index).copied().unwrap_or(sign);
            let (sum, first) = target.overflowing_add(part);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *target = sum;
            carry = first || second;
        }
    }

    /// The nearest `f64`, ties to even.
    fn round(mut self) -> f64 {
        let negative = self.0[WIDE_WORDS - 1] >> 63 == 1;
        if negative {
            let mut carry = true;
            for word in &mut self.0 {
                let (inverted, overflow) = (!*word).overflowing_add(u64::from(carry));
                *word = inverted;
                carry = overflow;
            }
        }
        let Some(top) = self.0.iter().rposition(|word| *word != 0) else {
            return 0.0;
        };
        let bits = top * 64 + 64 - self.0[top].leading_zeros() as usize;
        let magnitude = if bits <= 53 {
            // Exact: at most 53 bits at the bottom of the range, subnormals included.
            self.0[0] as f64 * f64::from_bits(1)
        } else {
            // The leading 64 bits, with a sticky last bit for all below, convert to f64 with one rounding.
            let first = bits.saturating_sub(64);
            let (word, shift) = (first / 64, first % 64);
            let mut leading = self.0[word] >> shift;
            if shift > 0 {
                leading |= self.0.get(word + 1).copied().unwrap_or(0) << (64 - shift);
            }
            let below = self.0[..word].iter().any(|part| *part != 0) || self.0[word] & ((1 << shift) - 1) != 0;
            scale(leading | u64::from(below), first)
        };
        if negative { -magnitude } else { magnitude }
    }
}

/// `leading` * 2^(`first` - 1074) for a result of more than 53 bits, so a normal number or infinity.
fn scale(leading: u64, first: usize) -> f64 {
    let mut value = leading as f64;
    // In steps of exact powers of two; none but the last can leave the normal range.
    let mut exponent = first as i32 - 1_074;
    while exponent != 0 {
        let step = exponent.clamp(-1_000, 1_000);
        value *= f64::from_bits(((1_023 + step) as u64) << MANTISSA_BITS);
        exponent -= step;
    }
    value
}

const MANTISSA_BITS: u32 = 52;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;
const IMPLICIT_BIT: u64 = 1 << MANTISSA_BITS;
const SIGN_BIT: u64 = 1 << 63;
const EXPONENT_MASK: u64 = 0x7ff;
/// The largest biased exponent of a finite number.
const EXPONENT_MAX: u16 = 2_046;
/// Biased exponent of 2^-18, the smallest value whose last mantissa bit is a multiple of 2^-70.
const EXPONENT_LOW: u64 = 1_023 - 18;
/// 53 bits shifted by 50 leave room for 2^24 of the largest values before the window spills.
const SHIFT_MAX: u64 = 50;
/// 2^-70.
const WINDOW_UNIT: f64 = f64::from_bits((1_023 - 70) << MANTISSA_BITS);
/// The bin with the window's unit: 2^(1005-1075).
const WINDOW_BIN: u16 = 1_005;
const WIDE_WORDS: usize = 35;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        for value in values {
            sum.add(*value);
        }
        sum
    }

    #[track_caller]
    fn check(values: &[f64], expect: f64) {
        let actual = sum(values).value();
        assert!(actual == expect || (actual.is_nan() && expect.is_nan()), "{values:?}: {actual} instead of {expect}");
    }

    #[test]
    fn sums() {
        check(&[], 0.0);
        check(&[0.0, -0.0], 0.0);
        check(&[0.1], 0.1);
        check(&[0.1, 0.2, 0.3], 0.6);
        check(&[1.0, 1e-300, -1.0], 1e-300);
        check(&[1e300, 1.0, -1e300], 1.0);
        check(&[5e-324], 5e-324);
        check(&[5e-324, 5e-324], 1e-323);
        check(&[f64::MAX], f64::MAX);
        check(&[f64::MAX, f64::MAX], f64::INFINITY);
        check(&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX);
        check(&[-1e20, 3.0], -1e20 + 3.0);
        check(&[f64::INFINITY, 1.0], f64::INFINITY);
        check(&[f64::INFINITY, f64::NEG_INFINITY], f64::NAN);
        check(&[f64::NAN, 2.0], 2.0);
        check(&[f64::MIN_POSITIVE, -5e-324], f64::MIN_POSITIVE - 5e-324);
    }

    #[test]
    fn the_window_spills_without_loss() {
        let large = 8_589_934_591.5;
        let mut whole = ExactSum { window: i128::MAX - 5, spill: None };
        let before = whole.clone();
        whole.add(large);
        assert!(whole.spill.is_some());
        let mut parts = sum(&[large]);
        parts.merge(&before);
        assert_eq!(whole, parts);
        whole.add(-large);
        assert_eq!(whole, before);
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<i32>().prop_map(|value| f64::from(value) / 1_000.0),
            (-1e9..1e9),
            any::<f64>().prop_filter("finite", |value| value.is_finite()),
        ]
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(mut values in prop::collection::vec(any_value(), 0..60), cut in 0_usize..60) {
            let whole = sum(&values);
            values.reverse();
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut merged = sum(left);
            merged.merge(&sum(right));
            prop_assert!(merged == whole);
            prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
        }

        #[test]
        fn adding_and_taking_away_leaves_nothing(values in prop::collection::vec(any_value(), 0..40)) {
            let mut all = values.clone();
            all.extend(values.iter().map(|value| -value));
            prop_assert_eq!(sum(&all).value(), 0.0);
        }

        #[test]
        fn one_value_is_itself(value in any_value()) {
            prop_assert_eq!(sum(&[value]).value(), value);
        }

        #[test]
        fn integers_add_up(values in prop::collection::vec(-1_000_000_000_i64..1_000_000_000, 0..100)) {
            let floats: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            prop_assert_eq!(sum(&floats).value(), values.iter().sum::<i64>() as f64);
        }

        #[test]
        fn times_is_repeated_adding(value in any_value(), times in 0_u64..50) {
            let mut once = ExactSum::default();
            once.add_times(value, times);
            prop_assert!(once == sum(&vec![value; times as usize]));
        }
    }
}
