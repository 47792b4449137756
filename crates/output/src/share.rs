//! Which samples raw outputs get when they are to have a part of them only.

/// A part of the samples. Those of one thread and one moment, which is what a request or the end of an iteration makes, are
/// written or left out together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    fraction: f64,
}

impl Share {
    /// Every sample.
    pub const ALL: Self = Self { fraction: 1.0 };

    /// A fraction above 0, at most 1; `None` for any other number.
    pub fn new(fraction: f64) -> Option<Self> {
        (fraction > 0.0 && fraction <= 1.0).then_some(Self { fraction })
    }

    /// The fraction.
    pub fn fraction(self) -> f64 {
        self.fraction
    }

    /// Whether a sample is written that a thread made at `time`, in nanoseconds.
    pub(crate) fn has(self, thread: usize, time: u64) -> bool {
        self.fraction >= 1.0
            || ((mixed(time ^ (thread as u64).rotate_right(8)) >> 11) as f64) < self.fraction * 2f64.powi(53)
    }
}

/// Spreads neighbouring numbers over all 64 bits: the finalizer of SplitMix64.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_takes_about_its_part_of_all_moments() {
        for wanted in [0.001, 0.1, 0.5, 0.9] {
            let share = Share::new(wanted).expect("it is a fraction");
            // A request every 20 µs in each of four threads.
            let taken = (0..1_000_000_u64).filter(|at| share.has((at % 4) as usize, at / 4 * 20_000)).count() as f64;
            let deviation = (1e6 * wanted * (1.0 - wanted)).sqrt();
            assert!((taken - 1e6 * wanted).abs() < 5.0 * deviation, "{wanted}: {taken}");
        }
        assert!((0..1000).all(|at| Share::ALL.has(0, at)));
        for wrong in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Share::new(wrong), None);
        }
    }
}
