//! Which bucket a value is in, and what stands for a bucket.
//!
//! Bucket `i` covers (2^((i-1)/256), 2^(i/256)], upper bound included, as in Prometheus native histograms of schema 8.
//! The index comes from the bits of the value and a table; no logarithm is taken, so every platform agrees.

use super::boundaries::MANTISSAS;

/// Buckets per octave.
pub(super) const PER_OCTAVE: i32 = 256;

/// A little below what stands for the last bucket.
pub(super) const LARGEST: f64 = 1.793e308;

/// The bucket of a positive value; infinity shares the last one.
pub(super) fn index_of(magnitude: f64) -> i32 {
    if magnitude.is_normal() {
        return index_of_normal(magnitude.to_bits());
    }
    if magnitude < f64::MIN_POSITIVE {
        // A subnormal times 2^64 is normal, and exact.
        return index_of(magnitude * scale(1.0, 64)) - 64 * PER_OCTAVE;
    }
    index_of(f64::MAX)
}

/// The bucket of a positive normal value, from its bits.
#[inline]
pub(super) fn index_of_normal(bits: u64) -> i32 {
    let mantissa = bits & MANTISSA_MASK;
    let guess = GUESSES[(mantissa >> (MANTISSA_BITS - CELL_BITS)) as usize];
    // A cell is narrower than any bucket, so at most one boundary lies in it.
    let above = BOUNDS[guess as usize] < mantissa;
    PER_OCTAVE * ((bits >> MANTISSA_BITS) as i32 - EXPONENT_BIAS) + i32::from(guess) + i32::from(above)
}

/// The largest value of a bucket (its exact bound rounded down to an `f64`).
pub(super) fn upper_bound(index: i32) -> f64 {
    let mantissa = MANTISSAS[index.rem_euclid(PER_OCTAVE) as usize];
    scale(significand(mantissa), index.div_euclid(PER_OCTAVE))
}

/// The geometric middle of a bucket: no value in it is further away than [`super::RELATIVE_ERROR`].
pub(super) fn representative(index: i32) -> f64 {
    let (octave, sub) = ((index - 1).div_euclid(PER_OCTAVE), (index - 1).rem_euclid(PER_OCTAVE) as usize);
    let lower = significand(MANTISSAS[sub]);
    let upper = MANTISSAS.get(sub + 1).map_or(2.0, |mantissa| significand(*mantissa));
    scale((lower * upper).sqrt(), octave)
}

fn significand(mantissa: u64) -> f64 {
    f64::from_bits(mantissa | (EXPONENT_BIAS as u64) << MANTISSA_BITS)
}

/// `significand` * 2^`exponent`, through zero or infinity where the range ends.
fn scale(significand: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + EXPONENT_BIAS) as u64) << MANTISSA_BITS);
    // The halves are in range for every exponent a bucket can have, -1,075 to 1,024.
    let half = exponent / 2;
    significand * power(half) * power(exponent - half)
}

const MANTISSA_BITS: u32 = 52;
const MANTISSA_MASK: u64 = (1 << MANTISSA_BITS) - 1;
const EXPONENT_BIAS: i32 = 1_023;
/// 512 cells: the widest power of two narrower than the narrowest bucket, 2^(1/256) - 1 = 0.0027.
const CELL_BITS: u32 = 9;
const CELLS: usize = 1 << CELL_BITS;

/// The boundaries of an octave and its end.
static BOUNDS: [u64; 257] = {
    let mut bounds = [1 << MANTISSA_BITS; 257];
    let mut index = 0;
    while index < 256 {
        bounds[index] = MANTISSAS[index];
        index += 1;
    }
    bounds
};

