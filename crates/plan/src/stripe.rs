//! What a segment owns: exact integer striping of numbered things over the segments of a sequence.
//!
//! Everything a test counts (VUs, iterations, arrival events) is numbered 0, 1, 2, … over the whole test. A pattern of
//! `lcd` consecutive numbers, repeated for ever, says which segment each number belongs to. No floats, so any set of
//! instances that share a sequence divide the work without gap or overlap and without talking to each other.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    joined::Joined,
    ratio::{Ratio, gcd},
    segment::{Segment, SegmentError, SegmentSequence},
};

/// One instance's share of the test: a sequence and which of its segments is ours, or a part of that. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Share {
    stripes: Arc<Stripes>,
    own: usize,
    /// Where the segment was divided further, the first division first.
    cuts: Arc<[Cut]>,
    /// All cuts as one.
    whole_cut: Cut,
    /// It is that of an instance which joined the test under way.
    joined: Option<Arc<Joined>>,
}

/// Which part of something that was divided evenly: of its numbers 0, 1, 2, … part `index` has each `of`-th.
///
/// A segment cannot be divided by another sequence: that would give other segments other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cut {
    /// Which part, below `of`.
    pub index: u64,
    /// How many parts; at least 1.
    pub of: u64,
}

impl Cut {
    /// Not divided.
    const NONE: Self = Self { index: 0, of: 1 };

    /// How many of the first `v` numbers are in this part.
    fn scale(self, v: u64) -> u64 {
        v.saturating_sub(self.index).div_ceil(self.of)
    }

    /// The number of the part's `j`-th, from 0.
    fn nth(self, j: u64) -> Option<u64> {
        j.checked_mul(self.of)?.checked_add(self.index)
    }

    /// How many of the first `count` things of what is divided are in this part.
    #[must_use]
    pub fn count_of(self, count: u64) -> u64 {
        self.scale(count)
    }

    /// The number, in what is divided, of the part's `j`-th thing (from 0); saturates.
    #[must_use]
    pub fn number_of(self, j: u64) -> u64 {
        self.nth(j).unwrap_or(u64::MAX)
    }

    /// A part of this part.
    fn then(self, next: Self) -> Option<Self> {
        Some(Self { index: self.nth(next.index)?, of: self.of.checked_mul(next.of)? })
    }
}

impl Share {
    /// The whole test.
    #[must_use]
    pub fn full() -> Self {
        Self::of_stripes(Arc::new(Stripes::single()), 0)
    }

    fn of_stripes(stripes: Arc<Stripes>, own: usize) -> Self {
        Self { stripes, own, cuts: Arc::new([]), whole_cut: Cut::NONE, joined: None }
    }

    /// The share of an instance that joins a test under way, as the `number`-th (from 1; at most [`crate::JOINED_MAX`] do),
    /// where this is what it would have had from the start.
    #[must_use]
    pub fn joined(self, number: u32) -> Self {
        Self { joined: Some(Arc::new(Joined::new(number, self))), ..Self::full() }
    }

    /// What is particular to an instance that joined.
    pub(crate) fn as_joined(&self) -> Option<&Joined> {
        self.joined.as_deref()
    }

    /// What the instance makes itself ready for.
    pub(crate) fn expected(&self) -> &Self {
        self.as_joined().map_or(self, |joined| &joined.expected)
    }

    /// A part of this share, all of which together are exactly this share.
    ///
    /// # Errors
    /// When there is no such part, or the parts are too small to count.
    pub fn part(&self, cut: Cut) -> Result<Self, SegmentError> {
        let whole_cut = if cut.index < cut.of { self.whole_cut.then(cut) } else { None };
        let whole_cut = whole_cut.filter(|whole| whole.of <= STRIPE_PARTS_MAX);
        let whole_cut = whole_cut.ok_or(SegmentError::Part { index: cut.index, of: cut.of })?;
        let cuts = self.cuts.iter().copied().chain([cut]).collect();
        let joined = match self.as_joined() {
            Some(joined) => Some(Arc::new(joined.part(cut)?)),
            None => None,
        };
        Ok(Self { stripes: Arc::clone(&self.stripes), own: self.own, cuts, whole_cut, joined })
    }

