//! Counts by bucket index: pages of 64 buckets, made where values fall.
//!
//! A latency distribution touches a few octaves, so a few pages of 512 bytes; two values that are far apart cost two
//! pages and not all buckets between them.

use std::mem;

/// Counts of one sign's buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    /// Page number of `pages[0]`.
    first: i32,
    /// Directory; 8,400 entries span the whole range of `f64`.
    pages: Vec<Option<Box<Page>>>,
}

type Page = [u64; PAGE_BUCKETS];

impl Pages {
    /// Adds `count` to a bucket.
    pub(super) fn add(&mut self, index: i32, count: u64) {
        let (page, slot) = place(index);
        self.page_at(page)[slot] += count;
    }

    /// For counting many values in buckets that mostly have their page.
    pub(super) fn open(&mut self) -> OpenPages<'_> {
        OpenPages { first: self.first, pages: &mut self.pages }
    }

    /// Adds all counts of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (number, more) in other.iter_pages() {
            for (count, more) in self.page_at(number).iter_mut().zip(more) {
                *count += more;
            }
        }
    }

    /// Non-empty buckets in rising order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> {
        self.iter_pages().flat_map(|(number, page)| {
            let start = (number << PAGE_BITS) + 1;
            page.iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(move |(slot, count)| (start + slot as i32, *count))
        })
    }

    /// Moves the counts out and keeps the pages that had some, zeroed, for the next interval.
    pub(super) fn drain(&mut self) -> Self {
        let pages = self.pages.iter_mut().map(|page| {
            let counts = page.as_mut()?;
            if counts.iter().all(|count| *count == 0) {
                // Unused for a whole interval: give the memory back.
                *page = None;
                return None;
            }
            Some(Box::new(mem::replace(&mut **counts, [0; PAGE_BUCKETS])))
        });
        let drained = Self { first: self.first, pages: pages.collect() };
        self.trim();
        drained
    }

    fn iter_pages(&self) -> impl DoubleEndedIterator<Item = (i32, &Page)> {
        let first = self.first;
        self.pages
            .iter()
            .enumerate()
            .filter_map(move |(position, page)| Some((first + position as i32, page.as_deref()?)))
    }

    fn page_at(&mut self, number: i32) -> &mut Page {
        if self.pages.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let missing = (self.first - number) as usize;
            self.pages.splice(0..0, (0..missing).map(|_| None));
            self.first = number;
        }
        let position = (number - self.first) as usize;
        if position >= self.pages.len() {
            self.pages.resize_with(position + 1, || None);
        }
        self.pages[position].get_or_insert_with(|| Box::new([0; PAGE_BUCKETS]))
    }

    fn trim(&mut self) {
        while self.pages.last().is_some_and(Option::is_none) {
            self.pages.pop();
        }
        let empty = self.pages.iter().take_while(|page| page.is_none()).count();
        self.pages.drain(..empty);
        self.first += empty as i32;
    }
}

/// The pages there are. Holding them keeps their place in registers.
pub(super) struct OpenPages<'a> {
    first: i32,
    pages: &'a mut [Option<Box<Page>>],
}

impl OpenPages<'_> {
    /// Counts one value; `false` if the bucket's page is missing.
    #[inline]
    pub(super) fn count(&mut self, index: i32) -> bool {
        let (page, slot) = place(index);
        let position = page.wrapping_sub(self.first) as u32 as usize;
        let Some(Some(page)) = self.pages.get_mut(position) else {
            return false;
        };
        page[slot] += 1;
        true
    }
}

/// Equal if the counts are.
impl PartialEq for Pages {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Page and slot of a bucket. One less than the index, so that a page ends with an octave.
#[inline]
fn place(index: i32) -> (i32, usize) {
    let position = index - 1;
    (position >> PAGE_BITS, (position & (PAGE_BUCKETS as i32 - 1)) as usize)
}

const PAGE_BITS: u32 = 6;
const PAGE_BUCKETS: usize = 1 << PAGE_BITS;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn far_apart_values_take_two_pages() {
        let mut pages = Pages::default();
        pages.add(-275_000, 1);
        pages.add(262_144, 1);
        pages.add(262_144, 2);
        assert_eq!(pages.iter().collect::<Vec<_>>(), [(-275_000, 1), (262_144, 3)]);
        assert_eq!(pages.pages.iter().flatten().count(), 2);
    }

    #[test]
    fn draining_keeps_used_pages_for_one_interval() {
        let mut pages = Pages::default();
        pages.add(1, 1);
        pages.add(1_000, 1);
        assert_eq!(pages.drain().iter().count(), 2);
        assert_eq!(pages.iter().count(), 0);
        assert_eq!(pages.pages.iter().flatten().count(), 2);
        pages.add(1_000, 5);
        assert_eq!(pages.drain().iter().collect::<Vec<_>>(), [(1_000, 5)]);
        assert_eq!(pages.pages.len(), 1);
        assert_eq!(pages.drain(), Pages::default());
        assert!(pages.pages.is_empty());
    }

    proptest! {
        #[test]
        fn counts_like_a_map(adds in prop::collection::vec((-2_000_i32..2_000, 1_u64..5), 0..80), cut in 0_usize..80) {
            let mut map = BTreeMap::new();
            let (mut left, mut right) = (Pages::default(), Pages::default());
            for (position, (index, count)) in adds.iter().enumerate() {
                *map.entry(*index).or_insert(0) += count;
                let pages = if position < cut { &mut left } else { &mut right };
                pages.add(*index, *count);
            }
            left.merge(&right);
            prop_assert!(left.iter().eq(map.iter().map(|(index, count)| (*index, *count))));
            prop_assert!(left.iter().rev().eq(map.iter().rev().map(|(index, count)| (*index, *count))));
        }
    }
}
