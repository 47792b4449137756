//! Random numbers that are the same for the same seed, whatever version of whatever package is built in.

/// xoshiro256++ 1.0, by David Blackman and Sebastiano Vigna.
#[derive(Debug, Clone)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Self {
        // Its authors' advice: SplitMix64 fills the state.
        let mut mixed = seed;
        Self(std::array::from_fn(|_| {
            mixed = mixed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = mixed;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }))
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number below `end`; 0 where there is none.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The bias is at most `end` in 2^64.
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `min` to `max`, both included.
    pub(crate) fn between(&mut self, min: i64, max: i64) -> i64 {
        let (min, max) = (min.min(max), min.max(max));
        match max.abs_diff(min).checked_add(1) {
            Some(count) => min.wrapping_add_unsigned(self.below(count)),
            None => self.bits().cast_signed(),
        }
    }

    /// A number from 0 up to 1, which is not included.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// One of the items.
    pub(crate) fn one<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// One of the bytes of a text, all of them ASCII.
    pub(crate) fn character(&mut self, of: &str) -> char {
        self.one(of.as_bytes()).copied().map_or('?', char::from)
    }

    pub(crate) fn digit(&mut self) -> char {
        char::from(b'0' + self.below(10) as u8)
    }

    pub(crate) fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_generator() {
        // From its authors' C code, with the state 1, 2, 3, 4.
        let mut rng = Rng([1, 2, 3, 4]);
        let first: [u64; 4] = std::array::from_fn(|_| rng.bits());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut rng = Rng::new(1);
        for (min, max) in [(0, 0), (5, 1), (-3, 3), (i64::MIN, i64::MAX), (i64::MAX, i64::MAX)] {
            for _ in 0..100 {
                let number = rng.between(min, max);
                assert!((min.min(max)..=min.max(max)).contains(&number), "{min} {max} {number}");
            }
        }
        assert_eq!((rng.below(0), rng.one::<u8>(&[])), (0, None));
        let mut seen = [false; 6];
        (0..200).for_each(|_| seen[rng.below(6) as usize] = true);
        assert_eq!(seen, [true; 6]);
    }
}