    /// The share that this one is a part of, and which part; `None` for a whole segment.
    #[must_use]
    pub fn divided(&self) -> Option<(Self, Cut)> {
        let (last, before) = self.cuts.split_last()?;
        let whole_cut = before.iter().try_fold(Cut::NONE, |whole, cut| whole.then(*cut))?;
        let stripes = Arc::clone(&self.stripes);
        let joined = self.joined.clone();
        Some((Self { stripes, own: self.own, cuts: before.into(), whole_cut, joined }, *last))
    }

    /// The share `segment` has in `sequence`; what is absent is filled as in k6.
    ///
    /// # Errors
    /// When the segment is not one of the sequence's, or the sequence is too fine to stripe.
    pub fn new(segment: Option<&Segment>, sequence: Option<&SegmentSequence>) -> Result<Self, SegmentError> {
        let own_segment = segment.copied().unwrap_or(Segment::FULL);
        let filled = match sequence {
            None => SegmentSequence::around(own_segment),
            Some(given) => {
                if !given.segments().contains(&own_segment) {
                    return Err(SegmentError::NotInSequence {
                        segment: own_segment.to_string(),
                        sequence: given.to_string(),
                    });
                }
                given.clone().filled()
            }
        };
        let own = filled.segments().iter().position(|s| *s == own_segment).ok_or_else(|| {
            SegmentError::NotInSequence { segment: own_segment.to_string(), sequence: filled.to_string() }
        })?;
        Self::of_sequence(&filled, own)
    }

    /// Segment number `own` of a sequence that covers the whole test.
    ///
    /// # Errors
    /// When `own` is not in the sequence, or the sequence is too fine to stripe.
    pub fn of_sequence(sequence: &SegmentSequence, own: usize) -> Result<Self, SegmentError> {
        if own >= sequence.segments().len() {
            return Err(SegmentError::NotInSequence {
                segment: format!("number {own}"),
                sequence: sequence.to_string(),
            });
        }
        let mut lengths = Vec::with_capacity(sequence.segments().len());
        for segment in sequence.segments() {
            lengths.push(segment.length().ok_or(SegmentError::TooFine(u128::MAX))?);
        }
        Ok(Self::of_stripes(Arc::new(Stripes::new(&lengths)?), own))
    }

    /// The same sequence seen from its segment number `own`, sharing the pattern.
    #[must_use]
    pub fn sibling(&self, own: usize) -> Option<Self> {
        (own < self.stripes.positions.len()).then(|| Self::of_stripes(Arc::clone(&self.stripes), own))
    }

