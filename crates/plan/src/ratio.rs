//! Non-negative fractions in lowest terms: the ends and lengths of execution segments.

use std::{cmp::Ordering, fmt};

/// `num / den`, in lowest terms, `den` at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    num: u64,
    den: u64,
}

impl Ratio {
    /// 0.
    pub const ZERO: Self = Self { num: 0, den: 1 };
    /// 1.
    pub const ONE: Self = Self { num: 1, den: 1 };

    /// `num / den` in lowest terms; `None` when `den` is 0.
    #[must_use]
    pub fn new(num: u64, den: u64) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let divisor = gcd(u128::from(num), u128::from(den)) as u64;
        Some(Self { num: num / divisor, den: den / divisor })
    }

    /// The numerator.
    #[must_use]
    pub fn num(self) -> u64 {
        self.num
    }

    /// The denominator, at least 1.
    #[must_use]
    pub fn den(self) -> u64 {
        self.den
    }

    /// `self - other`; `None` below zero or when the exact result does not fit.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let (a, b) = (u128::from(self.num), u128::from(self.den));
        let (c, d) = (u128::from(other.num), u128::from(other.den));
        let num = a.checked_mul(d)?.checked_sub(c.checked_mul(b)?)?;
        let den = b.checked_mul(d)?;
        let divisor = gcd(num, den);
        Some(Self { num: u64::try_from(num / divisor).ok()?, den: u64::try_from(den / divisor).ok()? })
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        // 64 x 64 bits fit 128.
        let left = u128::from(self.num) * u128::from(other.den);
        let right = u128::from(other.num) * u128::from(self.den);
        left.cmp(&right)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

/// The greatest common divisor; `gcd(0, n)` is `n`.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
