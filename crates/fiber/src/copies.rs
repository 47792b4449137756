//! Where the copies of waiting fibers' stacks lie.
//!
//! Thousands of VUs that begin together wait deep in their first request and then sleep with a third of that depth. An
//! allocator shared with the rest of the program keeps the holes they leave: each lies between blocks that stay. Here
//! copies of one size lie together in chunks, a copy takes its size to the cache line, and a chunk that nobody's copy
//! lies in any more goes back to the system once it has not been needed for a while.
#![expect(unsafe_code, reason = "maps memory and hands out parts of it")]

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    collections::VecDeque,
    ffi::c_void,
    ptr::{self, NonNull},
};

use rustix::mm::{Advice, madvise, munmap};

use crate::{clock::Nanos, pages};

/// Sizes of copies are multiples of this, and they begin at such addresses; see `stack` for what it is worth.
pub(crate) const LINE_BYTES: usize = 64;
/// Mapped at once, whatever the size of chunks, so that all regions can lie beside each other; and their alignment.
const REGION_BYTES: usize = 1 << 20;
/// Chunks go back that were unused for at least this long, and at most twice as long. VUs that sleep for a second in
/// step with each other find theirs again.
const WINDOW: Nanos = Nanos(2_000_000_000);
/// After some chunks went back, during which no fiber of the thread runs, none do for so long.
const STEP_INTERVAL: Nanos = Nanos(1_000_000);

/// Chunks of one size, and what lies in them.
struct Tier {
    /// Of memory that goes back to the system as a whole, and its alignment.
    chunk_bytes: usize,
    /// Sizes of slots are multiples of this.
    step_bytes: usize,
    slot_bytes_max: usize,
    /// At most so many chunks go back at once: some 25 to 50 µs' worth.
    step_chunks: usize,
}

/// Nearly all scripts wait in one of these.
const SMALL: Tier = Tier { chunk_bytes: 64 << 10, step_bytes: LINE_BYTES, slot_bytes_max: 16 << 10, step_chunks: 4 };
/// Those that recurse; larger copies are the general allocator's, which maps each of them.
const LARGE: Tier = Tier { chunk_bytes: 512 << 10, step_bytes: 4 << 10, slot_bytes_max: 128 << 10, step_chunks: 1 };

/// The memory of one thread's copies.
///
/// Dropping it leaks the chunks that copies lie in: whatever points into a stack that was never unwound finds it as it
/// was.
pub(crate) struct Copies {
    small: Chunks,
    large: Chunks,
}

/// The chunks of a tier.
struct Chunks {
    tier: Tier,
    /// Those that have room for one more, by the size of their slots.
    roomy: Box<[*mut Chunk]>,
    /// Those nobody's copy lies in, ready to be used; the last emptied at the back.
    idle: VecDeque<NonNull<Chunk>>,
    /// Those without memory of the system's.
    bare: Vec<NonNull<Chunk>>,
    /// Where the last region begins; 0 before there is one.
    region: usize,
    /// The fewest that were idle since the window began.
    idle_min: usize,
    /// How many of the idle ones, never more than there are, are on their way back.
    surplus: usize,
    /// When the window ends, or the next of the surplus goes back.
    due: Nanos,
}

/// The head of a chunk: its first line. Slots of one size follow.
struct Chunk {
    /// Neighbours in the list of roomy chunks of the size.
    before: *mut Chunk,
    after: *mut Chunk,
    /// Slots that were used and freed.
    freed: *mut FreedSlot,
    slot_bytes: u32,
    /// Slots that copies lie in.
    used: u16,
    /// Slots that were ever used: those behind have not been touched.
    begun: u16,
    slots: u16,
}

struct FreedSlot {
    after: *mut FreedSlot,
}

const _: () = assert!(size_of::<Chunk>() <= LINE_BYTES);
const _: () = assert!(SMALL.chunk_bytes / SMALL.step_bytes <= u16::MAX as usize);