/// For each cell, the first boundary not below the cell's start.
static GUESSES: [u16; CELLS] = {
    let mut guesses = [0; CELLS];
    let mut cell = 0;
    let mut bound = 0;
    while cell < CELLS {
        let start = (cell as u64) << (MANTISSA_BITS - CELL_BITS);
        while bound < 256 && MANTISSAS[bound] < start {
            bound += 1;
        }
        guesses[cell] = bound as u16;
        cell += 1;
    }
    guesses
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Little-endian natural numbers, enough to raise a 53-bit number to the 256th power.
    fn square(digits: &[u32]) -> Vec<u32> {
        let mut product = vec![0_u32; digits.len() * 2];
        for (i, a) in digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (j, b) in digits.iter().enumerate() {
                let sum = u64::from(product[i + j]) + u64::from(*a) * u64::from(*b) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + digits.len()] = carry as u32;
        }
        product
    }

    /// Whether (significand / 2^52)^256 <= 2^k, exactly: significand^256 <= 2^(k + 52 * 256).
    fn power_is_within(significand: u64, k: usize) -> bool {
        let mut power = vec![significand as u32, (significand >> 32) as u32];
        for _ in 0..8 {
            power = square(&power);
            while power.last() == Some(&0) {
                power.pop();
            }
        }
        let bits = power.len() * 32 - power.last().map_or(0, |top| top.leading_zeros() as usize);
        let limit = k + 52 * 256;
        let is_power_of_two = power.iter().map(|digit| digit.count_ones()).sum::<u32>() == 1;
        bits <= limit || (bits == limit + 1 && is_power_of_two)
    }

    #[test]
    fn every_boundary_is_the_largest_double_not_above_its_power() {
        for (k, mantissa) in MANTISSAS.iter().enumerate() {
            let significand = mantissa | 1 << 52;
            assert!(power_is_within(significand, k), "entry {k} is too large");
            assert!(!power_is_within(significand + 1, k), "entry {k} is too small");
        }
    }

    #[test]
    fn boundaries_are_inclusive_above() {
        // Subnormal bounds are rounded, so they start above.
        for index in (-1_022 * 256..1_024 * 256).step_by(127).chain(-600..600) {
            let bound = upper_bound(index);
            assert_eq!(index_of(bound), index, "bound of {index}");
            assert_eq!(index_of(bound.next_up()), index + 1, "above bound of {index}");
            assert!(index_of(bound.next_down()) <= index, "below bound of {index}");
        }
    }

    #[test]
    fn powers_of_two_and_extremes() {
        assert_eq!(index_of(1.0), 0);
        assert_eq!(index_of(2.0), 256);
        assert_eq!(index_of(0.5), -256);
        assert_eq!(index_of(f64::MAX), 1_024 * 256);
        assert_eq!(index_of(f64::INFINITY), 1_024 * 256);
        assert_eq!(index_of(f64::MIN_POSITIVE), -1_022 * 256);
        assert_eq!(index_of(5e-324), -1_074 * 256);
        assert_eq!(index_of(f64::MIN_POSITIVE.next_down()), -1_022 * 256);
    }

    proptest! {
        #[test]
        fn agrees_with_the_logarithm(value in prop_oneof![1e-9..1e9_f64, any::<f64>().prop_map(f64::abs).prop_filter("normal", |v| v.is_normal())]) {
            let exact = value.log2() * 256.0;
            let index = index_of(value);
            // The logarithm itself is only good to some 1e-10 here.
            prop_assert!(f64::from(index) - exact < 1.0 + 1e-8 && f64::from(index) - exact > -1e-8, "{} {}", index, exact);
        }

        #[test]
        fn the_representative_is_close(value in prop_oneof![1e-9..1e9_f64, 1e-300..1e-299_f64]) {
            let representative = representative(index_of(value));
            prop_assert!((representative / value - 1.0).abs() <= super::super::RELATIVE_ERROR);
        }

        #[test]
        fn order_is_kept(a in any::<f64>(), b in any::<f64>()) {
            let (a, b) = (a.abs().max(5e-324), b.abs().max(5e-324));
            prop_assert!(index_of(a.min(b)) <= index_of(a.max(b)));
        }
    }
}