    /// How many segments the sequence has.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.stripes.positions.len()
    }

    /// Our share of the whole test; of an instance that joined, the one it is ready for.
    #[must_use]
    pub fn length(&self) -> Ratio {
        self.expected().part_of_steered()
    }

    /// Our part of what the whole test, or the instances that joined, are steered to.
    pub(crate) fn part_of_steered(&self) -> Ratio {
        // Both factors are at most STRIPE_PARTS_MAX.
        Ratio::new(self.stripes.norm(self.own), self.stripes.lcd * self.whole_cut.of).unwrap_or(Ratio::ONE)
    }

    /// How many of `v` numbered things are ours. The sum over all segments is exactly `v`.
    #[must_use]
    pub fn scale(&self, v: u64) -> u64 {
        self.whole_cut.scale(self.stripes.scale(self.own, v))
    }

    /// [`scale`](Self::scale) for something that can be negative before validation; negative counts as 0.
    #[must_use]
    pub fn scale_i64(&self, v: i64) -> u64 {
        self.scale(u64::try_from(v).unwrap_or(0))
    }

    /// The number in the whole test (from 0) of our `j`-th thing (from 0); `None` when it exceeds 64 bits.
    #[must_use]
    pub fn nth(&self, j: u64) -> Option<u64> {
        self.stripes.nth(self.own, self.whole_cut.nth(j)?)
    }

    /// First own number, then the distances to each next one, the last reaching into the next pattern. Of a part: those
    /// of the segment it is a part of.
    #[must_use]
    pub fn offsets(&self) -> Vec<u64> {
        let own = &self.stripes.positions[self.own];
        let mut offsets = Vec::with_capacity(own.len() + 1);
        let Some((&first, &last)) = own.first().zip(own.last()) else {
            return offsets;
        };
        offsets.push(u64::from(first));
        offsets.extend(own.windows(2).map(|pair| u64::from(pair[1] - pair[0])));
        offsets.push(u64::from(first) + self.stripes.lcd - u64::from(last));
        offsets
    }

    /// The share re-derived from how `v` things were divided, so that for example iterations follow VUs exactly.
    /// `None` when we got none of the `v`.
    ///
    /// # Errors
    /// When the new pattern would be too fine to stripe.
    pub fn from_value(&self, v: u64) -> Result<Option<Self>, SegmentError> {
        if self.scale(v) == 0 {
            return Ok(None);
        }
        let derived = self.segment_from_value(v)?;
        // Where there are fewer of the `v` than parts, only some parts have one, and the rest follows them.
        let (mut share, mut left) = (derived, self.stripes.scale(self.own, v));
        for cut in self.cuts.iter() {
            share = share.part(Cut { index: cut.index, of: cut.of.min(left.max(1)) })?;
            left = cut.scale(left);
        }
        Ok(Some(share))
    }

    /// The same of the whole segment, which has got some of the `v`.
    fn segment_from_value(&self, v: u64) -> Result<Self, SegmentError> {
        if v.is_multiple_of(self.stripes.lcd) {
            return Ok(Self::of_stripes(Arc::clone(&self.stripes), self.own));
        }
        let mut lengths = Vec::new();
        let mut own = 0;
        for i in 0..self.segments() {
            let share = self.stripes.scale(i, v);
            if share == 0 {
                continue;
            }
            if i == self.own {
                own = lengths.len();
            }
            // `v` is not 0: some segment got a share of it.
            lengths.extend(Ratio::new(share, v));
        }
        Ok(Self::of_stripes(Arc::new(Stripes::new(&lengths)?), own))
    }

    /// A walking index over our numbers.
    #[must_use]
    pub fn index(&self) -> SegmentedIndex {
        SegmentedIndex { share: self.clone(), scaled: 0, unscaled: 0 }
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::full()
    }
}

/// A position in our own numbers, counted both here (`scaled`) and in the whole test (`unscaled`); both from 1, with 0
/// before the first.
#[derive(Clone, Debug)]
pub struct SegmentedIndex {
    share: Share,
    scaled: u64,
    unscaled: u64,
}

impl SegmentedIndex {
    /// The count of own numbers up to here.
    #[must_use]
    pub fn scaled(&self) -> u64 {
        self.scaled
    }

    /// The number in the whole test.
    #[must_use]
    pub fn unscaled(&self) -> u64 {
        self.unscaled
    }

    /// To the next own number. Stays (at the largest) when that exceeds 64 bits.
    pub fn step_forward(&mut self) {
        if let Some(next) = self.share.nth(self.scaled).and_then(|n| n.checked_add(1)) {
            self.unscaled = next;
            self.scaled += 1;
        }
    }

    /// To the previous own number, or to before the first.
    pub fn step_back(&mut self) {
        match self.scaled {
            0 => {}
            1 => (self.scaled, self.unscaled) = (0, 0),
            scaled => {
                self.scaled = scaled - 1;
                // The numbers grow with j and the one after this fitted.
                self.unscaled = self.share.nth(scaled - 2).map_or(0, |n| n + 1);
            }
        }
    }