impl Copies {
    pub(crate) fn new() -> Copies {
        Copies { small: Chunks::new(SMALL), large: Chunks::new(LARGE) }
    }

    /// Memory for a copy of `bytes`, a positive multiple of [`LINE_BYTES`], aligned to it, with any content.
    pub(crate) fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        debug_assert!(bytes > 0 && bytes.is_multiple_of(LINE_BYTES));
        match self.chunks(bytes) {
            Some(chunks) => chunks.allocate(bytes),
            None => {
                // SAFETY: the layout is not empty.
                let data = unsafe { alloc(layout(bytes)) };
                NonNull::new(data).unwrap_or_else(|| handle_alloc_error(layout(bytes)))
            }
        }
    }

    /// Takes back what [`Copies::allocate`] gave out.
    ///
    /// # Safety
    ///
    /// `data` came from `allocate` of this value with the same `bytes`, and nobody uses it any more.
    pub(crate) unsafe fn free(&mut self, data: NonNull<u8>, bytes: usize) {
        // SAFETY: from the same chunks, or allocator, as it was allocated from: that depends on the size alone.
        unsafe {
            match self.chunks(bytes) {
                Some(chunks) => chunks.free(data, bytes),
                None => dealloc(data.as_ptr(), layout(bytes)),
            }
        }
    }

    #[inline]
    fn chunks(&mut self, bytes: usize) -> Option<&mut Chunks> {
        if bytes <= SMALL.slot_bytes_max {
            Some(&mut self.small)
        } else {
            (bytes <= LARGE.slot_bytes_max).then_some(&mut self.large)
        }
    }

    /// When [`Copies::give_back`] has something to do; `Nanos::MAX`: not before something is freed.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        self.small.due().min(self.large.due())
    }

    /// Gives chunks back to the system that were not needed for a while, a few at a time.
    #[inline]
    pub(crate) fn give_back(&mut self, now: Nanos) {
        self.small.give_back(now);
        self.large.give_back(now);
    }
}

impl Chunks {
    fn new(tier: Tier) -> Chunks {
        Chunks {
            roomy: vec![ptr::null_mut(); tier.slot_bytes_max / tier.step_bytes].into_boxed_slice(),
            tier,
            idle: VecDeque::new(),
            bare: Vec::new(),
            region: 0,
            idle_min: 0,
            surplus: 0,
            due: Nanos::ZERO,
        }
    }

    /// The class of that size, and the size of its slots.
    #[inline]
    fn class(&self, bytes: usize) -> (usize, usize) {
        let class = (bytes - 1) / self.tier.step_bytes;
        (class, (class + 1) * self.tier.step_bytes)
    }

    fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        let (class, slot_bytes) = self.class(bytes);
        let mut chunk = self.roomy[class];
        if chunk.is_null() {
            chunk = self.begin_chunk(class, slot_bytes);
        }
        // SAFETY: a roomy chunk is alive and this thread's, and nobody else holds a reference to its head. It has a
        // slot that was freed, or else one behind those that were begun, which lies within it by the count of slots. A
        // freed slot is nobody's and begins with the link written when it was freed.
        unsafe {
            let head = &mut *chunk;
            let slot: *mut u8 = if head.freed.is_null() {
                let offset = LINE_BYTES + usize::from(head.begun) * slot_bytes;
                head.begun += 1;
                chunk.cast::<u8>().add(offset)
            } else {
                let slot = head.freed;
                head.freed = (*slot).after;
                slot.cast()
            };
            head.used += 1;
            if head.used == head.slots {
                self.unlink(class, chunk);
            }
            NonNull::new_unchecked(slot)
        }
    }

    /// # Safety
    ///
    /// As of [`Copies::free`].
    unsafe fn free(&mut self, data: NonNull<u8>, bytes: usize) {
        let (class, slot_bytes) = self.class(bytes);
        let offset = data.addr().get() % self.tier.chunk_bytes;
        // SAFETY: the slot (caller) lies in a chunk, which begins at the multiple of its size below it, is alive
        // while a slot is used, and is this thread's. The slot is large enough for a link, and nobody's.
        unsafe {
            let chunk: *mut Chunk = data.as_ptr().sub(offset).cast();
            let head = &mut *chunk;
            debug_assert_eq!(head.slot_bytes as usize, slot_bytes);
            let slot: *mut FreedSlot = data.as_ptr().cast();
            slot.write(FreedSlot { after: head.freed });
            head.freed = slot;
            let was_full = head.used == head.slots;
            head.used -= 1;
            if was_full {
                // At the front: the fuller chunks are filled, the emptier ones empty out.
                self.link(class, chunk);
            }
            if (*chunk).used == 0 {
                self.unlink(class, chunk);
                self.idle.push_back(NonNull::new_unchecked(chunk));
            }
        }
    }

    #[inline]
    fn due(&self) -> Nanos {
        if self.idle.is_empty() { Nanos::MAX } else { self.due }
    }

    #[inline]
    fn give_back(&mut self, now: Nanos) {
        if now >= self.due() {
            self.give_some_back(now);
        }
    }

    #[cold]
    fn give_some_back(&mut self, now: Nanos) {
        if self.surplus == 0 {
            self.surplus = self.idle_min;
            self.idle_min = self.idle.len();
        }
        let count = self.surplus.min(self.tier.step_chunks);
        for chunk in self.idle.drain(..count) {
            // SAFETY: nobody's copy lies in the chunk, and its head is written anew before it is used again. A
            // refusal leaves the memory where it is.
            let _ = unsafe { madvise(chunk.as_ptr().cast(), self.tier.chunk_bytes, Advice::LinuxDontNeed) };
            self.bare.push(chunk);
        }
        self.idle_min = self.idle_min.min(self.idle.len());
        self.surplus -= count;
        self.due = now + if self.surplus > 0 { STEP_INTERVAL } else { WINDOW };
    }

    /// A chunk of slots of that size, all free, in its list.
    #[cold]
    fn begin_chunk(&mut self, class: usize, slot_bytes: usize) -> *mut Chunk {
        let chunk = self.idle.pop_back().unwrap_or_else(|| self.bare_chunk());
        self.idle_min = self.idle_min.min(self.idle.len());
        self.surplus = self.surplus.min(self.idle.len());
        let chunk = chunk.as_ptr();
        let slots = (self.tier.chunk_bytes - LINE_BYTES) / slot_bytes;
        let head = Chunk {
            before: ptr::null_mut(),
            after: ptr::null_mut(),
            freed: ptr::null_mut(),
            // Both are far smaller: see the tiers.
            slot_bytes: slot_bytes as u32,
            used: 0,
            begun: 0,
            slots: slots as u16,
        };
        // SAFETY: the chunk is mapped, ours, aligned, and nobody's copy lies in it.
        unsafe {
            chunk.write(head);
            self.link(class, chunk);
        }
        chunk
    }

    fn bare_chunk(&mut self) -> NonNull<Chunk> {
        if self.bare.is_empty() {
            self.map_region();
        }
        self.bare.pop().unwrap_or_else(|| handle_alloc_error(layout(self.tier.chunk_bytes)))
    }

    /// Maps a region of chunks, aligned to its size. Adds none if the system refuses.
    fn map_region(&mut self) {
        // Below the last one if that is free: the system makes one mapping of both, and large ones can be gathered in huge
        // pages. Else an aligned part of a larger mapping is kept.
        let Ok(region) = pages::map(REGION_BYTES, self.region.saturating_sub(REGION_BYTES)) else { return };
        let region = if region.addr().is_multiple_of(REGION_BYTES) {
            region
        } else {
            // SAFETY: just mapped, and nobody's.
            unsafe { give_address_space_back(region.cast(), REGION_BYTES) };
            let Ok(mapping) = pages::map(2 * REGION_BYTES, 0) else { return };
            let before = mapping.addr().next_multiple_of(REGION_BYTES) - mapping.addr();
            // SAFETY: the parts before and after the aligned region lie within the mapping, and nobody uses them.
            unsafe {
                let region = mapping.add(before);
                give_address_space_back(mapping.cast(), before);
                give_address_space_back(region.add(REGION_BYTES).cast(), REGION_BYTES - before);
                region
            }
        };
        self.region = region.addr();
        // The highest is used first: the next region lies below.
        let chunks = (0..REGION_BYTES).step_by(self.tier.chunk_bytes);
        // SAFETY: all lie within the region.
        self.bare.extend(chunks.filter_map(|offset| NonNull::new(unsafe { region.add(offset) }.cast())));
    }

    /// # Safety
    ///
    /// The chunk is alive, in no list, and has slots of that class.
    unsafe fn link(&mut self, class: usize, chunk: *mut Chunk) {
        let first = self.roomy[class];
        // SAFETY: the chunk (caller) and those in lists are alive and this thread's.
        unsafe {
            (*chunk).before = ptr::null_mut();
            (*chunk).after = first;
            if !first.is_null() {
                (*first).before = chunk;
            }
        }
        self.roomy[class] = chunk;
    }

    /// # Safety
    ///
    /// The chunk is in the list of that class.
    unsafe fn unlink(&mut self, class: usize, chunk: *mut Chunk) {
        // SAFETY: chunks in lists are alive and this thread's, and their links are those of the list.
        unsafe {
            let (before, after) = ((*chunk).before, (*chunk).after);
            if before.is_null() {
                self.roomy[class] = after;
            } else {
                (*before).after = after;
            }
            if !after.is_null() {
                (*after).before = before;
            }
        }
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        for chunk in self.idle.iter().chain(&self.bare) {
            // SAFETY: nobody's copy lies in the chunk, which is ours. An error is impossible for a mapping, but for a
            // system without memory to divide it, and harmless.
            let _ = unsafe { munmap(chunk.as_ptr().cast(), self.tier.chunk_bytes) };
        }
    }
}