    /// To the largest own number that is at most `v`.
    pub fn go_to(&mut self, v: u64) {
        self.scaled = self.share.scale(v);
        self.unscaled = match self.scaled.checked_sub(1) {
            Some(j) => self.share.nth(j).map_or(0, |n| n + 1),
            None => 0,
        };
    }
}

/// The repeating pattern: which of the numbers `0..lcd` belong to which segment.
#[derive(Debug)]
struct Stripes {
    lcd: u64,
    positions: Vec<Box<[u32]>>,
}

impl Stripes {
    fn single() -> Self {
        Self { lcd: 1, positions: vec![Box::from([0])] }
    }

    /// `lengths` add up to 1 and none is 0.
    fn new(lengths: &[Ratio]) -> Result<Self, SegmentError> {
        if lengths.len() <= 1 {
            return Ok(Self::single());
        }
        let mut lcd: u128 = 1;
        for length in lengths {
            let den = u128::from(length.den());
            lcd = lcd / gcd(lcd, den) * den;
            if lcd > u128::from(STRIPE_PARTS_MAX) {
                return Err(SegmentError::TooFine(lcd));
            }
        }
        let work = lcd * lengths.len() as u128;
        if work > STRIPE_WORK_MAX {
            return Err(SegmentError::TooFine(lcd));
        }
        // At most STRIPE_PARTS_MAX, checked above.
        let lcd = lcd as u64;
        let norm: Vec<u64> = lengths.iter().map(|l| l.num() * (lcd / l.den())).collect();
        let mut order: Vec<usize> = (0..norm.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(norm[i]));
        let mut positions: Vec<Vec<u32>> = norm.iter().map(|&n| Vec::with_capacity(n as usize)).collect();
        for i in 0..lcd {
            for &segment in &order {
                let chosen = positions[segment].len() as u64;
                // Both products are below STRIPE_PARTS_MAX squared, which fits 64 bits.
                if i * norm[segment] >= chosen * lcd {
                    positions[segment].push(i as u32);
                    break;
                }
            }
        }
        Ok(Self { lcd, positions: positions.into_iter().map(Vec::into_boxed_slice).collect() })
    }

    fn norm(&self, segment: usize) -> u64 {
        self.positions[segment].len() as u64
    }

    fn scale(&self, segment: usize, v: u64) -> u64 {
        let rest = v % self.lcd;
        let within = self.positions[segment].partition_point(|&p| u64::from(p) < rest);
        (v / self.lcd) * self.norm(segment) + within as u64
    }

    fn nth(&self, segment: usize, j: u64) -> Option<u64> {
        let own = &self.positions[segment];
        let norm = own.len() as u64;
        if norm == 0 {
            return None;
        }
        let position = u64::from(own[(j % norm) as usize]);
        (j / norm).checked_mul(self.lcd)?.checked_add(position)
    }
}

/// Longest pattern: 16 Mi entries of 4 bytes. A sequence of percentages has at most 100; only a re-derived one (by
/// `maxVUs`, or by `vus` of shared iterations) can come near, and not before millions of VUs.
pub(crate) const STRIPE_PARTS_MAX: u64 = 1 << 24;
/// Most (segment, number) pairs looked at while striping: about four seconds of work, at the worst.
const STRIPE_WORK_MAX: u128 = 4_000_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shares(sequence: &str) -> Vec<Share> {
        let sequence: SegmentSequence = sequence.parse().unwrap();
        (0..sequence.segments().len()).map(|i| Share::of_sequence(&sequence, i).unwrap()).collect()
    }

    fn first(share: &Share, n: u64) -> Vec<u64> {
        (0..n).map(|j| share.nth(j).unwrap()).collect()
    }

    #[test]
    fn the_documented_example() {
        let t = shares("0,1/2,3/4,1");
        assert_eq!(first(&t[0], 4), [0, 2, 4, 6]);
        assert_eq!(first(&t[1], 3), [1, 5, 9]);
        assert_eq!(first(&t[2], 3), [3, 7, 11]);
        assert_eq!(t[1].offsets(), [1, 4]);
        assert_eq!(t[0].offsets(), [0, 2, 2]);
    }

    #[test]
    fn largest_first_and_stable() {
        let t = shares("0,1/4,1/2,1");
        assert_eq!(first(&t[2], 3), [0, 2, 4]);
        assert_eq!(first(&t[0], 2), [1, 5]);
        assert_eq!(first(&t[1], 2), [3, 7]);
    }

    #[test]
    fn own_segment_in_its_sequence() {
        let check = |segment: Option<&str>, sequence: Option<&str>| {
            let segment = segment.map(|s| s.parse().unwrap());
            let sequence = sequence.map(|s| s.parse().unwrap());
            Share::new(segment.as_ref(), sequence.as_ref())
                .map_or_else(|e| e.to_string(), |t| format!("{} of {}", t.length(), t.segments()))
        };
        assert_eq!(check(None, None), "1 of 1");
        assert_eq!(check(Some("1/4:1/2"), None), "1/4 of 3");
        assert_eq!(check(Some("1/2"), Some("0,1/2,1")), "1/2 of 2");
        assert_eq!(check(Some("1/4:1/2"), Some("1/4,1/2")), "1/4 of 3");
        assert_eq!(check(None, Some("0,1/2,1")), "provided segment 0:1 can't be found in sequence 0,1/2,1");
        assert_eq!(check(None, Some("")), "provided segment 0:1 can't be found in sequence ");
        assert_eq!(check(Some("0:1/4"), Some("0,1/2,1")), "provided segment 0:1/4 can't be found in sequence 0,1/2,1");
        assert!(check(Some("1/99999989"), None).contains("too fine"));
        assert!(check(Some(".000000000000000001"), None).contains("too fine"));
    }

    #[test]
    fn re_derived_from_a_value() {
        let t = shares("0,1/2,3/4,1");
        // Two VUs go to the first two segments, so they share the rest half and half.
        assert_eq!(t[1].from_value(2).unwrap().unwrap().length().to_string(), "1/2");
        assert!(t[2].from_value(2).unwrap().is_none());
        assert_eq!(t[1].from_value(5).unwrap().unwrap().length().to_string(), "1/5");
        assert_eq!(t[1].from_value(4).unwrap().unwrap().length().to_string(), "1/4");
        assert!(t[0].from_value(0).unwrap().is_none());
    }

    fn sequences() -> impl Strategy<Value = SegmentSequence> {
        prop::collection::btree_set(1u64..60, 0..6).prop_map(|cuts| {
            let mut points: Vec<String> = vec!["0".into()];
            points.extend(cuts.iter().map(|c| format!("{c}/60")));
            points.push("1".into());
            points.join(",").parse().unwrap()
        })
    }

    /// A share, divided again and again: each time one part is divided further.
    fn parts(share: &Share, cuts: &[(u64, u64)]) -> Vec<Share> {
        let (mut parts, mut rest) = (Vec::new(), share.clone());
        for (which, of) in cuts {
            for index in (0..*of).filter(|index| *index != which % of) {
                parts.push(rest.part(Cut { index, of: *of }).unwrap());
            }
            rest = rest.part(Cut { index: which % of, of: *of }).unwrap();
        }
        parts.push(rest);
        parts
    }

    #[test]
    fn parts_know_what_they_are_parts_of() {
        let share = &shares("0,1/3,2/3,1")[1];
        assert_eq!(first(share, 6), [1, 4, 7, 10, 13, 16]);
        let part = share.part(Cut { index: 1, of: 2 }).unwrap();
        assert_eq!(first(&part, 3), [4, 10, 16]);
        assert_eq!(part.length().to_string(), "1/6");
        let again = part.part(Cut { index: 2, of: 3 }).unwrap();
        assert_eq!(first(&again, 2), [16, 34]);
        let (before, cut) = again.divided().unwrap();
        assert_eq!((first(&before, 3), cut), (vec![4, 10, 16], Cut { index: 2, of: 3 }));
        assert!(share.divided().is_none());
        assert!(share.part(Cut { index: 2, of: 2 }).is_err() && share.part(Cut { index: 0, of: 0 }).is_err());
    }

    proptest! {
        /// Whatever is derived from a share, its parts divide it without gap or overlap.
        #[test]
        fn parts_are_the_whole(
            sequence in sequences(), own in 0usize..7, cuts in prop::collection::vec((0u64..9, 1u64..6), 0..4),
            v in 0u64..200, w in 0u64..2_000,
        ) {
            let own = own % sequence.segments().len();
            let share = Share::of_sequence(&sequence, own).unwrap();
            let parts = parts(&share, &cuts);
            prop_assert_eq!(parts.iter().map(|part| part.scale(v)).sum::<u64>(), share.scale(v));
            let mut numbers: Vec<u64> = parts.iter().flat_map(|part| first(part, part.scale(v))).collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, first(&share, share.scale(v)));
            let derived = share.from_value(v).unwrap();
            let of_parts: Vec<Share> = parts.iter().filter_map(|part| part.from_value(v).unwrap()).collect();
            match derived {
                None => prop_assert!(of_parts.is_empty()),
                Some(derived) => {
                    let mut numbers: Vec<u64> = of_parts.iter().flat_map(|part| first(part, part.scale(w))).collect();
                    numbers.sort_unstable();
                    prop_assert_eq!(numbers, first(&derived, derived.scale(w)));
                }
            }
        }

        #[test]
        fn shares_add_up(sequence in sequences(), v in 0u64..1_000_000) {
            let mut sum = 0;
            for i in 0..sequence.segments().len() {
                let share = Share::of_sequence(&sequence, i).unwrap();
                prop_assert!(share.scale(v + 1) - share.scale(v) <= 1);
                sum += share.scale(v);
            }
            prop_assert_eq!(sum, v);
        }

        #[test]
        fn every_number_has_one_owner(sequence in sequences(), n in 1u64..300) {
            let mut owners = vec![0u32; n as usize];
            for i in 0..sequence.segments().len() {
                let share = Share::of_sequence(&sequence, i).unwrap();
                for j in 0..share.scale(n) {
                    owners[share.nth(j).unwrap() as usize] += 1;
                }
            }
            prop_assert!(owners.iter().all(|&count| count == 1));
        }

        #[test]
        fn re_derived_shares_add_up(sequence in sequences(), v in 1u64..500, w in 0u64..5_000) {
            let mut sum = 0;
            for i in 0..sequence.segments().len() {
                let share = Share::of_sequence(&sequence, i).unwrap();
                if let Some(derived) = share.from_value(v).unwrap() {
                    prop_assert_eq!(derived.scale(v), share.scale(v));
                    sum += derived.scale(w);
                }
            }
            prop_assert_eq!(sum, w);
        }

        #[test]
        fn walking_and_jumping_agree(sequence in sequences(), steps in 1u64..80) {
            for i in 0..sequence.segments().len() {
                let share = Share::of_sequence(&sequence, i).unwrap();
                let mut walk = share.index();
                for _ in 0..steps {
                    walk.step_forward();
                    let mut jump = share.index();
                    jump.go_to(walk.unscaled());
                    prop_assert_eq!((jump.scaled(), jump.unscaled()), (walk.scaled(), walk.unscaled()));
                }
                let (scaled, unscaled) = (walk.scaled(), walk.unscaled());
                walk.step_forward();
                walk.step_back();
                prop_assert_eq!((walk.scaled(), walk.unscaled()), (scaled, unscaled));
            }
        }

        #[test]
        fn extremes_do_not_panic(sequence in sequences(), v: u64) {
            for i in 0..sequence.segments().len() {
                let share = Share::of_sequence(&sequence, i).unwrap();
                let _ = (share.scale(v), share.nth(v));
                let mut index = share.index();
                index.go_to(v);
                index.step_forward();
                index.step_back();
            }
        }
    }
}