/// # Safety
///
/// As for `munmap`: nobody uses the memory. None may be asked for.
unsafe fn give_address_space_back(start: *mut c_void, bytes: usize) {
    if bytes > 0 {
        // SAFETY: promised by the caller. Where it fails, a little address space is lost.
        let _ = unsafe { munmap(start, bytes) };
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, LINE_BYTES)
        .expect("a saved stack is far smaller than isize::MAX and its alignment a power of two")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A copy that is filled with a number of its own.
    struct Copy {
        data: NonNull<u8>,
        bytes: usize,
        mark: u8,
    }

    impl Copy {
        fn new(copies: &mut Copies, bytes: usize, mark: u8) -> Copy {
            let data = copies.allocate(bytes);
            assert!(data.addr().get().is_multiple_of(LINE_BYTES));
            // SAFETY: just allocated.
            unsafe { data.as_ptr().write_bytes(mark, bytes) };
            Copy { data, bytes, mark }
        }

        fn end(self, copies: &mut Copies) {
            // SAFETY: allocated in `new`; freed once, here.
            unsafe {
                let held = std::slice::from_raw_parts(self.data.as_ptr(), self.bytes);
                assert!(held.iter().all(|&byte| byte == self.mark), "somebody wrote into a copy of {}", self.bytes);
                copies.free(self.data, self.bytes);
            }
        }
    }

    proptest! {
        #[test]
        fn no_two_copies_share_a_byte(
            steps in proptest::collection::vec((0..1_200usize, any::<prop::sample::Index>(), 0..3u8), 1..800)
        ) {
            let mut copies = Copies::new();
            let mut held: Vec<Copy> = Vec::new();
            let mut now = Nanos::ZERO;
            for (count, (size, which, what)) in steps.into_iter().enumerate() {
                match what {
                    // Few sizes, as of real fibers, or any.
                    0 => held.push(Copy::new(&mut copies, (size % 5 + 1) * 16 * LINE_BYTES, count as u8)),
                    1 if size % 3 > 0 => held.push(Copy::new(&mut copies, (size % 300 + 1) * LINE_BYTES, count as u8)),
                    1 => held.push(Copy::new(&mut copies, (size * 2 + 1) * LINE_BYTES, count as u8)),
                    _ if held.is_empty() => {}
                    _ => held.swap_remove(which.index(held.len())).end(&mut copies),
                }
                now = now + Nanos::from_millis(size as u64);
                copies.give_back(now);
            }
            for copy in held {
                copy.end(&mut copies);
            }
            for chunks in [&copies.small, &copies.large] {
                prop_assert!(chunks.roomy.iter().all(|chunk| chunk.is_null()), "an empty chunk stayed in a list");
            }
        }
    }

    #[test]
    fn regions_lie_beside_each_other_and_can_become_huge_pages() {
        let mut chunks = Chunks::new(SMALL);
        (0..64).for_each(|_| chunks.map_region());
        let mut starts: Vec<usize> = chunks.bare.iter().map(|chunk| chunk.addr().get()).collect();
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), 64 * REGION_BYTES / SMALL.chunk_bytes);
        assert!(starts.iter().all(|start| start.is_multiple_of(SMALL.chunk_bytes)));
        let gaps = starts.windows(2).filter(|pair| pair[1] - pair[0] > SMALL.chunk_bytes).count();
        // Other threads of this process map memory meanwhile.
        assert!(gaps < 16, "{gaps} gaps between 64 regions");
    }

    /// Everyone waits `deep` in a request, then sleeps with less; what that leaves in chunks like those of `tier`.
    fn burst(deep: usize, tier: fn(&Copies) -> &Chunks) {
        const VUS: usize = 3_000;
        let mut copies = Copies::new();
        let mut now = Nanos::from_secs(1);
        let mut held: Vec<Copy> = (0..VUS).map(|n| Copy::new(&mut copies, deep, n as u8)).collect();
        for n in 0..VUS {
            let shallow = Copy::new(&mut copies, 2_368, n as u8);
            held.push(shallow);
            held.swap_remove(n).end(&mut copies);
        }
        let deep_chunks = tier(&copies).idle.len();
        let in_a_chunk = tier(&copies).tier.chunk_bytes / deep;
        // 27 of the shallow ones may have taken a chunk that was empty by then.
        assert!(deep_chunks >= VUS / (in_a_chunk + 1) - VUS / 27 - 1, "{deep_chunks} chunks are empty");
        assert!(copies.due() < Nanos::MAX);
        // Needed again within the window: nothing went back.
        copies.give_back(now);
        let again: Vec<Copy> =
            (0..(in_a_chunk - 1) * deep_chunks).map(|n| Copy::new(&mut copies, deep, n as u8)).collect();
        for copy in again {
            copy.end(&mut copies);
        }
        now = now + WINDOW;
        copies.give_back(now);
        assert!(tier(&copies).idle.len() >= deep_chunks * 3 / 4, "what was needed a moment ago stays");
        // And then not again.
        let mut steps = 0;
        while copies.due() < Nanos::MAX {
            let idle = tier(&copies).idle.len();
            now = copies.due();
            copies.give_back(now);
            assert!(idle - tier(&copies).idle.len() <= tier(&copies).tier.step_chunks, "the thread is held for a step");
            steps += 1;
            assert!(steps < 5_000, "{} chunks never go back", tier(&copies).idle.len());
        }
        let Chunks { bare, tier: Tier { chunk_bytes, .. }, .. } = tier(&copies);
        assert_eq!(bare.iter().map(|chunk| pages::resident(chunk.addr().get(), *chunk_bytes)).sum::<usize>(), 0);
        for copy in held {
            copy.end(&mut copies);
        }
    }

    #[test]
    fn what_a_burst_needed_goes_back_to_the_system() {
        burst(7_552, |copies| &copies.small);
        burst(23_040, |copies| &copies.large);
        burst(50_048, |copies| &copies.large);
    }
}
